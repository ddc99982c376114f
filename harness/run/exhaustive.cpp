// SPDX-License-Identifier: Apache-2.0
#include "harness/run/exhaustive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/base/text.hpp"

namespace gradverify {

ExhaustiveWalk::ExhaustiveWalk(const Suite& suite, Row row, const ExhaustiveLimits& limits)
    : suite_(&suite), row_(std::move(row)), limits_(limits) {}

std::optional<ExhaustiveWalk::Step> ExhaustiveWalk::next() {
    if (cases_.empty() && !start_next_problem()) return std::nullopt;
    const std::int64_t index = (problem_index_ + 1) * draws_ - std::ssize(cases_);
    // A problem that is cut off here stays open, and is not counted.
    if (limits_.cases && index >= *limits_.cases) {
        at_end_ = true;
        cases_.clear();
        return std::nullopt;
    }
    Step step{.dense = std::move(cases_.front()), .index = index};
    cases_.pop_front();
    return step;
}

/// Moves on to the next problem of this shard; false when there is none within the limits.
bool ExhaustiveWalk::start_next_problem() {
    if (at_end_) return false;
    if (!problems_) problems_ = suite_->problems_in_order(row_);
    for (;;) {
        Suite::NextProblem next = problems_();
        if (!next.problem) {
            at_end_ = true;
            gave_up_ = next.gave_up;
            is_all_ = !gave_up_;
            return false;
        }
        ++problem_index_;
        const std::int64_t distance = next.problem->distance();
        reached_ = distance;
        if (limits_.distance && distance > *limits_.distance) {
            reached_ = *limits_.distance + 1;
            at_end_ = true;
            return false;
        }
        if (problem_index_ % limits_.shard.count != limits_.shard.index) continue;
        std::ranges::move(suite_->dense_cases(row_, *next.problem), std::back_inserter(cases_));
        draws_ = std::ssize(cases_);
        open_[problem_index_].distance = distance;
        ++rings_[distance].handed_out;
        return true;
    }
}

void ExhaustiveWalk::answered(std::int64_t index, Verdict verdict) {
    const auto found = open_.find(problems_before(index));
    Open& problem = found->second;
    problem.compared |= verdict == Verdict::passed;
    if (++problem.answers < draws_) return;
    Ring& ring = rings_[problem.distance];
    ++ring.done;
    ring.compared += problem.compared ? 1 : 0;
    open_.erase(found);
}

ExhaustiveCover ExhaustiveWalk::cover() const {
    const std::int64_t shards = limits_.shard.count;
    ExhaustiveCover cover{.gave_up = gave_up_, .shards = shards > 1 ? shards : 0};
    bool all_so_far = true;
    cover.distance = is_all_ && !rings_.empty() ? rings_.rbegin()->first : reached_ - 1;
    for (const auto& [distance, ring] : rings_) {
        if (all_so_far && ring.done < ring.handed_out) {
            all_so_far = false;
            cover.distance = std::min(cover.distance, distance - 1);
        }
        cover.problems += ring.done;
        cover.compared += ring.compared;
        if (distance > cover.distance) cover.beyond += ring.done;
    }
    if (cover.problems == cover.beyond) cover.distance = -1;
    cover.is_all = is_all_ && all_so_far;
    return cover;
}

void ExhaustiveCover::add(const ExhaustiveCover& other) {
    if (problems == 0)
        *this = other;
    else if (other.problems > 0)
        *this = {.problems = problems + other.problems,
                 .compared = compared + other.compared,
                 .distance = std::min(distance, other.distance),
                 .beyond = beyond + other.beyond,
                 .is_all = is_all && other.is_all,
                 .gave_up = gave_up || other.gave_up};
}

std::string ExhaustiveCover::print() const {
    const auto all = [](std::int64_t number) {
        return number == 1 ? "the one problem"
                           : fmt::format("all {} problems", print_grouped(number));
    };
    const std::int64_t whole = problems - beyond;
    const std::string whose = shards > 1 ? " of this shard" : "";
    std::string text;
    if (is_all)
        text = fmt::format("{}{} that it supports", all(problems), whose);
    else if (whole > 0)
        text = fmt::format("{}{} up to distance {}", all(whole), whose, distance);
    else
        text = fmt::format("{} problems{}, at no distance all", print_grouped(problems), whose);
    if (!is_all && whole > 0 && beyond > 0)
        text += fmt::format(" and {} beyond", print_grouped(beyond));
    if (gave_up) text += "; no further one was found that it supports";
    return text;
}

void certify(Shrunk& failure, const Case& found, const ExhaustiveWalk& walk, std::int64_t index) {
    if (failure.minimality.kind != Minimality::Kind::boxed ||
        !(failure.smallest.problem == found.problem) || failure.smallest.setting.before)
        return;
    const std::int64_t smaller = walk.problems_before(index);
    failure.minimality = {Minimality::Kind::certified, smaller, smaller};
}

}  // namespace gradverify
