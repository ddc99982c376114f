// SPDX-License-Identifier: Apache-2.0
#include "properties/properties.hpp"

#include <algorithm>
#include <array>

#include "properties/checking/tangents.hpp"

namespace gradverify {

namespace {

ValueKind integers(const Operator&) { return ValueKind::integers; }
ValueKind mantissas(const Operator&) { return ValueKind::mantissas; }
ValueKind integers_if_exact(const Operator& op) {
    return op.is_exact_on_integers() ? ValueKind::integers : ValueKind::mantissas;
}

bool any_kernel(const Kernel&) { return true; }
bool exact(const Kernel& kernel) { return kernel.op->is_exact_on_integers(); }
bool multilinear(const Kernel& kernel) { return kernel.op->algebra == Algebra::products; }
bool has_checked_variant(const Kernel& kernel) { return kernel.on(checked_variant) != nullptr; }
bool is_padded(const TensorSpec& tensor) { return !tensor.lengths.tensor.empty(); }
bool separable(const Kernel& kernel) {
    return !kernel.op->separable.empty() && std::ranges::none_of(kernel.op->outputs, is_padded) &&
           std::ranges::none_of(kernel.op->inputs, is_padded) && kernel.any().block_formats.empty();
}
bool gradient_or_tangent(const Kernel& kernel) { return !kernel.pass->is_forward(); }
bool adjoint(const Kernel& kernel) {
    return yields_tangents(*kernel.op, *kernel.pass) ||
           (gradient_or_tangent(kernel) && multilinear(kernel));
}

constexpr std::array properties{
    DefinedProperty{{.name = "matches_reference",
                     .summary = "equals the reference exactly on integer data",
                     .applies_to = exact,
                     .knows_outputs = true,
                     .compares_values = true,
                     .needs_integers = true},
                    integers,
                    matches_reference},
    DefinedProperty{{.name = "within_rounding_bound",
                     .summary = "stays within the derived rounding bound on real data",
                     .applies_to = any_kernel,
                     .knows_outputs = true,
                     .compares_values = true,
                     .is_bounded = true},
                    mantissas,
                    within_rounding_bound},
    DefinedProperty{{.name = "matches_finite_differences",
                     .summary = "is the derivative of the forward map",
                     .applies_to = gradient_or_tangent,
                     .compares_values = true},
                    integers_if_exact,
                    matches_finite_differences},
    DefinedProperty{{.name = "adjoint_identity",
                     .summary = "is the adjoint of a registered kernel",
                     .applies_to = adjoint,
                     .compares_values = true,
                     .needs_integers = true},
                    integers_if_exact,
                    adjoint_identity},
    DefinedProperty{{.name = "stays_in_bounds",
                     .summary = "writes every output and nothing else, reads only its inputs",
                     .applies_to = any_kernel},
                    integers_if_exact,
                    stays_in_bounds},
    DefinedProperty{{.name = "repeatable",
                     .summary = "gives the same result again, and elsewhere in memory",
                     .applies_to = any_kernel},
                    mantissas,
                    repeatable},
    // A checked access costs some thirty plain ones.
    DefinedProperty{{.name = "free_of_races",
                     .summary = "orders what its threads share, by barriers or atomics",
                     .applies_to = has_checked_variant,
                     .only_on = "cpu"},
                    integers_if_exact,
                    free_of_races,
                    0x1p-4},
    // A large problem is many times the small one that it is made of.
    DefinedProperty{{.name = "holds_when_large",
                     .summary = "is right on tensors of more than 2^31 elements, and bytes",
                     .applies_to = separable,
                     .only_on = "cuda",
                     .own_cases = 4},
                    integers_if_exact,
                    holds_when_large,
                    0x1p-4},
};

}  // namespace

std::span<const DefinedProperty> all_properties() { return properties; }

const DefinedProperty* find_property(std::string_view name) {
    const auto found = std::ranges::find(properties, name, &DefinedProperty::name);
    return found == properties.end() ? nullptr : &*found;
}

}  // namespace gradverify
