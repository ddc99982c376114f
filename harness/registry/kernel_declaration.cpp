// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/kernel_declaration.hpp"

#include <algorithm>

#include "harness/base/setters.hpp"

namespace gradverify {

DType KernelDeclaration::accumulator() const {
    if (accumulation_type) return *accumulation_type;
    return storage_type == DType::f64 ? DType::f64 : DType::f32;
}

int KernelDeclaration::exact_bits() const {
    int bits = std::min(traits_of(accumulator()).exact_bits,
                        traits_of(storage_type.value_or(DType::f32)).exact_bits);
    for (const auto& [tensor, dtype] : storage_types)
        bits = std::min(bits, traits_of(dtype).exact_bits);
    return multiplies_in_tf32() ? std::min(bits, tf32_exact_bits) : bits;
}

bool KernelDeclaration::truncates_sums() const {
    return uses_tensor_cores && accumulator() != DType::f64;
}

bool KernelDeclaration::multiplies_in_tf32() const {
    const auto is_f32 = [](const auto& one) { return one.second == DType::f32; };
    return truncates_sums() && (storage_type.value_or(DType::f32) == DType::f32 ||
                                std::ranges::any_of(storage_types, is_f32));
}

int KernelDeclaration::places() const {
    int most = 0;
    for (const Alias& one : aliases)
        most =
            std::max(most, static_cast<int>(std::ranges::count_if(aliases, [&](const Alias& other) {
                         return !other.is_always && other.output == one.output;
                     })));
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

std::string KernelDeclaration::full_name() const {
    return operator_name + "." + pass_name + "/" + variant;
}

KernelDeclaration& KernelDeclaration::where(std::string_view parameter, Condition condition) {
    condition.parameter = std::string(parameter);
    constraints.push_back(std::move(condition));
    return *this;
}
KernelDeclaration& KernelDeclaration::spatial_axes(int least, int most) {
    return detail::set(*this, ranks, RankRange{least, most});
}
KernelDeclaration& KernelDeclaration::supports(std::string_view feature) {
    return detail::add(*this, features, std::string(feature));
}
KernelDeclaration& KernelDeclaration::only_if(std::string_view text, Predicate supported) {
    predicate_text = std::string(text);
    predicate = supported;
    return *this;
}
KernelDeclaration& KernelDeclaration::workspace(WorkspaceBytes bytes) {
    return detail::set(*this, workspace_bytes, bytes);
}
KernelDeclaration& KernelDeclaration::blocks_of(std::vector<int> threads) {
    return detail::set(*this, block_sizes, std::move(threads));
}
KernelDeclaration& KernelDeclaration::storage(DType dtype) {
    return detail::set(*this, storage_type, dtype);
}
KernelDeclaration& KernelDeclaration::storage(std::string_view tensor, DType dtype) {
    return detail::add(*this, storage_types, {std::string(tensor), dtype});
}
KernelDeclaration& KernelDeclaration::layout(std::string_view tensor, std::string_view order) {
    return detail::add(*this, layouts, {std::string(tensor), {std::string(order)}, false});
}
KernelDeclaration& KernelDeclaration::layout_of(std::string_view tensor,
                                                std::vector<std::string> orders) {
    return detail::add(*this, layouts, {std::string(tensor), std::move(orders), false});
}
KernelDeclaration& KernelDeclaration::strided(std::string_view tensor) {
    return detail::add(*this, layouts, {std::string(tensor), {}, true});
}
KernelDeclaration& KernelDeclaration::accumulates_in(DType dtype) {
    return detail::set(*this, accumulation_type, dtype);
}
KernelDeclaration& KernelDeclaration::fast_math() {
    return detail::set(*this, arithmetic, Arithmetic::fast);
}
KernelDeclaration& KernelDeclaration::on_tensor_cores() {
    return detail::set(*this, uses_tensor_cores, true);
}
KernelDeclaration& KernelDeclaration::saturates() {
    return detail::set(*this, saturates_results, true);
}
KernelDeclaration& KernelDeclaration::norm_wise(double growth) {
    return detail::set(*this, norm_wise_growth, growth);
}
KernelDeclaration& KernelDeclaration::aligned_to(std::int64_t bytes) {
    return detail::set(*this, base_alignment_bytes, bytes);
}
KernelDeclaration& KernelDeclaration::on_given_stream() {
    return detail::set(*this, stream_use, StreamUse::given_only);
}
KernelDeclaration& KernelDeclaration::on_default_stream() {
    return detail::set(*this, stream_use, StreamUse::default_stream);
}
KernelDeclaration& KernelDeclaration::with_empty_problems() {
    return detail::set(*this, accepts_empty, true);
}
KernelDeclaration& KernelDeclaration::with_invalid_indices() {
    return detail::set(*this, accepts_invalid_indices, true);
}
KernelDeclaration& KernelDeclaration::adds_to_outputs() {
    return detail::set(*this, write_mode, WriteMode::accumulates);
}
KernelDeclaration& KernelDeclaration::in_place(std::string_view output, std::string_view input) {
    return detail::add(*this, aliases, {std::string(output), std::string(input), false});
}
KernelDeclaration& KernelDeclaration::updates(std::string_view output, std::string_view input) {
    return detail::add(*this, aliases, {std::string(output), std::string(input), true});
}
KernelDeclaration& KernelDeclaration::takes_mask() {
    return detail::set(*this, takes_output_mask, true);
}
KernelDeclaration& KernelDeclaration::not_deterministic() {
    return detail::set(*this, determinism, Determinism::varies);
}
KernelDeclaration& KernelDeclaration::may_refuse() {
    return detail::set(*this, may_refuse_problems, true);
}
KernelDeclaration& KernelDeclaration::needs(WhyAbsent why) {
    return detail::set(*this, why_absent, why);
}
KernelDeclaration& KernelDeclaration::yardstick(std::string_view name) {
    return detail::set(*this, yardstick_name, std::string(name));
}
KernelDeclaration& KernelDeclaration::up_to_elements(std::int64_t elements) {
    return detail::set(*this, most_elements, elements);
}
KernelDeclaration& KernelDeclaration::with(void (*declare)(KernelDeclaration&)) {
    declare(*this);
    return *this;
}
KernelDeclaration& KernelDeclaration::costs(LaunchCost cost) {
    return detail::set(*this, launch_cost, cost);
}

}  // namespace gradverify
