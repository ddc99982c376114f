// SPDX-License-Identifier: Apache-2.0
// Decides how small an error a comparison within bounds still sees, in units in the last place of
// the expected value: the bound of an element, divided by
//
//   ulp(want) = 2 u 2^floor(log2 |want|)
//
// with the unit roundoff u of the outputs' type; below its smallest normal number the ulp is that
// of the smallest normal number. Any larger error of that element fails; a smaller one may pass.
// What passed is not asked, and nothing is compared here.
#pragma once

#include <optional>
#include <span>

#include "harness/bounded.hpp"
#include "harness/compare.hpp"

namespace gradverify {

/// Of all outputs of a case together, over the elements whose expected value is not zero; nothing
/// where all are. An element without a bound, or with an infinite one, counts
/// as what it is: 0, or infinity.
std::optional<Sensitivity> sensitivity_of(std::span<const Expected> expected, const Rounding& type);

}  // namespace gradverify
