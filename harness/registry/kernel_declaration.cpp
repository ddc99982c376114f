// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/kernel_declaration.hpp"

#include <algorithm>

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
    ranks = {least, most};
    return *this;
}

KernelDeclaration& KernelDeclaration::supports(std::string_view feature) {
    features.push_back(std::string(feature));
    return *this;
}

KernelDeclaration& KernelDeclaration::only_if(std::string_view text, Predicate supported) {
    predicate_text = std::string(text);
    predicate = supported;
    return *this;
}

KernelDeclaration& KernelDeclaration::workspace(WorkspaceBytes bytes) {
    workspace_bytes = bytes;
    return *this;
}

KernelDeclaration& KernelDeclaration::blocks_of(std::vector<int> threads) {
    block_sizes = std::move(threads);
    return *this;
}

KernelDeclaration& KernelDeclaration::storage(DType dtype) {
    storage_type = dtype;
    return *this;
}

KernelDeclaration& KernelDeclaration::storage(std::string_view tensor, DType dtype) {
    storage_types.emplace_back(std::string(tensor), dtype);
    return *this;
}

KernelDeclaration& KernelDeclaration::layout(std::string_view tensor, std::string_view order) {
    layouts.push_back({std::string(tensor), {std::string(order)}, false});
    return *this;
}

KernelDeclaration& KernelDeclaration::layout_of(std::string_view tensor,
                                                std::vector<std::string> orders) {
    layouts.push_back({std::string(tensor), std::move(orders), false});
    return *this;
}

KernelDeclaration& KernelDeclaration::strided(std::string_view tensor) {
    layouts.push_back({std::string(tensor), {}, true});
    return *this;
}

KernelDeclaration& KernelDeclaration::accumulates_in(DType dtype) {
    accumulation_type = dtype;
    return *this;
}

KernelDeclaration& KernelDeclaration::fast_math() {
    arithmetic = Arithmetic::fast;
    return *this;
}

KernelDeclaration& KernelDeclaration::on_tensor_cores() {
    uses_tensor_cores = true;
    return *this;
}

KernelDeclaration& KernelDeclaration::saturates() {
    saturates_results = true;
    return *this;
}

KernelDeclaration& KernelDeclaration::norm_wise(double growth) {
    norm_wise_growth = growth;
    return *this;
}

KernelDeclaration& KernelDeclaration::aligned_to(std::int64_t bytes) {
    base_alignment_bytes = bytes;
    return *this;
}

KernelDeclaration& KernelDeclaration::on_given_stream() {
    stream_use = StreamUse::given_only;
    return *this;
}

KernelDeclaration& KernelDeclaration::on_default_stream() {
    stream_use = StreamUse::default_stream;
    return *this;
}

KernelDeclaration& KernelDeclaration::with_empty_problems() {
    accepts_empty = true;
    return *this;
}

KernelDeclaration& KernelDeclaration::with_invalid_indices() {
    accepts_invalid_indices = true;
    return *this;
}

KernelDeclaration& KernelDeclaration::adds_to_outputs() {
    write_mode = WriteMode::accumulates;
    return *this;
}

KernelDeclaration& KernelDeclaration::in_place(std::string_view output, std::string_view input) {
    aliases.push_back({std::string(output), std::string(input), false});
    return *this;
}

KernelDeclaration& KernelDeclaration::updates(std::string_view output, std::string_view input) {
    aliases.push_back({std::string(output), std::string(input), true});
    return *this;
}

KernelDeclaration& KernelDeclaration::takes_mask() {
    takes_output_mask = true;
    return *this;
}

KernelDeclaration& KernelDeclaration::not_deterministic() {
    determinism = Determinism::varies;
    return *this;
}

KernelDeclaration& KernelDeclaration::may_refuse() {
    may_refuse_problems = true;
    return *this;
}

KernelDeclaration& KernelDeclaration::needs(WhyAbsent why) {
    why_absent = why;
    return *this;
}

KernelDeclaration& KernelDeclaration::yardstick(std::string_view name) {
    yardstick_name = std::string(name);
    return *this;
}

KernelDeclaration& KernelDeclaration::up_to_elements(std::int64_t elements) {
    most_elements = elements;
    return *this;
}

KernelDeclaration& KernelDeclaration::with(void (*declare)(KernelDeclaration&)) {
    declare(*this);
    return *this;
}

KernelDeclaration& KernelDeclaration::costs(LaunchCost cost) {
    launch_cost = cost;
    return *this;
}

}  // namespace gradverify
