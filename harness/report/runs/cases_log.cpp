// SPDX-License-Identifier: Apache-2.0
#include "harness/report/runs/cases_log.hpp"

#include <algorithm>
#include <utility>

#include "harness/report/files/json_numbers.hpp"

namespace gradverify {

namespace {

const char* status_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::passed:
            return "passed";
        case Verdict::failed:
        case Verdict::errored:
            return "failed";
        case Verdict::vacuous:
        case Verdict::skipped:
            break;
    }
    return "gave_up";
}

ordered_json parameters_of(const Problem& problem) {
    ordered_json parameters = ordered_json::object();
    for (int i = 0; i < static_cast<int>(problem.values().size()); ++i)
        parameters[problem.space().slot(problem.rank(), i).name] = json_of_parameter(problem, i);
    return parameters;
}

}  // namespace

ordered_json json_of_case(const Case& checked, const Outcome& outcome, double run_start) {
    ordered_json features = parameters_of(checked.problem);
    features["verdict"] = name_of(outcome.verdict);
    features["multiply_adds"] = json_of_number(outcome.multiply_adds);
    features["error_over_bound"] = json_of_number(outcome.error_over_bound);
    return {{"type", "test_case"},
            {"run_start", run_start},
            {"property", checked.kernel + ", " + checked.property + " on " + checked.device},
            {"status", status_of(outcome.verdict)},
            {"status_reason", outcome.verdict == Verdict::vacuous ? "every expected value is zero"
                                                                  : outcome.message},
            {"representation", checked.print()},
            {"arguments", parameters_of(checked.problem)},
            {"how_generated", "drawn"},
            {"features", std::move(features)},
            {"coverage", nullptr},
            {"timing",
             {{"execute:kernel", outcome.seconds_kernel},
              {"execute:reference", outcome.seconds_reference},
              {"execute:rest",
               std::max(outcome.seconds_total - outcome.seconds_kernel - outcome.seconds_reference,
                        0.0)}}},
            {"metadata", ordered_json::object()}};
}

}  // namespace gradverify
