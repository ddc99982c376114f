// SPDX-License-Identifier: Apache-2.0
// Compiled units and the harness call the executor by these functions.
#include <cstdint>
#include <utility>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/runtime/source_line.hpp"
#include "harness/simt/runtime/streams.hpp"

namespace gradverify::simt {

void set_schedule(const Schedule& schedule) {
    Executor::set_schedule(schedule);
    OfCall<Streams>()->set_schedule(schedule);
}
std::uint64_t take_accesses_checked() { return std::exchange(Executor::accesses_checked, 0); }

std::uint64_t take_threads_launched() { return std::exchange(Executor::threads_launched, 0); }

}  // namespace gradverify::simt

namespace gradverify::simt::unit {
extern "C" {

void gradverify_simt_launch(const LaunchConfig& config, const char* kernel, Entry entry,
                            const void* body, std::size_t body_bytes, bool checked) {
    Executor::of_this_thread().launch(config, kernel, entry, {body, body_bytes},
                                      checked ? &watcher_of_process() : nullptr);
}
void gradverify_simt_shared_is_placed(const void* address, std::size_t bytes,
                                      std::size_t element_bytes, const char* function) {
    if (watching != nullptr) watching->place_shared(address, bytes, element_bytes, function);
}
void gradverify_simt_arrive(const char* file, int line) {
    if (watching != nullptr) watching->arrive_at_barrier({file, line});
}
void gradverify_simt_fence(bool of_block) {
    if (watching != nullptr) watching->fence(of_block);
}
void gradverify_simt_launch_dependents() {
    if (watching != nullptr) watching->launch_dependents();
}
void gradverify_simt_wait_for_grids() {
    if (watching != nullptr) watching->wait_for_grids();
}
void gradverify_simt_atomic(const volatile void* address, std::size_t bytes, const void* pc,
                            bool of_block) {
    if (watching == nullptr) return;
    watching->access({.address = number(address),
                      .bytes = bytes,
                      .pc = pc,
                      .reads = true,
                      .writes = true,
                      .is_atomic = true,
                      .is_of_block = of_block});
}
bool gradverify_simt_thread_returned() { return Executor::of_this_thread().thread_returned(); }
void gradverify_simt_place_shared(SharedSlot& slot, std::size_t bytes, std::size_t alignment) {
    Executor::of_this_thread().place_shared(slot, bytes, alignment);
}
void* gradverify_simt_place_left_local(std::size_t bytes) {
    return Executor::of_this_thread().place_left_local(bytes);
}
[[gnu::noinline]] static void barrier_outside_of_a_kernel(const char* file, int line) {
    Executor::of_this_thread().barrier({file, line});
}
void gradverify_simt_barrier(const char* file, int line) {
    if (executor_of_thread == nullptr) [[unlikely]]
        return barrier_outside_of_a_kernel(file, line);
    executor_of_thread->barrier({file, line});
}
void gradverify_simt_grid_barrier(const char* file, int line) {
    gradverify_simt_arrive(file, line);
    Executor::of_this_thread().grid_barrier({file, line});
}
void gradverify_simt_cluster_arrive(const char* file, int line, bool releases) {
    Executor::of_this_thread().cluster_arrive({file, line}, releases);
}
void gradverify_simt_cluster_wait(const char* file, int line) {
    Executor::of_this_thread().cluster_wait({file, line});
}
void gradverify_simt_begin_in_clusters(dim3 cluster) {
    Executor::of_this_thread().begin_in_clusters(cluster);
}
int gradverify_simt_barrier_vote(BarrierVote vote, int predicate, const char* file, int line) {
    gradverify_simt_arrive(file, line);
    return Executor::of_this_thread().barrier_vote(vote, predicate, {file, line});
}
void gradverify_simt_warp_collective(WarpOp op, unsigned mask, std::uint64_t value,
                                     unsigned source_lane, const char* file, int line) {
    Executor::warp_collective(op, mask, value, source_lane, {file, line});
}
void gradverify_simt_yield() { Executor::of_this_thread().yield(); }
void gradverify_simt_trap(int cuda_error, const char* what, const char* file, int line) {
    Executor& executor = Executor::of_this_thread();
    const Place place{file, line};
    if (cuda_error == cudaErrorAssert) {
        executor.trap(cuda_error, {"device assertion `", what, "` failed"}, place);
    }
    if (cuda_error != 0) executor.trap(cuda_error, {what}, place);
    executor.trap(cudaErrorNotSupported, {"inline PTX runs on cuda only: \"", what, "\""}, place);
}

cudaError_t gradverify_simt_refuse(int cuda_error, const char* what, const char* file, int line) {
    Executor::of_this_thread().fail(cuda_error, short_place(file, line) + ": " + what);
    return static_cast<cudaError_t>(cuda_error);
}

}  // extern "C"
}  // namespace gradverify::simt::unit
