// SPDX-License-Identifier: Apache-2.0
#include "harness/exhaustive.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "harness/check.hpp"
#include "harness/text.hpp"

namespace gradverify {

namespace {

// Counting costs some microseconds a problem; beyond this many the end is not told in advance.
constexpr std::int64_t counted_maximum = 100'000;

}  // namespace

ExhaustiveWalk::ExhaustiveWalk(const Suite& suite, const Row& row, const ExhaustiveOptions& options)
    : suite_(&suite),
      row_(row),
      shard_(options.shard),
      shards_(options.shards),
      problems_(suite.problems_in_order(row)),
      ahead_(problems_()) {
    if (!ahead_.problem) return;
    draws_ = std::max<std::int64_t>(
        static_cast<std::int64_t>(suite.dense_cases(row, *ahead_.problem).size()), 1);
    plan(options);
}

/// Decides the distance, and counts the cases up to it where they are not too many.
void ExhaustiveWalk::plan(const ExhaustiveOptions& options) {
    constexpr std::int64_t no_end = std::int64_t{1} << 50;
    farthest_ = options.distance.value_or(no_end);
    if (!options.distance && !options.cases) return;
    const auto next = suite_->problems_in_order(row_);
    std::int64_t count = 0, below = 0;
    std::optional<std::int64_t> distance;
    for (auto step = next(); step.problem; step = next()) {
        const std::int64_t at = step.problem->distance();
        if (at > farthest_) break;
        // A whole distance fits, the nearest one always, or it is left out.
        if (!options.distance && distance && at > *distance) below = count;
        if (!options.distance && below > 0 && (count + 1) * draws_ > *options.cases * shards_) {
            farthest_ = at - 1;
            count = below;
            break;
        }
        if (options.distance && count >= counted_maximum) return;
        distance = at;
        ++count;
    }
    const std::int64_t of_shard = count > shard_ ? (count - 1 - shard_) / shards_ + 1 : 0;
    cases_in_all_ = of_shard * draws_;
}

/// Moves on to the next problem of this shard, counting it, and makes its cases.
void ExhaustiveWalk::advance() {
    while (pending_.empty() && ahead_.problem && ahead_.problem->distance() <= farthest_) {
        const Problem& problem = *ahead_.problem;
        if (ahead_index_++ % shards_ == shard_) {
            const auto distance = static_cast<std::size_t>(problem.distance());
            handed_out_.resize(std::max(handed_out_.size(), distance + 1));
            ++handed_out_[distance];
            for (Case& one : suite_->dense_cases(row_, problem)) pending_.push_back(std::move(one));
        }
        ahead_ = problems_();
    }
}

std::optional<Case> ExhaustiveWalk::next() {
    advance();
    if (pending_.empty()) return std::nullopt;
    Case next = std::move(pending_.front());
    pending_.pop_front();
    return next;
}

ExhaustiveCover ExhaustiveWalk::covered() const {
    ExhaustiveCover cover;
    if (!pending_.empty() || (ahead_.problem && ahead_.problem->distance() <= farthest_) ||
        ahead_.gave_up) {
        // The last distance was not finished.
        cover.distance = static_cast<std::int64_t>(handed_out_.size()) - 2;
        if (pending_.empty() && ahead_.problem)
            cover.distance = std::max(cover.distance, ahead_.problem->distance() - 1);
    } else {
        cover.is_all = !ahead_.problem;
        cover.distance = static_cast<std::int64_t>(handed_out_.size()) - 1;
        if (ahead_.problem) cover.distance = std::min(farthest_, ahead_.problem->distance() - 1);
    }
    const auto end = handed_out_.begin() +
                     std::clamp<std::ptrdiff_t>(cover.distance + 1, 0,
                                                static_cast<std::ptrdiff_t>(handed_out_.size()));
    cover.problems = std::accumulate(handed_out_.begin(), end, std::int64_t{0});
    if (cover.problems == 0) cover.distance = -1;
    return cover;
}

std::string ExhaustiveCover::print() const {
    if (problems == 0) return "no distance was finished";
    const std::string all =
        problems == 1 ? "the one problem" : "all " + print_grouped(problems) + " problems";
    return is_all ? all + " that it supports" : all + " up to distance " + std::to_string(distance);
}

std::string exhaustive_lines(const std::vector<RowResult>& results) {
    // Kernel and device, then what was covered, then by which properties.
    std::map<std::string, std::map<std::string, std::vector<std::string>>> covers;
    for (const RowResult& result : results)
        if (result.exhaustive && result.verdict != Verdict::failed)
            covers[result.row.kernel->name + " on " + result.row.device][result.exhaustive->print()]
                .push_back(result.row.property);
    std::string text;
    for (const auto& [kernel, by_cover] : covers)
        for (const auto& [cover, properties] : by_cover)
            text += "exhaustive: " + kernel + ": " + cover +
                    (by_cover.size() == 1 ? "" : " (" + joined(properties) + ")") + "\n";
    return text;
}

}  // namespace gradverify
