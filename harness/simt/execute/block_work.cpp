// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/block_work.hpp"

#include <utility>

namespace gradverify::simt {

namespace {

struct Works {
    /// By the rank of a block in its cluster.
    std::array<std::array<std::unique_ptr<BlockWork>, BlockWork::kinds>, unit::max_cluster_size> of;
    Schedule schedule;
    std::uint64_t launch = 0;
};
thread_local Works works;
// Most kernels have none: then a block costs no more than to see that.
GRADVERIFY_SIMT_STATIC_TLS constinit thread_local bool has_works = false;

template <class Function>
void for_each_of(unsigned rank, Function function) {
    if (!has_works) [[likely]]
        return;
    for (const std::unique_ptr<BlockWork>& work : works.of[rank])
        if (work) function(*work);
}

}  // namespace

std::unique_ptr<BlockWork>& BlockWork::slot(unsigned rank, Kind kind) {
    return works.of[rank][kind];
}

void BlockWork::begin(std::unique_ptr<BlockWork>& slot, std::unique_ptr<BlockWork> work) {
    work->begin_launch(works.schedule, works.launch);
    slot = std::move(work);
    has_works = true;
}

void BlockWork::begin_launches(unsigned cluster_size, const Schedule& schedule,
                               std::uint64_t launch) {
    works.schedule = schedule;
    works.launch = launch;
    unsigned& rank = unit::state.cluster_rank;
    for (rank = 0; rank < cluster_size; ++rank)
        for_each_of(rank, [&](BlockWork& work) { work.begin_launch(schedule, launch); });
    rank = 0;
}

void BlockWork::end_running() {
    for_each_of(unit::state.cluster_rank, [](BlockWork& work) { work.end_block(); });
}

void BlockWork::leave_running() {
    for_each_of(unit::state.cluster_rank, [](BlockWork& work) { work.leave_block(); });
}

void BlockWork::forget_running() {
    for_each_of(unit::state.cluster_rank, [](BlockWork& work) { work.forget(); });
}

bool BlockWork::complete_one_running() {
    bool any = false;
    for_each_of(unit::state.cluster_rank,
                [&](BlockWork& work) { any = any || work.complete_one(); });
    return any;
}

bool BlockWork::any_is_late(unsigned rank) {
    bool any = false;
    for_each_of(rank, [&](const BlockWork& work) { any = any || work.has_late(); });
    return any;
}

}  // namespace gradverify::simt
