// SPDX-License-Identifier: Apache-2.0
#include "properties/shrinking/trials.hpp"

#include <algorithm>

#include "properties/data/dense.hpp"
#include "properties/data/simpler.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

// More draws of a problem tell no more of whether data decide.
static constexpr int most_draws = 32;

std::optional<Problem> before_on(const Kernel& kernel, const Case& found, const Problem& problem) {
    const std::optional<Problem>& before = found.setting.before;
    if (!before || before->rank() != found.problem.rank() || before->rank() != problem.rank())
        return before;
    Problem moved = problem;
    for (int slot = 0; slot < static_cast<int>(moved.values().size()); ++slot)
        if ((*before)[slot] != found.problem[slot]) moved[slot] = (*before)[slot];
    const bool is_supported = !kernel.op->validate(moved) && !kernel.why_unsupported(moved);
    return is_supported ? moved : before;
}

Case moved_to(const Kernel& kernel, const Case& found, const Problem& problem) {
    Case moved = found;
    moved.problem = problem;
    moved.setting.before = before_on(kernel, found, problem);
    // Recorded tensors have the sizes of one problem.
    if (problem != found.problem) moved.data.files.clear();
    if (moved.data.is_explicit)
        moved.data =
            carried_data(*kernel.op, found.problem, problem, found.data.elements).value_or(Data{});
    return moved;
}

ProblemTrials::ProblemTrials(const Kernel& kernel, const Case& found, ShrinkTrials& trials)
    : kernel_(kernel), found_(found), trials_(trials) {
    is_canonical_ = fails_canonically(found.problem);
    seen_[found.problem] = Seen::failed;
}

std::vector<Case> ProblemTrials::dense(const Problem& problem) const {
    std::vector<Case> cases = dense_cases(kernel_, found_.property, found_.device, problem);
    for (Case& one : cases) {
        one.setting.before = before_on(kernel_, found_, problem);
        one.setting.is_strict = found_.setting.is_strict;
    }
    return cases;
}

/// The found case's data, and dense data, in its own setting.
std::vector<Case> ProblemTrials::as_found(const Problem& problem, const Data& dense) const {
    std::vector<Case> cases;
    Case found = moved_to(kernel_, found_, problem);
    if (!is_canonical_ || carries_data_) cases.push_back(found);
    found.data = dense;
    if (!is_canonical_) cases.push_back(found);
    return cases;
}

std::vector<Case> ProblemTrials::cases_of(const Problem& problem) const {
    std::vector<Case> cases = dense(problem);
    const std::vector<Case> own = as_found(problem, cases.front().data);
    cases.insert(cases.begin(), own.begin(), own.end());
    return cases;
}

std::size_t ProblemTrials::problems_at_once() const {
    const std::size_t width = trials_.width();
    return width > 1 ? 2 + width / static_cast<std::size_t>(runs_per_problem()) : 1;
}

void ProblemTrials::expect(const std::vector<Problem>& next) const {
    if (!trials_.may_go_on()) return;
    std::vector<Case> cases;
    for (const Problem& problem : next) {
        if (seen_.contains(problem)) continue;
        const std::vector<Case> of_problem = cases_of(problem);
        cases.insert(cases.end(), of_problem.begin(), of_problem.end());
    }
    trials_.expect(cases);
}

std::int64_t ProblemTrials::runs_per_problem() const {
    const int own = !is_canonical_ ? 2 : carries_data_ ? 1 : 0;
    return dense_draw_count(kernel_, found_.property) + own;
}

bool ProblemTrials::fails_canonically(const Problem& problem) {
    return std::ranges::any_of(dense(problem),
                               [&](const Case& candidate) { return trials_.fails(candidate); });
}

bool ProblemTrials::fails(const Problem& problem) {
    const auto [known, is_new] = seen_.try_emplace(problem, Seen::nothing);
    if (!is_new) return known->second == Seen::failed;
    Seen& state = known->second;
    return std::ranges::any_of(cases_of(problem), [&](const Case& candidate) {
        const Verdict verdict = trials_.run(candidate);
        if (verdict == Verdict::errored) {
            state = trials_.failed_otherwise() && state != Seen::errored ? Seen::otherwise
                                                                         : Seen::errored;
            if (!least_errored_ || problem < *least_errored_) least_errored_ = problem;
        }
        if (verdict == Verdict::failed) state = Seen::failed;
        if (verdict == Verdict::vacuous && state == Seen::nothing) state = Seen::zeros;
        if (verdict == Verdict::passed && state <= Seen::zeros) state = Seen::passed;
        return verdict == Verdict::failed;
    });
}

std::optional<bool> ProblemTrials::known(const Problem& problem) const {
    const auto found = seen_.find(problem);
    if (found == seen_.end() || found->second >= Seen::otherwise) return std::nullopt;
    return found->second == Seen::failed;
}

std::optional<bool> ProblemTrials::shown(const Problem& problem) const {
    const std::optional<bool> fails = known(problem);
    if (fails && seen_.at(problem) <= Seen::zeros) return std::nullopt;
    return fails;
}

std::optional<bool> ProblemTrials::fails_likewise(const Problem& problem) const {
    const Seen seen = seen_.at(problem);
    // A kernel that ends its process, or can't be launched, does so whatever it is to give.
    if (trials_.outcome().worst.empty() && wants_zeros(problem)) return false;
    if (seen <= Seen::zeros || seen == Seen::errored) return std::nullopt;
    return seen == Seen::failed;
}

bool ProblemTrials::wants_zeros(const Problem& problem) const {
    const auto has_none = [&](const std::string& tensor) {
        return std::ranges::count(kernel_.op->sizes_of(tensor, problem), 0) > 0;
    };
    return seen_.at(problem) == Seen::zeros &&
           std::ranges::none_of(kernel_.pass->tensors(), has_none);
}

DrawsThere ProblemTrials::draws_at(const Problem& problem, int first) {
    DrawsThere draws;
    const int count = std::min(dense_draw_count(kernel_, found_.property), most_draws);
    std::vector<Case> all;
    for (int draw = first; draw < first + count; ++draw) {
        all.push_back(dense_case(kernel_, found_.property, found_.device, problem, draw));
        all.back().setting = found_.setting;
        all.back().setting.before = before_on(kernel_, found_, problem);
    }
    if (trials_.width() > 1) trials_.expect(all);
    for (const Case& dense : all) {
        if (!trials_.may_go_on()) break;
        const Verdict verdict = trials_.run(dense);
        const bool says_little =
            verdict == Verdict::passed && is_tiny_draw(*kernel_.op, dense.data);
        ++draws.run;
        draws.failing += verdict == Verdict::failed;
        draws.compared +=
            verdict == Verdict::failed || (verdict == Verdict::passed && !says_little);
    }
    return draws;
}

}  // namespace gradverify
