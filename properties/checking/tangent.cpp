// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/tangent.hpp"

#include <algorithm>

namespace gradverify {

std::vector<Array<double>> tangent_inputs(CaseContext& context, const std::string& tensor,
                                          const Array<double>& direction) {
    const PassSpec& forward = context.op().forward();
    auto inputs = context.inputs.of(forward);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = forward.inputs[i];
        if (name == tensor) {
            inputs[i] = direction;
            continue;
        }
        if (!context.op().inputs[i].differentiable) continue;  // indices stay as they are
        const bool shares_a_product =
            std::ranges::any_of(context.op().products, [&](const auto& product) {
                return std::ranges::count(product, name) > 0 &&
                       std::ranges::count(product, tensor) > 0;
            });
        if (!shares_a_product) std::ranges::fill(inputs[i].data, 0.0);
    }
    return inputs;
}

}  // namespace gradverify
