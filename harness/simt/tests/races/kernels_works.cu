// SPDX-License-Identifier: Apache-2.0
// Works of one call that share memory, each launcher without an order between them and, as its
// twin, with one; works_test.cpp says what is found. All work ends before the given stream goes on.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace {

constexpr int parts = 16;

__global__ void sum_parts(const float* x, float* partial) {
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i) sum += x[threadIdx.x * 4 + i];
    partial[threadIdx.x] = sum;  // line: writes a part
}
__global__ void total(const float* partial, float* y) {
    float sum = 0.0f;
    for (int i = 0; i < parts; ++i) sum += partial[i];  // line: reads a part
    *y = sum;
}
__global__ void add_parts(const float* x, float* sums) {
    atomicAdd(&sums[threadIdx.x % parts], x[threadIdx.x]);
}
__global__ void scale(float* x) { x[threadIdx.x] *= 0.5f; }
__global__ void blur(const float* x, float* y, int count) {
    const int i = static_cast<int>(threadIdx.x);
    float sum = 0.0f;
    for (int k = i < 3 ? 0 : i - 3; k < count && k < i + 3; ++k) sum += x[k];
    if (i < parts) y[i] = sum;
}

/// Makes what comes next on a stream wait for what another has been given.
void after(cudaStream_t second, cudaStream_t first) {
    cudaEvent_t done;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    cudaEventDestroy(done);
}

struct Streams {
    float* data;
    int count;
    cudaStream_t given, side, other;
    float *scratch, *more;  ///< `parts` elements each
    bool in_order;          ///< the launcher's twin
};
constexpr std::size_t scratch_bytes = parts * sizeof(float);

void on_streams(const simt_test::Call& call, void (*steps)(const Streams&), bool in_order) {
    Streams s{.data = call.data, .count = call.count, .given = call.stream, .in_order = in_order};
    for (cudaStream_t* own : {&s.side, &s.other}) {
        cudaStreamCreateWithFlags(own, cudaStreamNonBlocking);
        after(*own, s.given);
    }
    for (float** scratch : {&s.scratch, &s.more}) cudaMalloc(scratch, scratch_bytes);
    steps(s);
    for (cudaStream_t own : {s.side, s.other}) {
        after(s.given, own);
        cudaStreamDestroy(own);
    }
    for (float* scratch : {s.scratch, s.more}) cudaFree(scratch);
}

}  // namespace

