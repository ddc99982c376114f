// SPDX-License-Identifier: Apache-2.0
#include "harness/run/rows.hpp"

#include <algorithm>

#include "harness/base/text.hpp"

namespace gradverify {

std::vector<Row> select_rows(const Suite& suite, const Registry& registry,
                             const std::vector<std::string>& kernel_globs,
                             const std::string& property_glob,
                             const std::vector<std::string>& devices) {
    std::vector<Row> rows;
    for (const Kernel& kernel : registry.kernels()) {
        const bool selected =
            kernel_globs.empty() || std::ranges::any_of(kernel_globs, [&](const auto& glob) {
                return glob_matches(glob, kernel.name);
            });
        if (!selected) continue;
        for (const std::string& device : devices)
            for (const Property* const property : suite.properties())
                if (kernel.on(device) && property->applies(kernel, device) &&
                    glob_matches(property_glob, std::string(property->name)))
                    rows.push_back({&kernel, property, device});
    }
    return rows;
}

}  // namespace gradverify
