// SPDX-License-Identifier: Apache-2.0
// Jumps of curand's XORWOW generator. A step is linear over GF(2), so a jump is a product of powers
// of a matrix of 160 x 160 bits, one for each bit of the distance.
#include "gradverify_simt/xorwow.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

namespace gradverify::simt::unit {
namespace {

using Register = std::array<unsigned, 5>;
/// What each bit of the register becomes.
using Matrix = std::array<Register, 160>;

Register times(const Matrix& matrix, const Register& bits) {
    Register result{};
    for (std::size_t word = 0; word < bits.size(); ++word) {
        for (unsigned left = bits[word]; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            const Register& column = matrix[word * 32 + bit];
            for (std::size_t i = 0; i < result.size(); ++i) result[i] ^= column[i];
        }
    }
    return result;
}

/// 2^`power` steps.
const Matrix& jump(std::size_t power) {
    thread_local std::vector<std::unique_ptr<Matrix>> jumps;
    while (jumps.size() <= power) {
        auto next = std::make_unique<Matrix>();
        for (std::size_t bit = 0; bit < next->size(); ++bit) {
            Register& column = (*next)[bit];
            if (jumps.empty()) {
                column[bit / 32] = 1u << bit % 32;
                xorwow_step(column.data());
            } else {
                column = times(*jumps.back(), (*jumps.back())[bit]);
            }
        }
        jumps.push_back(std::move(next));
    }
    return *jumps[power];
}

}  // namespace

extern "C" void gradverify_simt_xorwow_skip(unsigned* v, unsigned long long n, unsigned power) {
    Register bits;
    std::copy_n(v, bits.size(), bits.begin());
    for (; n != 0; n >>= 1, ++power) {
        if ((n & 1u) != 0) bits = times(jump(power), bits);
    }
    std::copy_n(bits.begin(), bits.size(), v);
}

}  // namespace gradverify::simt::unit
