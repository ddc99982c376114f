// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/data/dense.hpp"
#include "properties/data/simpler.hpp"

namespace gradverify {

namespace {

/// For which values of the one element that has no simple one the case fails.
std::string values_of(const Shrunk& shrunk, const CaseRunner& runner) {
    constexpr double nearness = 0.01;
    const auto& elements = shrunk.smallest.data.elements;
    const auto is_special = [](const DataElement& element) {
        return hangs_on_values({.elements = {element}});
    };
    if (std::ranges::count_if(elements, is_special) != 1) return {};
    const auto at = std::ranges::find_if(elements, is_special) - elements.begin();
    const DataElement& special = elements[static_cast<std::size_t>(at)];
    const auto fails_at = [&](double value) {
        Case other = shrunk.smallest;
        other.data.elements[static_cast<std::size_t>(at)].value = value;
        return runner(other).verdict == Verdict::failed;
    };
    double fails = special.value, passes = 0.0;
    if (!std::isfinite(fails) || fails == 0.0 || fails_at(passes)) return {};
    const double far = 2.0 * fails;
    while (std::abs(fails - passes) > nearness * std::abs(fails)) {
        const double middle = (fails + passes) / 2.0;
        (fails_at(middle) ? fails : passes) = middle;
    }
    return fmt::format("fails where {}[{}] {} {:.3g}, and passes at {:.3g}{}", special.tensor,
                       special.index, fails < passes ? "<=" : ">=", fails, passes,
                       fails_at(far) ? "" : fmt::format(" and at {:.3g}", far));
}

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

}  // namespace

void explain(const Kernel& kernel, Shrunk& shrunk, const CaseRunner& runner) {
    ShrinkTrials trials(shrunk.smallest, shrunk.outcome, runner);
    ProblemTrials problems(kernel, shrunk.smallest, trials);
    const SupportedProblems supported(*kernel.op, *kernel.pass, kernel.any());
    shrunk.generality = generalize(supported, shrunk.smallest, problems, trials);
    shrunk.values = values_of(shrunk, runner);
    shrunk.witnesses = witnesses_of(kernel, shrunk, runner);
}

}  // namespace gradverify
