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

// Each says in the first lines of its file what it asks.
Outcome matches_reference(CaseContext& context);
Outcome within_rounding_bound(CaseContext& context);
Outcome matches_finite_differences(CaseContext& context);
Outcome adjoint_identity(CaseContext& context);
Outcome stays_in_bounds(CaseContext& context);
Outcome repeatable(CaseContext& context);
Outcome free_of_races(CaseContext& context);
Outcome holds_when_large(CaseContext& context);

std::span<const DefinedProperty> all_properties();
/// Null when there is none.
const DefinedProperty* find_property(std::string_view name);

}  // namespace gradverify
