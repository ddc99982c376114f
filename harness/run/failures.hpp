// SPDX-License-Identifier: Apache-2.0
// Decides which failure is shrunk next, and for how long, and when those of one bug are told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/run/rows.hpp"

namespace gradverify {

class Failures {
  public:
    /// All that is given must outlive this. `serve`: what goes on while a failure is shrunk.
    Failures(const Suite& suite, const CheckOptions& options, WorkerPool& pool,
             const CheckObserver& observer, const TimeBudget& time, Rows& rows,
             std::function<void()> serve)
        : suite_(suite),
          options_(options),
          pool_(pool),
          observer_(observer),
          time_(time),
          rows_(rows),
          serve_(std::move(serve)) {}

    /// Ends the next of the rows that something stopped, once every row has had its first case;
    /// false where none is to be ended now.
    bool end_next();
    /// Ends the rows that only wait to be shrunk, and reports what is not reported yet.
    void end_all();
    /// Tells of what is new: bugs that wait for no other row, and failures that have waited long.
    void tell();
    /// The row whose failure is being shrunk; null: none.
    const Row* shrinking() const { return shrinking_ ? &shrinking_->result.row : nullptr; }

  private:
    void end(Serving& serving);
    bool shrink(Serving& serving, const Case& found, const Outcome& outcome);
    bool is_detecting() const;
    std::tuple<bool, bool, double, std::string_view> urgency(const Serving& serving) const;
    bool waits_for_others(const Row& failed) const;
    void report_bugs(bool is_end);
    std::optional<TimeBudget::Clock::time_point> shrink_deadline() const;

    const Suite& suite_;
    const CheckOptions& options_;
    WorkerPool& pool_;
    const CheckObserver& observer_;
    const TimeBudget& time_;
    Rows& rows_;
    std::function<void()> serve_;
    std::map<const Kernel*, std::vector<Problem>> failing_problems_;  ///< as shrunk
    /// By kernel, device, and whether it was told which outputs are wrong: properties that compare
    /// inner products don't know.
    std::map<std::tuple<const Kernel*, std::string, bool>, std::vector<Problem>> explained_;
    const Serving* shrinking_ = nullptr;
    /// Failures that are not reported yet, and those that are.
    std::vector<const RowResult*> unreported_, reported_;
    bool is_finishing_ = false;
};

}  // namespace gradverify
