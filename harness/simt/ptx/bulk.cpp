// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk and its groups (PTX ISA, 9.7.9.25.4). The race detector hears of a copy's accesses
// when it is asked for; what has seen it complete, comes after them.
#include "harness/simt/ptx/bulk.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "gradverify_simt/ptx/tensor.hpp"
#include "gradverify_simt/runtime_types.hpp"
#include "gradverify_simt/tensor_maps.hpp"
#include "harness/simt/execute/warp.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/ptx/cp_async.hpp"
#include "harness/simt/ptx/mbarrier.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

unsigned block_of(const void* shared) {
    return ptx::rank_of_shared(ptx::to_shared(number(shared)));
}

std::byte* in_block(const void* shared, unsigned block) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(
        pointer_to(ptx::from_shared(ptx::of_block(ptx::to_shared(number(shared)), block)))));
}

[[noreturn]] void fail(const AsyncPlace& at, const char* what) {
    Executor::of_this_thread().trap(cudaErrorIllegalInstruction, {what}, at.place);
}

/// Ranges of memory that the pieces meet on one side, joined where they touch.
template <class Side>
std::vector<AddressRange> ranges_of(const BulkCopy& copy, Side side) {
    std::vector<AddressRange> all;
    for (const BulkCopy::Piece& piece : copy.pieces) {
        const std::uintptr_t begin = number(side(piece));
        if (begin != 0) all.push_back({begin, begin + piece.bytes});
    }
    std::ranges::sort(all, {}, &AddressRange::begin);
    std::size_t joined = 0;
    for (const AddressRange& range : all) {
        if (joined > 0 && all[joined - 1].end >= range.begin)
            all[joined - 1].end = std::max(all[joined - 1].end, range.end);
        else
            all[joined++] = range;
    }
    all.resize(joined);
    return all;
}

const std::byte* from_of(const BulkCopy::Piece& piece) { return piece.from; }
const std::byte* to_of(const BulkCopy::Piece& piece) { return piece.to; }

void report(const BulkCopy& copy) {
    for (const AddressRange& range : ranges_of(copy, from_of))
        watching->access_by_operation({.address = range.begin,
                                       .bytes = range.end - range.begin,
                                       .pc = copy.by.pc,
                                       .reads = true,
                                       .writes = false,
                                       .operation = copy.operation});
    for (const AddressRange& range : ranges_of(copy, to_of))
        watching->access_by_operation({.address = range.begin,
                                       .bytes = range.end - range.begin,
                                       .pc = copy.by.pc,
                                       .reads = false,
                                       .writes = true,
                                       .is_atomic = copy.reduction != nullptr,
                                       .operation = copy.operation});
    if (copy.tensor_map != nullptr)
        watching->read_tensor_map({.address = number(copy.tensor_map),
                                   .bytes = sizeof(CUtensorMap),
                                   .pc = copy.by.pc,
                                   .reads = true,
                                   .writes = false,
                                   .operation = copy.operation,
                                   .is_of_map = true});
}

}  // namespace

void BulkCopy::perform() {
    for (const Piece& piece : pieces) {
        if (piece.from == nullptr) {
            for (std::uint32_t at = 0; at < piece.bytes; at += fill_bytes)
                std::memcpy(piece.to + at, &fill, std::min(fill_bytes, piece.bytes - at));
        } else if (reduction != nullptr) {
            reduction->apply(piece.to, piece.from, piece.bytes);
        } else {
            std::memcpy(piece.to, piece.from, piece.bytes);
        }
    }
    is_done = true;
}

void BulkCopy::read() {
    if (is_done || !source.empty()) return;
    std::size_t bytes = 0;
    for (const Piece& piece : pieces) bytes += piece.bytes;
    source.resize(bytes);
    std::byte* at = source.data();
    for (Piece& piece : pieces) {
        if (piece.from == nullptr) continue;
        std::memcpy(at, piece.from, piece.bytes);
        piece.from = std::exchange(at, at + piece.bytes);
    }
}

