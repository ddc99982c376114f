// SPDX-License-Identifier: Apache-2.0
// The tasks of one worker process that may be to blame for its death: the latest, since a damaged
// heap is mostly noticed soon, and one older task of each row, since any may kill it at its exit.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/workers/work.hpp"

namespace gradverify {

class WorkerHistory {
  public:
    bool empty() const { return latest_.empty(); }

    void add(Task answered) {
        latest_.push_back(std::move(answered));
        if (latest_.size() <= latest_kept) return;
        Task& leaving = latest_.front();
        const auto [place, is_first] = place_of_.try_emplace(row_of(leaving), older_.size());
        if (is_first)
            older_.push_back(std::move(leaving));
        else
            older_[place->second] = std::move(leaving);
        latest_.pop_front();
    }

    /// The latest task of each row first, since a kernel that does damage mostly always does.
    std::vector<Task> suspects() const {
        std::vector<Task> firsts, others;
        std::set<Row> rows;
        const std::vector<Task> tasks = in_order();
        for (auto answered = tasks.rbegin(); answered != tasks.rend(); ++answered)
            (rows.insert(row_of(*answered)).second ? firsts : others).push_back(*answered);
        firsts.insert(firsts.end(), others.begin(), others.end());
        return firsts;
    }

    /// The older ones in the order of their rows' first, then the latest as they ran.
    std::vector<Task> in_order() const {
        std::vector<Task> tasks = older_;
        tasks.insert(tasks.end(), latest_.begin(), latest_.end());
        return tasks;
    }

  private:
    static constexpr std::size_t latest_kept = 50;

    using Row = std::pair<const Kernel*, std::string>;
    static Row row_of(const Task& task) { return {task.work.kernel, task.work.property}; }

    std::deque<Task> latest_;
    std::vector<Task> older_;
    std::map<Row, std::size_t> place_of_;  ///< in `older_`
};

}  // namespace gradverify
