// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/missed.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "harness/base/text.hpp"
#include "harness/report/text/summary.hpp"

namespace gradverify {

namespace {

/// The passed rows of a kernel on a device together.
struct OfKernel {
    const RowRecord* narrowest = nullptr;
    SensitivityOfCases sensitivity;
    Uncompared uncompared{};
    Magnitudes values{};
};

/// Pairs of levels; where these are equal, problems, and then anything that tells rows apart.
std::tuple<std::int64_t, std::int64_t, std::string> covered(const RowRecord& record) {
    std::int64_t pairs = 0;
    for (const auto& [rank, met] : record.coverage.ranks()) pairs += met.pairs().count();
    return {pairs, record.coverage.problems(), record.property};
}

/// The largest block size by which every parameter that is as large left every remainder; 1: none.
int complete_remainders(const Coverage& coverage) {
    int complete = 1;
    for (const int block : block_sizes_of_interest) {
        bool reached = false;
        for (const auto& [rank, met] : coverage.ranks())
            for (const SlotCoverage& one : met.slots()) {
                if (!one.is_free() || one.largest() < block) continue;
                reached = true;
                if (one.remainders_of(block) < block) return complete;
            }
        if (reached) complete = block;
    }
    return complete;
}

/// `; largest n x k: 130 x 257`, of any rank; empty where no problem has two free parameters.
std::string print_largest(const Coverage& coverage) {
    LargestPair most;
    std::string text;
    for (const auto& [rank, met] : coverage.ranks()) {
        if (!(most < met.largest())) continue;
        most = met.largest();
        const auto& [slots, values] = most;
        text = fmt::format("; largest {} x {}: {} x {}", met.slots()[slots[0]].name(),
                           met.slots()[slots[1]].name(), print_grouped(values[0]),
                           print_grouped(values[1]));
    }
    return text;
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
    const Coverage& coverage = of.narrowest->coverage;
    std::string text;
    const SensitivityOfCases& ulps = of.sensitivity;
    if (ulps.cases() > 0 && ulps.median_ulps() == 0.0)
        text += "no error is too small; ";
    else if (ulps.cases() > 0)
        text += fmt::format("errors below {:.3g} ulps, or {:.3g} in the most exact element; ",
                            ulps.median_ulps(), ulps.least_ulps);
    // Of a thousand numbers one may well be small by cancelling.
    const Uncompared& without = of.uncompared;
    if (without.without_bound > 0 || without.elements > without.total / 1000)
        text += without.print() + "; ";
    text += fmt::format("ran {} problem{}", print_grouped(coverage.problems()),
                        coverage.problems() == 1 ? "" : "s");
    std::vector<std::string> held;
    if (of.narrowest->within_reach)
        if (const auto pairs = pairs_covered(coverage, *of.narrowest->within_reach); pairs.of > 0)
            held.push_back(print_pairs(pairs));
    if (const int block = complete_remainders(coverage); block > 1)
        held.push_back(fmt::format("every remainder by {}", block));
    if (!held.empty()) text += ", with " + joined(held, " and ");
    text += print_largest(coverage);
    if (!of.values.empty())
        text += fmt::format("; values from {:.2g} to {:.2g}", of.values.least, of.values.greatest);
    if (const auto& conditions = of.narrowest->conditions; !conditions.empty())
        text += "; only with " + joined(conditions);
    return text;
}

}  // namespace

std::string missed_lines(const std::vector<RowRecord>& records) {
    std::map<std::string, OfKernel> kernels;
    for (const RowRecord& record : records) {
        if (record.verdict != Verdict::passed || record.coverage.problems() == 0) continue;
        OfKernel& of = kernels[record.kernel_on_device()];
        of.sensitivity.add(record.sensitivity);
        of.uncompared.add(record.uncompared);
        of.values.add(record.values);
        if (!of.narrowest || covered(record) < covered(*of.narrowest)) of.narrowest = &record;
    }
    if (kernels.empty()) return {};
    std::string text = "what the passed rows could have missed (each row's own: --json)\n";
    for (const auto& [kernel, of] : kernels)
        text += "  " + kernel + "\n      " + wrapped(words_of(of), 6) + "\n";
    return text + "\n";
}

}  // namespace gradverify
