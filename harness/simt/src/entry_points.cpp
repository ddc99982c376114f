// SPDX-License-Identifier: Apache-2.0
// The functions that compiled units call, and the host-side API: each hands over to the executor
// of its OS thread.
#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/src/executor.hpp"

namespace gradverify::simt {

void set_schedule(const Schedule& schedule) { Executor::of_this_thread().set_schedule(schedule); }
std::string take_error() { return Executor::of_this_thread().take_error(); }
Counters take_counters() { return Executor::of_this_thread().take_counters(); }

}  // namespace gradverify::simt

namespace gradverify::simt::unit {
extern "C" {

void gradverify_simt_launch(const LaunchConfig& config, const char* kernel, Entry entry,
                            const void* body) {
    Executor::of_this_thread().launch(config, kernel, entry, body);
}
bool gradverify_simt_thread_returned() { return Executor::of_this_thread().thread_returned(); }
void gradverify_simt_place_shared(SharedSlot& slot, std::size_t bytes, std::size_t alignment) {
    Executor::of_this_thread().place_shared(slot, bytes, alignment);
}
int gradverify_simt_barrier(BarrierKind kind, int predicate, const char* file, int line) {
    return Executor::of_this_thread().barrier(kind, predicate, {file, line});
}
std::uint64_t gradverify_simt_warp_collective(const WarpDeposit& deposit, const char* file,
                                              int line) {
    return Executor::of_this_thread().warp_collective(deposit, {file, line});
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

}  // extern "C"
}  // namespace gradverify::simt::unit
