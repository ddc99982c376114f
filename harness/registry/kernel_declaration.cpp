// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/kernel_declaration.hpp"

#include <algorithm>
#include <map>

namespace gradverify {

DType KernelDeclaration::accumulator() const {
    if (accumulation_type) return *accumulation_type;
    return storage_type == DType::f64 ? DType::f64 : DType::f32;
}

bool KernelDeclaration::has_f32_factors() const {
    const auto is_f32 = [](const auto& one) { return one.second == DType::f32; };
    return truncates_sums() && roundings.empty() &&
           (storage_type.value_or(DType::f32) == DType::f32 ||
            std::ranges::any_of(storage_types, is_f32));
}

bool KernelDeclaration::multiplies_in_tf32() const { return has_f32_factors() && !split_factors; }

int KernelDeclaration::places() const {
    int most = 0;
    std::map<std::string, int> inputs;
    for (const Alias& alias : aliases)
        if (!alias.is_always) most = std::max(most, ++inputs[alias.output]);
    return most;
}

const Alias* KernelDeclaration::alias_of(std::string_view output, int place) const {
    std::vector<const Alias*> choices;
    for (const Alias& alias : aliases) {
        if (alias.output != output) continue;
        if (alias.is_always) return &alias;
        choices.push_back(&alias);
    }
    if (place == 0 || choices.empty()) return nullptr;
    return choices[static_cast<std::size_t>(place - 1) % choices.size()];
}

}  // namespace gradverify
