// SPDX-License-Identifier: Apache-2.0
// Decides which row is served next: each in its turn or, under a time limit, the one that has had
// the least time. The n-th case of a row finds a bug about once in n, so equal times find the most,
// however dear a row's cases are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace gradverify {

enum class Turn { now, later, never };

/// Rows that wait for the same workers.
enum class RowKind { usual, left_by_clients, one_at_a_time };
/// By kind: whether there is room for a case.
using Room = std::array<bool, 3>;

class Turns {
  public:
    /// `order`: all rows, in which they have their first turns.
    Turns(std::vector<std::size_t> order, bool shares_time);

    /// A row is of the usual kind at first.
    void set_kind(std::size_t row, RowKind kind);
    /// The next row there is room for whose turn is now; nothing without one. One that says never
    /// is not asked again.
    std::optional<std::size_t> next(const Room& room,
                                    const std::function<Turn(std::size_t)>& turn_of);
    void began(std::size_t row);
    void ended(std::size_t row, double seconds);
    /// From now on it waits, under a time limit, for the rows that are due cases yet.
    void has_its_due(std::size_t row);
    /// Its kernel is known to come to an end. Seconds were lost to one that has died or hung, or
    /// lost the device: proven rows have as many before another has a turn, so that right kernels
    /// have half of the time, however many wrong ones there are.
    void is_proven(std::size_t row, bool is_so) { rows_[row].is_proven = is_so; }
    void lost(double seconds) { owed_seconds_ += seconds; }

  private:
    struct Spent {
        std::size_t place = 0;  ///< in the order
        RowKind kind = RowKind::usual;
        double seconds = 0.0, key = 0.0;
        std::int64_t ended = 0, running = 0;
        bool is_out = false, has_its_due = false, is_proven = false;
    };
    /// Whether it has its due, expected seconds, place.
    using Key = std::tuple<bool, double, std::size_t>;

    static Key key_of(const Spent& spent) { return {spent.has_its_due, spent.key, spent.place}; }

    void move(Spent& spent);
    std::set<Key>& waiting(const Spent& spent) {
        return waiting_[static_cast<std::size_t>(spent.kind)];
    }
    /// The first of a kind whose turn is now; of all kinds that there is room for.
    std::optional<Key> first(std::set<Key>& waiting, bool only_proven,
                             const std::function<Turn(std::size_t)>& turn_of);
    std::optional<Key> first(const Room& room, bool only_proven,
                             const std::function<Turn(std::size_t)>& turn_of);

    std::vector<std::size_t> order_;
    bool shares_time_;
    std::size_t next_place_ = 0;
    double owed_seconds_ = 0.0;  ///< to proven rows
    std::vector<Spent> rows_;
    std::array<std::set<Key>, 3> waiting_;  ///< by kind
};

}  // namespace gradverify
