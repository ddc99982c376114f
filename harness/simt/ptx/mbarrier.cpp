// SPDX-License-Identifier: Apache-2.0
// What the instructions of mbarrier objects do. To the race detector an arrival is a release, and a
// wait that sees its phase end an acquire.
#include "harness/simt/ptx/mbarrier.hpp"

#include <bit>
#include <cstring>
#include <set>
#include <tuple>

#include "gradverify_simt/ptx/mbarrier.hpp"
#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/ptx/bulk.hpp"

namespace gradverify::simt {
namespace {

std::string counted(std::int64_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

std::string mbarrier_text(std::uintptr_t address) {
    MbarrierState state;
    std::memcpy(&state, pointer_to(address), sizeof state);
    if (state.mark != MbarrierState::valid_mark) return "an mbarrier that is none any more";
    std::string text = "an mbarrier's phase";
    if (state.pending != 0)
        text += ", which lacks " + counted(static_cast<std::int64_t>(state.pending), "arrival");
    const std::int64_t bytes = state.transactions;
    if (bytes > 0)
        text += (state.pending != 0 ? " and " : ", which lacks ") + counted(bytes, "byte") +
                " of those that expect_tx announced";
    if (bytes < 0) text += ", to which " + counted(-bytes, "byte") + " came that none expected";
    return text;
}

void Mbarrier::fail(const char* what) const {
    Executor::of_this_thread().trap(cudaErrorIllegalInstruction, {what}, place_);
}

MbarrierState Mbarrier::get() const {
    MbarrierState state;
    std::memcpy(&state, at_, sizeof state);
    if (state.mark != MbarrierState::valid_mark)
        fail("an mbarrier that no mbarrier.init has made, or that was invalidated");
    return state;
}

MbarrierState Mbarrier::access() {
    if (watching != nullptr) watching->access_mbarrier(key(), pc_, false);
    return get();
}

/// Ends the phase if nothing is left to wait for.
void Mbarrier::put(const MbarrierState& state) {
    MbarrierState next = state;
    const bool ends = state.pending == 0 && state.transactions == 0;
    if (ends) {
        next.pending = state.expected;
        next.phase = state.phase ^ 1u;
    }
    std::memcpy(at_, &next, sizeof next);
    if (!ends) return;
    if (watching != nullptr) watching->end_phase(key());
    Executor::of_this_thread().wake(key());
}

void Mbarrier::init(std::uint32_t count) {
    if (count == 0 || count > MbarrierState::count_maximum)
        fail("mbarrier.init with a count that is not from 1 to 2^20 - 1");
    if (watching != nullptr) watching->access_mbarrier(key(), pc_, true);
    MbarrierState state;
    state.pending = state.expected = count;
    state.mark = MbarrierState::valid_mark;
    std::memcpy(at_, &state, sizeof state);
}

void Mbarrier::invalidate() {
    if (watching != nullptr) watching->access_mbarrier(key(), pc_, true);
    static_cast<void>(get());
    std::memset(at_, 0, sizeof(MbarrierState));
}

void Mbarrier::add_transactions(MbarrierState& state, std::int64_t bytes) const {
    const std::int64_t sum = state.transactions + bytes;
    if (sum > MbarrierState::count_maximum || -sum > MbarrierState::count_maximum)
        fail("more than 2^20 - 1 bytes of transactions are pending at an mbarrier");
    state.transactions = sum;
}

void Mbarrier::expect(std::uint32_t bytes) {
    MbarrierState state = access();
    add_transactions(state, bytes);
    put(state);
}

void Mbarrier::complete(std::uint32_t bytes, unsigned operation) {
    MbarrierState state = get();
    if (watching != nullptr && operation != 0) watching->complete_in_phase(operation, key());
    add_transactions(state, -std::int64_t{bytes});
    put(state);
}

std::uint64_t Mbarrier::arrive(const Arrival& arrival) {
    const MbarrierState before = access();
    if (watching != nullptr)
        watching->arrive_at_mbarrier(key(), before.phase != 0, arrival.releases);
    put_arrived(before, arrival);
    return std::bit_cast<std::uint64_t>(before);
}

void Mbarrier::release() {
    if (watching != nullptr) watching->arrive_at_mbarrier(key(), get().phase != 0, true);
}

void Mbarrier::arrive_later(unsigned operation) {
    if (watching != nullptr && operation != 0) watching->complete_in_phase(operation, key());
    put_arrived(get(), {});
}

void Mbarrier::put_arrived(MbarrierState state, const Arrival& arrival) {
    if (arrival.count == 0 || arrival.count > state.pending)
        fail(arrival.count == 0 ? "an arrival of 0 at an mbarrier"
                                : "more arrivals at an mbarrier than its phase waits for");
    add_transactions(state, arrival.expected_bytes);
    state.pending -= arrival.count;
    if (arrival.drops) state.expected -= arrival.count;
    if (!arrival.completes && state.pending == 0)
        fail("an arrival with .noComplete is the last that its phase waits for");
    put(state);
}

void Mbarrier::add_pending() {
    MbarrierState state = access();
    if (state.pending == MbarrierState::count_maximum)
        fail("more than 2^20 - 1 arrivals are pending at an mbarrier");
    state.pending += 1;
    put(state);
}

bool Mbarrier::wait(bool phase, bool acquires, bool suspends) {
    // The threads that were told so, by block and rank, and where: who asks again, loops.
    thread_local std::set<std::tuple<unsigned, unsigned, std::uintptr_t>> told;
    const bool is_over = (access().phase != 0) != phase;
    if (!is_over && !suspends) {
        const std::tuple asker(unit::state.cluster_rank, unit::state.thread.rank, key());
        if (told.insert(asker).second) return false;
        told.erase(asker);
    }
    if (!is_over && !Executor::of_this_thread().suspend(key(), &mbarrier_text, place_))
        return false;
    if (watching != nullptr) watching->wait_for_phase(key(), phase, acquires);
    return true;
}

}  // namespace gradverify::simt

namespace gradverify::simt::ptx {
extern "C" {

#define GRADVERIFY_MBARRIER Mbarrier(mbarrier, __builtin_return_address(0), {file, line})

void gradverify_simt_mbarrier_init(void* mbarrier, std::uint32_t count, const char* file,
                                   int line) {
    GRADVERIFY_MBARRIER.init(count);
}
void gradverify_simt_mbarrier_inval(void* mbarrier, const char* file, int line) {
    GRADVERIFY_MBARRIER.invalidate();
}
void gradverify_simt_mbarrier_expect(void* mbarrier, std::uint32_t bytes, const char* file,
                                     int line) {
    GRADVERIFY_MBARRIER.expect(bytes);
}
void gradverify_simt_mbarrier_complete(void* mbarrier, std::uint32_t bytes, const char* file,
                                       int line) {
    GRADVERIFY_MBARRIER.complete(bytes, 0);
}
std::uint64_t gradverify_simt_mbarrier_arrive(void* mbarrier, std::uint32_t count,
                                              std::uint32_t expected_bytes, MbarrierArrival kind,
                                              const char* file, int line, bool releases) {
    return GRADVERIFY_MBARRIER.arrive(
        {.count = count,
         .expected_bytes = expected_bytes,
         .drops = kind == MbarrierArrival::drop || kind == MbarrierArrival::drop_no_complete,
         .completes =
             kind != MbarrierArrival::no_complete && kind != MbarrierArrival::drop_no_complete,
         .releases = releases});
}
bool gradverify_simt_mbarrier_wait(void* mbarrier, bool phase, const char* file, int line,
                                   bool acquires, bool suspends) {
    return GRADVERIFY_MBARRIER.wait(phase, acquires, suspends);
}
bool gradverify_simt_mbarrier_wait_state(void* mbarrier, std::uint64_t state, const char* file,
                                         int line, bool acquires, bool suspends) {
    return GRADVERIFY_MBARRIER.wait(std::bit_cast<MbarrierState>(state).phase != 0, acquires,
                                    suspends);
}
std::uint32_t gradverify_simt_mbarrier_pending(std::uint64_t state) {
    return static_cast<std::uint32_t>(std::bit_cast<MbarrierState>(state).pending);
}
void gradverify_simt_mbarrier_arrive_copies(void* mbarrier, bool increments, const char* file,
                                            int line) {
    if (increments) GRADVERIFY_MBARRIER.add_pending();
    BulkCopies::of_this_thread().arrive_after_copies(
        {mbarrier, __builtin_return_address(0), {file, line}});
}

}  // extern "C"
}  // namespace gradverify::simt::ptx
