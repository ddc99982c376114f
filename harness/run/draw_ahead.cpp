// SPDX-License-Identifier: Apache-2.0
#include "harness/run/draw_ahead.hpp"

#include <algorithm>

namespace gradverify {

namespace {

// So many cases of a row are drawn before they are asked for.
constexpr std::int64_t depth = 4;

}  // namespace

DrawAhead::DrawAhead(Draw draw, std::size_t rows, int threads)
    : draw_(std::move(draw)), rows_(rows) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { draw_all(); });
}

void DrawAhead::stop() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    asked_.notify_all();
    threads_.clear();
}

DrawAhead::Drawn DrawAhead::take(std::size_t row, std::int64_t index, std::int64_t step,
                                 std::int64_t end) {
    if (threads_.empty()) return draw_(row, index);
    std::unique_lock lock(mutex_);
    auto& [places, asked_up_to] = rows_[row];
    asked_up_to = std::max(asked_up_to, index);
    while (asked_up_to + step <= index + depth * step && asked_up_to + step < end) {
        asked_up_to += step;
        places.try_emplace(asked_up_to);
        asked_for_.emplace_back(row, asked_up_to);
        asked_.notify_one();
    }
    const auto place = places.find(index);
    if (place == places.end() || !place->second.is_begun) {
        if (place != places.end()) places.erase(place);
        lock.unlock();
        return draw_(row, index);
    }
    drawn_.wait(lock, [&] { return place->second.drawn.has_value(); });
    Drawn drawn = std::move(*place->second.drawn);
    places.erase(place);
    return drawn;
}

void DrawAhead::draw_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
        asked_.wait(lock, [&] { return ends_ || !asked_for_.empty(); });
        if (ends_) return;
        const auto [row, index] = asked_for_.front();
        asked_for_.pop_front();
        const auto place = rows_[row].places.find(index);
        if (place == rows_[row].places.end()) continue;
        place->second.is_begun = true;
        lock.unlock();
        Drawn drawn = draw_(row, index);
        lock.lock();
        place->second.drawn = std::move(drawn);
        drawn_.notify_one();
    }
}

}  // namespace gradverify