/// A copy that is done late must not be the first to meet an address that is not mapped.
void BulkCopy::touch() const {
    for (const Piece& piece : pieces) {
        if (piece.from != nullptr)
            static_cast<void>(*const_cast<const volatile std::byte*>(piece.from));
        auto* const place = const_cast<volatile std::byte*>(piece.to);
        *place = *place;
    }
}

BulkCopy BulkCopy::to_block(unsigned block) const {
    BulkCopy copy = *this;
    copy.by.mbarrier = in_block(by.mbarrier, block);
    if (pieces.empty()) return copy;
    const std::ptrdiff_t distance = in_block(pieces[0].to, block) - pieces[0].to;
    for (Piece& piece : copy.pieces) piece.to += distance;
    return copy;
}

void BulkCopies::forget() {
    late_.clear();
    threads_.clear();
    begun_.clear();
    has_copies_ = false;
}

void BulkCopies::begin_launch(const Schedule& schedule, std::uint64_t launch) {
    forget();
    order_ = schedule.threads;
    random_ = Random(Random(schedule.seed + launch).next());
}

bool BulkCopies::draw_is_early() {
    return is_random(order_) ? random_.below(2) == 0 : order_ == Order::ascending;
}

void BulkCopies::add(BulkCopy copy) {
    const bool is_load = copy.by.mbarrier != nullptr;
    if (is_load && !copy.pieces.empty() &&
        block_of(copy.pieces[0].to) != block_of(copy.by.mbarrier))
        fail(copy.by, "a bulk copy whose mbarrier is of another block than its destination");
    BulkCopies& home = is_load ? of(block_of(copy.by.mbarrier)) : *this;
    home.has_copies_ = true;
    copy.rank = unit::state.thread.rank;
    // The detector hears of an access before memory changes.
    if (watching != nullptr) {
        copy.operation = watching->begin_operation();
        home.begun_.push_back({copy.operation, copy.by.pc, copy.rank});
        report(copy);
    }
    copy.touch();
    const bool is_early = draw_is_early();
    if (!is_load) {
        OfThread& thread = threads_[copy.rank];
        copy.group = thread.open_group;
        if (is_early) copy.perform();
        thread.copies.push_back(std::move(copy));
    } else if (is_early) {
        complete(copy);
    } else {
        home.late_.push_back(std::move(copy));
    }
}

void BulkCopies::multicast(const BulkCopy& copy, std::uint32_t blocks) {
    if (blocks == 0 || blocks >> unit::state.cluster_size != 0)
        fail(copy.by, "a copy to a block that the cluster does not have");
    for_each_bit(blocks, [&](unsigned block) { add(copy.to_block(block)); });
}

void BulkCopies::arrive_after_copies(const AsyncPlace& at) {
    has_copies_ = true;
    const unsigned rank = unit::state.thread.rank;
    // The arrival alone may be late: who does not wait for it, has no order after the copies.
    BulkCopy arrival{.by = at, .pieces = {}, .arrives = true, .rank = rank, .source = {}};
    arrival.operation = AsyncCopies::of_this_thread().arrive(rank);
    Mbarrier(at.mbarrier, at.pc, at.place).release();
    if (draw_is_early())
        complete(arrival);
    else
        late_.push_back(std::move(arrival));
}

void BulkCopies::complete(BulkCopy& copy) {
    copy.perform();
    Mbarrier mbarrier(copy.by.mbarrier, copy.by.pc, copy.by.place);
    if (copy.arrives)
        mbarrier.arrive_later(copy.operation);
    else
        mbarrier.complete(copy.transaction_bytes, copy.operation);
}

