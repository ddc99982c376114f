// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/text.hpp"
#include "properties/data/dense.hpp"
#include "properties/data/simpler.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

namespace {

// More runs tell no more of what they have in common, or of how a kernel must be called.
constexpr std::size_t most_failing = 64;
constexpr std::ptrdiff_t most_draws = 32;

/// The element that the failure hangs on: the one without a simple value or, where data decide, the
/// only one; -1 where there is none, or several.
std::ptrdiff_t deciding_element(const std::vector<DataElement>& elements, bool data_decide) {
    const auto is_special = [](const DataElement& element) {
        return hangs_on_values({.elements = {element}});
    };
    const auto found = std::ranges::find_if(elements, is_special);
    if (found == elements.end()) return data_decide && elements.size() == 1 ? 0 : -1;
    return std::ranges::count_if(elements, is_special) == 1 ? found - elements.begin() : -1;
}

/// Runs a case with other values of one element, and says for which it fails.
class ValueSearch {
  public:
    ValueSearch(const Operator& op, const Shrunk& shrunk, std::ptrdiff_t at,
                const CaseRunner& runner)
        : smallest_(shrunk.smallest),
          first_(shrunk.outcome),
          at_(static_cast<std::size_t>(at)),
          runner_(runner) {
        const TensorSpec* const tensor = op.find_tensor(element().tensor);
        const bool is_input = tensor != nullptr && tensor->name == element().tensor;
        is_whole_ = is_input && tensor->holds_whole_numbers();
        if (is_input) simplest_ = tensor->simplest_value(smallest_.problem);
    }

    /// `fails where x[0] >= 89.3, and passes at 88.7`; nothing where it fails at any value.
    std::string text() const {
        double fails = element().value, passes = simplest_;
        if (!std::isfinite(fails) || fails == passes) return {};
        const Verdict simplest = verdict_at(passes);
        if (simplest != Verdict::passed)
            return simplest == Verdict::vacuous && passes == 0.0 ? text_of_signs({})
                                                                 : std::string();
        const double first = std::abs(fails - passes);
        const auto are_apart = [&] {
            const double distance = std::abs(fails - passes);
            return is_whole_ ? distance > 1.0
                             : distance > nearness * std::abs(fails) && distance > least * first;
        };
        while (are_apart()) {
            const double middle = (fails + passes) / 2.0;
            const double at = is_whole_ ? std::trunc(middle) : short_of(middle);
            if (at == fails || at == passes) break;
            const Verdict verdict = verdict_at(at);
            if (verdict != Verdict::failed && verdict != Verdict::passed) break;
            (verdict == Verdict::failed ? fails : passes) = at;
        }
        if (passes == 0.0) return text_of_signs({"0"});
        std::string ends = ", and passes at " + printed(passes);
        bool is_known = true;  // not where a run has erred, or had no time
        for (const double times : {1.25, 2.0, 8.0}) {
            const double far = short_of(times * fails);
            const Verdict verdict = verdict_at(far);
            is_known &= verdict != Verdict::errored;
            if (verdict == Verdict::passed) ends += " and at " + printed(far);
        }
        return fmt::format("fails where {} {} {}{}", name(),
                           !is_known        ? "is"
                           : fails < passes ? "<="
                                            : ">=",
                           printed(fails), ends);
    }

  private:
    static constexpr double nearness = 0.01, least = 0x1p-40;

    /// The next number of three digits, so that what is printed has been tried.
    static double short_of(double value) { return std::stod(fmt::format("{:.3g}", value)); }
    /// With as many digits as tell it from other floats, or doubles.
    static std::string printed(double value) {
        const auto single = static_cast<float>(value);
        return single == value ? fmt::format("{}", single) : fmt::format("{}", value);
    }

    const DataElement& element() const { return smallest_.data.elements[at_]; }
    std::string name() const { return fmt::format("{}[{}]", element().tensor, element().index); }

    Verdict verdict_at(double value) const {
        Case other = smallest_;
        other.data.elements[at_].value = value;
        const Outcome outcome = runner_(other);
        const bool is_another =
            outcome.verdict == Verdict::failed && !fails_likewise(first_, outcome);
        return is_another ? Verdict::errored : outcome.verdict;
    }

    /// Where values next to zero fail: `fails where x[0] is not 0`, `< 0`, or what was tried; that
    /// one of a simple element does at all is nothing to tell. `passes`: where it does so far.
    std::string text_of_signs(std::vector<std::string> passes) const {
        std::vector<std::string> fails{printed(element().value)};
        const double own_sign = std::copysign(1.0, element().value);
        bool all_fail = true, own_alone_fail = true, other_sign_is_known = false, is_known = true;
        for (const double value :
             {1.0, -1.0, 2.0, -2.0, 0.1, -0.1, 100.0, -100.0, -element().value}) {
            const Verdict verdict = verdict_at(value);
            is_known &= verdict != Verdict::errored;
            if (verdict != Verdict::failed && verdict != Verdict::passed) continue;
            const bool is_failing = verdict == Verdict::failed;
            (is_failing ? fails : passes).push_back(printed(value));
            other_sign_is_known |= std::copysign(1.0, value) != own_sign;
            all_fail &= is_failing;
            own_alone_fail &= is_failing == (std::copysign(1.0, value) == own_sign);
        }
        const std::string where = "fails where " + name();
        if (all_fail && !hangs_on_values({.elements = {element()}})) return {};
        if (all_fail && other_sign_is_known && is_known) return where + " is not 0";
        if (own_alone_fail && other_sign_is_known && is_known)
            return where + (own_sign < 0.0 ? " < 0" : " > 0");
        return fmt::format("{} is {}{}", where, joined(fails),
                           passes.empty() ? "" : ", and passes at " + joined(passes));
    }

