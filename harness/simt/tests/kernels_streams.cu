// SPDX-License-Identifier: Apache-2.0
// Launchers that use streams as host code does, well and badly; streams_test.cpp says which.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace {

__global__ void first_half(float* data) { data[threadIdx.x] = 1.0f; }
__global__ void second_half(float* data) { data[threadIdx.x] += 1.0f; }

struct OwnStream {
    cudaStream_t stream = nullptr;
    explicit OwnStream(unsigned flags) { cudaStreamCreateWithFlags(&stream, flags); }
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

GRADVERIFY_SIMT_TEST_LAUNCHER(given_alone) {
    cudaMemsetAsync(call.data, 0, call.count * sizeof(float), call.stream);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(default_alone) {
    cudaMemset(call.data, 0, call.count * sizeof(float));
    second_half<<<1, call.count>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(no_work) {}
GRADVERIFY_SIMT_TEST_LAUNCHER(host_copy_then_given) {
    const float zero = 0.0f;
    cudaMemcpy(call.data, &zero, sizeof zero, cudaMemcpyHostToDevice);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(default_then_given) {
    first_half<<<1, call.count>>>(call.data);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(memset_then_given) {
    cudaMemset(call.data, 0, call.count * sizeof(float));
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(copy_on_the_device_then_given) {
    cudaMemcpy(call.data, call.data + 1, sizeof(float), cudaMemcpyDeviceToDevice);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(given_then_default) {
    first_half<<<1, call.count, 0, call.stream>>>(call.data);
    second_half<<<1, call.count>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(default_waited_for_then_given) {
    first_half<<<1, call.count>>>(call.data);
    cudaStreamSynchronize(nullptr);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(forked_and_joined) {
    const OwnStream own(cudaStreamNonBlocking);
    after(own.stream, call.stream);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
    after(call.stream, own.stream);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(forked_and_not_joined) {
    const OwnStream own(cudaStreamNonBlocking);
    after(own.stream, call.stream);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(joined_and_not_forked) {
    const OwnStream own(cudaStreamNonBlocking);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
    after(call.stream, own.stream);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(event_recorded_too_early) {
    const OwnStream own(cudaStreamNonBlocking);
    after(own.stream, call.stream);
    after(call.stream, own.stream);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(own_waited_for) {
    const OwnStream own(cudaStreamNonBlocking);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
    cudaStreamSynchronize(own.stream);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(own_waited_for_by_event) {
    const OwnStream own(cudaStreamNonBlocking);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, own.stream);
    while (cudaEventQuery(done) != cudaSuccess) {
    }
    cudaEventDestroy(done);
}
// The default stream waits for it, and it for the default stream.
GRADVERIFY_SIMT_TEST_LAUNCHER(own_blocking) {
    const OwnStream own(cudaStreamDefault);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
    second_half<<<1, call.count>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(own_blocking_then_given) {
    const OwnStream own(cudaStreamDefault);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(device_waited_for) {
    const OwnStream own(cudaStreamNonBlocking);
    first_half<<<1, call.count, 0, own.stream>>>(call.data);
    cudaDeviceSynchronize();
    second_half<<<1, call.count, 0, call.stream>>>(call.data);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(no_stream_destroyed) { cudaStreamDestroy(nullptr); }
