// SPDX-License-Identifier: Apache-2.0
// Which block is next, and clusters of them: each block has its own shared memory, and they run in
// turn, as each waits for others. A block that has ended leaves its memory poisoned until the whole
// cluster has.
#include <algorithm>
#include <memory>
#include <utility>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/runtime/source_line.hpp"

namespace gradverify::simt {

void Executor::set_cluster(dim3 cluster, std::size_t shared_bytes) {
    unit::State& state = unit::state;
    cluster_size_ = cluster.x * cluster.y * cluster.z;
    while (shared_memories_.size() < cluster_size_)
        shared_memories_.push_back(std::make_unique<SharedMemory>());
    for (unsigned rank = 0; rank < cluster_size_; ++rank) {
        shared_memories_[rank]->begin_launch(shared_bytes);
        const SharedArenas arenas = shared_memories_[rank]->arenas(shared_bytes);
        state.cluster_shared[rank] = {arenas.static_begin, arenas.dynamic_begin};
    }
    shared_places_.clear();
    state.cluster_dim = cluster;
    state.cluster_size = cluster_size_;
    state.dynamic_shared_bytes = shared_bytes;
    state.cluster_rank = 0;
    enter_block();
}

/// The block of this rank is the running one.
void Executor::enter_block() {
    unit::State& state = unit::state;
    const unsigned rank = state.cluster_rank;
    state.cluster_index = {rank % state.cluster_dim.x,
                           rank / state.cluster_dim.x % state.cluster_dim.y,
                           rank / state.cluster_dim.x / state.cluster_dim.y};
    state.shared_launch = state.launch * unit::max_cluster_size + rank;
    state.static_arena = state.cluster_shared[rank].static_arena;
    state.dynamic_arena = state.cluster_shared[rank].dynamic_arena;
    state.dynamic_shared = shared().dynamic();
}

void Executor::set_block_index() {
    const std::uint64_t clusters = blocks_ / cluster_size_;
    std::uint64_t index = blocks_begun_ / cluster_size_;
    auto rank = static_cast<unsigned>(blocks_begun_ % cluster_size_);
    if (schedule_.blocks == Order::descending) {
        index = clusters - 1 - index;
        rank = cluster_size_ - 1 - rank;
    } else if (schedule_.blocks != Order::ascending) {
        __extension__ using Wide = unsigned __int128;
        rank = static_cast<unsigned>((rank + index + block_offset_) % cluster_size_);
        index =
            static_cast<std::uint64_t>((Wide{index} * block_stride_ + block_offset_) % clusters);
    }
    unit::State& state = unit::state;
    const dim3 &grid = state.grid_dim, &cluster = state.cluster_dim;
    const std::uint64_t row = index / (grid.x / cluster.x);
    state.cluster_rank = rank;
    state.block_index = {
        static_cast<unsigned>(index % (grid.x / cluster.x)) * cluster.x + rank % cluster.x,
        static_cast<unsigned>(row % (grid.y / cluster.y)) * cluster.y +
            rank / cluster.x % cluster.y,
        static_cast<unsigned>(row / (grid.y / cluster.y)) * cluster.z +
            rank / cluster.x / cluster.y};
}

void Executor::begin_cluster() {
    cluster_live_ = cluster_size_ * threads_;
    cluster_arrived_ = 0;
    ++cluster_phase_;
}

void Executor::place_shared(unit::SharedSlot& slot, std::size_t bytes, std::size_t alignment) {
    const auto known = std::ranges::find(shared_places_, &slot, &SharedPlace::slot);
    const char* const begin = static_cast<const char*>(unit::state.static_arena);
    void* address = nullptr;
    if (known != shared_places_.end()) {
        address = const_cast<char*>(begin) + known->offset;
    } else {
        // At one offset in every block of the cluster.
        for (unsigned rank = 0; rank < cluster_size_; ++rank) {
            void* const place = shared_memories_[rank]->place(bytes, alignment);
            if (rank == unit::state.cluster_rank) address = place;
        }
        if (cluster_size_ > 1 && address != nullptr)
            shared_places_.push_back(
                {&slot, static_cast<std::size_t>(static_cast<char*>(address) - begin)});
    }
    if (address == nullptr) {
        trap(cudaErrorInvalidValue, {"more than 49152 bytes of static shared memory"},
             launch_place_);
    }
    slot = {unit::state.shared_launch, address};
}

/// A kernel that has done nothing yet says which clusters it has.
void Executor::begin_in_clusters(dim3 cluster) {
    if (cluster_size_ > 1)
        trap(cudaErrorInvalidConfiguration,
             {"a launch in other clusters than the kernel's __cluster_dims__"}, launch_place_);
    needed_cluster_ = cluster;
    abandon_launch();
}

void Executor::cluster_arrive(unit::Place place) {
    if (fast_) leave_fast_mode(place);
    std::uint32_t& arrival = cluster_arrival_[unit::state.thread.rank];
    if (arrival != 0)
        trap(cudaErrorIllegalInstruction,
             {"a thread arrives twice at the cluster's barrier, without waiting between"}, place);
    arrival = cluster_phase_;
    ++cluster_arrived_;
    complete_cluster_barrier();
}

void Executor::cluster_wait(unit::Place place) {
    if (fast_) leave_fast_mode(place);
    const std::uint32_t arrival = std::exchange(cluster_arrival_[unit::state.thread.rank], 0);
    if (arrival == 0)
        trap(cudaErrorIllegalInstruction,
             {"a thread waits at the cluster's barrier, where it has not arrived"}, place);
    if (arrival != cluster_phase_) return;
    cluster_arrival_[unit::state.thread.rank] = arrival;
    current_->wait = {place.file, place.line, 0};
    cluster_waiting_.push_back(static_cast<std::uint16_t>(running_));
    stop_elsewhere();
    cluster_arrival_[unit::state.thread.rank] = 0;
}

/// So many threads have exited without the barrier.
void Executor::leave_cluster_early(unsigned threads) {
    cluster_live_ -= threads;
    complete_cluster_barrier();
}

void Executor::complete_cluster_barrier() {
    if (cluster_arrived_ == 0 || cluster_arrived_ != cluster_live_) return;
    cluster_arrived_ = 0;
    ++cluster_phase_;
    thread_got_on();
    if (watching != nullptr) watching->cluster_barrier_released();
    release_cluster_waiting();
    for (auto& block : waiting_blocks_) spinning_blocks_.push_back(std::move(block));
    waiting_blocks_.clear();
}

void Executor::release_cluster_waiting() {
    if (cluster_waiting_.empty() ||
        cluster_arrival_[order_[cluster_waiting_[0]].rank] == cluster_phase_)
        return;
    for (const std::uint16_t position : cluster_waiting_) ready_.insert(position);
    cluster_waiting_.clear();
}

bool Executor::can_go_on(const ParkedBlock& block) const {
    const BlockThreads& threads = block.threads;
    const std::vector<std::uint16_t>& waiting = threads.cluster_waiting_;
    return !threads.ready_.is_empty() ||
           (!waiting.empty() &&
            threads.cluster_arrival_[threads.order_[waiting[0]].rank] != cluster_phase_) ||
           BlockWork::any_is_late(block.rank);
}

bool Executor::another_block_can_go_on() const {
    return cluster_size_ > 1 && (blocks_begun_ % cluster_size_ != 0 ||
                                 std::ranges::any_of(spinning_blocks_, [&](const auto& block) {
                                     return can_go_on(*block);
                                 }));
}

/// What others of the cluster still read of its memory is wrong.
void Executor::end_cluster_block() {
    if (fast_) leave_cluster_early(threads_);
    BlockWork::end_running();
    shared().poison();
    if (watching != nullptr) watching->end_cluster_block();
}

[[gnu::noinline]] void Executor::record_cluster_deadlock() {
    const std::unique_ptr<ParkedBlock>& block = waiting_blocks_.front();
    std::string where;
    for (const std::uint16_t position : block->threads.cluster_waiting_) {
        const Wait& wait = block->threads.fiber_of_[position]->wait;
        where = short_place(wait.file, wait.line);
    }
    fail(cudaErrorLaunchTimeout, launch_text() +
                                     ": deadlock: " + std::to_string(waiting_blocks_.size()) +
                                     " of " + std::to_string(cluster_size_) +
                                     " blocks of a cluster wait at the cluster's barrier of " +
                                     where + ", where not all of their threads arrive");
}

}  // namespace gradverify::simt
