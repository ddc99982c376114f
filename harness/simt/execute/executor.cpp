// SPDX-License-Identifier: Apache-2.0
// The outer half of the executor: begins and ends a launch, goes through its blocks, says errors.
#include "harness/simt/execute/executor.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

#include "gradverify_simt/runtime.hpp"
#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/runtime/source_line.hpp"
#include "harness/simt/runtime/streams.hpp"

namespace gradverify::simt {

namespace unit {
GRADVERIFY_SIMT_STATIC_TLS constinit thread_local State state;
GRADVERIFY_SIMT_STATIC_TLS constinit thread_local int atomics_left = 0;
}  // namespace unit

// The built-in variables of CUDA C++ are parts of `state`.
#define GRADVERIFY_SIMT_BUILT_IN(NAME, OFFSET) \
    __asm__(".globl gradverify_simt_" #NAME    \
            "\n"                               \
            ".type gradverify_simt_" #NAME     \
            ", %tls_object\n"                  \
            ".set gradverify_simt_" #NAME ", gradverify_simt_state + " #OFFSET "\n")
GRADVERIFY_SIMT_BUILT_IN(threadIdx, 0);
GRADVERIFY_SIMT_BUILT_IN(blockIdx, 32);
GRADVERIFY_SIMT_BUILT_IN(blockDim, 44);
GRADVERIFY_SIMT_BUILT_IN(gridDim, 56);
static_assert(offsetof(unit::State, thread) == 0 && offsetof(unit::ThreadSlot, index) == 0 &&
              offsetof(unit::State, block_index) == 32 && offsetof(unit::State, block_dim) == 44 &&
              offsetof(unit::State, grid_dim) == 56);

// What is declared so loses it in this file where the definition does not say it again.
GRADVERIFY_SIMT_STATIC_TLS constinit thread_local Executor* executor_of_thread = nullptr;
GRADVERIFY_SIMT_STATIC_TLS constinit thread_local Watcher* watching = nullptr;

namespace {

thread_local std::unique_ptr<Executor> executor_owner;

constinit std::atomic<std::atomic<std::uint64_t>*> counted_in = nullptr;

}  // namespace

/// Every fiber runs this: a share of the threads of one launch, then of another.
void run_fiber() {
    for (;;) {
        Executor& executor = Executor::of_this_thread();
        bool failed = false;
        executor.thrown_.clear();
        try {
            executor.launch_.entry(executor.launch_.body);
        } catch (const std::exception& error) {
            failed = true;
            executor.thrown_ = error.what();
        } catch (...) {
            failed = true;
        }
        // Outside of the handler, as this fiber's frames are forgotten.
        if (failed) {
            executor.trap(cudaErrorLaunchFailure,
                          {"an exception left the kernel: ", executor.thrown_.c_str()},
                          executor.launch_.place);
        }
    }
}

void Executor::make_for_this_thread() {
    executor_owner = std::make_unique<Executor>();
    executor_of_thread = executor_owner.get();
}

Executor::Executor() : fibers_(&run_fiber) { current_ = &main_; }

void Executor::set_schedule(const Schedule& schedule) {
    schedule_ = schedule;
    launches_scheduled_ = 0;
}

std::string Executor::thread_text() const {
    return ", in block " + text_of(unit::state.block_index) + ", thread " +
           text_of(unit::state.thread.index) + "; " + launch_.text() + shape_text();
}

void Executor::launch(const unit::LaunchConfig& config, const char* kernel, unit::Entry entry,
                      const LaunchBody& body, Watcher* watcher) {
    unit::State& state = unit::state;
    if (state.in_kernel) {
        trap(cudaErrorNotSupported, {"a launch from within a kernel runs on cuda only"},
             {config.file, config.line});
    }
    const std::scoped_lock lock(call_mutex());
    launch_.kernel = kernel;
    launch_.place = {config.file, config.line};
    int cuda_error = cudaSuccess;
    const std::string reason = why_invalid(config, cuda_error);
    if (cuda_error != cudaSuccess) {
        const auto error = static_cast<cudaError_t>(cuda_error);
        return fail(cuda_error, launch_.text() + ": " + cudaGetErrorString(error) + " (" +
                                    cudaGetErrorName(error) + "): " + reason);
    }
    launch_.entry = entry;
    launch_.body = body.begin;
    OfCall<Streams>()->enqueue(config.stream,
                               {launch_.kernel, launch_.place, points_to_buffers(body)},
                               config.is_programmatic);
    set_dimensions(config);
    watching = watcher;
    if (watcher != nullptr) {
        watcher->begin_launch({.arenas = cluster_.arenas(),
                               .kernel = launch_.kernel,
                               .place = launch_.place,
                               .schedule = schedule_,
                               .number = launches_scheduled_});
    }
    BlockWork::begin_launches(cluster_.size, schedule_, launches_scheduled_);
    state.cluster_rank = 0;
    begin_block();
    state.in_kernel = true;
    state.thread = *state.next++;
    current_ = &fibers_.take_prepared();
    switch_fiber_elsewhere(main_, *current_, false);
    // Of an abandoned launch, nothing is waited for any more.
    if (!std::exchange(is_abandoned_, false) && cluster_.size == 1) BlockWork::end_running();
    if (watcher != nullptr) accesses_checked += watcher->end_launch();
    watching = nullptr;
    current_ = &main_;
    fast_ = true;
    state.in_kernel = false;
    OfCall<Streams>()->end_work();
    if (fault_.signal != 0) [[unlikely]]
        record_fault();
    const dim3 cluster = std::exchange(needed_cluster_, dim3());
    if (volume(cluster) == 1) return;
    --launches_scheduled_;
    launch(unit::in_clusters(config, cluster), kernel, entry, body, watcher);
}

void Executor::set_dimensions(const unit::LaunchConfig& config) {
    unit::State& state = unit::state;
    ++state.launch;
    waiting_blocks_.clear();
    spinning_blocks_.clear();
    at_grid_barrier_ = false;
    state.is_cooperative = config.is_cooperative;
    state.grid_dim = config.grid;
    state.block_dim = config.block;
    cluster_.begin_launch(config.cluster, config.shared_bytes);
    state.warp_results = warp_results_.data();
    launch_.blocks = volume(config.grid);
    threads_launched += launch_.blocks * volume(config.block);
    launch_.begun = 0;
    // A spinning thread must give way where it does when the launch is replayed.
    unit::atomics_left = 0;
    spin_block_ = 0;
    thread_got_on();

    if (is_random(schedule_.threads) || is_random(schedule_.blocks)) {
        random_ = Random(Random(schedule_.seed ^ (launches_scheduled_ << 20)).next());
        launch_.draw_order(random_, cluster_.size);
    }
    ++launches_scheduled_;
    thread_order_.set_block(config.block, *this);
}

void count_blocks_in(std::atomic<std::uint64_t>* blocks) { counted_in = blocks; }

// A read-modify-write would cost as much as a small block.
void Executor::count_block() {
    std::atomic<std::uint64_t>* const blocks = counted_in.load(std::memory_order_relaxed);
    if (blocks == nullptr) return;
    blocks->store(blocks->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Executor::begin_block() {
    // Blocks of a cluster end theirs as they end, since others may run between.
    if (cluster_.size == 1) BlockWork::end_running();
    count_block();
    if (launch_.begun % cluster_.size == 0) {
        cluster_.begin(threads_);
        if (waiting_blocks_.empty() && spinning_blocks_.empty()) left_locals_.forget();
    }
    launch_.set_block_index(schedule_.blocks, cluster_.size);
    cluster_.enter_block();
    // What others have begun for it before it could know of them is lost.
    if (cluster_.size > 1) BlockWork::forget_running();
    ++launch_.begun;
    thread_order_.draw(schedule_.threads, random_, *this);
    if (watching != nullptr) [[unlikely]]
        watching->begin_block((launch_.begun - 1) % cluster_.size == 0);
    cluster_.shared().poison();
    unit::state.next = order_.data();
    unit::state.fast_end = order_end_;
    fast_ = true;
}

bool Executor::next_block() {
    if (launch_.begun == launch_.blocks || must_resume()) return false;
    begin_block();
    return true;
}

// No string may live in the frame of `trap`, which is never unwound.
[[gnu::noinline]] void Executor::record_trap(int cuda_error, TrapText text, unit::Place place) {
    std::string message = short_place(place.file, place.line) + ": ";
    for (const char* piece : text) message += piece;
    if (!unit::state.in_kernel) {
        // Noted, so that what the launcher makes of the exception does not hide it.
        if (cuda_error == cudaErrorNotSupported) fail(cuda_error, message);
        throw std::runtime_error(message);
    }
    fail(cuda_error, message + thread_text());
}

void Executor::record_fault() {
    signal_stack_.forget_frames();
    const Fault fault = std::exchange(fault_, Fault());
    const std::string source = fault.source();
    const std::string what = has_stack_guard(fault.address)
                                 ? describe(fault.address)
                                 : fault.what(cluster_.shared().describe(fault.address));
    fail(cudaErrorIllegalAddress, (source.empty() ? "" : source + ": ") + what + thread_text());
}

void Executor::abandon_at(const Fault& fault) {
    fault_ = fault;
    abandon_launch();
}

void Executor::trap(int cuda_error, TrapText text, unit::Place place) {
    record_trap(cuda_error, text, place);
    abandon_launch();
}

}  // namespace gradverify::simt
