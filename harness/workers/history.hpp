// SPDX-License-Identifier: Apache-2.0
// The cases that one worker process has answered, as far as one of them may be to blame for its
// death: the latest ones, and of each row the latest of those before. A damaged heap is mostly
// noticed soon; what ends a process at its exit may be the work of any kernel it ever ran.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gradverify {

struct AnsweredCase {
    std::int64_t ticket = 0;
    std::string line;
};

class WorkerHistory {
  public:
    bool empty() const { return latest_.empty(); }

    void add(AnsweredCase answered) {
        latest_.push_back(std::move(answered));
        if (latest_.size() <= latest_kept) return;
        AnsweredCase& oldest = latest_.front();
        older_.insert_or_assign(row_of(oldest.line), std::move(oldest));
        latest_.pop_front();
    }

    void clear() {
        latest_.clear();
        older_.clear();
    }

    /// The most suspicious first: of each row the latest, since what a kernel does once it mostly
    /// does always; then the others.
    std::vector<AnsweredCase> suspects() const {
        std::vector<AnsweredCase> firsts, others;
        std::set<std::string> rows;
        for (auto answered = latest_.rbegin(); answered != latest_.rend(); ++answered)
            (rows.insert(row_of(answered->line)).second ? firsts : others).push_back(*answered);
        for (const auto& [row, answered] : older_)
            (rows.contains(row) ? others : firsts).push_back(answered);
        firsts.insert(firsts.end(), others.begin(), others.end());
        return firsts;
    }

    /// As far as they are known, in the order in which they ran.
    std::vector<AnsweredCase> in_order() const {
        std::vector<AnsweredCase> all;
        for (const auto& [row, answered] : older_) all.push_back(answered);
        all.insert(all.end(), latest_.begin(), latest_.end());
        return all;
    }

  private:
    static constexpr std::size_t latest_kept = 50;

    /// `v1:KERNEL:PROPERTY` of a printed case.
    static std::string row_of(const std::string& line) {
        std::size_t end = 0;
        for (int colons = 0; end < line.size(); ++end)
            if (line[end] == ':' && ++colons == 3) break;
        return line.substr(0, end);
    }

    std::deque<AnsweredCase> latest_;
    std::map<std::string, AnsweredCase> older_;
};

}  // namespace gradverify
