// SPDX-License-Identifier: Apache-2.0
// The tasks of one worker process that may be to blame for its death: the latest, since a damaged
// heap is mostly noticed soon, and one older task of each row, since any may kill it at its exit.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/workers/work.hpp"

namespace gradverify {

class WorkerHistory {
  public:
    bool empty() const { return tasks_.empty(); }

    void add(Task answered) {
        tasks_.push_back(std::move(answered));
        if (std::ssize(tasks_) <= latest_kept) return;
        const auto leaving = tasks_.end() - latest_kept - 1;
        const auto older = std::find_if(tasks_.begin(), leaving, [&](const Task& task) {
            return row_of(task) == row_of(*leaving);
        });
        if (older == leaving) return;
        *older = std::move(*leaving);
        tasks_.erase(leaving);
    }

    /// The latest task of each row first, since a kernel that does damage mostly always does.
    std::vector<Task> suspects() const {
        std::vector<Task> firsts, others;
        std::set<Row> rows;
        for (auto answered = tasks_.rbegin(); answered != tasks_.rend(); ++answered)
            (rows.insert(row_of(*answered)).second ? firsts : others).push_back(*answered);
        firsts.insert(firsts.end(), others.begin(), others.end());
        return firsts;
    }

    /// As far as they are known, in the order in which they ran.
    const std::deque<Task>& in_order() const { return tasks_; }

  private:
    static constexpr int latest_kept = 50;

    using Row = std::pair<const Kernel*, std::string_view>;
    static Row row_of(const Task& task) { return {task.work.kernel, task.work.property}; }

    std::deque<Task> tasks_;
};

}  // namespace gradverify