    const Case& smallest_;
    const Outcome& first_;
    std::size_t at_;
    const CaseRunner& runner_;
    bool is_whole_ = false;
    double simplest_ = 0.0;
};

/// Asks on dense data first, since on zeros too many agree; then on the failure's own data.
std::string witnesses_of(const Kernel& kernel, const Shrunk& shrunk, const CaseRunner& runner) {
    const Case& smallest = shrunk.smallest;
    const Property& property = *find_property(smallest.property);
    // Without a wrong element the kernel wrote elsewhere, or crashed.
    if (!property.compares_values || shrunk.outcome.worst.empty() ||
        !witnesses().applies_to(kernel))
        return {};
    Case asked = smallest;
    asked.property = witnesses().name;
    std::string of_agreement;
    for (int draw = 0; draw < dense_draw_count(kernel, asked.property); ++draw) {
        asked.data =
            dense_case(kernel, smallest.property, smallest.device, smallest.problem, draw).data;
        const Outcome outcome = runner(asked);
        if (outcome.verdict == Verdict::failed) return outcome.message;
        if (outcome.verdict == Verdict::passed) of_agreement = outcome.message;
    }
    if (property.is_bounded) return of_agreement;
    asked.data = smallest.data;
    const Outcome outcome = runner(asked);
    return outcome.verdict == Verdict::failed ? outcome.message : std::string();
}

/// How the kernel must be called to fail: without that, the failure's data and dense draws pass.
std::string only_where(const Kernel& kernel, const Shrunk& shrunk, const CaseRunner& runner) {
    const Case& smallest = shrunk.smallest;
    auto all = dense_cases(kernel, smallest.property, smallest.device, smallest.problem);
    if (std::ssize(all) > most_draws) all.erase(all.begin() + most_draws, all.end());
    all.push_back(smallest);
    std::vector<std::string> needed;
    for (const auto& [text, setting] : fields_that_differ(kernel, smallest.setting)) {
        for (Case& one : all) one.setting = setting;
        runner.expect(all);
        bool passes = false, fails = false;
        for (auto one = all.rbegin(); one != all.rend() && !fails; ++one) {
            const Verdict verdict = runner(*one).verdict;
            passes |= verdict == Verdict::passed;
            fails = verdict == Verdict::failed || verdict == Verdict::errored;
        }
        if (passes && !fails) needed.push_back(text);
    }
    return joined(needed, ", and only ");
}

}  // namespace

void explain(const Kernel& kernel, Shrunk& shrunk, const CaseRunner& bare,
             const ListData& list_data) {
    std::vector<FailingRun> failing{{shrunk.smallest, shrunk.outcome}};
    const auto run = [&](const Case& candidate) {
        Outcome outcome = bare(candidate);
        if (outcome.verdict == Verdict::failed && !outcome.maps.empty() &&
            candidate.property == shrunk.smallest.property && failing.size() < most_failing)
            failing.push_back({candidate, outcome});
        return outcome;
    };
    const CaseRunner runner(run, bare.width(), [&](const auto& next) { bare.expect(next); });
    ShrinkTrials trials(shrunk.smallest, shrunk.outcome, runner, fails_likewise);
    ProblemTrials problems(kernel, shrunk.smallest, trials);
    trials.start({.runs = generalize_budget.runs, .seconds = 0.5});
    const DrawsThere draws = problems.draws_at(shrunk.smallest.problem);
    if (draws.differ()) problems.carry_data();
    const SupportedProblems supported(*kernel.op, *kernel.pass, kernel.any());
    shrunk.generality =
        generalize(supported, shrunk.smallest.problem, problems, trials, generalize_budget, draws);
    const auto at = deciding_element(shrunk.smallest.data.elements, draws.differ());
    if (at >= 0) shrunk.values = ValueSearch(*kernel.op, shrunk, at, runner).text();
    shrunk.witnesses = witnesses_of(kernel, shrunk, runner);
    const Property* const property = find_property(shrunk.smallest.property);
    if (property && property->knows_outputs && !shrunk.outcome.maps.empty())
        shrunk.symptoms = symptoms_of(kernel, std::move(failing), list_data);
    shrunk.symptoms.only = only_where(kernel, shrunk, bare);
}

}  // namespace gradverify
