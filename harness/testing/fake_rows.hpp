// SPDX-License-Identifier: Apache-2.0
// For tests of how rows are served: a suite whose cases have their index for seed, fake workers.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/run/check_rows.hpp"
#include "harness/testing/fake_suite.hpp"
#include "harness/testing/fake_worker.hpp"
#include "harness/testing/made_operator.hpp"

namespace gradverify::testing {

/// A drawn case, as the driver asked for it.
struct Asked {
    std::string kernel, property;
    std::uint64_t seed = 0;
    std::int64_t index = 0;
    std::string problem;
    auto operator<=>(const Asked&) const = default;
};

/// A row's case on a problem, with data of this seed.
inline Case case_on(const Row& row, const Problem& problem, std::uint64_t seed) {
    return {.kernel = row.kernel->name,
            .property = row.property_name(),
            .device = row.device,
            .problem = problem,
            .data = {.seed = seed}};
}

inline Suite::Draw drawn_on(const Row& row, const char* problem, std::int64_t index) {
    return {case_on(row, Problem::parse(row.kernel->op->space, problem),
                    static_cast<std::uint64_t>(index)),
            ""};
}

/// Two operators, kernels that support different problems, and a suite that records what is asked.
class Bench {
  public:
    Bench() {
        registry.add(toy_operator());
        registry.add(toy_operator("other"));
        registry.add(toy_kernel("any"));
        registry.add(toy_kernel("small").where("in", between(1, 4)));
        KernelDeclaration other = toy_kernel("any", "cuda");
        other.operator_name = "other";
        registry.add(other);
        registry.check();
        const auto make = [this](const Row& row, std::uint64_t seed, std::int64_t index,
                                 const Problem& problem) {
            asked.push_back({row.kernel->name, row.property_name(), seed, index, problem.print()});
            return case_on(row, problem, static_cast<std::uint64_t>(index));
        };
        suite.on_draw = [make](const Row& row, std::uint64_t seed, std::int64_t index) {
            if (row.property->name == "undrawable") return Suite::Draw{{}, "no problem is left"};
            if (row.property->name == "throws") throw std::runtime_error("no such size");
            const Problem problem = Problem::parse(row.kernel->op->space, "in=3");
            return Suite::Draw{make(row, seed, index, problem), ""};
        };
        suite.on_draw_on = make;
        suite.on_shrink = [this](const Case& found, const Outcome& outcome,
                                 const CaseRunner& runner) {
            shrunk.push_back(found.data.seed);
            const Outcome again = runner(found);
            return Shrunk{{{Minimality::Kind::certified}},
                          found,
                          again.verdict == outcome.verdict ? again : outcome,
                          1};
        };
    }

    Row row(const std::string& property, const std::string& kernel = "toy.forward/any") const {
        const Property* const known = suite.find(property);
        return {registry.find_kernel(kernel), known ? known : property_called(property), "cpu"};
    }

    /// Problems of `toy`.
    std::vector<Problem> problems(const std::vector<std::string>& texts) const {
        std::vector<Problem> all;
        for (const std::string& text : texts)
            all.push_back(Problem::parse(registry.find_operator("toy")->space, text));
        return all;
    }

    std::vector<RowResult> check(const std::vector<Row>& rows, const CheckOptions& options,
                                 int jobs = 1) {
        WorkerPoolOptions workers{.command = test_worker_command(), .jobs = jobs};
        workers.time.floor_seconds = 0.5;
        WorkerPool pool(workers);
        const CheckObserver observer{
            .case_ended =
                [this](const Case& drawn, const Outcome& outcome) {
                    ended_cases.push_back(drawn.property + " " + std::to_string(drawn.data.seed) +
                                          " " + std::string(name_of(outcome.verdict)));
                },
            .row_ended =
                [this](const RowResult& result) { ended.push_back(result.row.property_name()); },
            .bug_found =
                [this](const auto& failed, bool is_more) {
                    std::string text(is_more ? "more" : "bug");
                    for (const RowResult* const one : failed)
                        text += " " + one->row.property_name();
                    bugs.push_back(text);
                },
            .failure_waits = [this](const Case& found,
                                    const Outcome&) { named.push_back(found.kernel); },
            .lives =
                [this](const SignOfLife& sign) {
                    signs.push_back({sign, sign.longest ? sign.longest->property_name() : ""});
                },
            .progressed =
                [this](auto done_now, auto most_now, auto) {
                    done = done_now;
                    most = most_now;
                }};
        return check_rows(suite, rows, options, pool, observer);
    }

    RowResult check_one(const std::string& property, const CheckOptions& options, int jobs = 1) {
        return check({row(property)}, options, jobs).front();
    }

    Registry registry;
    FakeSuite suite;
    std::vector<Asked> asked;
    std::vector<std::uint64_t> shrunk;
    std::vector<std::string> ended, ended_cases, bugs, named;
    struct Sign {
        SignOfLife sign;
        std::string longest;
    };
    std::vector<Sign> signs;
    std::int64_t done = 0, most = 0;
};

/// Makes a suite enumerate these problems of a row's operator, with two cases each: at in=N with
/// the seeds 2 N and 2 N + 1.
inline void enumerate(FakeSuite& suite, const std::vector<std::string>& problems,
                      bool gives_up = false) {
    suite.on_problems_in_order = [=](const Row& row) -> Suite::ProblemsInOrder {
        if (row.property->name == "throws") throw std::runtime_error("no such size");
        return [=, space = &row.kernel->op->space, at = std::size_t{0}]() mutable {
            if (at == problems.size()) return Suite::NextProblem{{}, gives_up};
            return Suite::NextProblem{Problem::parse(*space, problems[at++])};
        };
    };
    suite.on_dense_cases = [](const Row& row, const Problem& problem) {
        const auto in = static_cast<std::uint64_t>(problem.on_axis("in", 0));
        return std::vector{case_on(row, problem, 2 * in), case_on(row, problem, 2 * in + 1)};
    };
}

}  // namespace gradverify::testing
