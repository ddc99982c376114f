// SPDX-License-Identifier: Apache-2.0
// Decides how small an error a comparison within bounds still sees, in units in the last place of
// the expected value: the bound of an element, divided by
//
//   ulp(want) = 2 u 2^floor(log2 |want|)
//
// with the unit roundoff u of the outputs' type; below its smallest normal number the ulp is the
// smallest normal number's. Any larger error of that element fails; a smaller one may pass.
#pragma once

#include <optional>
#include <span>

#include "harness/cases/compare.hpp"
#include "harness/numbers/bounded.hpp"

namespace gradverify {

/// What a unit in the last place of a value is worth.
double ulp_of(const Rounding& type, double value);

/// The sensitivity of a case's outputs, over the elements whose expected value is not zero; nothing
/// where all are. An element that must be exact counts as 0, one without a bound as infinity.
///
/// **Ranges** a type for each output.
std::optional<Sensitivity> sensitivity_of(std::span<const Expected> expected,
                                          std::span<const Rounding> types);

}  // namespace gradverify