bool BulkCopies::complete_one() {
    if (late_.empty()) return false;
    const std::size_t last = late_.size() - 1;
    if (is_random(order_))
        std::swap(late_[random_.below(static_cast<unsigned>(late_.size()))], late_[last]);
    BulkCopy copy = std::move(late_[last]);
    late_.pop_back();
    complete(copy);
    return true;
}

void BulkCopies::commit() { ++threads_[unit::state.thread.rank].open_group; }

void BulkCopies::wait(unsigned groups, bool reads_only) {
    OfThread& thread = threads_[unit::state.thread.rank];
    if (thread.open_group <= groups) return;
    const auto left = std::ranges::find_if(thread.copies, [&](const BulkCopy& copy) {
        return copy.group >= thread.open_group - groups;
    });
    for (auto copy = thread.copies.begin(); copy != left; ++copy) {
        if (reads_only)
            copy->read();
        else if (!copy->is_done)
            copy->perform();
        if (watching != nullptr) watching->wait_for_operation(copy->operation, reads_only);
    }
    if (!reads_only) thread.copies.erase(thread.copies.begin(), left);
}

void BulkCopies::perform_groups() {
    for (auto& [rank, thread] : threads_) {
        for (BulkCopy& copy : thread.copies)
            if (!copy.is_done) copy.perform();
    }
}

void BulkCopies::leave_block() {
    while (complete_one()) {
    }
    perform_groups();
    begun_.clear();
}

void BulkCopies::complete_all() {
    perform_groups();
    // Their mbarriers are gone with the block.
    for (BulkCopy& copy : late_) copy.perform();
    if (watching != nullptr) {
        for (const Begun& begun : begun_)
            if (!watching->is_waited_for(begun.operation))
                watching->outlives_block(begun.pc, begun.rank);
    }
    forget();
}

}  // namespace gradverify::simt

namespace gradverify::simt::ptx {
namespace {

BulkCopy bulk_copy(void* to, const void* from, std::uint32_t bytes, const AsyncPlace& at) {
    if (bytes % 16 != 0) fail(at, "a bulk copy of bytes that are no multiple of 16");
    BulkCopy copy{.by = at, .pieces = {}, .transaction_bytes = bytes, .source = {}};
    if (bytes > 0)
        copy.pieces.push_back(
            {static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes});
    return copy;
}

}  // namespace

extern "C" {

void gradverify_simt_copy_bulk(void* to, const void* from, std::uint32_t bytes, void* mbarrier,
                               const char* file, int line) {
    BulkCopies::of_this_thread().add(
        bulk_copy(to, from, bytes, {mbarrier, __builtin_return_address(0), {file, line}}));
}
void gradverify_simt_multicast_bulk(void* to, const void* from, std::uint32_t bytes, void* mbarrier,
                                    std::uint32_t blocks, const char* file, int line) {
    BulkCopies::of_this_thread().multicast(
        bulk_copy(to, from, bytes, {mbarrier, __builtin_return_address(0), {file, line}}), blocks);
}
void gradverify_simt_reduce_bulk(void* to, const void* from, std::uint32_t bytes,
                                 BulkOperation operation, BulkType type, const char* file,
                                 int line) {
    BulkCopy copy =
        bulk_copy(to, from, bytes, {nullptr, __builtin_return_address(0), {file, line}});
    copy.reduction = bulk_reduction(operation, type);
    BulkCopies::of_this_thread().add(std::move(copy));
}
void gradverify_simt_bulk_commit() { BulkCopies::of_this_thread().commit(); }
void gradverify_simt_bulk_wait(std::uint32_t groups, bool reads_only) {
    BulkCopies::of_this_thread().wait(groups, reads_only);
}
void gradverify_simt_fence_proxy(unsigned accesses) {
    if (watching != nullptr) watching->fence_proxy(accesses);
}
void gradverify_simt_acquire_tensor_map(const void* map) {
    if (watching != nullptr) watching->acquire_tensor_map(number(map));
}

}  // extern "C"
}  // namespace gradverify::simt::ptx
