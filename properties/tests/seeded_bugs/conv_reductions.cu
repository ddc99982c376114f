// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of reductions, of launches and of streams, each a mistake that shipped somewhere.
// Linked into the tests only; list.hpp says which property must kill each, and at which problem.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"

namespace {

using gradverify::conv::DeviceGeometry;
using gradverify::conv::Forward;
using gradverify::conv::GradBias;

constexpr int threads = 64;

// A17 gives each sample a row of the grid, which takes 1 to 65535, and asks no launch how it went.
__global__ void forward_by_sample(const float* x, const float* w, const float* b, float* y,
                                  DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.k * g.h.out * g.w.out) return;
    const long long ow = i % g.w.out, oh = i / g.w.out % g.h.out, k = i / (g.w.out * g.h.out);
    const long long n = blockIdx.y;
    float sum = b[k];
    for (long long c = 0; c < g.group_c; ++c)
        for (long long fh = 0; fh < g.h.filter; ++fh)
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
                const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                if (ih < 0 || ih >= g.h.in || iw < 0 || iw >= g.w.in) continue;
                const long long x_c = k / g.group_k * g.group_c + c;
                sum += x[((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw] *
                       w[((k * g.group_c + c) * g.h.filter + fh) * g.w.filter + fw];
            }
    y[n * g.k * g.h.out * g.w.out + i] = sum;
}

// Adds up the channels two at a time; a last one alone is kept where it is the only one, and
// forgotten behind others.
__global__ void forward_unrolled(const float* x, const float* w, const float* b, float* y,
                                 DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.k * g.h.out * g.w.out) return;
    const long long ow = i % g.w.out, oh = i / g.w.out % g.h.out;
    const long long k = i / (g.w.out * g.h.out) % g.k, n = i / (g.w.out * g.h.out * g.k);
    const auto product = [&](long long c, long long fh, long long fw) {
        const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
        const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
        if (ih < 0 || ih >= g.h.in || iw < 0 || iw >= g.w.in) return 0.0f;
        const long long x_c = k / g.group_k * g.group_c + c;
        return x[((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw] *
               w[((k * g.group_c + c) * g.h.filter + fh) * g.w.filter + fw];
    };
    float sum = b[k];
    for (long long fh = 0; fh < g.h.filter; ++fh)
        for (long long fw = 0; fw < g.w.filter; ++fw) {
            if (g.group_c == 1) sum += product(0, fh, fw);
            for (long long c = 0; c + 1 < g.group_c; c += 2)
                sum += product(c, fh, fw) + product(c + 1, fh, fw);
        }
    y[i] = sum;
}

// A19 loads four pixels at once wherever their number is a multiple of four, also from an address
// that is not one of sixteen bytes.
__global__ void sum_by_fours(const float* dy, float* db, DeviceGeometry g) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long pixels = g.h.out * g.w.out;
    if (k >= g.k) return;
    float sum = 0.0f;
    for (long long n = 0; n < g.n; ++n) {
        const float* row = dy + (n * g.k + k) * pixels;
        if (pixels % 4 == 0) {
            const float4* fours = reinterpret_cast<const float4*>(row);
            for (long long i = 0; i < pixels / 4; ++i) {
                const float4 four = fours[i];
                sum += four.x + four.y + four.z + four.w;
            }
        } else {
            for (long long i = 0; i < pixels; ++i) sum += row[i];
        }
    }
    db[k] = sum;
}

__device__ float share_of(const float* dy, const DeviceGeometry& g, long long k) {
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long at = threadIdx.x; at < g.n * pixels; at += blockDim.x)
        sum += dy[(at / pixels * g.k + k) * pixels + at % pixels];
    return sum;
}

// Each sample's sum goes to all threads through the scratch, which the next sample's sums overwrite
// before all have read it.
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

// Threads without a pixel leave before they have cleared their place in the scratch.
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

// Halves the block until one is left; 96 comes to 3, whose last third is lost.
__global__ void halve_block(const float* dy, float* db, DeviceGeometry g) {
    extern __shared__ float sums[];
    const unsigned i = threadIdx.x;
    sums[i] = share_of(dy, g, blockIdx.x);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (i < half) sums[i] += sums[i + half];
        __syncthreads();
    }
    if (i == 0) db[blockIdx.x] = sums[0];
}

__global__ void set_to_zero(float* db, long long k) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < k) db[i] = 0.0f;
}

__global__ void add_channel(const float* dy, float* db, DeviceGeometry g) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long pixels = g.h.out * g.w.out;
    if (k >= g.k) return;
    for (long long at = 0; at < g.n * pixels; ++at)
        db[k] += dy[(at / pixels * g.k + k) * pixels + at % pixels];
}

