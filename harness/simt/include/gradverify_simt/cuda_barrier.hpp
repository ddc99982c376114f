// SPDX-License-Identifier: Apache-2.0
// libcu++'s barriers, pipelines and asynchronous copies. An arrival releases what its thread did, a
// wait acquires it. Copies are done at once, by `copy_async` alone.
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "cooperative_groups.h"
#include "gradverify_simt/cuda_atomic.hpp"

namespace gradverify::simt::unit {

/// One thread's part of an asynchronous copy.
GRADVERIFY_SIMT_ACCESS void copy_async(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}

}  // namespace gradverify::simt::unit

namespace cuda {

namespace gradverify_detail {
namespace ptx = gradverify::simt::ptx;
struct NoCompletion {
    void operator()() const {}
};
}  // namespace gradverify_detail

/// Lies in shared memory, where no constructor runs: `init` makes it.
template <thread_scope scope, class Completion = gradverify_detail::NoCompletion>
class barrier {
  public:
    using arrival_token = std::uint32_t;

    barrier() = default;
    barrier(std::ptrdiff_t expected, Completion completion = {}) {
        init(this, expected, completion);
    }
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    friend void init(barrier* of, std::ptrdiff_t expected, Completion completion = {}) {
        of->completion_ = completion;
        of->expected_ = static_cast<std::uint32_t>(expected);
        of->phase().store(0, memory_order_relaxed);
        of->pending().store(of->expected_);
    }
    static constexpr std::ptrdiff_t max() { return 0xfffff; }

    /// The token names the phase that the arrival belongs to.
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) {
        const arrival_token phase_now = phase().load(memory_order_relaxed);
        const auto arrived = static_cast<std::uint32_t>(count);
        // The last to arrive has acquired what all others released.
        if (pending().fetch_sub(arrived, memory_order_acq_rel) == arrived) {
            completion_();
            pending().store(expected().load(memory_order_relaxed), memory_order_relaxed);
            phase().store(phase_now + 1, memory_order_release);
        }
        return phase_now;
    }
    void wait(arrival_token token) const { phase().wait(token, memory_order_acquire); }
    void wait_parity(bool parity) const {
        while (!try_wait_parity(parity)) gradverify_detail::unit::gradverify_simt_yield();
    }
    bool try_wait(arrival_token token) const { return phase().load(memory_order_acquire) != token; }
    bool try_wait_parity(bool parity) const {
        return (phase().load(memory_order_acquire) % 2 != 0) != parity;
    }
    void arrive_and_wait() { wait(arrive()); }
    void arrive_and_drop() {
        expected().fetch_sub(1, memory_order_relaxed);
        static_cast<void>(arrive());
    }

  private:
    using Word = atomic_ref<std::uint32_t, scope>;
    Word phase() const { return Word(const_cast<std::uint32_t&>(phase_)); }
    Word pending() { return Word(pending_); }
    Word expected() { return Word(expected_); }

    std::uint32_t phase_, pending_, expected_;
    Completion completion_;
};

/// A block's own is an mbarrier of PTX.
template <>
class barrier<thread_scope_block, gradverify_detail::NoCompletion> {
  public:
    using arrival_token = std::uint64_t;

    barrier() = default;
    barrier(std::ptrdiff_t expected, GRADVERIFY_SIMT_PLACE) { init(this, expected, file, line); }
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    GRADVERIFY_SIMT_ACCESS friend void init(barrier* of, std::ptrdiff_t expected,
                                            GRADVERIFY_SIMT_PLACE) {
        gradverify_detail::ptx::gradverify_simt_mbarrier_init(
            &of->state_, static_cast<std::uint32_t>(expected), file, line);
    }
    static constexpr std::ptrdiff_t max() { return 0xfffff; }

