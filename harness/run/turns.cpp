// SPDX-License-Identifier: Apache-2.0
#include "harness/run/turns.hpp"

#include <algorithm>
#include <iterator>

namespace gradverify {

namespace {

// A row that has answered no case is taken for a dear one.
constexpr double unknown_seconds = 1.0;

}  // namespace

Turns::Turns(std::vector<std::size_t> order, bool shares_time)
    : order_(std::move(order)), shares_time_(shares_time), rows_(order_.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Spent& spent = rows_[order_[i]];
        spent.place = i;
        if (shares_time_) waiting(spent).insert(key_of(spent));
    }
}

void Turns::set_kind(std::size_t row, RowKind kind) {
    Spent& spent = rows_[row];
    const bool was_waiting = waiting(spent).erase(key_of(spent)) > 0;
    spent.kind = kind;
    if (was_waiting) waiting(spent).insert(key_of(spent));
}

std::optional<std::size_t> Turns::next(const Room& room,
                                       const std::function<Turn(std::size_t)>& turn_of) {
    if (!shares_time_) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const std::size_t row = order_[next_place_];
            next_place_ = (next_place_ + 1) % order_.size();
            Spent& spent = rows_[row];
            if (!spent.is_out && room[static_cast<std::size_t>(spent.kind)]) {
                const Turn turn = turn_of(row);
                if (turn == Turn::now) return row;
                spent.is_out = turn == Turn::never;
            }
        }
        return std::nullopt;
    }
    std::optional<Key> next;
    if (owed_seconds_ > 0.0) next = first(room, true, turn_of);
    if (!next) next = first(room, false, turn_of);
    return next ? std::optional(order_[std::get<2>(*next)]) : std::nullopt;
}

std::optional<Turns::Key> Turns::first(const Room& room, bool only_proven,
                                       const std::function<Turn(std::size_t)>& turn_of) {
    std::optional<Key> next;
    for (std::size_t kind = 0; kind < room.size(); ++kind)
        if (room[kind])
            if (const auto found = first(waiting_[kind], only_proven, turn_of);
                found && (!next || *found < *next))
                next = found;
    return next;
}

std::optional<Turns::Key> Turns::first(std::set<Key>& waiting, bool only_proven,
                                       const std::function<Turn(std::size_t)>& turn_of) {
    for (auto key = waiting.begin(); key != waiting.end();) {
        const std::size_t row = order_[std::get<2>(*key)];
        const bool is_left = only_proven && !rows_[row].is_proven;
        const Turn turn = is_left ? Turn::later : turn_of(row);
        if (turn == Turn::now) return *key;
        rows_[row].is_out = turn == Turn::never;
        key = rows_[row].is_out ? waiting.erase(key) : std::next(key);
    }
    return std::nullopt;
}

void Turns::move(Spent& spent) {
    if (!shares_time_ || spent.is_out) return;
    waiting(spent).erase(key_of(spent));
    const double each =
        spent.ended > 0 ? spent.seconds / static_cast<double>(spent.ended) : unknown_seconds;
    spent.key = spent.seconds + each * static_cast<double>(spent.running);
    waiting(spent).insert(key_of(spent));
}

void Turns::began(std::size_t row) {
    ++rows_[row].running;
    move(rows_[row]);
}

void Turns::ended(std::size_t row, double seconds) {
    Spent& spent = rows_[row];
    --spent.running;
    ++spent.ended;
    spent.seconds += seconds;
    if (spent.is_proven) owed_seconds_ = std::max(owed_seconds_ - seconds, 0.0);
    move(spent);
}

void Turns::has_its_due(std::size_t row) {
    Spent& spent = rows_[row];
    const bool was_waiting = waiting(spent).erase(key_of(spent)) > 0;
    spent.has_its_due = true;
    if (was_waiting) waiting(spent).insert(key_of(spent));
}

}  // namespace gradverify
