// SPDX-License-Identifier: Apache-2.0
#include "harness/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gradverify {

std::optional<Sensitivity> sensitivity_of(std::span<const Expected> expected,
                                          const Rounding& type) {
    std::vector<double> ulps;
    for (const Expected& output : expected)
        for (std::size_t i = 0; i < output.values.size(); ++i) {
            const double want = std::abs(output.values[i]);
            if (want == 0.0) continue;
            const double bound = output.bounds.empty() ? 0.0 : output.bounds[i];
            if (bound == no_bound) {
                ulps.push_back(std::numeric_limits<double>::infinity());
                continue;
            }
            const int exponent = std::ilogb(std::max(want, type.smallest_normal));
            ulps.push_back(bound / std::ldexp(2.0 * type.unit_roundoff, exponent));
        }
    if (ulps.empty()) return std::nullopt;
    const auto middle = ulps.begin() + static_cast<std::ptrdiff_t>((ulps.size() - 1) / 2);
    std::ranges::nth_element(ulps, middle);
    return Sensitivity{.least_ulps = *std::min_element(ulps.begin(), middle + 1),
                       .median_ulps = *middle};
}

}  // namespace gradverify
