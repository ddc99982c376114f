// SPDX-License-Identifier: Apache-2.0
// Launchers that copy to and from pinned host memory with and without the wait that it needs;
// host_copies_test.cpp says which. A right one leaves data[0] = 100 + the sum of all `count`.
#include <vector>

#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace {

__global__ void sum(const float* data, int count, float* to) {
    float all = 0.0f;
    for (int i = 0; i < count; ++i) all += data[i];
    *to = all;
}
__global__ void put(float* data, float value) { data[0] = value; }
__global__ void add(float* data, const float* value) { data[0] = value[0] + 100.0f; }
void add_hundred(void* value) { *static_cast<float*>(value) += 100.0f; }

/// Pinned and device memory, an event, and the streams of a call.
struct Memory {
    float *pinned = nullptr, *device = nullptr;
    cudaStream_t stream, other = nullptr;
    cudaEvent_t done = nullptr;
    explicit Memory(const simt_test::Call& call) : stream(call.stream) {
        cudaMallocHost(&pinned, 4 * sizeof(float));
        for (int i = 0; i < 4; ++i) pinned[i] = 0.0f;
        cudaMalloc(&device, 4 * sizeof(float));
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        cudaEventCreate(&done);
        sum<<<1, 1, 0, stream>>>(call.data, call.count, device);
    }
    ~Memory() {
        cudaEventDestroy(done);
        cudaStreamDestroy(other);
        cudaFreeHost(pinned);
        cudaFree(device);
    }
    void to_host(float* host) const {
        cudaMemcpyAsync(host, device, sizeof(float), cudaMemcpyDeviceToHost, stream);
    }
    void from_host(const float* host, cudaMemcpyKind kind = cudaMemcpyHostToDevice) const {
        cudaMemcpyAsync(device, host, sizeof(float), kind, stream);
    }
};
void hand_on(const simt_test::Call& call, float value) {
    put<<<1, 1, 0, call.stream>>>(call.data, value + 100.0f);
}

}  // namespace

// To the host. WAITS is what is done between the copy and its use.
#define TO_HOST(NAME, WAITS)        \
    LAUNCHER(NAME) {                \
        const Memory m(call);       \
        m.to_host(m.pinned);        \
        WAITS;                      \
        hand_on(call, m.pinned[0]); \
    }
TO_HOST(read_without_a_wait, )
TO_HOST(read_after_another_streams_wait, cudaStreamSynchronize(m.other))
TO_HOST(read_after_an_event_of_before,
        (cudaEventRecord(m.done, m.other), cudaEventSynchronize(m.done)))
TO_HOST(read_behind_a_launch, (put<<<1, 1, 0, m.stream>>>(m.device, 0.0f)))
TO_HOST(read_after_a_wait, cudaStreamSynchronize(m.stream))
TO_HOST(read_after_an_event, (cudaEventRecord(m.done, m.stream), cudaEventSynchronize(m.done)))
TO_HOST(read_after_the_device, cudaDeviceSynchronize())
TO_HOST(read_after_a_query_alone, cudaStreamQuery(m.stream))
TO_HOST(read_after_an_event_is_asked_for,
        (cudaEventRecord(m.done, m.stream), cudaEventQuery(m.done)))
TO_HOST(read_after_a_query, while (cudaStreamQuery(m.stream) != cudaSuccess){})
TO_HOST(read_after_queries_of_two, cudaEventRecord(m.done, m.stream);
        while (cudaEventQuery(m.done) != cudaSuccess) cudaStreamQuery(m.other))
TO_HOST(
    read_after_an_event_recorded_anew,
    do { cudaEventRecord(m.done, m.stream); } while (cudaEventQuery(m.done) != cudaSuccess))
// A wait only where the work is not done yet.
TO_HOST(read_after_a_query_or_a_wait,
        if (cudaStreamQuery(m.stream) == cudaErrorNotReady) cudaStreamSynchronize(m.stream))
