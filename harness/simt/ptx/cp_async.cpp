// SPDX-License-Identifier: Apache-2.0
// cp.async (PTX ISA, 9.7.9.25.3). The race detector hears of a copy when it is asked for and when
// it has been waited for; between, any access to its place is a race.
#include "harness/simt/ptx/cp_async.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "gradverify_simt/ptx/cp_async.hpp"
#include "harness/simt/execute/watcher.hpp"

namespace gradverify::simt {
namespace {

Watcher::AsyncWrite write_of(const AsyncCopy& copy) {
    return {number(copy.to), number(copy.from), copy.bytes, copy.source_bytes, copy.pc, copy.rank};
}

}  // namespace

void AsyncCopy::perform() const {
    std::memcpy(to, from, source_bytes);
    std::memset(static_cast<char*>(to) + source_bytes, 0, bytes - source_bytes);
}

/// A copy that is done late must not be the first to meet an address that is not mapped.
void AsyncCopy::touch() const {
    const volatile char* const first = static_cast<const char*>(from);
    if (source_bytes > 0) static_cast<void>(*first);
    auto* const place = static_cast<volatile char*>(to);
    place[0] = place[0];
}

void AsyncCopies::begin_launch(const Schedule& schedule, std::uint64_t launch) {
    clear();
    order_ = schedule.threads;
    random_ = Random(Random(schedule.seed + launch).next());
}

void AsyncCopies::add(AsyncCopy copy) {
    OfThread& thread = threads_[copy.rank];
    copy.touch();
    copy.group = thread.open_group;
    copy.is_done = is_random(order_) ? random_.below(2) == 0 : order_ == Order::ascending;
    thread.copies.push_back(copy);
    has_copies_ = true;
    // The detector hears of an access before memory changes.
    if (watching != nullptr) watching->begin_async(write_of(copy));
    if (copy.is_done) copy.perform();
}

void AsyncCopies::commit(unsigned rank) { ++threads_[rank].open_group; }

void AsyncCopies::wait(unsigned rank, unsigned groups) {
    OfThread& thread = threads_[rank];
    if (thread.open_group > groups) complete_before(thread, thread.open_group - groups);
}

void AsyncCopies::wait_all(unsigned rank) {
    commit(rank);
    wait(rank, 0);
}

void AsyncCopies::complete_before(OfThread& thread, unsigned group) {
    const auto left = std::ranges::find_if(
        thread.copies, [&](const AsyncCopy& copy) { return copy.group >= group; });
    for (auto copy = thread.copies.begin(); copy != left; ++copy) {
        if (watching != nullptr) watching->end_async(write_of(*copy));
        if (!copy->is_done) copy->perform();
    }
    thread.copies.erase(thread.copies.begin(), left);
    std::erase_if(thread.arrivals, [&](const Arrival& arrival) {
        if (arrival.group >= group) return false;
        watching->wait_for_operation(arrival.operation, false);
        return true;
    });
}

unsigned AsyncCopies::arrive(unsigned rank) {
    OfThread& thread = threads_[rank];
    for (const AsyncCopy& copy : thread.copies)
        if (!copy.is_done) copy.perform();
    if (watching == nullptr || thread.copies.empty()) return thread.copies.clear(), 0;
    const unsigned operation = watching->begin_operation(thread.last_operation);
    for (const AsyncCopy& copy : thread.copies)
        watching->hand_over_async(write_of(copy), operation);
    if (operation != 0) thread.arrivals.push_back({thread.copies.back().group, operation});
    thread.copies.clear();
    return thread.last_operation = operation;
}

void AsyncCopies::complete_all() {
    for (OfThread& thread : threads_) {
        for (const AsyncCopy& copy : thread.copies)
            if (!copy.is_done) copy.perform();
    }
    if (watching != nullptr) watching->forget_async();
    clear();
}

void AsyncCopies::clear() {
    if (!has_copies_) return;
    for (OfThread& thread : threads_) thread = {};
    has_copies_ = false;
}

}  // namespace gradverify::simt

namespace gradverify::simt::ptx {
extern "C" {

void gradverify_simt_copy_async(void* to, const void* from, unsigned bytes, unsigned source_bytes) {
    AsyncCopies::of_this_thread().add({.to = to,
                                       .from = from,
                                       .bytes = bytes,
                                       .source_bytes = source_bytes,
                                       .pc = __builtin_return_address(0),
                                       .is_done = false,
                                       .rank = unit::state.thread.rank,
                                       .group = 0});
}
void gradverify_simt_copy_async_commit() {
    AsyncCopies::of_this_thread().commit(unit::state.thread.rank);
}
void gradverify_simt_copy_async_wait(unsigned groups) {
    AsyncCopies::of_this_thread().wait(unit::state.thread.rank, groups);
}
void gradverify_simt_copy_async_wait_all() {
    AsyncCopies::of_this_thread().wait_all(unit::state.thread.rank);
}

}  // extern "C"
}  // namespace gradverify::simt::ptx
