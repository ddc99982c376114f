// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/distribution.hpp"

#include <cmath>
#include <limits>

namespace gradverify {

void Distribution::add(double value) {
    if (value == 0.0)
        ++zeros_;
    else if (std::isinf(value))
        ++infinite_;
    else if (!std::isnan(value))
        ++bins_[static_cast<int>(std::floor(bins_of_octave * std::log2(value)))];
}

void Distribution::add(const Distribution& other) {
    zeros_ += other.zeros_;
    infinite_ += other.infinite_;
    for (const auto& [bin, count] : other.bins_) bins_[bin] += count;
}

std::int64_t Distribution::count() const {
    std::int64_t sum = zeros_ + infinite_;
    for (const auto& [bin, count] : bins_) sum += count;
    return sum;
}

double Distribution::quantile(double share) const {
    const std::int64_t all = count();
    if (all == 0) return 0.0;
    std::int64_t before = std::lround(share * static_cast<double>(all - 1)) - zeros_;
    if (before < 0) return 0.0;
    for (const auto& [bin, count] : bins_) {
        before -= count;
        if (before < 0) return std::exp2(static_cast<double>(bin) / bins_of_octave);
    }
    return std::numeric_limits<double>::infinity();
}

}  // namespace gradverify
