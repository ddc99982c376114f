// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/time_limit.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// The CPU device takes up to 50 ns for a multiply-add of a kernel with 64-bit index arithmetic,
// launches it four times, and the bound costs as much again; the rest is for slow machines.
constexpr double seconds_per_multiply_add = 2e-6;
// A case may be this much slower than all before it.
constexpr double factor = 20.0;
constexpr double sleep_factor = 2.0, opening_factor = 3.0;
// A case that goes on beginning blocks may take this much longer: the estimate above leaves out the
// work of threads that stay idle.
constexpr double progress_factor = 20.0;
constexpr double trial_share = 0.1;
// Of the floor, once other cases have told the device's pace.
constexpr double share_of_known_pace = 0.3;
// Of a trial where one of its kernel was put off, since others will be, too.
constexpr double hurried_share = 0.1;

/// The kernel's own, or the median of all.
double telling_share(const std::map<const Kernel*, double>& shares, const Kernel* kernel) {
    std::vector<double> sorted;
    sorted.reserve(shares.size());
    for (const auto& [of, share] : shares) sorted.push_back(share);
    const auto middle = sorted.begin() + std::ssize(sorted) / 2;
    if (middle == sorted.end()) return 0.0;
    std::ranges::nth_element(sorted, middle);
    const auto own = shares.find(kernel);
    return own == shares.end() ? *middle : std::max(*middle, own->second);
}

}  // namespace

double TimeLimits::parenthesis(const Work& work, double share_of_floor) const {
    if (work.is_large) return options_.large_seconds;
    return share_of_floor * options_.floor_seconds *
               (work.device == "cuda" ? options_.cuda_factor : 1.0) +
           work.multiply_adds * seconds_per_multiply_add;
}

void TimeLimits::completed(const Work& work, const Outcome& outcome, bool is_first_of_process) {
    History& history = histories_[kind_of(work)];
    const double seconds = outcome.seconds_cpu;
    history.slowest_seconds = std::max(history.slowest_seconds, seconds);
    double& own = history.slowest_of[work.kernel];
    own = std::max(own, seconds);
    if (seconds > hurried_share * trial_share * parenthesis(work))
        history.hurried.erase(work.kernel);
    if (is_first_of_process) {
        history.slowest_first = std::max(history.slowest_first, seconds);
        return;
    }
    double& share = history.largest_shares[work.kernel];
    share = std::max(share, seconds / parenthesis(work));
}

void TimeLimits::put_off(const Work& work) {
    histories_[kind_of(work)].hurried.insert(work.kernel);
}

bool TimeLimits::was_opened(const Work& work) const {
    const auto found = histories_.find(kind_of(work));
    return found != histories_.end() && found->second.slowest_first > 0.0;
}

WorkerAllowance TimeLimits::allowance(const Work& work, Patience patience, bool opens) const {
    const auto found = histories_.find(kind_of(work));
    const double share =
        found == histories_.end() ? 0.0 : telling_share(found->second.largest_shares, work.kernel);
    const bool is_trial = patience == Patience::trial && (!opens || was_opened(work));
    const bool is_hurried =
        is_trial && found != histories_.end() && found->second.hurried.contains(work.kernel);
    const bool knows_pace = !is_trial && share > 0.0;
    const double least = parenthesis(work, knows_pace ? share_of_known_pace : 1.0) *
                         (is_hurried ? hurried_share : 1.0);
    const double limit =
        std::max(least, factor * share * parenthesis(work)) * (is_trial ? trial_share : 1.0) +
        (is_trial && opens ? opening_factor * found->second.slowest_first : 0.0);
    return {.cpu_seconds = limit,
            .cpu_seconds_in_all = limit * (is_trial ? 1.0 : progress_factor),
            .sleep_seconds = limit * sleep_factor};
}

std::string TimeLimits::history(const Work& work) const {
    const auto found = histories_.find(kind_of(work));
    if (found == histories_.end()) return "no case of this run has ended";
    const auto& slowest_of = found->second.slowest_of;
    const auto own = work.kernel ? slowest_of.find(work.kernel) : slowest_of.end();
    return own != slowest_of.end()
               ? "the slowest case of its kernel took " + print_seconds(own->second)
               : "the slowest case of this run took " +
                     print_seconds(found->second.slowest_seconds);
}

}  // namespace gradverify
