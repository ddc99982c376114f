// SPDX-License-Identifier: Apache-2.0
// Decides what a property is to the driver: a name, the passes that it applies to, how its cases
// are drawn, run and shrunk. The properties themselves live in properties/; the driver sees them
// only through a Suite, so that nothing in harness/ knows an operator or rapidcheck.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/coverage.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// A kernel and a property on a device: a row of the result.
struct Row {
    const Kernel* kernel = nullptr;
    std::string property;
    std::string device;
};

/// Runs a case somewhere (in a worker, or in this process) and says what it came to.
using CaseRunner = std::function<Outcome(const Case&)>;

/// What is proven of a shrunk problem.
struct Minimality {
    enum class Kind {
        none,
        /// Every smaller supported problem passes, and this one fails, on dense data, in settings
        /// that are the same from whatever case shrinking began.
        certified,
        /// The same of the problems in its box that were run: those with each parameter between
        /// its default and its value.
        boxed,
    };
    Kind kind = Kind::none;
    std::int64_t passed = 0;   ///< smaller problems that were run, each with every dense draw
    std::int64_t of = 0;       ///< that there are, in the box for `boxed`
    bool of_is_least = false;  ///< there are more than `of`
};

/// What failed in general, as far as the problems tell that were run beside the smallest.
struct Generality {
    /// The rule, or what was seen where there is none; empty when nothing was run.
    std::string text;
    bool is_rule = false;       ///< every problem that was run agrees
    std::int64_t problems = 0;  ///< that were run and say something
};

/// What shrinking found.
struct Shrunk {
    Case smallest;
    Outcome outcome;
    Minimality minimality;
    std::int64_t runs = 0;
    Generality generality{};
    /// Who is wrong, in one sentence; empty where the witnesses were not asked.
    std::string witnesses{};

    bool minimal() const { return minimality.kind == Minimality::Kind::certified; }
};

/// What the driver needs of the properties.
struct Suite {
    struct Entry {
        std::string name;
        std::string summary;  ///< one line, for `check --help` and the docs
        std::function<bool(const Kernel&)> applies_to;
        /// The one device that its cases are drawn on; empty: on any. Those of a property with
        /// cases of its own can be asked on others too.
        std::string only_on{};
        /// It draws so many cases at most, which share the device's memory and run one at a time,
        /// on problems of its own: none that a user gives, nor one after the other.
        std::optional<std::int64_t> own_cases{};

        bool applies(const Kernel& kernel, std::string_view device) const {
            return applies_to(kernel) && (only_on.empty() || only_on == device);
        }
    };
    std::vector<Entry> properties;

    /// Case i of a row: a function of (seed, kernel, property, i) alone (the device is filled in).
    /// Nothing when the row's constraints and predicate leave no problem; the text says why.
    struct Draw {
        std::optional<Case> drawn;
        std::string why_none;
        bool is_skip = false;  ///< none is wanted: no error of the kernel's declaration
    };
    std::function<Draw(const Row&, std::uint64_t seed, std::int64_t index)> draw;
    /// The same, on a problem of the user's.
    std::function<Case(const Row&, std::uint64_t seed, std::int64_t index, const Problem&)> draw_on;
    /// The pairs of levels that the row's constraints and the cost of its cases let meet; null for
    /// a row that was too short to look for them.
    std::function<std::shared_ptr<const PairsByRank>(const Row&)> pairs_within_reach;
    /// A row's supported problems, each call the next in the order of problems; nothing after the
    /// last, or where the search for one took too long.
    struct NextProblem {
        std::optional<Problem> problem;
        bool gave_up = false;
    };
    using ProblemsInOrder = std::function<NextProblem()>;
    std::function<ProblemsInOrder(const Row&)> problems_in_order;
    /// The cases that show a problem to pass, dense ones; as many for every problem of a row.
    std::function<std::vector<Case>(const Row&, const Problem&)> dense_cases;
    /// The one function that maps a printed case to an outcome. Runs the kernel in this process.
    std::function<Outcome(std::string_view printed_case)> run;
    /// Answers a request of `bench`, a MeasureRequest as it travels, in this process.
    std::function<Outcome(std::string_view request)> measure;
    /// The case with another call of the kernel before it, the likeliest to disturb it first.
    std::function<std::vector<Case>(const Case&)> with_calls_before;
    /// Shrinks a failing case, running candidates through `runner`.
    std::function<Shrunk(const Case&, const Outcome&, const CaseRunner& runner)> shrink;
    /// Says of a shrunk failure what fails in general and who is wrong, through the same runner.
    std::function<void(Shrunk&, const CaseRunner& runner)> explain;
};

}  // namespace gradverify
