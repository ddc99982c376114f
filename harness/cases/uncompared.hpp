// SPDX-License-Identifier: Apache-2.0
// Decides what is told of elements that nothing was compared with: their bounds are infinite, or
// wider than all values of their tensor.
#pragma once

#include <cstdint>
#include <string>

namespace gradverify {

struct Uncompared {
    std::int64_t elements = 0, total = 0;
    std::int64_t without_bound = 0;  ///< of the elements: their bounds are infinite
    /// Where those begin: "x[3]", from this value on upwards or downwards. Empty where they do not
    /// lie on one side of an input's values.
    std::string place{};
    double border = 0.0;
    bool is_upwards = true;

    bool empty() const { return elements == 0; }
    /// Takes in another case's.
    void add(const Uncompared& other);
    /// `in 12 % of the elements nothing could be compared: their bounds are infinite`
    std::string print() const;

    static void fields(auto& self, auto& visit) {
        visit.needed("elements", self.elements);
        visit.needed("of", self.total);
        visit.needed("infinite", self.without_bound);
        visit.needed("place", self.place);
        visit.needed("border", self.border);
        visit.needed("upwards", self.is_upwards);
    }
};

}  // namespace gradverify
