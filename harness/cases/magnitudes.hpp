// SPDX-License-Identifier: Apache-2.0
// Decides what is told of the numbers that a kernel was given: how small and how large they were.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradverify {

/// The least and the greatest magnitude of finite numbers, zero apart.
struct Magnitudes {
    double least = std::numeric_limits<double>::infinity(), greatest = 0.0;

    bool empty() const { return greatest == 0.0; }
    void add(double value) {
        const double magnitude = std::abs(value);
        if (magnitude > 0.0 && std::isfinite(magnitude)) add({magnitude, magnitude});
    }
    void add(const Magnitudes& other) {
        least = std::min(least, other.least);
        greatest = std::max(greatest, other.greatest);
    }

    static void fields(auto& self, auto& visit) {
        visit.needed("least", self.least);
        visit.needed("greatest", self.greatest);
    }
};

}  // namespace gradverify
