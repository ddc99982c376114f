// SPDX-License-Identifier: Apache-2.0
#include "harness/run/bugs.hpp"

#include <algorithm>
#include <string>

namespace gradverify {

bool is_of_one_kernel(const Row& a, const Row& b) {
    return a.kernel == b.kernel && a.device == b.device;
}

bool is_one_bug(const RowResult& a, const RowResult& b) {
    const std::string line = source_line_in(a.message);
    return is_of_one_kernel(a.row, b.row) &&
           (a.failure->smallest.problem == b.failure->smallest.problem ||
            (!line.empty() && source_line_in(b.message) == line));
}

std::vector<const RowResult*> take_bug(std::vector<const RowResult*>& failures) {
    std::vector<const RowResult*> bug{failures.front()};
    failures.erase(failures.begin());
    for (std::size_t i = 0; i < bug.size(); ++i) {
        const auto same = std::stable_partition(
            failures.begin(), failures.end(),
            [&](const RowResult* other) { return !is_one_bug(*bug[i], *other); });
        bug.insert(bug.end(), same, failures.end());
        failures.erase(same, failures.end());
    }
    return bug;
}

}  // namespace gradverify
