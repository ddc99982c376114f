// SPDX-License-Identifier: Apache-2.0
// Arithmetic on multiples of a step within a range, for values up to 2^40 without overflow.
// Knows nothing of problems.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace gradverify {

/// The multiples of `step` in [lowest, highest]; both ends are multiples of it.
struct ValueRange {
    std::int64_t lowest, highest, step = 1;
};

inline std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}
inline std::int64_t round_down(std::int64_t value, std::int64_t step) {
    return value / step * step;
}

/// Saturates at 2^41, which is more than any parameter's value.
inline std::int64_t least_common_multiple(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t too_large = std::int64_t{1} << 41;
    const std::int64_t rest = b / std::gcd(a, b);
    return a > too_large / rest ? too_large : a * rest;
}

/// The value in the range that is nearest to `target`, the lower of two.
inline std::int64_t nearest_in(const ValueRange& range, std::int64_t target) {
    const std::int64_t inside = std::clamp(target, range.lowest, range.highest);
    const std::int64_t below = round_down(inside, range.step), above = below + range.step;
    return inside - below <= above - inside ? below : above;
}

}  // namespace gradverify
