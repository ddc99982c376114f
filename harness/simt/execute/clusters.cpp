// SPDX-License-Identifier: Apache-2.0
// Clusters: each block has its own shared memory, and they run in turn, as each waits for others. A
// block that has ended leaves its memory poisoned until the whole cluster has.
#include <algorithm>
#include <memory>
#include <utility>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/runtime/source_line.hpp"

namespace gradverify::simt {

void Cluster::begin_launch(dim3 blocks, std::size_t shared_bytes) {
    unit::State& state = unit::state;
    size = blocks.x * blocks.y * blocks.z;
    while (memories_.size() < size) memories_.push_back(std::make_unique<SharedMemory>());
    for (unsigned rank = 0; rank < size; ++rank) {
        memories_[rank]->begin_launch(shared_bytes);
        const SharedArenas arenas = memories_[rank]->arenas(shared_bytes);
        state.cluster_shared[rank] = {arenas.static_begin, arenas.dynamic_begin};
    }
    places_.clear();
    state.cluster_dim = blocks;
    state.cluster_size = size;
    state.dynamic_shared_bytes = shared_bytes;
    state.cluster_rank = 0;
    enter_block();
}

void Cluster::begin(unsigned threads) {
    live = size * threads;
    arrived = 0;
    ++phase;
}

void Cluster::enter_block() {
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

std::vector<SharedArenas> Cluster::arenas() const {
    std::vector<SharedArenas> all;
    for (unsigned rank = 0; rank < size; ++rank)
        all.push_back(memories_[rank]->arenas(unit::state.dynamic_shared_bytes));
    return all;
}

void* Cluster::place(const unit::SharedSlot& slot, std::size_t bytes, std::size_t alignment) {
    const auto known = std::ranges::find(places_, &slot, &Place::slot);
    const char* const begin = static_cast<const char*>(unit::state.static_arena);
    if (known != places_.end()) return const_cast<char*>(begin) + known->offset;
    // At one offset in every block.
    void* address = nullptr;
    for (unsigned rank = 0; rank < size; ++rank) {
        void* const place = memories_[rank]->place(bytes, alignment);
        if (rank == unit::state.cluster_rank) address = place;
    }
    if (size > 1 && address != nullptr)
        places_.push_back({&slot, static_cast<std::size_t>(static_cast<char*>(address) - begin)});
    return address;
}

void Executor::place_shared(unit::SharedSlot& slot, std::size_t bytes, std::size_t alignment) {
    void* const address = cluster_.place(slot, bytes, alignment);
    if (address == nullptr) {
        trap(cudaErrorInvalidValue, {"more than 49152 bytes of static shared memory"},
             launch_.place);
    }
    slot = {unit::state.shared_launch, address};
}

/// A kernel that has done nothing yet says which clusters it has.
void Executor::begin_in_clusters(dim3 cluster) {
    if (cluster_.size > 1)
        trap(cudaErrorInvalidConfiguration,
             {"a launch in other clusters than the kernel's __cluster_dims__"}, launch_.place);
    needed_cluster_ = cluster;
    abandon_launch();
}

void Executor::cluster_arrive(unit::Place place, bool releases) {
    if (fast_) leave_fast_mode(place);
    std::uint32_t& arrival = cluster_arrival_[unit::state.thread.rank];
    if (arrival != 0)
        trap(cudaErrorIllegalInstruction,
             {"a thread arrives twice at the cluster's barrier, without waiting between"}, place);
    arrival = cluster_.phase;
    ++cluster_.arrived;
    if (watching != nullptr) watching->arrive_at_cluster_barrier(releases);
    complete_cluster_barrier();
}

void Executor::cluster_wait(unit::Place place) {
    if (fast_) leave_fast_mode(place);
    const std::uint32_t arrival = std::exchange(cluster_arrival_[unit::state.thread.rank], 0);
    if (arrival == 0)
        trap(cudaErrorIllegalInstruction,
             {"a thread waits at the cluster's barrier, where it has not arrived"}, place);
    if (arrival == cluster_.phase) {
        cluster_arrival_[unit::state.thread.rank] = arrival;
        if (watching != nullptr) watching->wait_at_cluster_barrier();
        current_->wait = {place.file, place.line, 0};
        cluster_waiting_.push_back(static_cast<std::uint16_t>(running_));
        stop_elsewhere();
        cluster_arrival_[unit::state.thread.rank] = 0;
    }
    if (watching != nullptr) watching->leave_cluster_barrier();
}

/// So many threads have exited without the barrier.
void Executor::leave_cluster_early(unsigned threads) {
    cluster_.live -= threads;
    complete_cluster_barrier();
}

void Executor::complete_cluster_barrier() {
    if (cluster_.arrived == 0 || cluster_.arrived != cluster_.live) return;
    cluster_.arrived = 0;
    ++cluster_.phase;
    thread_got_on();
    if (watching != nullptr) watching->cluster_barrier_released();
    release_cluster_waiting();
    for (auto& block : waiting_blocks_) spinning_blocks_.push_back(std::move(block));
    waiting_blocks_.clear();
}

void Executor::release_cluster_waiting() {
    if (cluster_waiting_.empty() ||
        cluster_arrival_[order_[cluster_waiting_[0]].rank] == cluster_.phase)
        return;
    for (const std::uint16_t position : cluster_waiting_) ready_.insert(position);
    cluster_waiting_.clear();
}

bool Executor::can_go_on(const ParkedBlock& block) const {
    const Block& threads = block.threads;
    const std::vector<std::uint16_t>& waiting = threads.cluster_waiting_;
    return !threads.ready_.is_empty() ||
           (!waiting.empty() &&
            threads.cluster_arrival_[threads.order_[waiting[0]].rank] != cluster_.phase) ||
           BlockWork::any_is_late(block.rank);
}

bool Executor::another_block_can_go_on() const {
    return cluster_.size > 1 && (launch_.begun % cluster_.size != 0 ||
                                 std::ranges::any_of(spinning_blocks_, [&](const auto& block) {
                                     return can_go_on(*block);
                                 }));
}

/// What others of the cluster still read of its memory is wrong.
void Executor::end_cluster_block() {
    if (fast_) leave_cluster_early(threads_);
    BlockWork::end_running();
    cluster_.shared().poison();
    if (watching != nullptr) watching->end_cluster_block();
}

[[gnu::noinline]] void Executor::record_cluster_deadlock() {
    const std::unique_ptr<ParkedBlock>& block = waiting_blocks_.front();
    std::string where;
    for (const std::uint16_t position : block->threads.cluster_waiting_) {
        const Wait& wait = block->threads.fiber_of_[position]->wait;
        where = short_place(wait.file, wait.line);
    }
    fail(cudaErrorLaunchTimeout, launch_.text() +
                                     ": deadlock: " + std::to_string(waiting_blocks_.size()) +
                                     " of " + std::to_string(cluster_.size) +
                                     " blocks of a cluster wait at the cluster's barrier of " +
                                     where + ", where not all of their threads arrive");
}

}  // namespace gradverify::simt
