// SPDX-License-Identifier: Apache-2.0
// Results of warp collectives. Exited lanes of a mask are not waited for; a shuffle from a lane
// that does not take part gives all bits set (NaN), as the value is undefined on a GPU.
#include "harness/simt/execute/warp.hpp"

#include <algorithm>
#include <bit>

#include "harness/simt/execute/watcher.hpp"

namespace gradverify::simt {
namespace {

using unit::WarpOp;
constexpr std::ptrdiff_t warp_lanes = 32;
constexpr std::uint64_t undefined_value = ~std::uint64_t{0};

std::uint32_t combined(WarpOp op, std::uint32_t x, std::uint32_t y) {
    const auto a = static_cast<std::int32_t>(x), b = static_cast<std::int32_t>(y);
    if (op == WarpOp::reduce_add) return x + y;
    if (op == WarpOp::reduce_min_signed) return static_cast<std::uint32_t>(std::min(a, b));
    if (op == WarpOp::reduce_max_signed) return static_cast<std::uint32_t>(std::max(a, b));
    if (op == WarpOp::reduce_min_unsigned) return std::min(x, y);
    if (op == WarpOp::reduce_max_unsigned) return std::max(x, y);
    if (op == WarpOp::reduce_and) return x & y;
    if (op == WarpOp::reduce_or) return x | y;
    return x ^ y;
}

}  // namespace

unsigned Warp::deposit(unsigned lane, const WarpDeposit& deposit, unit::Place place) {
    unsigned index = 0;
    // Lanes at different __activemask do not run together; other collectives meet by mask alone.
    while (index < pending_count_ &&
           (pending_[index].mask != deposit.mask || pending_[index].op != deposit.op ||
            (deposit.op == WarpOp::active && pending_[index].place.line != place.line))) {
        ++index;
    }
    if (index == pending_count_) pending_[pending_count_++] = {deposit.mask, 0, deposit.op, place};
    Pending& pending = pending_[index];
    pending.arrived |= 1u << lane;
    values_[lane] = deposit.value;
    sources_[lane] = static_cast<std::uint8_t>(deposit.source_lane & 31u);
    return is_complete(pending) ? complete(index) : 0;
}

unsigned Warp::exit(unsigned lane) {
    exited_ |= 1u << lane;
    unsigned released = 0;
    for (unsigned i = pending_count_; i-- > 0;) {
        if (is_complete(pending_[i])) released |= complete(i);
    }
    return released;
}

unsigned Warp::complete_active() {
    unsigned released = 0;
    for (unsigned i = pending_count_; i-- > 0;) {
        if (pending_[i].op == WarpOp::active) released |= complete(i);
    }
    return released;
}

unsigned Warp::complete(unsigned index) {
    const Pending pending = pending_[index];
    pending_[index] = pending_[--pending_count_];
    if (watching != nullptr) [[unlikely]]
        tell_detector(pending);
    compute(pending);
    return pending.arrived;
}

void Warp::tell_detector(const Pending& pending) const {
    watching->check_mask({pending.op, pending.mask, exited_, pending.place});
    if (pending.op == WarpOp::sync) watching->warp_synchronised(pending.arrived);
    if (pending.op != WarpOp::shuffle) return;
    for_each_bit(pending.arrived, [&](unsigned lane) {
        // The kernel may discard the value of a source that the mask does not name.
        const unsigned source = sources_[lane];
        if ((pending.mask & exited_) >> source & 1u)
            watching->shuffle_from_absent_lane(source, pending.place);
    });
}

void Warp::compute(const Pending& pending) {
    const auto give_all = [&](std::uint64_t value) {
        for_each_bit(pending.arrived, [&](unsigned lane) { results_[lane] = value; });
    };
    if (pending.op == WarpOp::sync) return;
    if (pending.op == WarpOp::shuffle) return shuffle(pending);
    if (pending.op == WarpOp::active) return give_all(pending.arrived);
    if (pending.op == WarpOp::match_any || pending.op == WarpOp::match_all) return match(pending);
    if (pending.op == WarpOp::matrix_product)
        return give_all(pending.arrived == ~0u && multiply(values_));
    if (pending.op == WarpOp::same_matrix)
        return give_all(pending.arrived == ~0u &&
                        std::ranges::count(values_, values_[0]) == warp_lanes);
    if (pending.op == WarpOp::together) return give_all(pending.arrived == ~0u && act());
    unsigned votes = 0;
    for_each_bit(pending.arrived,
                 [&](unsigned lane) { votes |= values_[lane] != 0 ? 1u << lane : 0u; });
    if (pending.op == WarpOp::ballot) return give_all(votes);
    if (pending.op == WarpOp::any) return give_all(votes != 0);
    if (pending.op == WarpOp::all) return give_all(votes == pending.arrived);
    give_all(reduce(pending));
}

bool Warp::act() const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto of = [](std::uint64_t lane) { return reinterpret_cast<unit::Together*>(lane)->act; };
    const auto first = of(values_[0]);
    return std::ranges::all_of(values_, [&](std::uint64_t lane) { return of(lane) == first; }) &&
           first(values_.data());
}

void Warp::shuffle(const Pending& pending) {
    if (pending.arrived == ~0u) {
        for (unsigned lane = 0; lane < 32; ++lane) results_[lane] = values_[sources_[lane]];
        return;
    }
    for_each_bit(pending.arrived, [&](unsigned lane) {
        const unsigned source = sources_[lane];
        const bool takes_part = (pending.arrived >> source & 1u) != 0;
        results_[lane] = takes_part ? values_[source] : undefined_value;
    });
}

void Warp::match(const Pending& pending) {
    for_each_bit(pending.arrived, [&](unsigned lane) {
        unsigned equal = 0;
        for_each_bit(pending.arrived, [&](unsigned other) {
            equal |= values_[lane] == values_[other] ? 1u << other : 0u;
        });
        const bool none = pending.op == WarpOp::match_all && equal != pending.arrived;
        results_[lane] = none ? 0 : equal;
    });
}

std::uint64_t Warp::reduce(const Pending& pending) const {
    auto total = static_cast<std::uint32_t>(values_[std::countr_zero(pending.arrived)]);
    for_each_bit(pending.arrived & (pending.arrived - 1), [&](unsigned lane) {
        total = combined(pending.op, total, static_cast<std::uint32_t>(values_[lane]));
    });
    return total;
}

}  // namespace gradverify::simt
