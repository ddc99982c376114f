// SPDX-License-Identifier: Apache-2.0
// The tasks of one worker process that may be to blame for its death: the latest, since a damaged
// heap is mostly noticed soon, and one older task of each row, since any may kill it at its exit.
#pragma once

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
        Task& oldest = latest_.front();
        older_.insert_or_assign(row_of(oldest), std::move(oldest));
        latest_.pop_front();
    }

    /// The latest task of each row first, since a kernel that does damage mostly always does.
    std::vector<Task> suspects() const {
        std::vector<Task> firsts, others;
        std::set<Row> rows;
        for (auto answered = latest_.rbegin(); answered != latest_.rend(); ++answered)
            (rows.insert(row_of(*answered)).second ? firsts : others).push_back(*answered);
        for (const auto& [row, answered] : older_)
            (rows.contains(row) ? others : firsts).push_back(answered);
        firsts.insert(firsts.end(), others.begin(), others.end());
        return firsts;
    }

    /// As far as they are known, in the order in which they ran.
    std::vector<Task> in_order() const {
        std::vector<Task> all;
        for (const auto& [row, answered] : older_) all.push_back(answered);
        all.insert(all.end(), latest_.begin(), latest_.end());
        return all;
    }

  private:
    static constexpr std::size_t latest_kept = 50;

    using Row = std::pair<const Kernel*, std::string>;
    static Row row_of(const Task& task) { return {task.work.kernel, task.work.property}; }

    std::deque<Task> latest_;
    std::map<Row, Task> older_;
};

}  // namespace gradverify
