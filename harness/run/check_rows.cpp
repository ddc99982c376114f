// SPDX-License-Identifier: Apache-2.0
#include "harness/run/check_rows.hpp"

#include <algorithm>
#include <utility>

#include "harness/base/interrupt.hpp"
#include "harness/run/failures.hpp"
#include "harness/run/rows.hpp"

namespace gradverify {

namespace {

class Check {
  public:
    Check(const Suite& suite, const std::vector<Row>& rows, const CheckOptions& options,
          WorkerPool& pool, const CheckObserver& observer)
        : options_(options),
          pool_(pool),
          observer_(observer),
          time_(options.seconds, options.seconds_in_all),
          rows_(suite, rows, options, pool, observer, time_),
          failures_(suite, options, pool, observer, time_, rows_, [this] { serve(); }) {
        pool_.keep_busy([this] { serve(); });
    }
    ~Check() { pool_.keep_busy({}); }
    Check(const Check&) = delete;
    Check& operator=(const Check&) = delete;

    std::vector<RowResult> run() {
        try {
            while (rows_.submit_some() && !time_.is_given_up()) {
                if (const auto answer = pool_.wait(0.2)) rows_.take(*answer);
                failures_.end_next();
                tell();
            }
            // A worker that dies at its end is charged to a case too.
            pool_.finish(/*gives_up=*/pool_.in_flight() > 0);
            while (const auto late = pool_.wait(0.0)) rows_.take(*late);
            while (failures_.end_next()) tell();
        } catch (const Interrupted&) {
            // Rows that have not ended are skipped below.
        }
        rows_.stop_drawing();  // its threads read what is moved below
        for (Serving& serving : rows_.all())
            if (!serving.ended && serving.stops.empty()) rows_.end(serving);
        failures_.end_all();
        std::vector<RowResult> results;
        for (Serving& serving : rows_.all()) results.push_back(std::move(serving.result));
        return results;
    }

  private:
    /// What goes on while a failure is shrunk, or it is looked for who is to blame for a death.
    void serve() {
        rows_.submit_some(/*is_idle=*/false);
        while (const auto answer = pool_.wait(0.0)) rows_.take(*answer);
        tell();
    }

    void tell() {
        failures_.tell();
        if (observer_.progressed) observer_.progressed(rows_.done(), rows_.most(), rows_.failed());
        if (observer_.row_goes_on) tell_rows();
        if (observer_.lives) tell_life();
    }

    void tell_life() {
        const std::chrono::duration<double> between(options_.seconds_between_signs);
        const auto now = TimeBudget::Clock::now();
        if (now - last_sign_ < between) return;
        last_sign_ = now;
        SignOfLife sign = rows_.sign();
        sign.seconds = std::chrono::duration<double>(now - begin_).count();
        if (!sign.longest) {
            sign.longest = failures_.shrinking();
            sign.is_shrinking = sign.longest != nullptr;
        }
        observer_.lives(sign);
    }

    void tell_rows() {
        const auto now = TimeBudget::Clock::now();
        if (now < next_told_) return;
        next_told_ = now + (now - begin_);
        for (const Serving& serving : rows_.all())
            if (!serving.ended && serving.result.cases > 0) observer_.row_goes_on(serving.result);
    }

    const CheckOptions& options_;
    WorkerPool& pool_;
    const CheckObserver& observer_;
    TimeBudget time_;
    Rows rows_;
    Failures failures_;
    const TimeBudget::Clock::time_point begin_ = TimeBudget::Clock::now();
    TimeBudget::Clock::time_point last_sign_ = begin_;
    TimeBudget::Clock::time_point next_told_ = begin_ + std::chrono::seconds(1);
};

}  // namespace

std::vector<RowResult> check_rows(const Suite& suite, const std::vector<Row>& rows,
                                  const CheckOptions& options, WorkerPool& pool,
                                  const CheckObserver& observer) {
    if (!options.exhaustive && options.problems.empty())
        suite.prepare(rows, std::max(pool.jobs() / 4, 1));
    return Check(suite, rows, options, pool, observer).run();
}

}  // namespace gradverify
