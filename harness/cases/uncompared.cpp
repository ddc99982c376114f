// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/uncompared.hpp"

#include <fmt/format.h>

namespace gradverify {

void Uncompared::add(const Uncompared& other) {
    const bool begins_before = is_upwards ? other.border < border : other.border > border;
    const bool takes_place = without_bound == 0 || begins_before;
    if (other.without_bound > 0) {
        const bool is_one_side = without_bound == 0 || (is_upwards == other.is_upwards &&
                                                        !place.empty() && !other.place.empty());
        if (!is_one_side)
            place.clear();
        else if (takes_place)
            place = other.place, border = other.border, is_upwards = other.is_upwards;
    }
    elements += other.elements;
    total += other.total;
    without_bound += other.without_bound;
}

std::string Uncompared::print() const {
    const double share = 100.0 * static_cast<double>(elements) / static_cast<double>(total);
    const char* why = without_bound == elements ? "infinite"
                      : without_bound > 0 ? "infinite, or wider than all values of their tensor"
                                          : "wider than all values of their tensor";
    const std::string from = place.empty() ? ""
                                           : fmt::format(", from {} = {:.4g} {}", place, border,
                                                         is_upwards ? "on" : "down");
    return fmt::format(
        "in {:.2g} % of the elements nothing could be compared: their bounds are {}{}", share, why,
        from);
}

}  // namespace gradverify
