// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/seeded_bugs/hunt.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "harness/run/shrink_in_workers.hpp"
#include "properties/properties.hpp"
#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/devices.hpp"

namespace gradverify {

std::vector<SeededBug> every_seeded_bug() {
    std::vector<SeededBug> all;
    const std::span<const SeededBug> lists[] = {seeded_bugs,     layout_bugs,    product_bugs,
                                                asynchrony_bugs, warpgroup_bugs, element_type_bugs,
                                                eight_bit_bugs,  derived_bugs};
    for (const auto list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

std::optional<FirstFailure> first_failure(const Suite& suite, const Row& row, std::uint64_t seed,
                                          WorkerPool& pool, std::int64_t cases_maximum) {
    for (std::int64_t i = 0; i < cases_maximum; ++i) {
        const auto draw = suite.draw(row, seed, i);
        if (!draw.drawn) throw std::runtime_error(draw.why_none);
        const Outcome outcome = pool.run(*draw.drawn);
        if (outcome.verdict == Verdict::failed) return {{*draw.drawn, outcome, i + 1}};
        if (outcome.verdict == Verdict::errored) throw std::runtime_error(outcome.message);
    }
    return std::nullopt;
}

std::optional<Row> row_of(const SeededBug& bug, const std::string& device) {
    const Row row{Registry::instance().find_kernel(std::string(bug.kernel)),
                  find_property(bug.property), device};
    if (!row.kernel || !row.property)
        throw std::invalid_argument("there is no row " + std::string(bug.kernel) + " " +
                                    std::string(bug.property));
    if (!bug.device.empty() && bug.device != device) return std::nullopt;
    if (!row.property->only_on.empty() && row.property->only_on != device) return std::nullopt;
    // It may need cuBLAS.
    if (device != "cpu" && !row.kernel->on(device)) return std::nullopt;
    return row;
}

bool hunt_down(const Suite& suite, const SeededBug& bug, const std::string& device,
               std::uint64_t seed, const Hunt& hunt) {
    CAPTURE(device);
    CAPTURE(std::string(bug.kernel));
    CAPTURE(std::string(bug.property));
    CAPTURE(seed);
    const auto row = row_of(bug, device);
    if (!row) {
        CHECK((device != "cpu" || bug.device == "cuda"));
        return true;
    }
    WorkerPool pool(one_suite_worker());
    const auto failure = first_failure(suite, *row, seed, pool, hunt.cases_maximum);
    REQUIRE(failure);
    const bool is_above = failure->found.problem.print() != bug.smallest;
    const Shrunk shrunk = suite.shrink(failure->found, failure->outcome,
                                       [&](const Case& candidate) { return pool.run(candidate); });
    const std::string printed = shrunk.smallest.print();
    CAPTURE(printed);
    CHECK(shrunk.smallest.problem.print() == bug.smallest);
    CHECK(shrunk.minimal() == bug.certified);
    if (!hunt.is_replayed) return is_above;
    WorkerPool other(one_suite_worker());
    CHECK(other.run(Case::parse(printed, Registry::instance())).verdict == Verdict::failed);
    return is_above;
}

void hunt_down_all(std::span<const SeededBug> bugs, const Hunt& hunt) {
    const KernelSuite suite(Registry::instance(), {.edge_problems = false});
    for (const std::string& device : test_devices())
        for (const SeededBug& bug : bugs) {
            bool is_above = false;
            for (std::uint64_t seed = 1; seed <= hunt.seeds; ++seed)
                is_above |= hunt_down(suite, bug, device, seed, hunt);
            const Kernel* kernel = Registry::instance().find_kernel(std::string(bug.kernel));
            // With one or two parameters any draw may be the smallest.
            if (!hunt.begins_above || kernel->op->space.parameters().size() <= 2) continue;
            CAPTURE(std::string(bug.kernel));
            CHECK(is_above);
        }
}

WorkerPoolOptions one_suite_worker() { return {.command = suite_worker_command(), .jobs = 1}; }

}  // namespace gradverify