#define TWINS(NAME)                                                      \
    static void NAME##_steps(const Streams& s);                          \
    LAUNCHER(NAME) { on_streams(call, &NAME##_steps, false); }           \
    LAUNCHER(NAME##_in_order) { on_streams(call, &NAME##_steps, true); } \
    static void NAME##_steps(const Streams& s)

TWINS(partial_sums_on_a_side_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);  // line: launches sum_parts
    if (s.in_order) after(s.given, s.side);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);  // line: launches total
}
TWINS(second_launch_on_another_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    if (s.in_order) after(s.other, s.side);
    total<<<1, 1, 0, s.other>>>(s.scratch, s.more);
}
TWINS(memset_on_a_side_stream) {
    cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
    if (s.in_order) after(s.given, s.side);
    add_parts<<<1, 64, 0, s.given>>>(s.data, s.scratch);
}
TWINS(memset_behind_its_use) {
    add_parts<<<1, 64, 0, s.given>>>(s.data, s.scratch);
    if (s.in_order) after(s.side, s.given);
    cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
}
TWINS(copied_while_written) {
    cudaMemcpyAsync(s.scratch, s.data, scratch_bytes, cudaMemcpyDeviceToDevice, s.side);
    if (s.in_order) after(s.given, s.side);
    scale<<<1, 64, 0, s.given>>>(s.data);
}
TWINS(two_copies) {
    scale<<<1, 64, 0, s.given>>>(s.data);
    cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
    if (s.in_order) after(s.given, s.side);
    cudaMemcpyAsync(s.data, s.scratch, scratch_bytes, cudaMemcpyDeviceToDevice, s.given);
}
TWINS(event_recorded_before_the_work) {
    cudaEvent_t done;
    cudaEventCreate(&done);
    if (!s.in_order) cudaEventRecord(done, s.side);
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    if (s.in_order) cudaEventRecord(done, s.side);
    cudaStreamWaitEvent(s.given, done, 0);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);
    cudaEventDestroy(done);
}
TWINS(wait_on_the_wrong_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    after(s.in_order ? s.given : s.other, s.side);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);
}
TWINS(host_waits_for_the_wrong_stream) {
    sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
    cudaStreamSynchronize(s.in_order ? s.side : s.other);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.data);
}
TWINS(freed_before_its_use_is_done) {
    float* scratch = nullptr;
    cudaMallocAsync(&scratch, scratch_bytes, s.given);
    after(s.side, s.given);
    sum_parts<<<1, parts, 0, s.side>>>(s.data, scratch);
    if (s.in_order) after(s.given, s.side);
    cudaFreeAsync(scratch, s.given);
}
TWINS(allocated_on_another_stream) {
    float* scratch = nullptr;
    cudaMallocAsync(&scratch, scratch_bytes, s.side);
    if (s.in_order) after(s.given, s.side);
    sum_parts<<<1, parts, 0, s.given>>>(s.data, scratch);
    after(s.side, s.given);
    cudaFreeAsync(scratch, s.side);
}
// Many threads of the given stream read what the side stream reads, too.
TWINS(written_while_read) {
    blur<<<1, s.count, 0, s.side>>>(s.data, s.scratch, s.count);
    blur<<<1, s.count, 0, s.given>>>(s.data, s.more, s.count);
    if (s.in_order) after(s.given, s.side);
    scale<<<1, s.count, 0, s.given>>>(s.data);
}
// The sums themselves may be made beside each other.
TWINS(atomic_sums_not_joined) {
    cudaMemset(s.scratch, 0, scratch_bytes);
    cudaDeviceSynchronize();
    add_parts<<<1, 64, 0, s.side>>>(s.data, s.scratch);
    add_parts<<<1, 64, 0, s.given>>>(s.data, s.scratch);
    if (s.in_order) after(s.given, s.side);
    total<<<1, 1, 0, s.given>>>(s.scratch, s.more);
}
// In order with the default stream, as it was made without a flag.
TWINS(default_stream_beside_one_that_does_not_block) {
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, s.in_order ? cudaStreamDefault : cudaStreamNonBlocking);
    after(own, s.given);
    sum_parts<<<1, parts, 0, own>>>(s.data, s.scratch);
    total<<<1, 1>>>(s.scratch, s.more);
    cudaDeviceSynchronize();
    cudaStreamDestroy(own);
}
TWINS(per_thread_stream_beside_the_given) {
    cudaStreamSynchronize(s.given);
    sum_parts<<<1, parts, 0, cudaStreamPerThread>>>(s.data, s.scratch);
    if (s.in_order) after(s.side, cudaStreamPerThread);
    total<<<1, 1, 0, s.side>>>(s.scratch, s.more);
    cudaStreamSynchronize(cudaStreamPerThread);
}

// Works that share nothing that they write.
LAUNCHER(halves_beside_each_other) {
    on_streams(
        call,
        [](const Streams& s) {
            scale<<<1, s.count / 2, 0, s.side>>>(s.data);
            scale<<<1, s.count / 2, 0, s.given>>>(s.data + s.count / 2);
            after(s.side, s.given);
            sum_parts<<<1, parts, 0, s.side>>>(s.data, s.scratch);
            cudaMemcpyAsync(s.more, s.scratch, scratch_bytes, cudaMemcpyDeviceToDevice, s.side);
            cudaMemsetAsync(s.scratch, 0, scratch_bytes, s.side);
        },
        true);
}
LAUNCHER(read_beside_each_other) {
    on_streams(
        call,
        [](const Streams& s) {
            blur<<<1, s.count, 0, s.side>>>(s.data, s.scratch, s.count);
            blur<<<1, s.count, 0, s.given>>>(s.data, s.more, s.count);
            cudaMemcpyAsync(s.scratch, s.data, scratch_bytes, cudaMemcpyDeviceToDevice, s.side);
        },
        true);
}
// An address that is given again is other memory.
LAUNCHER(freed_and_allocated_again) {
    on_streams(
        call,
        [](const Streams& s) {
            for (cudaStream_t stream : {s.side, s.given, s.other, s.given}) {
                float* scratch = nullptr;
                cudaMallocAsync(&scratch, scratch_bytes, stream);
                cudaMemsetAsync(scratch, 0, scratch_bytes, stream);
                sum_parts<<<1, parts, 0, stream>>>(s.data, scratch);
                cudaFreeAsync(scratch, stream);
            }
        },
        true);
}
