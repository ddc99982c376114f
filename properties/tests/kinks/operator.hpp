// SPDX-License-Identifier: Apache-2.0
// Operators with kinks, for the tests: ramps, y = max(x, 0), some with a gradient by hand, right or
// wrong, or with a forward function that differs by scalar; a median; a product whose factors have
// ranges, a quotient; and maxima whose place is saved.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::kinks {

template <FixedText operator_text>
struct GradX : Pass<operator_text, "grad_x"> {
    using Base = Pass<operator_text, "grad_x">;
    using Base::Base;
    TensorView dy = Base::tensor("dy"), x = Base::tensor("x"), dx = Base::tensor("dx");
};

/// y = x w of numbers in a range.
struct Masked : Pass<"masked", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), w = tensor("w"), y = tensor("y");
};

struct Quotient : Pass<"quotient", "forward"> {
    using Pass::Pass;
    TensorView a = tensor("a"), b = tensor("b"), y = tensor("y");
};

struct QuotientBackward : Pass<"quotient", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), a = tensor("a"), b = tensor("b"), da = tensor("da"),
               db = tensor("db");
};

/// `at` is where in its row of x each number of y was found.
template <FixedText operator_text>
struct Place : Pass<operator_text, "forward"> {
    using Base = Pass<operator_text, "forward">;
    using Base::Base;
    TensorView x = Base::tensor("x"), y = Base::tensor("y"), at = Base::tensor("at");
};
using Largest = Place<"largest">;
using LargestPiecewise = Place<"largest_piecewise">;
using LargestSize = Place<"largest_size">;
using SecondLargest = Place<"second_largest">;

using Median = GradX<"median">;
using Forgetful = GradX<"ramp_forgetful">;
using ByMax = GradX<"ramp_by_max">;
using ByBranch = GradX<"ramp_by_branch">;
using ByDefinition = GradX<"ramp_by_definition">;
using WrongByHand = GradX<"ramp_wrong_by_hand">;
using RightByHand = GradX<"ramp_right_by_hand">;

}  // namespace gradverify::kinks
