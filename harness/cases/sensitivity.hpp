// SPDX-License-Identifier: Apache-2.0
// Decides how small an error a comparison within bounds still sees: the bound of an element, in
// ulps of the expected value,
//
//   ulp(want) = 2 u 2^floor(log2 |want|)
//
// with the unit roundoff u of the output's type; below its smallest normal number the ulp is the
// same as at that number. Any larger error of the element fails; a smaller one may pass.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "harness/cases/compare.hpp"
#include "harness/cases/distribution.hpp"
#include "harness/numbers/rounding_bound.hpp"

namespace gradverify {

/// How small an error the cases of a row show, in ulps.
struct SensitivityOfCases {
    double least_ulps = std::numeric_limits<double>::infinity();  ///< of the tightest element
    Distribution medians;                                         ///< of each case's elements

    void add(const Sensitivity& one);
    void add(const SensitivityOfCases& other);
    std::int64_t cases() const { return medians.count(); }
    /// Of the median element of the median case.
    double median_ulps() const { return medians.quantile(0.5); }
};

/// The ulp of a value.
double ulp_of(const Rounding& type, double value);

/// The sensitivity over all elements whose expected value is not zero; nothing where there is none.
/// An element that must be exact counts as 0, one without a bound as infinity.
///
/// **Ranges** a type for each output.
std::optional<Sensitivity> sensitivity_of(std::span<const Expected> expected,
                                          std::span<const Rounding> types);

}  // namespace gradverify
