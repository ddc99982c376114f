// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gradverify {

void SensitivityOfCases::add(const Sensitivity& one) {
    least_ulps = std::min(least_ulps, one.least_ulps);
    medians.add(one.median_ulps);
}

void SensitivityOfCases::add(const SensitivityOfCases& other) {
    least_ulps = std::min(least_ulps, other.least_ulps);
    medians.add(other.medians);
}

double ulp_of(const Rounding& type, double value) {
    if (type.unit_roundoff == 0.0) return 1.0;  // of integers
    const int exponent = std::ilogb(std::max(std::abs(value), type.smallest_normal));
    return std::ldexp(2.0 * type.unit_roundoff, exponent);
}

std::optional<Sensitivity> sensitivity_of(std::span<const Expected> expected,
                                          std::span<const Rounding> types) {
    std::vector<double> ulps;
    for (std::size_t output = 0; output < expected.size(); ++output) {
        const Expected& of = expected[output];
        for (std::size_t i = 0; i < of.values.size(); ++i) {
            if (of.values[i] == 0.0) continue;
            const Bound bound = of.bound_at(i);
            if (!bound.is_limited())
                ulps.push_back(std::numeric_limits<double>::infinity());
            else if (std::isfinite(of.values[i]))
                ulps.push_back(bound.most() / ulp_of(types[output], of.values[i]));
        }
    }
    if (ulps.empty()) return std::nullopt;
    const auto middle = ulps.begin() + static_cast<std::ptrdiff_t>((ulps.size() - 1) / 2);
    std::ranges::nth_element(ulps, middle);
    return Sensitivity{.least_ulps = std::ranges::min(ulps), .median_ulps = *middle};
}

}  // namespace gradverify
