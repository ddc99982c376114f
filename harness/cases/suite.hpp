// SPDX-License-Identifier: Apache-2.0
// Decides what the driver asks of the properties: how cases are drawn, run, shrunk and explained.
// Only through a Suite does the driver see properties/, so that it knows no operator.
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
#include "harness/cases/property.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// A kernel and a property on a device: a row of the result.
struct Row {
    const Kernel* kernel = nullptr;
    const Property* property = nullptr;
    std::string device;

    std::string property_name() const { return std::string(property->name); }
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
        /// The same of those run with each parameter between its default and its value here.
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

/// What a worker asks of the properties.
class CaseServer {
  public:
    virtual ~CaseServer() = default;

    /// The one function that maps a printed case to an outcome. Runs the kernel in this process.
    virtual Outcome run(std::string_view printed_case) const = 0;
    /// Answers a request of `bench` in this process.
    virtual Outcome measure(const MeasureRequest& request) const = 0;
};

/// What the driver asks of the properties, which properties/suite/ implements.
class Suite : public CaseServer {
  public:
    /// Those that tell most come first.
    virtual std::vector<const Property*> properties() const = 0;
    /// Null when there is none of this name.
    const Property* find(std::string_view name) const {
        for (const Property* const property : properties())
            if (property->name == name) return property;
        return nullptr;
    }

    struct Draw {
        std::optional<Case> drawn;
        std::string why_none;
        bool is_skip = false;  ///< none is wanted: no error of the kernel's declaration
    };
    /// Case i of a row: a function of (seed, kernel, property, i) alone (the device is filled in).
    /// Nothing when the row's constraints and predicate leave no problem; the text says why.
    virtual Draw draw(const Row& row, std::uint64_t seed, std::int64_t index) const = 0;
    /// The same, on a problem of the user's.
    virtual Case draw_on(const Row& row, std::uint64_t seed, std::int64_t index,
                         const Problem& problem) const = 0;
    /// The pairs of levels that the row's constraints and the cost of its cases let meet; null for
    /// a row that was too short to look for them.
    virtual std::shared_ptr<const PairsByRank> pairs_within_reach(const Row& row) const = 0;

    struct NextProblem {
        std::optional<Problem> problem;
        bool gave_up = false;
    };
    using ProblemsInOrder = std::function<NextProblem()>;
    /// A row's supported problems, each call the next in the order of problems; nothing after the
    /// last, or where the search for one took too long.
    virtual ProblemsInOrder problems_in_order(const Row& row) const = 0;
    /// The cases that show a problem to pass, dense ones; as many for every problem of a row.
    virtual std::vector<Case> dense_cases(const Row& row, const Problem& problem) const = 0;

    /// The case with another call of the kernel before it, the likeliest to disturb it first.
    virtual std::vector<Case> with_calls_before(const Case& failing) const = 0;
    /// Shrinks a failing case, running candidates through `runner`.
    virtual Shrunk shrink(const Case& found, const Outcome& outcome,
                          const CaseRunner& runner) const = 0;
    /// Says of a shrunk failure what fails in general and who is wrong, through the same runner.
    virtual void explain(Shrunk& shrunk, const CaseRunner& runner) const = 0;
};

}  // namespace gradverify
