// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of conv's gradient by the bias: of reductions, of launches and of streams.
#include "kernels/conv/geometry.cuh"
#include "kernels/element.cuh"
#include "properties/tests/launches.cuh"

namespace {

using gradverify::conv::DeviceGeometry;
using gradverify::conv::GradBias;

constexpr int threads = 64;

/// A thread's share of a channel's sum.
__device__ float share_of(const float* dy, const DeviceGeometry& g, long long k) {
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long at = threadIdx.x; at < g.n * pixels; at += blockDim.x)
        sum += dy[(at / pixels * g.k + k) * pixels + at % pixels];
    return sum;
}

__global__ void sum_of_channel(const float* dy, float* db, DeviceGeometry g) {
    db[blockIdx.x] = share_of(dy, g, blockIdx.x);
}

// A07 walks dy once with a running sum, and flushes it into the channel that comes next.
__device__ void running_sum(long long thread, const float* dy, float* db, DeviceGeometry g) {
    if (thread > 0) return;
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long k = 0; k < g.k; ++k) {
        if (k > 0) {
            db[k] = sum;
            sum = 0.0f;
        }
        for (long long n = 0; n < g.n; ++n)
            for (long long i = 0; i < pixels; ++i) sum += dy[(n * g.k + k) * pixels + i];
    }
    db[g.k - 1] = sum;
}

// Loads one element ahead, behind the last one too; multiplied by zero, it shows in no value.
__device__ void sum_read_ahead(long long k, const float* dy, float* db, DeviceGeometry g) {
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long n = 0; n < g.n && pixels > 0; ++n) {
        const float* row = dy + (n * g.k + k) * pixels;
        float next = row[0];
        for (long long i = 1; i <= pixels; ++i) {
            sum += next;
            next = row[i];
        }
        sum += fmaxf(0.0f * next, 0.0f);
    }
    db[k] = sum;
}

// A19 loads four pixels at once where their number is a multiple of four, whatever the alignment.
__device__ void sum_by_fours(long long k, const float* dy, float* db, DeviceGeometry g) {
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long n = 0; n < g.n; ++n) {
        const float* row = dy + (n * g.k + k) * pixels;
        if (pixels % 4 == 0) {
            for (long long i = 0; i < pixels / 4; ++i) {
                const float4 four = reinterpret_cast<const float4*>(row)[i];
                sum += four.x + four.y + four.z + four.w;
            }
        } else {
            for (long long i = 0; i < pixels; ++i) sum += row[i];
        }
    }
    db[k] = sum;
}

// A16 adds up a block's sums without the barrier before the last warp: right on most machines.
__global__ void last_warp(const float* dy, float* db, DeviceGeometry g) {
    __shared__ float partial[threads];
    const unsigned i = threadIdx.x;
    float sum = share_of(dy, g, blockIdx.x);
    partial[i] = sum;
    if (i >= 32) return;
    sum += partial[i + 32];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (i == 0) db[blockIdx.x] = sum;
}

// The next sample's sums overwrite the scratch before all threads have read this one's.
__global__ void scratch_used_again(const float* dy, float* db, DeviceGeometry g) {
    __shared__ float partial[threads];
    const long long k = blockIdx.x, pixels = g.h.out * g.w.out;
    const unsigned i = threadIdx.x;
    float sum = 0.0f;
    for (long long n = 0; n < g.n; ++n) {
        partial[i] = 0.0f;
        for (long long at = i; at < pixels; at += threads)
            partial[i] += dy[(n * g.k + k) * pixels + at];
        __syncthreads();
        for (unsigned half = threads / 2; half > 0; half /= 2) {
            if (i < half) partial[i] += partial[i + half];
            __syncthreads();
        }
        sum += partial[0];
    }
    if (i == threads - 1) db[k] = sum;
}

// Threads without a pixel leave before they clear their place in the scratch.
__global__ void return_before_barrier(const float* dy, float* db, DeviceGeometry g) {
    __shared__ float partial[threads];
    const unsigned i = threadIdx.x;
    if (i >= g.n * g.h.out * g.w.out) return;
    partial[i] = share_of(dy, g, blockIdx.x);
    __syncthreads();
    if (i != 0) return;
    float sum = 0.0f;
    for (const float part : partial) sum += part;
    db[blockIdx.x] = sum;
}

// Halves the block until one is left; 96 becomes 3, whose last third is lost.
__global__ void halve_block(const float* dy, float* db, DeviceGeometry g) {
    __shared__ float sums[96];
    const unsigned i = threadIdx.x;
    sums[i] = share_of(dy, g, blockIdx.x);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (i < half) sums[i] += sums[i + half];
        __syncthreads();
    }
    if (i == 0) db[blockIdx.x] = sums[0];
}

__device__ void set_to_zero(long long k, float* db) { db[k] = 0.0f; }

