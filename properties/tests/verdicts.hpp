// SPDX-License-Identifier: Apache-2.0
// Cases of registered kernels run in this process, and how they must end.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "harness/registry/registry.hpp"
#include "harness/report/text/failure.hpp"
#include "properties/properties.hpp"
#include "properties/suite/kernel_suite.hpp"

namespace gradverify::testing {

/// Whether a kernel is a seeded bug or a piece of the museum, by its name.
inline bool is_wrong_on_purpose(std::string_view kernel) {
    return kernel.find("/bug_") != std::string_view::npos ||
           kernel.find("/museum_") != std::string_view::npos;
}

/// Runs a case on the cpu device; rest: its problem and data, as printed cases have them.
inline Outcome run(const std::string& kernel, const std::string& property,
                   const std::string& rest) {
    const KernelSuite suite(Registry::instance());
    return suite.run("v1:" + kernel + ":" + property + ":cpu:" + rest);
}

inline void check_ends_as(std::initializer_list<Verdict> allowed, const std::string& kernel,
                          const std::string& property, const std::string& rest) {
    const Outcome outcome = run(kernel, property, rest);
    CHECK_MESSAGE(std::ranges::find(allowed, outcome.verdict) != allowed.end(),
                  kernel << ":" << property << ":" << rest << ": " << outcome.message);
}
inline void check_verdict(Verdict verdict, const std::string& kernel, const std::string& property,
                          const std::string& rest) {
    check_ends_as({verdict}, kernel, property, rest);
}
/// A case is vacuous where zero agrees as well.
inline void check_agrees(const std::string& kernel, const std::string& property,
                         const std::string& rest) {
    check_ends_as({Verdict::passed, Verdict::vacuous}, kernel, property, rest);
}
/// Neither the kernel nor the harness is at fault.
inline void check_no_alarm(const std::string& kernel, const std::string& property,
                           const std::string& rest) {
    check_ends_as({Verdict::passed, Verdict::vacuous, Verdict::skipped}, kernel, property, rest);
}

inline Row row_named(const std::string& kernel, std::string_view property,
                     const std::string& device = "cpu") {
    return {Registry::instance().find_kernel(kernel), find_property(property), device};
}

/// How the drawn cases of a kernel's row on the cpu device end.
struct Verdicts {
    std::map<Verdict, int> counts;
    std::string first_alarm;  ///< the report of the first that failed or was an error

    int operator[](Verdict verdict) const {
        const auto found = counts.find(verdict);
        return found == counts.end() ? 0 : found->second;
    }
};

inline Verdicts run_drawn(const std::string& kernel, std::string_view property, std::int64_t cases,
                          std::uint64_t seed = 3) {
    const KernelSuite suite(Registry::instance());
    const Row row = row_named(kernel, property);
    Verdicts verdicts;
    for (std::int64_t i = 0; i < cases; ++i) {
        const Case drawn = suite.draw(row, seed, i).drawn.value();
        const Outcome outcome = suite.run(drawn.print());
        ++verdicts.counts[outcome.verdict];
        const bool is_alarm =
            outcome.verdict == Verdict::failed || outcome.verdict == Verdict::errored;
        if (is_alarm && verdicts.first_alarm.empty())
            verdicts.first_alarm = report_case(drawn, outcome);
    }
    return verdicts;
}

/// Passed, or nothing to compare, in all cases.
inline void check_all_agree(const std::string& kernel, const std::string& property, int cases,
                            std::uint64_t seed = 3) {
    const Verdicts verdicts = run_drawn(kernel, property, cases, seed);
    CHECK_MESSAGE(verdicts[Verdict::passed] + verdicts[Verdict::vacuous] == cases,
                  kernel << ":" << property << ": " << verdicts.first_alarm);
}

}  // namespace gradverify::testing
