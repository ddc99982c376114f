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
/// The elements of a problem's explicit data for another problem: each at its place or the nearest
/// that is free, as far as there is room, and indices within their range. Nothing where one is a
/// property's own.
std::optional<Data> carried_data(const Operator& op, const Problem& from, const Problem& to,
                                 const std::vector<DataElement>& elements);

/// Elements that shrink to fewer, chunk by chunk, and once they are few to simple values.
rc::Shrinkable<Data> listed_data(std::vector<DataElement> elements);

/// A setting that shrinks to the default one, and then field by field.
rc::Shrinkable<Setting> setting_tree(Setting setting);

}  // namespace gradverify
