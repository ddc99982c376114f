// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/contiguous_cotangents.hpp"

#include <algorithm>
#include <cstdint>

#include "harness/base/text.hpp"
#include "harness/registry/layout.hpp"

namespace gradverify {

// Of so many passed cases one asks what the kernel takes its cotangents for.
static constexpr std::uint64_t cases_to_ask = 8;
static constexpr int gap_elements = 3;

std::string contiguous_alone(CaseContext& context, const std::vector<Array<double>>& inputs,
                             const std::vector<Expected>& expected) {
    const auto names = undeclared_cotangents(context.op(), context.pass(), context.declaration());
    if (names.empty() || context.seed_for("strides") % cases_to_ask != 0) return {};
    Setting setting = context.checked().setting;
    for (const std::string& name : names)
        setting.layouts[name] = TensorLayout{.row_padding = gap_elements};
    try {
        const CallResult result =
            context.caller.call(context.kernel(), inputs, setting, context.caller.surroundings());
        const bool is_right =
            result.complaint().empty() &&
            std::ranges::all_of(compare_outputs(result, expected, setting), &Comparison::ok);
        return is_right || !result.error.empty() ? std::string() : joined(names);
    } catch (const NotServed&) {
        return {};
    }
}

}  // namespace gradverify
