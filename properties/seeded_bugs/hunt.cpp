// SPDX-License-Identifier: Apache-2.0
#include "properties/seeded_bugs/hunt.hpp"

#include <stdexcept>

#include "properties/properties.hpp"
#include "properties/test_support.hpp"

namespace gradverify {

std::optional<FirstFailure> first_failure(const Suite& suite, const Row& row, std::uint64_t seed,
                                          WorkerPool& pool, std::int64_t cases_maximum) {
    for (std::int64_t i = 0; i < cases_maximum; ++i) {
        const auto draw = suite.draw(row, seed, i);
        if (!draw.drawn) throw std::runtime_error(draw.why_none);
        const Outcome outcome = pool.run(draw.drawn->print());
        if (outcome.verdict == Verdict::failed) return {{*draw.drawn, outcome, i + 1}};
    }
    return std::nullopt;
}

std::optional<Row> row_of(const SeededBug& bug, const std::string& device) {
    const Row row{Registry::instance().find_kernel(std::string(bug.kernel)),
                  std::string(bug.property), device};
    const Property* property = find_property(bug.property);
    if (!row.kernel || !property)
        throw std::invalid_argument("there is no row " + std::string(bug.kernel) + " " +
                                    row.property);
    if (!bug.device.empty() && bug.device != device) return std::nullopt;
    if (!property->only_on.empty() && property->only_on != device) return std::nullopt;
    return row;
}

WorkerPoolOptions one_suite_worker() { return {.command = suite_worker_command(), .jobs = 1}; }

}  // namespace gradverify
