// SPDX-License-Identifier: Apache-2.0
// Decides what the driver asks of the properties: how cases are drawn, run, shrunk and explained.
// It sees properties/ only through a Suite, so that it knows no operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/cases/bare_case.hpp"
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

/// Runs a case, in a worker or in this process.
class CaseRunner {
  public:
    using Run = std::function<Outcome(const Case&)>;
    using Expect = std::function<void(const std::vector<Case>&)>;

    template <class Any>
    requires(std::is_invocable_r_v<Outcome, const Any&, const Case&> &&
             !std::is_same_v<Any, CaseRunner>)
    CaseRunner(Any run) : run_(std::move(run)) {}
    /// So many cases run at once, if it is told in time which are next.
    CaseRunner(Run run, std::size_t width, Expect expect)
        : run_(std::move(run)), width_(width), expect_(std::move(expect)) {}

    Outcome operator()(const Case& one) const { return run_(one); }
    std::size_t width() const { return width_; }
    /// The cases that will probably be run next, in place of those that were expected before.
    void expect(const std::vector<Case>& next) const {
        if (expect_) expect_(next);
    }

  private:
    Run run_;
    std::size_t width_ = 1;
    Expect expect_;
};

/// What is proven of a shrunk problem.
struct Minimality {
    enum class Kind {
        none,
        /// No smaller supported problem fails, on dense data and in fixed settings.
        certified,
        /// Those pass that have each parameter between its default and its value here.
        boxed,
    };
    static constexpr Kind all_kinds[] = {Kind::none, Kind::certified, Kind::boxed};
    Kind kind = Kind::none;
    std::int64_t passed = 0;   ///< smaller problems that were run, each with every dense draw
    std::int64_t of = 0;       ///< all smaller problems; for `boxed` those in the box
    bool of_is_least = false;  ///< there are more than `of`
    std::int64_t silent = 0;   ///< of `passed`: every run was skipped or compared zeros alone
    std::int64_t draws = 0;  ///< of data and setting, with which each of `passed` was run; 0: told
                             ///< elsewhere
    bool operator==(const Minimality&) const = default;

    static void fields(auto& self, auto& visit) {
        constexpr const char* names[] = {"", "certified", "boxed"};
        visit.always("minimal", self.kind == Kind::certified);
        visit.one_of("minimality", self.kind, all_kinds,
                     [&](Kind one) { return names[static_cast<std::size_t>(one)]; });
        if (self.kind == Kind::none) return;
        visit.always("smaller_passed", self.passed);
        visit.always("smaller", self.of);
        visit("smaller_silent", self.silent);
        visit("smaller_draws", self.draws);
        visit("smaller_is_least", self.of_is_least);
    }
};

/// Which problems fail in general, as far as those tell that were run beside the smallest.
struct Generality {
    std::string text;  ///< the rule, or what was seen where there is none; empty: nothing was run
    bool is_rule = false;       ///< every problem that was run agrees
    std::int64_t problems = 0;  ///< that were run to a verdict
    bool operator==(const Generality&) const = default;

    static void fields(auto& self, auto& visit) {
        visit.either("rule", "seen", self.is_rule, self.text);
        visit("problems_run", self.problems);
    }
};

/// What the failing runs have in common, each empty where there is nothing to tell.
struct Symptoms {
    std::string outputs;  ///< `dk is wrong; dq, dv are right in all 57 failing runs`
    std::string pattern;  ///< `got = 1.41421 x want in all of dk`
    std::string only;     ///< `with dy expanded along axis 1`: how it must be called to fail
    bool operator==(const Symptoms&) const = default;

    static void fields(auto& self, auto& visit) {
        visit("outputs", self.outputs);
        visit("pattern", self.pattern);
        visit("only", self.only);
    }
};

/// What shrinking and explaining found out, which result files tell, too.
struct FailureFacts {
    Minimality minimality;
    Generality generality{};
    /// For which values of the one element fails on which it hangs; empty where it hangs on none.
    std::string values{};
    std::string witnesses{};  ///< who is wrong, in one sentence; empty where none were asked
    Symptoms symptoms{};
    bool operator==(const FailureFacts&) const = default;

    bool minimal() const { return minimality.kind == Minimality::Kind::certified; }

    static void fields(auto& self, auto& visit) {
        Minimality::fields(self.minimality, visit);
        Generality::fields(self.generality, visit);
        visit("values", self.values);
        visit("witnesses", self.witnesses);
        Symptoms::fields(self.symptoms, visit);
    }
};

/// A shrunk failure.
struct Shrunk : FailureFacts {
    Case smallest;
    Outcome outcome;
    std::int64_t runs = 0;
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

    /// Rows will be drawn from soon: threads may make what takes long to make for them.
    virtual void prepare(const std::vector<Row>&, int /*threads*/) const {}

    struct Draw {
        std::optional<Case> drawn;
        std::string why_none;
        bool is_skip = false;  ///< none is wanted: no error of the kernel's declaration
        double share = 0.0;    ///< of the most that a case may cost, as far as is known; 0: not
    };
    /// Case `index` of a row: a function of seed, kernel, property and index alone. Nothing when
    /// the kernel's declaration leaves no problem; the text says why. Threads draw at once.
    virtual Draw draw(const Row& row, std::uint64_t seed, std::int64_t index) const = 0;
    /// The same, on a problem of the user's.
    virtual Case draw_on(const Row& row, std::uint64_t seed, std::int64_t index,
                         const Problem& problem) const = 0;
    /// The pairs of levels that can meet in the row's cases; null if too short to look for them.
    virtual std::shared_ptr<const PairsByRank> pairs_within_reach(const Row& row) const = 0;

    struct NextProblem {
        std::optional<Problem> problem;
        bool gave_up = false;
    };
    using ProblemsInOrder = std::function<NextProblem()>;
    /// Gives a row's supported problems one by one, in order; nothing after the last, or where the
    /// search for the next took too long.
    virtual ProblemsInOrder problems_in_order(const Row& row) const = 0;
    /// The dense cases that show a problem to pass; equally many for every problem of a row.
    virtual std::vector<Case> dense_cases(const Row& row, const Problem& problem) const = 0;

    /// The case with another call of the kernel before it, the likeliest to disturb it first.
    virtual std::vector<Case> with_calls_before(const Case& failing) const = 0;
    /// Shrinks a failing case, running candidates through `runner`.
    virtual Shrunk shrink(const Case& found, const Outcome& outcome,
                          const CaseRunner& runner) const = 0;
    /// Adds to a shrunk failure what fails in general and who is wrong.
    virtual void explain(Shrunk& shrunk, const CaseRunner& runner) const = 0;
    /// Where integers overflow in a case, as in Outcome::overflows; empty where that isn't known.
    virtual std::string overflows_of(const Case& failing, const CaseRunner& runner) const = 0;
    /// The case as numbers, which no kernel is called for.
    /// **Errors** std::invalid_argument of a large problem, whose tensors are made on the device.
    virtual Reproducer reproducer_of(const Case& failing) const = 0;
};

}  // namespace gradverify
