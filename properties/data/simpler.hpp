// SPDX-License-Identifier: Apache-2.0
// Decides which simpler data and settings are tried next to those of a failing case, as shrink
// trees: one element of each of a few tensors, else the few elements that are needed; the default
// setting, else the few fields that matter. Pulls in rapidcheck.
#pragma once

#include <rapidcheck/Shrinkable.h>

#include <optional>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

/// Nobody reads a reproducer with more elements.
inline constexpr std::size_t most_elements = 32;

/// Zeros alone, then one element of each of up to three listed tensors, in every position, if there
/// are few choices; fewer elements first. None shrinks further.
rc::Seq<rc::Shrinkable<Data>> one_hot_data(const Operator& op, const Problem& problem,
                                           const std::vector<DataElement>& listed);

/// Whether an element has a value that simple data don't try.
bool hangs_on_values(const Data& data);
/// A problem's explicit data with these elements' values: each tensor's, in their order, at its
/// begin, as far as it has room. Nothing where one is a property's own.
std::optional<Data> carried_data(const Operator& op, const Problem& problem,
                                 const std::vector<DataElement>& elements);

/// Elements that shrink to fewer, chunk by chunk, and once they are few to simple values.
rc::Shrinkable<Data> listed_data(std::vector<DataElement> elements);

/// A setting that shrinks to the default one, and then field by field.
rc::Shrinkable<Setting> setting_tree(Setting setting);

}  // namespace gradverify