    GRADVERIFY_SIMT_ACCESS arrival_token arrive(std::ptrdiff_t count = 1, GRADVERIFY_SIMT_PLACE) {
        return arrive_expecting(count, 0, file, line);
    }
    GRADVERIFY_SIMT_ACCESS arrival_token arrive_expecting(std::ptrdiff_t count,
                                                          std::ptrdiff_t bytes, const char* file,
                                                          int line) {
        return gradverify_detail::ptx::gradverify_simt_mbarrier_arrive(
            &state_, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(bytes),
            gradverify_detail::ptx::MbarrierArrival::plain, file, line);
    }
    GRADVERIFY_SIMT_ACCESS void wait(arrival_token token, GRADVERIFY_SIMT_PLACE) const {
        while (!try_wait(token, file, line)) {
        }
    }
    GRADVERIFY_SIMT_ACCESS void wait_parity(bool parity, GRADVERIFY_SIMT_PLACE) const {
        while (!try_wait_parity(parity, file, line)) {
        }
    }
    GRADVERIFY_SIMT_ACCESS bool try_wait(arrival_token token, GRADVERIFY_SIMT_PLACE) const {
        return gradverify_detail::ptx::gradverify_simt_mbarrier_wait_state(handle(), token, file,
                                                                           line);
    }
    GRADVERIFY_SIMT_ACCESS bool try_wait_parity(bool parity, GRADVERIFY_SIMT_PLACE) const {
        return gradverify_detail::ptx::gradverify_simt_mbarrier_wait(handle(), parity, file, line);
    }
    GRADVERIFY_SIMT_ACCESS void arrive_and_wait(GRADVERIFY_SIMT_PLACE) {
        wait(arrive(1, file, line), file, line);
    }
    GRADVERIFY_SIMT_ACCESS void arrive_and_drop(GRADVERIFY_SIMT_PLACE) {
        gradverify_detail::ptx::gradverify_simt_mbarrier_arrive(
            &state_, 1, 0, gradverify_detail::ptx::MbarrierArrival::drop, file, line);
    }
    std::uint64_t* handle() const { return const_cast<std::uint64_t*>(&state_); }

  private:
    std::uint64_t state_;
};

namespace device {
template <class Completion>
std::uint64_t* barrier_native_handle(barrier<thread_scope_block, Completion>& of) {
    return of.handle();
}
GRADVERIFY_SIMT_ACCESS std::uint64_t barrier_arrive_tx(barrier<thread_scope_block>& of,
                                                       std::ptrdiff_t arrivals,
                                                       std::ptrdiff_t bytes,
                                                       GRADVERIFY_SIMT_PLACE) {
    return of.arrive_expecting(arrivals, bytes, file, line);
}
GRADVERIFY_SIMT_ACCESS void barrier_expect_tx(barrier<thread_scope_block>& of, std::ptrdiff_t bytes,
                                              GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_mbarrier_expect(
        of.handle(), static_cast<std::uint32_t>(bytes), file, line);
}
}  // namespace device

template <std::size_t alignment>
struct aligned_size_t {
    static constexpr std::size_t align = alignment;
    std::size_t value;
    constexpr explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
    constexpr operator std::size_t() const { return value; }
};

namespace device {
/// One thread copies all, from global to shared memory; the barrier hears of the bytes.
template <std::size_t alignment>
GRADVERIFY_SIMT_ACCESS void memcpy_async_tx(void* to, const void* from,
                                            aligned_size_t<alignment> bytes,
                                            barrier<thread_scope_block>& of,
                                            GRADVERIFY_SIMT_PLACE) {
    static_assert(alignment >= 16, "cuda::device::memcpy_async_tx needs an alignment of 16 bytes");
    gradverify_detail::ptx::gradverify_simt_copy_bulk(
        to, from, static_cast<std::uint32_t>(bytes.value), of.handle(), file, line);
}
}  // namespace device

enum class pipeline_role { producer, consumer };
template <thread_scope scope, std::uint8_t stages>
class pipeline_shared_state {
  public:
    barrier<scope> produced[stages], consumed[stages];
    std::uint32_t producers;
};

