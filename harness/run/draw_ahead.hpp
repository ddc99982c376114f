// SPDX-License-Identifier: Apache-2.0
// Draws the cases that rows will run next beside the driver, whom many workers keep busy.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/workers/work.hpp"

namespace gradverify {

class DrawAhead {
  public:
    struct Drawn {
        std::optional<Work> work;
        std::string why_none;
        bool is_skip = false;  ///< these two: see Suite::Draw
        double share = 0.0;
    };
    using Draw = std::function<Drawn(std::size_t row, std::int64_t index)>;

    /// `draw` is called by several threads at once, the caller's among them.
    DrawAhead(Draw draw, std::size_t rows, int threads);
    ~DrawAhead() { stop(); }
    DrawAhead(const DrawAhead&) = delete;
    DrawAhead& operator=(const DrawAhead&) = delete;

    /// Case `index` of the row. The next ones, `step` apart and before `end`, are drawn meanwhile.
    Drawn take(std::size_t row, std::int64_t index, std::int64_t step, std::int64_t end);

    /// Ends the threads.
    void stop();

  private:
    struct Place {
        bool is_begun = false;
        std::optional<Drawn> drawn;
    };
    struct Row {
        std::map<std::int64_t, Place> places;  ///< asked for, by index
        std::int64_t asked_up_to = 0;
    };

    void draw_all();

    Draw draw_;
    std::mutex mutex_;
    std::condition_variable asked_, drawn_;
    std::vector<Row> rows_;
    std::deque<std::pair<std::size_t, std::int64_t>> asked_for_;
    bool ends_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace gradverify
