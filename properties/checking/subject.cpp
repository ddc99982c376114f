// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/subject.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/base/random.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

const KernelDeclaration& declaration_of(const Case& checked, const Kernel& kernel) {
    if (const KernelDeclaration* declaration = kernel.on(checked.device)) return *declaration;
    throw std::invalid_argument(kernel.name + " " + kernel.why_not_on(checked.device));
}

void require_supported(const Kernel& kernel, const Problem& problem) {
    if (const auto why = kernel.op->validate(problem)) throw std::invalid_argument(*why);
    if (const auto why = kernel.why_unsupported(problem)) throw std::invalid_argument(*why);
}

}  // namespace

const Kernel& kernel_named(const Registry& registry, std::string_view name) {
    if (const Kernel* kernel = registry.find_kernel(name)) return *kernel;
    throw std::invalid_argument("there is no kernel " + std::string(name));
}

Subject::Subject(const Case& checked, const Registry& registry, ValueKind kind)
    : checked_(checked),
      registry_(registry),
      kernel_(kernel_named(registry, checked.kernel)),
      declaration_(declaration_of(checked, kernel_)),
      device_(device_named(checked.device)),
      kind_(kind) {
    require_supported(kernel_, problem());
}

std::uint64_t Subject::seed_for(std::string_view purpose) const {
    return mix_seed(checked_.data.is_explicit ? 0 : checked_.data.seed, purpose);
}

Array<double> Subject::direction_for(std::string_view purpose, const Array<double>& like,
                                     std::int64_t largest) const {
    return draw_direction(like, seed_for(purpose), exact_bits(), longest_reduction(op(), problem()),
                          largest);
}

std::int64_t Subject::largest_step(std::string_view tensor, const Kernel* other) const {
    const std::int64_t largest = std::min<std::int64_t>(64, types().largest_integer(op(), tensor));
    return other ? std::min(largest, ElementTypes(other->any(), op()).largest_integer(op(), tensor))
                 : largest;
}

bool Subject::rounds_when_stored(std::string_view tensor) const {
    return !op().tensor_named(tensor).holds_whole_numbers() &&
           !holds_all_of(types().of(op(), tensor), declaration_.accumulator());
}

bool Subject::sums_integers_exactly() const {
    return !declaration_.norm_wise_growth && op().is_exact_at(problem()) && !adds_up_expanded();
}

// Long sums of random integers of both signs stay small; equal elements of expanded tensors add up.
bool Subject::adds_up_expanded() const {
    const bool is_expanded = std::ranges::any_of(
        checked_.setting.layouts, [](const auto& one) { return one.second.expanded != 0; });
    return is_expanded && static_cast<double>(longest_reduction(op(), problem())) >
                              std::ldexp(1.0, exact_bits() - 1);
}

}  // namespace gradverify