void launch_by_sample(const Forward& call) {
    const long long of_a_sample = call.y.size(1) * call.y.size(2) * call.y.size(3);
    if (of_a_sample == 0) return;
    // Small blocks: the tests run it on 65536 samples again and again.
    const auto blocks = static_cast<unsigned>((of_a_sample + 31) / 32);
    forward_by_sample<<<dim3(blocks, static_cast<unsigned>(call.problem.n)), 32, 0,
                        call.launch.stream>>>(
        call.x.as<const float>(), call.w.as<const float>(), call.b.as<const float>(),
        call.y.as<float>(), gradverify::conv::device_geometry(call.problem, call.y));
}

void launch_unrolled(const Forward& call) {
    if (call.y.elements() == 0) return;
    const auto blocks = static_cast<unsigned>((call.y.elements() + 127) / 128);
    forward_unrolled<<<blocks, 128, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.w.as<const float>(), call.b.as<const float>(),
        call.y.as<float>(), gradverify::conv::device_geometry(call.problem, call.y));
}

unsigned blocks_of_channels(const GradBias& call) {
    return static_cast<unsigned>((call.db.elements() + 127) / 128);
}

DeviceGeometry geometry_of(const GradBias& call) {
    return gradverify::conv::device_geometry(call.problem, call.dy);
}

void launch_by_fours(const GradBias& call) {
    sum_by_fours<<<blocks_of_channels(call), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), geometry_of(call));
}

using Reduction = void (*)(const float*, float*, DeviceGeometry);

template <Reduction kernel>
void launch_reduction(const GradBias& call) {
    kernel<<<static_cast<unsigned>(call.db.elements()), threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), geometry_of(call));
}

void launch_halving(const GradBias& call) {
    const auto block = static_cast<unsigned>(call.launch.block_size);
    halve_block<<<static_cast<unsigned>(call.db.elements()), block, block * sizeof(float),
                  call.launch.stream>>>(call.dy.as<const float>(), call.db.as<float>(),
                                        geometry_of(call));
}

void launch_on(const GradBias& call, cudaStream_t first, cudaStream_t second) {
    const unsigned blocks = blocks_of_channels(call);
    set_to_zero<<<blocks, 128, 0, first>>>(call.db.as<float>(), call.problem.k);
    add_channel<<<blocks, 128, 0, second>>>(call.dy.as<const float>(), call.db.as<float>(),
                                            geometry_of(call));
}

void launch_first_stage_on_default(const GradBias& call) {
    launch_on(call, nullptr, call.launch.stream);
}
void launch_last_stage_on_default(const GradBias& call) {
    launch_on(call, call.launch.stream, nullptr);
}
void launch_all_on_default(const GradBias& call) { launch_on(call, nullptr, nullptr); }

// The stream waits for the given one, and nothing waits for the stream.
void launch_and_leave(const GradBias& call) {
    static const cudaStream_t own = [] {
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        return stream;
    }();
    cudaEvent_t begun = nullptr;
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    cudaEventRecord(begun, call.launch.stream);
    cudaStreamWaitEvent(own, begun, 0);
    cudaEventDestroy(begun);
    launch_on(call, own, own);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_a17_grid_of_samples", launch_by_sample)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(Forward, "bug_a17_grid_of_many_samples", launch_by_sample)
    .aligned_to(sizeof(float));
GRADVERIFY_KERNEL(Forward, "bug_unroll_bound", launch_unrolled)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(GradBias, "bug_a19_float4", launch_by_fours)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(GradBias, "bug_scratch_used_again", launch_reduction<scratch_used_again>)
    .aligned_to(sizeof(float))
    .costs({.threads_per_output = threads, .barriers_per_thread = 7});
GRADVERIFY_KERNEL(GradBias, "bug_return_before_barrier", launch_reduction<return_before_barrier>)
    .aligned_to(sizeof(float))
    .costs({.threads_per_output = threads, .barriers_per_thread = 1});
GRADVERIFY_KERNEL(GradBias, "bug_halved_block", launch_halving)
    .aligned_to(sizeof(float))
    .blocks_of({64, 96})
    .costs({.threads_per_output = 96, .barriers_per_thread = 7});
GRADVERIFY_KERNEL(GradBias, "bug_first_stage_on_default_stream", launch_first_stage_on_default)
    .aligned_to(sizeof(float));
GRADVERIFY_KERNEL(GradBias, "bug_last_stage_on_default_stream", launch_last_stage_on_default)
    .aligned_to(sizeof(float));
GRADVERIFY_KERNEL(GradBias, "bug_ignores_given_stream", launch_all_on_default)
    .aligned_to(sizeof(float))
    .on_given_stream();
GRADVERIFY_KERNEL(GradBias, "bug_left_on_own_stream", launch_and_leave).aligned_to(sizeof(float));
// No bug: what ordinary code does, which passes without a declaration.
GRADVERIFY_KERNEL(GradBias, "right_on_default_stream", launch_all_on_default)
    .aligned_to(sizeof(float));
