// SPDX-License-Identifier: Apache-2.0
// Decides whether a kernel's output is right: each element against its own bound, in the accepting
// form `error <= bound`, so that only a NaN that is expected passes.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/cases/bound.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

/// The bound of a value; without a limit where its error has none.
inline Bound bound_of(const Bounded& value) {
    const double error = value.error();
    if (std::isfinite(error)) return Bound(error);
    return value.may_be_infinite() ? Bound::none() : Bound::finite();
}

/// What an output must be: values, and how far each may be off; exactly these without `bounds`.
struct Expected {
    std::string tensor;
    Sizes sizes;
    std::vector<double> values;
    std::vector<Bound> bounds;
    bool admits_nan = false;  ///< a NaN that is expected is right: the data hold NaN
    /// The bounds of any reasonable formula, asked for where an element is beyond its own. What
    /// lies between is imprecise, not wrong. Null: there is one formula.
    std::function<std::vector<Bound>()> by_any_formula{};

    Bound bound_at(std::size_t i) const { return bounds.empty() ? Bound() : bounds[i]; }

    static Expected exactly(std::string tensor, const Array<double>& values);
    static Expected within(std::string tensor, const Array<Bounded>& values);
};

struct Comparison {
    bool ok = true;
    /// A kernel that writes zeros would have failed: an expected value was beyond its bound from 0.
    bool saw_nonzero = false;
    double error_over_bound = 0.0;    ///< the largest; 0 where everything was exact
    std::vector<WrongElement> worst;  ///< at most three, the worst first
    WrongMap map;
    std::optional<Imprecision> imprecision;  ///< also where other elements are wrong
};

/// **Errors** std::logic_error when `got` has another number of elements than expected.
Comparison compare(std::span<const double> got, const Expected& expected);

/// The outcome of several outputs together: failed if one failed, with this sentence in front of
/// the evidence, vacuous if all were.
Outcome combine(std::span<const Comparison> comparisons, const std::string& failure);

/// The index of a flat offset.
Sizes unflatten(std::int64_t flat, const Sizes& sizes);

}  // namespace gradverify