/// A pipeline of one thread, whose copies are done when it commits them, or of several.
template <thread_scope scope>
class pipeline {
  public:
    pipeline() = default;
    pipeline(barrier<scope>* produced, barrier<scope>* consumed, unsigned stages)
        : produced_(produced), consumed_(consumed), stages_(stages) {}

    void producer_acquire() {
        if (consumed_ != nullptr) consumed_[head_].wait_parity(!is_odd_round(heads_));
    }
    void producer_commit() {
        if (produced_ != nullptr) static_cast<void>(produced_[head_].arrive());
        advance(head_, heads_);
    }
    void consumer_wait() {
        if (produced_ != nullptr) produced_[tail_].wait_parity(is_odd_round(tails_));
    }
    void consumer_release() {
        if (consumed_ != nullptr) static_cast<void>(consumed_[tail_].arrive());
        advance(tail_, tails_);
    }

  private:
    static bool is_odd_round(unsigned rounds) { return rounds % 2 != 0; }
    void advance(unsigned& stage, unsigned& rounds) const {
        if (++stage >= stages_) stage = 0, ++rounds;
    }

    barrier<scope>* produced_ = nullptr;
    barrier<scope>* consumed_ = nullptr;
    unsigned stages_ = 1, head_ = 0, tail_ = 0, heads_ = 0, tails_ = 0;
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace gradverify_detail {
template <class Group, thread_scope scope, std::uint8_t stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                              std::size_t producers, std::size_t consumers) {
    if (group.thread_rank() == 0) {
        for (std::uint8_t i = 0; i < stages; ++i) {
            init(&state->produced[i], static_cast<std::ptrdiff_t>(producers));
            init(&state->consumed[i], static_cast<std::ptrdiff_t>(consumers));
        }
    }
    group.sync();
    return pipeline<scope>(state->produced, state->consumed, stages);
}
}  // namespace gradverify_detail

/// All threads of the group produce and consume.
template <class Group, thread_scope scope, std::uint8_t stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state) {
    return gradverify_detail::make_pipeline(group, state, group.size(), group.size());
}
/// The first threads produce, the others consume.
template <class Group, thread_scope scope, std::uint8_t stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                              std::size_t producers) {
    return gradverify_detail::make_pipeline(group, state, producers, group.size() - producers);
}
template <class Group, thread_scope scope, std::uint8_t stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                              pipeline_role role) {
    atomic_ref<std::uint32_t, scope> count(state->producers);
    if (group.thread_rank() == 0) count.store(0);
    group.sync();
    if (role == pipeline_role::producer) count.fetch_add(1);
    group.sync();
    return make_pipeline(group, state, std::size_t{count.load()});
}
template <std::uint8_t, thread_scope scope>
void pipeline_consumer_wait_prior(pipeline<scope>& of) {
    static_assert(scope == thread_scope_thread,
                  "gradverify: pipeline_consumer_wait_prior of a pipeline of several threads runs "
                  "on cuda only");
    static_cast<void>(of);
}

/// `done` is a barrier, or a pipeline, that the copying threads arrive at later.
template <class Size, class Done,
          class = std::enable_if_t<std::is_convertible_v<Size, std::size_t>>>
GRADVERIFY_SIMT_ACCESS void memcpy_async(void* to, const void* from, Size bytes, Done&) {
    gradverify::simt::unit::copy_async(to, from, bytes);
}
/// Each thread of the group copies a share.
template <class Group, class Size, class Done>
GRADVERIFY_SIMT_ACCESS void memcpy_async(const Group& group, void* to, const void* from, Size size,
                                         Done&) {
    constexpr std::size_t share = 16;
    const std::size_t bytes = size;
    for (std::size_t at = group.thread_rank() * share; at < bytes; at += group.size() * share) {
        gradverify::simt::unit::copy_async(static_cast<char*>(to) + at,
                                           static_cast<const char*>(from) + at,
                                           bytes - at < share ? bytes - at : share);
    }
}

}  // namespace cuda
