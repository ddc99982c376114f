// SPDX-License-Identifier: Apache-2.0
#include "properties/data/exact_sums.hpp"

#include <cmath>

#include "harness/numbers/autodiff/decisions.hpp"

namespace gradverify {

bool sums_stay_exact(const Operator& op, const PassSpec& pass, const Problem& problem,
                     const std::vector<Array<double>>& taken, int exact_bits) {
    const ScopedRounding integers(
        {.unit_roundoff = 0.0, .smallest_normal = 0.0, .largest = std::ldexp(1.0, exact_bits)});
    std::vector<Array<Bounded>> results;
    try {
        results = bounded_outputs(op, pass, problem, taken);
    } catch (const OpenTie&) {
        return true;  // no case compares it
    } catch (const UndecidedComparison&) {
        return false;  // what was compared was too large
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (op.tensor_named(pass.outputs[i]).holds_whole_numbers()) continue;
        for (const Bounded& element : results[i].data)
            // A NaN with a bound is one by definition, and no sum.
            if (!std::isfinite(element.error()) ||
                std::abs(element.value()) > current_rounding.largest)
                return false;
    }
    return true;
}

}  // namespace gradverify
