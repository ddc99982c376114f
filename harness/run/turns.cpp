// SPDX-License-Identifier: Apache-2.0
#include "harness/run/turns.hpp"

#include <iterator>

namespace gradverify {

namespace {

// A row that has answered no case is taken for a dear one.
constexpr double unknown_seconds = 1.0;

}  // namespace

Turns::Turns(std::vector<std::size_t> order, bool shares_time)
    : order_(std::move(order)), shares_time_(shares_time), rows_(order_.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
        rows_[order_[i]].place = i;
        if (shares_time_) waiting_.insert({0.0, i});
    }
}

std::optional<std::size_t> Turns::next(const std::function<Turn(std::size_t)>& turn_of) {
    if (!shares_time_) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const std::size_t row = order_[next_place_];
            next_place_ = (next_place_ + 1) % order_.size();
            if (!rows_[row].is_out) {
                const Turn turn = turn_of(row);
                if (turn == Turn::now) return row;
                rows_[row].is_out = turn == Turn::never;
            }
        }
        return std::nullopt;
    }
    for (auto key = waiting_.begin(); key != waiting_.end();) {
        const std::size_t row = order_[key->second];
        const Turn turn = turn_of(row);
        if (turn == Turn::now) return row;
        rows_[row].is_out = turn == Turn::never;
        key = rows_[row].is_out ? waiting_.erase(key) : std::next(key);
    }
    return std::nullopt;
}

void Turns::move(Spent& spent) {
    if (!shares_time_ || spent.is_out) return;
    waiting_.erase({spent.key, spent.place});
    const double each =
        spent.ended > 0 ? spent.seconds / static_cast<double>(spent.ended) : unknown_seconds;
    spent.key = spent.seconds + each * static_cast<double>(spent.running);
    waiting_.insert({spent.key, spent.place});
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
    move(spent);
}

}  // namespace gradverify
