// SPDX-License-Identifier: Apache-2.0
// Launchers that use streams as host code does, well and badly; streams_test.cpp says which.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace {

__global__ void first_half(float* data) { data[threadIdx.x] = 1.0f; }
__global__ void second_half(float* data) { data[threadIdx.x] += 1.0f; }
void first(const simt_test::Call& call, cudaStream_t stream) {
    first_half<<<1, call.count, 0, stream>>>(call.data);
}
void second(const simt_test::Call& call, cudaStream_t stream) {
    second_half<<<1, call.count, 0, stream>>>(call.data);
}
struct Pair {
    int unused;
    float* data;
};
__global__ void half_of_pair(Pair pair) { pair.data[threadIdx.x] = 1.0f; }
template <class... Args>
void launch_pack(cudaStream_t stream, Args... args) {
    first_half<<<1, 4, 0, stream>>>(args...);
}

struct OwnStream {
    cudaStream_t stream = nullptr;
    explicit OwnStream(unsigned flags = cudaStreamNonBlocking) {
        cudaStreamCreateWithFlags(&stream, flags);
    }
    ~OwnStream() { cudaStreamDestroy(stream); }
};

void after(cudaStream_t second, cudaStream_t first) {
    cudaEvent_t done;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    cudaEventDestroy(done);
}

}  // namespace

LAUNCHER(given_alone) {
    cudaMemsetAsync(call.data, 0, call.count * sizeof(float), call.stream);
    second(call, call.stream);
}
LAUNCHER(default_alone) {
    cudaMemset(call.data, 0, call.count * sizeof(float));
    second(call, nullptr);
}
LAUNCHER(no_work) {}
LAUNCHER(host_copy_then_given) {
    const float zero = 0.0f;
    cudaMemcpy(call.data, &zero, sizeof zero, cudaMemcpyHostToDevice);
    second(call, call.stream);
}
LAUNCHER(default_then_given) {
    first_half<<<1, call.count>>>(call.data);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
LAUNCHER(memset_then_given) {
    cudaMemset(call.data, 0, call.count * sizeof(float));
    second(call, call.stream);
}
LAUNCHER(copy_on_the_device_then_given) {
    cudaMemcpy(call.data, call.data + 1, sizeof(float), cudaMemcpyDeviceToDevice);
    second(call, call.stream);
}
LAUNCHER(given_then_default) {
    first(call, call.stream);
    second(call, nullptr);
}
LAUNCHER(default_waited_for_then_given) {
    first(call, nullptr);
    cudaStreamSynchronize(nullptr);
    second(call, call.stream);
}
LAUNCHER(forked_and_joined) {
    const OwnStream own;
    after(own.stream, call.stream);
    first(call, own.stream);
    after(call.stream, own.stream);
    second(call, call.stream);
}
LAUNCHER(forked_and_not_joined) {
    const OwnStream own;
    after(own.stream, call.stream);
    first(call, own.stream);
}
LAUNCHER(joined_and_not_forked) {
    const OwnStream own;
    first(call, own.stream);
    after(call.stream, own.stream);
}
LAUNCHER(event_recorded_too_early) {
    const OwnStream own;
    after(own.stream, call.stream);
    after(call.stream, own.stream);
    first(call, own.stream);
}
LAUNCHER(own_waited_for) {
    const OwnStream own;
    first(call, own.stream);
    cudaStreamSynchronize(own.stream);
}
LAUNCHER(own_waited_for_by_event) {
    const OwnStream own;
    first(call, own.stream);
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, own.stream);
    while (cudaEventQuery(done) != cudaSuccess) {
    }
    cudaEventDestroy(done);
}
LAUNCHER(copy_to_the_host_then_given) {
    float first = 0.0f;
    cudaMemcpy(&first, call.data, sizeof first, cudaMemcpyDeviceToHost);
    second(call, call.stream);
}
LAUNCHER(rows_to_the_host_then_given) {
    float column[2];
    cudaMemcpy2D(column, sizeof(float), call.data, 2 * sizeof(float), sizeof(float), 2,
                 cudaMemcpyDeviceToHost);
    second(call, call.stream);
}
LAUNCHER(memset_waited_for_then_given) {
    cudaMemset(call.data, 0, call.count * sizeof(float));
    cudaStreamSynchronize(nullptr);
    second(call, call.stream);
}
LAUNCHER(forked_and_waited_for) {
    const OwnStream own;
    after(own.stream, call.stream);
    first(call, own.stream);
    cudaStreamSynchronize(own.stream);
}
LAUNCHER(given_waited_for_then_own) {
    const OwnStream own;
    cudaStreamSynchronize(call.stream);
    cudaStreamSynchronize(nullptr);
    first(call, own.stream);
    cudaStreamSynchronize(own.stream);
}
// Memory of the launcher's own.
LAUNCHER(scratch_waited_for) {
    const OwnStream own;
    float* scratch = nullptr;
    const float one = 1.0f;
    cudaMalloc(&scratch, call.count * sizeof(float));
    cudaMemset(scratch, 0, call.count * sizeof(float));
    cudaMemcpy(scratch, &one, sizeof one, cudaMemcpyHostToDevice);
    cudaStreamSynchronize(nullptr);
    first_half<<<1, call.count, 0, own.stream>>>(scratch);
    launch_pack(own.stream, scratch);
    cudaStreamSynchronize(own.stream);
    cudaMemcpyAsync(call.data, scratch, call.count * sizeof(float), cudaMemcpyDeviceToDevice,
                    call.stream);
    cudaFreeAsync(scratch, call.stream);
}
LAUNCHER(structure_waited_for) {
    const OwnStream own;
    half_of_pair<<<1, call.count, 0, own.stream>>>(Pair{0, call.data});
    cudaStreamSynchronize(own.stream);
}
LAUNCHER(pack_waited_for) {
    const OwnStream own;
    launch_pack(own.stream, call.data);
    cudaStreamSynchronize(own.stream);
}
LAUNCHER(launch_by_pointers_waited_for) {
    const OwnStream own;
    float* data = call.data;
    void* args[] = {&data};
    cudaLaunchKernel((void*)first_half, dim3(1), dim3(call.count), args, 0, own.stream);
    cudaStreamSynchronize(own.stream);
}
LAUNCHER(launch_ex_waited_for) {
    const OwnStream own;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(call.count);
    config.stream = own.stream;
    cudaLaunchKernelEx(&config, first_half, call.data);
    cudaStreamSynchronize(own.stream);
}
// The default stream waits for it, and it for the default stream.
LAUNCHER(own_blocking) {
    const OwnStream own(cudaStreamDefault);
    first(call, own.stream);
    second(call, nullptr);
}
LAUNCHER(own_blocking_then_given) {
    const OwnStream own(cudaStreamDefault);
    first(call, own.stream);
    second(call, call.stream);
}
LAUNCHER(device_waited_for) {
    const OwnStream own;
    first(call, own.stream);
    cudaDeviceSynchronize();
    second(call, call.stream);
}
LAUNCHER(no_stream_destroyed) { cudaStreamDestroy(nullptr); }
