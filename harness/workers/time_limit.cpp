// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/time_limit.hpp"

#include <algorithm>
#include <cstdio>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// The CPU device takes up to 50 ns for a multiply-add of a kernel with 64-bit index arithmetic,
// launches it four times, and the bound costs as much again; the rest is for slow machines.
constexpr double seconds_per_multiply_add = 2e-6;
// How much slower than all before it a case may be.
constexpr double factor = 20.0;
constexpr double sleep_factor = 6.0;
// How much slower than one that hangs a case may be that begins block after block: the work of a
// launch that leaves most of its threads idle is not in the estimate above.
constexpr double progress_factor = 20.0;
constexpr double trial_share = 0.1;

std::string_view device_of(std::string_view printed_case) {
    const auto fields = split(printed_case, ':');
    return fields.size() > 3 ? fields[3] : std::string_view();
}

bool is_large(std::string_view printed_case) {
    return printed_case.find(":copies=") != std::string_view::npos;
}

/// What a case's time is compared with: that of its device, and of its kind.
std::string history_of(std::string_view printed_case) {
    return std::string(device_of(printed_case)) + (is_large(printed_case) ? ", large" : "");
}

}  // namespace

double TimeLimits::allowance(const std::string& printed_case) const {
    if (is_large(printed_case)) return options_.large_seconds;
    const double floor =
        options_.floor_seconds * (device_of(printed_case) == "cuda" ? options_.cuda_factor : 1.0);
    const double work = options_.multiply_adds ? options_.multiply_adds(printed_case) : 0.0;
    return floor + work * seconds_per_multiply_add;
}

void TimeLimits::completed(const std::string& printed_case, const Outcome& outcome) {
    History& history = histories_[history_of(printed_case)];
    const double seconds = outcome.seconds_cpu;
    history.slowest_seconds = std::max(history.slowest_seconds, seconds);
    // Below this share of the floor it moves no limit, and the case need not be read.
    if (seconds * factor > options_.floor_seconds)
        history.largest_share = std::max(history.largest_share, seconds / allowance(printed_case));
}

double TimeLimits::cpu_seconds(const std::string& printed_case, Patience patience) const {
    const auto found = histories_.find(history_of(printed_case));
    const double share = found == histories_.end() ? 0.0 : found->second.largest_share;
    return allowance(printed_case) * std::max(1.0, factor * share) *
           (patience == Patience::trial ? trial_share : 1.0);
}

double TimeLimits::cpu_seconds_in_all(const std::string& printed_case, Patience patience) const {
    return cpu_seconds(printed_case, patience) *
           (patience == Patience::trial ? 1.0 : progress_factor);
}

double TimeLimits::sleep_seconds(const std::string& printed_case, Patience patience) const {
    return sleep_factor * cpu_seconds(printed_case, patience);
}

std::string TimeLimits::history(const std::string& printed_case) const {
    const auto found = histories_.find(history_of(printed_case));
    if (found == histories_.end()) return "no case of this run has ended";
    return "the slowest case of this run took " + print_seconds(found->second.slowest_seconds);
}

}  // namespace gradverify
