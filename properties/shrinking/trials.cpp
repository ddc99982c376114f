// SPDX-License-Identifier: Apache-2.0
#include "properties/shrinking/trials.hpp"

#include <algorithm>

#include "properties/data/dense.hpp"

namespace gradverify {

ProblemTrials::ProblemTrials(const Kernel& kernel, const Case& found, ShrinkTrials& trials)
    : kernel_(kernel), found_(found), trials_(trials) {
    is_canonical_ = fails_canonically(found.problem);
    seen_[{found.problem, 0}] = Seen::failed;
}

std::vector<Case> ProblemTrials::dense(const Problem& problem) const {
    std::vector<Case> cases = dense_cases(kernel_, found_.property, found_.device, problem);
    for (Case& one : cases) {
        one.setting.before = found_.setting.before;
        one.setting.is_strict = found_.setting.is_strict;
    }
    return cases;
}

std::int64_t ProblemTrials::runs_per_problem() const {
    return dense_draw_count(kernel_, found_.property) + (is_canonical_ ? 0 : 2);
}

bool ProblemTrials::fails_canonically(const Problem& problem) {
    return std::ranges::any_of(dense(problem),
                               [&](const Case& candidate) { return trials_.fails(candidate); });
}

bool ProblemTrials::fails(const Problem& problem, int block_size) {
    const auto [known, is_new] = seen_.try_emplace({problem, block_size}, Seen::nothing);
    if (!is_new) return known->second == Seen::failed;
    Seen& state = known->second;
    std::vector<Case> candidates = dense(problem);
    if (!is_canonical_) {
        Case as_found = found_;
        as_found.problem = problem;
        as_found.data = candidates.front().data;
        candidates.insert(candidates.begin(), as_found);
        as_found.data = found_.data.is_explicit ? Data{} : found_.data;
        candidates.insert(candidates.begin(), as_found);
    }
    return std::ranges::any_of(candidates, [&](Case& candidate) {
        if (block_size > 0) candidate.setting.block_size = block_size;
        const Verdict verdict = trials_.run(candidate);
        if (verdict == Verdict::errored) {
            state = Seen::errored;
            if (!least_errored_ || problem < *least_errored_) least_errored_ = problem;
        }
        if (verdict == Verdict::failed) state = Seen::failed;
        if (verdict == Verdict::passed && state == Seen::nothing) state = Seen::passed;
        return verdict == Verdict::failed;
    });
}

std::optional<bool> ProblemTrials::known(const Problem& problem, int block_size) const {
    const auto found = seen_.find({problem, block_size});
    if (found == seen_.end() || found->second == Seen::errored) return std::nullopt;
    return found->second == Seen::failed;
}

std::optional<bool> ProblemTrials::shown(const Problem& problem, int block_size) const {
    const std::optional<bool> fails = known(problem, block_size);
    if (fails && seen_.at({problem, block_size}) == Seen::nothing) return std::nullopt;
    return fails;
}

}  // namespace gradverify