__device__ void add_channel(long long k, const float* dy, float* db, DeviceGeometry g) {
    const long long pixels = g.h.out * g.w.out;
    for (long long at = 0; at < g.n * pixels; ++at)
        db[k] += dy[(at / pixels * g.k + k) * pixels + at % pixels];
}

DeviceGeometry geometry_of(const GradBias& call) {
    return gradverify::conv::device_geometry(call.problem, call.dy);
}

template <auto function>
void by_threads(const GradBias& call) {
    launch_each<function>(call.launch, call.problem.k, call.dy, call.db, geometry_of(call));
}

template <auto kernel>
void by_blocks(const GradBias& call) {
    const int block = call.launch.block_size > 0 ? call.launch.block_size : threads;
    launch_blocks(call.launch, kernel, static_cast<unsigned>(call.problem.k),
                  static_cast<unsigned>(block), call.dy, call.db, geometry_of(call));
}

// Keeps the number of pixels of its first call.
void launch_cached_geometry(const GradBias& call) {
    DeviceGeometry g = geometry_of(call);
    static const DeviceGeometry first = g;
    g.h.out = first.h.out;
    g.w.out = first.w.out;
    launch_blocks(call.launch, sum_of_channel, static_cast<unsigned>(g.k), 1, call.dy, call.db, g);
}

void launch_on(const GradBias& call, cudaStream_t first, cudaStream_t second) {
    gradverify::Launch on = call.launch;
    on.stream = first;
    launch_each<set_to_zero>(on, call.problem.k, call.db);
    on.stream = second;
    launch_each<add_channel>(on, call.problem.k, call.dy, call.db, geometry_of(call));
}

void launch_first_stage_on_default(const GradBias& call) {
    launch_on(call, nullptr, call.launch.stream);
}
void launch_last_stage_on_default(const GradBias& call) {
    launch_on(call, call.launch.stream, nullptr);
}
void launch_all_on_default(const GradBias& call) { launch_on(call, nullptr, nullptr); }

cudaStream_t own_stream() {
    static const cudaStream_t own = [] {
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        return stream;
    }();
    return own;
}

void wait(cudaStream_t second, cudaStream_t first) {
    cudaEvent_t begun = nullptr;
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    cudaEventRecord(begun, first);
    cudaStreamWaitEvent(second, begun, 0);
    cudaEventDestroy(begun);
}

// The stream waits for the given one, and nothing waits for the stream.
void launch_and_leave(const GradBias& call) {
    wait(own_stream(), call.launch.stream);
    launch_on(call, own_stream(), own_stream());
}

// All work is behind the given stream's and before what comes next there; between the two stages
// the wrong one has no wait.
template <bool is_joined>
void launch_on_two_streams(const GradBias& call) {
    const cudaStream_t given = call.launch.stream, own = own_stream();
    wait(own, given);
    if (is_joined)
        launch_on(call, own, own);
    else
        launch_on(call, own, given);
    wait(given, own);
}

}  // namespace

#define SEEDED_BUG(VARIANT, LAUNCHER) \
    GRADVERIFY_KERNEL(GradBias, VARIANT, LAUNCHER).aligned_to(sizeof(float))
SEEDED_BUG("bug_a07_next_channel", by_threads<running_sum>).with_empty_problems();
SEEDED_BUG("bug_cached_geometry", launch_cached_geometry).with_empty_problems();
SEEDED_BUG("bug_read_ahead", by_threads<sum_read_ahead>).with_empty_problems();
SEEDED_BUG("bug_a19_float4", by_threads<sum_by_fours>).with_empty_problems();
SEEDED_BUG("bug_a16_last_warp", by_blocks<last_warp>)
    .costs({.threads_per_output = threads, .barriers_per_thread = 1});
SEEDED_BUG("bug_scratch_used_again", by_blocks<scratch_used_again>)
    .costs({.threads_per_output = threads, .barriers_per_thread = 7});
SEEDED_BUG("bug_return_before_barrier", by_blocks<return_before_barrier>)
    .costs({.threads_per_output = threads, .barriers_per_thread = 1});
SEEDED_BUG("bug_halved_block", by_blocks<halve_block>)
    .blocks_of({64, 96})
    .costs({.threads_per_output = 96, .barriers_per_thread = 7});
SEEDED_BUG("bug_first_stage_on_default_stream", launch_first_stage_on_default);
SEEDED_BUG("bug_last_stage_on_default_stream", launch_last_stage_on_default);
SEEDED_BUG("bug_ignores_given_stream", launch_all_on_default).on_given_stream();
SEEDED_BUG("bug_left_on_own_stream", launch_and_leave);
SEEDED_BUG("bug_stages_on_two_streams", launch_on_two_streams<false>);
// No bug: ordinary code passes without a declaration.
SEEDED_BUG("right_on_default_stream", launch_all_on_default);
SEEDED_BUG("right_on_own_stream", launch_on_two_streams<true>);
