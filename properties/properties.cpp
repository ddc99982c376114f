// SPDX-License-Identifier: Apache-2.0
#include "properties/properties.hpp"

#include <algorithm>
#include <array>

namespace gradverify {

namespace {

ValueKind integers(const Operator&) { return ValueKind::integers; }
ValueKind mantissas(const Operator&) { return ValueKind::mantissas; }
/// Exact differences where the operator is linear in each tensor, smooth ones elsewhere; where it
/// is linear on pieces, integers meet their ends.
ValueKind integers_if_exact(const Operator& op) {
    return op.is_exact_on_integers() ? ValueKind::integers : ValueKind::mantissas;
}

bool any_kernel(const Kernel&) { return true; }
bool exact(const Kernel& kernel) { return kernel.op->is_exact_on_integers(); }
bool multilinear(const Kernel& kernel) { return !kernel.op->products.empty(); }
bool has_checked_variant(const Kernel& kernel) { return kernel.on(checked_variant) != nullptr; }
bool separable(const Kernel& kernel) { return !kernel.op->separable.empty(); }
bool gradient(const Kernel& kernel) { return !kernel.pass->is_forward(); }
bool gradient_of_multilinear(const Kernel& kernel) {
    return gradient(kernel) && multilinear(kernel);
}

constexpr std::array properties{
    Property{"matches_reference", "equals the reference exactly on integer data", integers, exact,
             matches_reference},
    Property{"within_rounding_bound", "stays within the derived rounding bound on real data",
             mantissas, any_kernel, within_rounding_bound},
    Property{"matches_finite_differences", "is the derivative of the forward map",
             integers_if_exact, gradient, matches_finite_differences},
    Property{"adjoint_identity", "is the adjoint of a registered forward kernel", integers,
             gradient_of_multilinear, adjoint_identity},
    Property{"stays_in_bounds", "writes every output and nothing else, reads only its inputs",
             integers_if_exact, any_kernel, stays_in_bounds},
    Property{"repeatable", "gives the same result again, and elsewhere in memory", mantissas,
             any_kernel, repeatable},
    // An access that is checked costs some thirty plain ones.
    Property{"free_of_races", "orders what its threads share, by barriers or atomics",
             integers_if_exact, has_checked_variant, free_of_races, "cpu", 0x1p-4},
    // A large problem is many times the small one that it is made of.
    Property{"holds_when_large", "is right on tensors of more than 2^31 elements, and bytes",
             integers_if_exact, separable, holds_when_large, "cuda", 0x1p-4, 4},
};

}  // namespace

std::span<const Property> all_properties() { return properties; }

const Property* find_property(std::string_view name) {
    const auto found = std::ranges::find(properties, name, &Property::name);
    return found == properties.end() ? nullptr : &*found;
}

}  // namespace gradverify
