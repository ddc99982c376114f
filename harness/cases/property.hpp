// SPDX-License-Identifier: Apache-2.0
// Decides what a property is to the driver: a name, the kernels that it is asked of, and how its
// cases differ from those of others. What it checks lies in properties/.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/registry/registry.hpp"

namespace gradverify {

struct Property {
    std::string_view name;
    std::string_view summary{};  ///< one line, for `check --help` and the docs
    bool (*applies_to)(const Kernel&) = nullptr;
    /// The one device that its cases are drawn on; empty: any. Those of a property with cases of
    /// its own can be asked on others too.
    std::string_view only_on{};
    /// The number of its cases, if they are on problems of its own: none that a user gives. They
    /// share the device's memory and run one at a time. 0: it is asked on the problems of others.
    std::int64_t own_cases = 0;
    /// It knows what every output must be, so it notices what an earlier call left behind.
    bool knows_outputs = false;
    /// A failure is one of values, so witnesses can say who is wrong.
    bool compares_values = false;
    /// It compares within rounding bounds, on data that are no integers.
    bool is_bounded = false;

    bool applies(const Kernel& kernel, std::string_view device) const {
        return applies_to(kernel) && (only_on.empty() || only_on == device);
    }
};

}  // namespace gradverify
