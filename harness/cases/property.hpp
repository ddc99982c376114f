// SPDX-License-Identifier: Apache-2.0
// Decides what the driver knows of a property. What it checks lies in properties/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/registry/registry.hpp"

namespace gradverify {

struct Property {
    std::string_view name;
    std::string_view summary{};  ///< one line, for `check --help` and the docs
    bool (*applies_to)(const Kernel&) = nullptr;
    /// The one device that its cases are drawn on; empty: any. Those of a property with `own_cases`
    /// can be run on others too.
    std::string_view only_on{};
    /// The number of its cases, if it draws problems of its own: these take the device's memory,
    /// and run one at a time. 0: its problems are drawn like any, or the user's.
    std::int64_t own_cases = 0;
    bool knows_outputs = false;    ///< so it notices what an earlier call left behind
    bool compares_values = false;  ///< so witnesses can say who is wrong
    bool needs_integers = false;   ///< so recorded tensors tell it nothing
    bool is_bounded = false;  ///< compares within rounding bounds, on numbers that are no integers

    bool applies(const Kernel& kernel, std::string_view device) const {
        return applies_to(kernel) && (only_on.empty() || only_on == device);
    }
};

inline std::vector<std::string> names_of(const std::vector<const Property*>& properties) {
    std::vector<std::string> names;
    names.reserve(properties.size());
    for (const Property* const property : properties) names.emplace_back(property->name);
    return names;
}

}  // namespace gradverify
