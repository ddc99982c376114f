// SPDX-License-Identifier: Apache-2.0
#include "harness/report/missed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/base/text.hpp"
#include "harness/report/summary.hpp"

namespace gradverify {

namespace {

/// The passed rows of a kernel on a device together.
struct OfKernel {
    const RowResult* narrowest = nullptr;
    std::vector<Sensitivity> sensitivity;
};

std::int64_t pairs_met(const Coverage& coverage) {
    std::int64_t sum = 0;
    for (const auto& [rank, met] : coverage.ranks()) sum += met.pairs().count();
    return sum;
}

/// The largest block size by which every parameter that is as large left every remainder; 1: none.
int complete_remainders(const Kernel& kernel, const Coverage& coverage) {
    int complete = 1;
    for (const int block : block_sizes_of_interest) {
        bool reached = false;
        for (const auto& [rank, met] : coverage.ranks())
            for (const int slot : free_slots(*kernel.op, kernel.any(), rank)) {
                const SlotCoverage& one = met.slots()[static_cast<std::size_t>(slot)];
                if (one.largest() < block) continue;
                reached = true;
                if (one.remainders_of(block) < block) return complete;
            }
        if (reached) complete = block;
    }
    return complete;
}

std::string print_pairs(const PairsCovered& pairs) {
    const std::string of =
        fmt::format("{} combinations of two parameters' kinds of value", print_grouped(pairs.of));
    if (pairs.missed.empty()) return "all " + of;
    const std::int64_t more = pairs.of - pairs.met - static_cast<std::int64_t>(pairs.missed.size());
    return fmt::format("{} of {} (not {}{})", print_grouped(pairs.met), of,
                       joined(pairs.missed, "; "),
                       more > 0 ? "; and " + print_grouped(more) + " more" : "");
}

std::string words_of(const OfKernel& of) {
    const Kernel& kernel = *of.narrowest->row.kernel;
    const Coverage& coverage = of.narrowest->coverage;
    std::string text;
    if (const auto ulps = summarize(of.sensitivity); ulps && ulps->median_ulps == 0.0)
        text += "no error is too small; ";
    else if (ulps)
        text += fmt::format("errors below {:.3g} ulps, or {:.3g} in the most exact element; ",
                            ulps->median_ulps, ulps->least_ulps);
    text += fmt::format("ran {} problem{}", print_grouped(coverage.problems()),
                        coverage.problems() == 1 ? "" : "s");
    std::vector<std::string> held;
    if (of.narrowest->within_reach)
        if (const auto pairs = pairs_covered(coverage, *of.narrowest->within_reach); pairs.of > 0)
            held.push_back(print_pairs(pairs));
    if (const int block = complete_remainders(kernel, coverage); block > 1)
        held.push_back(fmt::format("every remainder by {}", block));
    if (!held.empty()) text += ", with " + joined(held, " and ");
    if (const auto conditions = kernel.conditions(); !conditions.empty())
        text += "; only with " + joined(conditions);
    return text;
}

}  // namespace

std::optional<SensitivityOfCases> summarize(std::span<const Sensitivity> cases) {
    if (cases.empty()) return std::nullopt;
    std::vector<double> medians;
    double least = INFINITY;
    for (const Sensitivity& one : cases) {
        medians.push_back(one.median_ulps);
        least = std::min(least, one.least_ulps);
    }
    return SensitivityOfCases{.cases = static_cast<std::int64_t>(cases.size()),
                              .least_ulps = least,
                              .median_ulps = quantile(std::move(medians), 0.5)};
}

std::string missed_lines(const std::vector<RowResult>& results) {
    std::map<std::string, OfKernel> kernels;
    for (const RowResult& result : results) {
        if (result.verdict != Verdict::passed || result.coverage.problems() == 0) continue;
        OfKernel& of = kernels[result.row.kernel->name + " on " + result.row.device];
        of.sensitivity.insert(of.sensitivity.end(), result.sensitivity.begin(),
                              result.sensitivity.end());
        if (!of.narrowest || pairs_met(result.coverage) < pairs_met(of.narrowest->coverage))
            of.narrowest = &result;
    }
    if (kernels.empty()) return {};
    std::string text = "what the passed rows could have missed (each row's own: --json)\n";
    for (const auto& [kernel, of] : kernels)
        text += "  " + kernel + "\n      " + wrapped(words_of(of), 6) + "\n";
    return text + "\n";
}

}  // namespace gradverify
