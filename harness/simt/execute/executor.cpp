// SPDX-License-Identifier: Apache-2.0
// The outer half of the executor: refusing launches, going through blocks, drawing orders, errors.
#include "harness/simt/execute/executor.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "gradverify_simt/runtime.hpp"
#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/runtime/device_limits.hpp"
#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/runtime/source_line.hpp"
#include "harness/simt/runtime/streams.hpp"

namespace gradverify::simt {

namespace unit {
constinit thread_local State state;
constinit thread_local int atomics_left = 0;
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

constinit thread_local Executor* executor_of_thread = nullptr;
constinit thread_local Watcher* watching = nullptr;

namespace {

thread_local std::unique_ptr<Executor> executor_owner;

constinit std::atomic<std::atomic<std::uint64_t>*> counted_in = nullptr;

bool is_same(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

std::uint64_t volume(const dim3& size) { return std::uint64_t{size.x} * size.y * size.z; }

std::uint64_t resident_blocks(const unit::LaunchConfig& config) {
    return multiprocessors * static_cast<std::uint64_t>(blocks_per_multiprocessor_of(
                                 static_cast<int>(volume(config.block)), config.shared_bytes));
}

std::string why_no_cluster(const unit::LaunchConfig& config) {
    const dim3 &grid = config.grid, &cluster = config.cluster;
    if (volume(cluster) == 1) return "";
    if (volume(cluster) == 0 || volume(cluster) > unit::max_cluster_size)
        return "cluster " + text_of(cluster) + " has no block, or more than 16";
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
        return "grid " + text_of(grid) + " is no multiple of cluster " + text_of(cluster);
    return config.is_cooperative ? "a cooperative launch of clusters runs on cuda only" : "";
}

}  // namespace

/// Every fiber runs this: a share of the threads of one launch, then of another.
void run_fiber() {
    for (;;) {
        Executor& executor = Executor::of_this_thread();
        bool failed = false;
        executor.thrown_.clear();
        try {
            executor.entry_(executor.body_);
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
                          executor.launch_place_);
        }
    }
}

void Executor::make_for_this_thread() {
    executor_owner = std::make_unique<Executor>();
    executor_of_thread = executor_owner.get();
}

Executor::Executor() : fibers_(&run_fiber) {
    current_ = &main_;
    shared_memories_.push_back(std::make_unique<SharedMemory>());
}

void Executor::set_schedule(const Schedule& schedule) {
    schedule_ = schedule;
    launches_scheduled_ = 0;
}

std::string Executor::launch_text() const {
    return short_place(launch_place_.file, launch_place_.line) + ": launch of " + kernel_;
}

std::string shape_text() {
    const auto text = [](const dim3& size) {
        const std::string x = std::to_string(size.x), y = std::to_string(size.y);
        if (size.z != 1) return text_of(size);
        return size.y == 1 ? x : "(" + x + ", " + y + ")";
    };
    return "<<<" + text(unit::state.grid_dim) + ", " + text(unit::state.block_dim) + ">>>";
}

std::string Executor::thread_text() const {
    return ", in block " + text_of(unit::state.block_index) + ", thread " +
           text_of(unit::state.thread.index) + "; " + launch_text() + shape_text();
}

std::string Executor::why_invalid(const unit::LaunchConfig& config, int& cuda_error) const {
    // As CUDA 12 documents it; CUDA 13.0 was seen to answer cudaErrorInvalidValue to a large block.
    cuda_error = cudaErrorInvalidConfiguration;
    const dim3& grid = config.grid;
    const dim3& block = config.block;
    if (volume(grid) == 0) return "grid " + text_of(grid) + " has a zero";
    if (volume(block) == 0) return "block " + text_of(block) + " has a zero";
    if (grid.x > max_grid_x || grid.y > max_grid_y_z || grid.z > max_grid_y_z) {
        return "grid " + text_of(grid) + " exceeds (2147483647, 65535, 65535)";
    }
    if (block.x > max_block_threads || block.y > max_block_threads || block.z > max_block_z ||
        volume(block) > max_block_threads) {
        return "block " + text_of(block) + " exceeds 1024 threads or (1024, 1024, 64)";
    }
    if (config.shared_bytes > dynamic_shared_limit()) {
        cuda_error = cudaErrorInvalidValue;
        return std::to_string(config.shared_bytes) + " bytes of dynamic shared memory exceed " +
               std::to_string(dynamic_shared_limit()) +
               " (cudaFuncSetAttribute raises the limit up to " +
               std::to_string(shared_opt_in_bytes) + ")";
    }
    if (config.is_cooperative && volume(grid) > resident_blocks(config)) {
        cuda_error = cudaErrorCooperativeLaunchTooLarge;
        return "a cooperative launch of " + std::to_string(volume(grid)) + " blocks; at most " +
               std::to_string(resident_blocks(config)) + " of this size run at a time";
    }
    if (std::string why = why_no_cluster(config); !why.empty()) {
        if (config.is_cooperative) cuda_error = cudaErrorNotSupported;
        return why;
    }
    cuda_error = cudaSuccess;
    return "";
}

void Executor::launch(const unit::LaunchConfig& config, const char* kernel, unit::Entry entry,
                      const LaunchBody& body, Watcher* watcher) {
    unit::State& state = unit::state;
    if (state.in_kernel) {
        trap(cudaErrorNotSupported, {"a launch from within a kernel runs on cuda only"},
             {config.file, config.line});
    }
    kernel_ = kernel;
    launch_place_ = {config.file, config.line};
    int cuda_error = cudaSuccess;
    const std::string reason = why_invalid(config, cuda_error);
    if (cuda_error != cudaSuccess) {
        const auto error = static_cast<cudaError_t>(cuda_error);
        return fail(cuda_error, launch_text() + ": " + cudaGetErrorString(error) + " (" +
                                    cudaGetErrorName(error) + "): " + reason);
    }
    entry_ = entry;
    body_ = body.begin;
    Streams::of_this_thread().enqueue(config.stream,
                                      {kernel_, launch_place_, points_to_buffers(body)});
    set_dimensions(config);
    watching = watcher;
    if (watcher != nullptr) {
        std::vector<SharedArenas> arenas;
        for (unsigned rank = 0; rank < cluster_size_; ++rank)
            arenas.push_back(shared_memories_[rank]->arenas(config.shared_bytes));
        watcher->begin_launch({.arenas = std::move(arenas),
                               .kernel = kernel_,
                               .place = launch_place_,
                               .schedule = schedule_,
                               .number = launches_scheduled_});
    }
    BlockWork::begin_launches(cluster_size_, schedule_, launches_scheduled_);
    state.cluster_rank = 0;
    begin_block();
    state.in_kernel = true;
    state.thread = *state.next++;
    current_ = &fibers_.take_prepared();
    switch_fiber_elsewhere(main_, *current_, false);
    // Of an abandoned launch, nothing is waited for any more.
    if (!std::exchange(is_abandoned_, false) && cluster_size_ == 1) BlockWork::end_running();
    if (watcher != nullptr) accesses_checked += watcher->end_launch();
    watching = nullptr;
    current_ = &main_;
    fast_ = true;
    state.in_kernel = false;
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
    set_cluster(config.cluster, config.shared_bytes);
    state.warp_results = warp_results_.data();
    threads_ = static_cast<unsigned>(volume(config.block));
    blocks_ = volume(config.grid);
    blocks_begun_ = 0;
    // A spinning thread must give way where it does when the launch is replayed.
    unit::atomics_left = 0;
    spin_block_ = 0;
    thread_got_on();

    if (is_random(schedule_.threads) || is_random(schedule_.blocks)) {
        random_ = Random(Random(schedule_.seed ^ (launches_scheduled_ << 20)).next());
        // A step that is prime to the number of clusters visits each once, without a table.
        const std::uint64_t clusters = blocks_ / cluster_size_;
        block_offset_ = random_.next() % clusters;
        block_stride_ = random_.next() % clusters | 1;
        while (std::gcd(block_stride_, clusters) != 1) ++block_stride_;
    }
    ++launches_scheduled_;
    if (is_same(table_block_, config.block)) return;
    table_block_ = config.block;
    table_order_ = Order::random_threads;  // to be drawn again
    for (unsigned rank = 0; rank < threads_; ++rank) {
        by_rank_[rank] = {{rank % config.block.x, rank / config.block.x % config.block.y,
                           rank / config.block.x / config.block.y},
                          rank};
    }
    order_end_ = order_.data() + threads_;
}

void Executor::draw_order() {
    const Order order = schedule_.threads;
    if (!is_random(order) && order == table_order_) return;
    table_order_ = order;
    for (unsigned i = 0; i < threads_; ++i) {
        drawn_ranks_[i] =
            static_cast<std::uint16_t>(order == Order::descending ? threads_ - 1 - i : i);
    }
    if (order == Order::random_threads) {
        shuffle(drawn_ranks_.data(), threads_);
    } else if (order == Order::random_warps) {
        std::array<std::uint16_t, max_block_threads / warp_lanes> warps{};
        const unsigned count = (threads_ + warp_lanes - 1) / warp_lanes;
        for (unsigned i = 0; i < count; ++i) warps[i] = static_cast<std::uint16_t>(i);
        shuffle(warps.data(), count);
        unsigned at = 0;
        for (unsigned w = 0; w < count; ++w) {
            const unsigned first = warps[w] * warp_lanes;
            for (unsigned i = first; i < first + warp_lanes && i < threads_; ++i) {
                drawn_ranks_[at++] = static_cast<std::uint16_t>(i);
            }
        }
    }
    for (unsigned i = 0; i < threads_; ++i) {
        const unsigned rank = drawn_ranks_[i];
        order_[i] = by_rank_[rank];
        position_of_[rank] = static_cast<std::uint16_t>(i);
    }
}

// Fisher and Yates. All numbers are drawn before the swaps, which halves the time.
void Executor::shuffle(std::uint16_t* values, unsigned count) {
    for (unsigned i = count; i > 1; --i)
        picks_[i - 1] = static_cast<std::uint16_t>(random_.below(i));
    for (unsigned i = count; i > 1; --i) std::swap(values[i - 1], values[picks_[i - 1]]);
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
    if (cluster_size_ == 1) BlockWork::end_running();
    count_block();
    if (blocks_begun_ % cluster_size_ == 0) {
        begin_cluster();
        if (waiting_blocks_.empty() && spinning_blocks_.empty()) left_locals_.forget();
    }
    set_block_index();
    enter_block();
    // What others have begun for it before it could know of them is lost.
    if (cluster_size_ > 1) BlockWork::forget_running();
    ++blocks_begun_;
    draw_order();
    if (watching != nullptr) [[unlikely]]
        watching->begin_block((blocks_begun_ - 1) % cluster_size_ == 0);
    shared().poison();
    unit::state.next = order_.data();
    unit::state.fast_end = order_end_;
    fast_ = true;
}

bool Executor::next_block() {
    if (blocks_begun_ == blocks_ || must_resume()) return false;
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
                                 : fault.what(shared().describe(fault.address));
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
