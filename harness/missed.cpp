// SPDX-License-Identifier: Apache-2.0
#include "harness/missed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "harness/summary.hpp"
#include "harness/text.hpp"

namespace gradverify {

namespace {

constexpr std::size_t pairs_named = 3;

/// What the passed rows of a kernel on a device say together.
struct OfKernel {
    const RowResult* narrowest = nullptr;
    std::vector<Sensitivity> sensitivity;
};

std::int64_t pairs_of_values(const Coverage& coverage) {
    std::int64_t sum = 0;
    for (const auto& [rank, met] : coverage.ranks()) sum += met.pairs_of_values();
    return sum;
}

std::string line(const char* what, const std::string& text) {
    constexpr int indent = 15;
    std::string start = std::string("    ") + what;
    start.resize(indent, ' ');
    return start + wrapped(text, indent) + "\n";
}

std::string print_ulps(double ulps) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", ulps);
    return text;
}

/// `n=9,c=64,in=33x40`
std::string largest_problems(const Coverage& coverage) {
    std::vector<std::string> largest;
    for (const auto& [rank, met] : coverage.ranks()) largest.push_back(met.largest().print());
    return joined(largest, " and ");
}

/// Sizes that reach a block size and don't leave every remainder by it, each with the smallest
/// such: `c by 32`.
std::string missed_remainders(const Kernel& kernel, const Coverage& coverage) {
    std::vector<std::string> missed;
    for (const auto& [rank, met] : coverage.ranks())
        for (const int slot : free_slots(kernel, rank)) {
            const SlotCoverage& one = met.slots()[static_cast<std::size_t>(slot)];
            const auto block = std::ranges::find_if(block_sizes_of_interest, [&](int size) {
                return *one.values.rbegin() >= size && one.remainders_of(size) < size;
            });
            if (block != block_sizes_of_interest.end())
                missed.push_back(kernel.op->space.slots(rank)[static_cast<std::size_t>(slot)].name +
                                 " by " + std::to_string(*block));
        }
    return joined(missed);
}

std::string missed_pairs(const PairsCovered& pairs) {
    std::vector<std::string> named = pairs.missed;
    const std::size_t more = named.size() - std::min(named.size(), pairs_named);
    named.resize(named.size() - more);
    return joined(named) + (more > 0 ? " and " + std::to_string(more) + " more" : "") + ", of " +
           std::to_string(pairs.of);
}

std::string lines_of(const OfKernel& of) {
    const Kernel& kernel = *of.narrowest->row.kernel;
    const Coverage& coverage = of.narrowest->coverage;
    std::string text;
    if (const auto ulps = summarize(of.sensitivity))
        text += line("errors", "below " + print_ulps(ulps->median_ulps) +
                                   " ulps in a median element, " + print_ulps(ulps->least_ulps) +
                                   " in the most sensitive one");
    text += line("problems", "all but " + print_grouped(coverage.problems()) +
                                 (coverage.problems() == 1 ? " problem" : " problems") +
                                 "; any larger than " + largest_problems(coverage));
    if (const std::string missed = missed_remainders(kernel, coverage); !missed.empty())
        text += line("remainders", missed);
    if (const PairsCovered pairs = pairs_covered(kernel, coverage); !pairs.missed.empty())
        text += line("pairs", missed_pairs(pairs));
    if (const auto conditions = kernel.conditions(); !conditions.empty())
        text += line("declared", "runs only with " + joined(conditions));
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
        if (!of.narrowest ||
            pairs_of_values(result.coverage) < pairs_of_values(of.narrowest->coverage))
            of.narrowest = &result;
    }
    if (kernels.empty()) return {};
    std::string text = "what the passed rows could have missed (each row's own: --json)\n";
    for (const auto& [kernel, of] : kernels) text += "  " + kernel + "\n" + lines_of(of);
    return text + "\n";
}

}  // namespace gradverify
