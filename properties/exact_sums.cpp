// SPDX-License-Identifier: Apache-2.0
#include "properties/exact_sums.hpp"

#include <algorithm>
#include <cmath>

#include "harness/autodiff/decisions.hpp"

namespace gradverify {

bool sums_stay_exact(const Operator& op, const PassSpec& pass, const Problem& problem,
                     const std::vector<Array<double>>& taken, int exact_bits) {
    const ScopedRounding integers(
        {.unit_roundoff = 0.0, .smallest_normal = 0.0, .largest = std::ldexp(1.0, exact_bits)});
    std::vector<Array<Bounded>> exact, results;
    for (const Array<double>& array : taken)
        exact.push_back({array.sizes, {array.data.begin(), array.data.end()}});
    for (const std::string& name : pass.outputs) {
        results.push_back({op.sizes_of(name, problem), {}});
        results.back().data.resize(static_cast<std::size_t>(element_count(results.back().sizes)),
                                   Bounded(0.0));
    }
    try {
        pass.bounded_reference(problem, exact, results);
    } catch (const UndecidedComparison&) {
        return true;  // a tie that the operator leaves open, which no case compares
    }
    return std::ranges::all_of(results, [](const Array<Bounded>& result) {
        return std::ranges::all_of(
            result.data, [](const Bounded& element) { return std::isfinite(element.error()); });
    });
}

}  // namespace gradverify
