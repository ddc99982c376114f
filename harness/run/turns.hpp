// SPDX-License-Identifier: Apache-2.0
// Decides which row is served next: each in its turn or, under a time limit, the one that has had
// the least time. The n-th case of a row finds a bug about once in n, so equal times find the most,
// however dear a row's cases are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gradverify {

enum class Turn { now, later, never };

class Turns {
  public:
    /// `order`: all rows, in which they have their first turns.
    Turns(std::vector<std::size_t> order, bool shares_time);

    /// The next row whose turn is now; nothing without one. One that says never is not asked again.
    std::optional<std::size_t> next(const std::function<Turn(std::size_t)>& turn_of);
    void began(std::size_t row);
    void ended(std::size_t row, double seconds);

  private:
    struct Spent {
        std::size_t place = 0;  ///< in the order
        double seconds = 0.0, key = 0.0;
        std::int64_t ended = 0, running = 0;
        bool is_out = false;
    };
    using Key = std::pair<double, std::size_t>;  ///< expected seconds, place

    void move(Spent& spent);

    std::vector<std::size_t> order_;
    bool shares_time_;
    std::size_t next_place_ = 0;
    std::vector<Spent> rows_;
    std::set<Key> waiting_;
};

}  // namespace gradverify