TO_HOST(read_after_a_query_or_no_wait,
        if (cudaStreamQuery(m.stream) == cudaSuccess) cudaStreamSynchronize(m.stream))

LAUNCHER(read_without_a_wait_in_registered_memory) {
    const Memory m(call);
    std::vector<float> host(4);
    cudaHostRegister(host.data(), 4 * sizeof(float), cudaHostRegisterDefault);
    m.to_host(host.data() + 1);
    const float value = host[1];
    cudaStreamSynchronize(m.stream);
    cudaHostUnregister(host.data());
    hand_on(call, value);
}
// Pageable memory: the call returns when the copy is done.
LAUNCHER(read_in_pageable_memory) {
    const Memory m(call);
    float host = 0.0f;
    m.to_host(&host);
    hand_on(call, host);
}
// Work behind the copy sees what it wrote.
LAUNCHER(read_on_the_stream) {
    const Memory m(call);
    m.to_host(m.pinned);
    put<<<1, 1, 0, m.stream>>>(m.device, 0.0f);
    m.from_host(m.pinned);
    add<<<1, 1, 0, m.stream>>>(call.data, m.device);
}
LAUNCHER(read_by_a_host_function) {
    const Memory m(call);
    m.to_host(m.pinned);
    cudaLaunchHostFunc(m.stream, &add_hundred, m.pinned);
    m.from_host(m.pinned);
    cudaMemcpyAsync(call.data, m.device, sizeof(float), cudaMemcpyDeviceToDevice, m.stream);
}
LAUNCHER(handed_back_at_the_end) {
    const Memory m(call);
    m.to_host(m.pinned);
    cudaMemcpyAsync(call.data, m.pinned, sizeof(float), cudaMemcpyHostToDevice, m.stream);
    add<<<1, 1, 0, m.stream>>>(call.data, call.data);
}

// From the host. The value to hand on is in `pinned` when the copy is asked for.
#define FROM_HOST(NAME, SOURCE, CHANGES)                 \
    LAUNCHER(NAME) {                                     \
        const Memory m(call);                            \
        float pageable = 0.0f;                           \
        m.to_host(m.pinned);                             \
        cudaStreamSynchronize(m.stream);                 \
        pageable = m.pinned[0];                          \
        m.from_host(SOURCE);                             \
        CHANGES;                                         \
        add<<<1, 1, 0, m.stream>>>(call.data, m.device); \
    }
FROM_HOST(source_changed, m.pinned, m.pinned[0] = 7.0f)
FROM_HOST(source_changed_behind_a_launch, m.pinned,
          (put<<<1, 1, 0, m.stream>>>(m.device + 1, 0.0f), m.pinned[0] = 7.0f))
FROM_HOST(source_changed_after_another_streams_wait, m.pinned,
          (cudaStreamSynchronize(m.other), m.pinned[0] = 7.0f))
FROM_HOST(source_reused_for_the_next_copy, m.pinned,
          (m.pinned[0] = 7.0f, cudaMemcpyAsync(m.device + 1, m.pinned, sizeof(float),
                                               cudaMemcpyHostToDevice, m.stream)))
FROM_HOST(source_changed_after_a_wait, m.pinned,
          (cudaStreamSynchronize(m.stream), m.pinned[0] = 7.0f))
FROM_HOST(source_changed_after_an_event, m.pinned,
          (cudaEventRecord(m.done, m.stream), put<<<1, 1, 0, m.stream>>>(m.device + 1, 0.0f),
           cudaEventSynchronize(m.done), m.pinned[0] = 7.0f))
FROM_HOST(source_in_pageable_memory_changed, &pageable, pageable = 7.0f)
FROM_HOST(other_element_changed, m.pinned, m.pinned[1] = 7.0f)
FROM_HOST(source_written_by_the_stream, m.pinned,
          (cudaMemcpyAsync(m.pinned, m.device + 1, sizeof(float), cudaMemcpyDeviceToHost,
                           m.stream)))
