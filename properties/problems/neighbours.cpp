// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/neighbours.hpp"

namespace gradverify {

std::vector<Problem> with_one_changed(const SupportedProblems& supported, const Problem& problem) {
    std::vector<Problem> attributes, others;
    if (!supported.satisfies_constraints(problem)) return others;
    const RankDomain& domain = *supported.domain_of(problem.rank());
    const Assignment values(domain, problem);
    for (int which = 0; which < static_cast<int>(domain.classes.size()); ++which) {
        const std::int64_t value = values[which];
        for (const std::int64_t other : {value + 1, value - 1, 2 * value, value / 2}) {
            Assignment changed = values;
            if (other == value || !changed.allows(which, other)) continue;
            changed.set(which, other);
            Problem found = changed.problem(supported.op().space);
            if (!supported.contains(found)) continue;
            const int slot = domain.at(which).slots.front();
            (supported.op().space.spec(problem.rank(), slot).is_real() ? attributes : others)
                .push_back(std::move(found));
            break;
        }
    }
    attributes.insert(attributes.end(), others.begin(), others.end());
    return attributes;
}

}  // namespace gradverify
