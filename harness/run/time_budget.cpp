// SPDX-License-Identifier: Apache-2.0
#include "harness/run/time_budget.hpp"

#include <cmath>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

double seconds_of_time(const std::string& text) {
    std::string number = text;
    double unit = 1.0;
    if (text.ends_with('s') || text.ends_with('m') || text.ends_with('h')) {
        unit = text.back() == 's' ? 1.0 : text.back() == 'm' ? 60.0 : 3600.0;
        number.pop_back();
    }
    const auto value = parse_double(number);
    if (!value || !std::isfinite(*value) || !(*value > 0.0))
        throw UsageError("--time " + text + " is not a time such as 60s, 5m or 2h");
    return *value * unit;
}

}  // namespace gradverify
