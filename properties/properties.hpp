// SPDX-License-Identifier: Apache-2.0
// The closed set of properties: one function each, and an array of all, those that tell most first.
// A property asks the case's context for what it needs, and answers with an outcome.
#pragma once

#include <span>
#include <string_view>

#include "harness/cases/outcome.hpp"
#include "harness/cases/property.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

struct DefinedProperty : Property {
    ValueKind (*values)(const Operator&);
    Outcome (*check)(CaseContext&);
    double work_share = 1.0;  ///< its problems' cost, as a share of other properties'
};

/// The outputs on small integers are the reference's, bit for bit.
Outcome matches_reference(CaseContext& context);
/// The outputs on full mantissas are within the rounding that any order of operations may cause.
Outcome within_rounding_bound(CaseContext& context);
/// The gradient is the forward map's, by differences of the reference and of a registered kernel.
Outcome matches_finite_differences(CaseContext& context);
/// <dy, J v> = <J^T dy, v> between a registered forward kernel and this gradient kernel.
Outcome adjoint_identity(CaseContext& context);
/// Only outputs are written, all of them, and only inputs decide what is written.
Outcome stays_in_bounds(CaseContext& context);
/// The same call gives the same bits; moved pointers, another stream, block size or order of
/// threads stay within the rounding bound.
Outcome repeatable(CaseContext& context);

/// The kernel's checked variant runs without a finding: no race, no read of unwritten memory, no
/// access out of bounds, no barrier or warp primitive that some threads miss.
Outcome free_of_races(CaseContext& context);
/// Tensors of more than 2^31 elements or bytes, made of copies of a small problem, hold what the
/// small one's reference says.
Outcome holds_when_large(CaseContext& context);

std::span<const DefinedProperty> all_properties();
/// Null when there is none.
const DefinedProperty* find_property(std::string_view name);

}  // namespace gradverify
