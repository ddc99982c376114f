// SPDX-License-Identifier: Apache-2.0
// Kernels of the operators that go through long rows: one step after the other, or in chunks, whose
// sums are those of a triangular matrix as state space models have them; and wrong ones, which
// forget what a chunk begins with. A thread serves a row.
#include <cuda_runtime.h>

#include "properties/tests/launches.cuh"

namespace {

using namespace gradverify;

using Decayed = Pass<"decayed_sum", "forward">;
using DecayedBackward = Pass<"decayed_sum", "backward">;
using Product = Pass<"running_product", "forward">;
using ProductBackward = Pass<"running_product", "grad_x">;
using LogSum = Pass<"running_log_sum_exp", "forward">;
using LogSumBackward = Pass<"running_log_sum_exp", "grad_x">;

constexpr int chunk = 64;

enum class Way { serial, chunked, chunk_alone };

// ---- y[t] = a[t] y[t-1] + x[t]

__device__ float decayed(long long t, const float* a, const float* x, const float* y, Way way) {
    if (way == Way::serial) return a[t] * (t == 0 ? 0.0f : y[t - 1]) + x[t];
    const long long first = t / chunk * chunk;
    float sum = 0.0f, weight = 1.0f;
    for (long long s = t; s >= first; --s) {
        sum += weight * x[s];
        weight *= a[s];
    }
    return first == 0 || way == Way::chunk_alone ? sum : sum + weight * y[first - 1];
}
template <Way way>
__device__ void decayed_sum(int row, long long length, const float* a, const float* x, float* y) {
    a += row * length, x += row * length, y += row * length;
    for (long long t = 0; t < length; ++t) y[t] = decayed(t, a, x, y, way);
}
/// The sum of the cotangents of y[t] and of what follows from it.
__device__ float decayed_cotangent(long long t, long long length, const float* a, const float* dy,
                                   const float* after, Way way) {
    if (way == Way::serial) return dy[t] + (t + 1 < length ? a[t + 1] * after[t + 1] : 0.0f);
    const long long end = t / chunk * chunk + chunk < length ? t / chunk * chunk + chunk : length;
    float sum = 0.0f, weight = 1.0f;
    for (long long s = t; s < end; ++s) {
        sum += weight * dy[s];
        if (s + 1 < length) weight *= a[s + 1];
    }
    return end == length || way == Way::chunk_alone ? sum : sum + weight * after[end];
}
template <Way way>
__device__ void decayed_backward(int row, long long length, const float* dy, const float* a,
                                 const float* x, float* da, float* dx) {
    dy += row * length, a += row * length, x += row * length;
    da += row * length, dx += row * length;
    for (long long t = 0; t < length; ++t) da[t] = decayed(t, a, x, da, way);
    for (long long t = length; t-- > 0;) dx[t] = decayed_cotangent(t, length, a, dy, dx, way);
    for (long long t = length; t-- > 0;) da[t] = t == 0 ? 0.0f : da[t - 1] * dx[t];
}

// ---- y[t] = x[0] ... x[t]

template <Way way>
__device__ void running_product(int row, long long length, const float* x, float* y) {
    x += row * length, y += row * length;
    for (long long t = 0; t < length; ++t) {
        const long long first = way == Way::serial ? 0 : t / chunk * chunk;
        float product = 1.0f;
        if (way == Way::serial && t > 0)
            product = y[t - 1] * x[t];
        else
            for (long long s = first; s <= t; ++s) product *= x[s];
        y[t] = first == 0 || way == Way::chunk_alone ? product : product * y[first - 1];
    }
}
/// dx[s] is the sum over t >= s of dy[t] y[t] / x[s]; or, without a division, step by step.
template <Way way>
__device__ void product_gradient(int row, long long length, const float* dy, const float* x,
                                 float* dx) {
    dy += row * length, x += row * length, dx += row * length;
    float product = 1.0f;
    if (way == Way::serial) {
        float after = 0.0f;
        for (long long t = length; t-- > 0;) {
            after = dy[t] + (t + 1 < length ? x[t + 1] * after : 0.0f);
            dx[t] = after;
        }
        for (long long t = 0; t < length; ++t) {
            dx[t] *= product;
            product *= x[t];
        }
        return;
    }
    for (long long t = 0; t < length; ++t) {
        product *= x[t];
        dx[t] = dy[t] * product;
    }
    float sum = 0.0f;
    for (long long t = length; t-- > 0;) {
        if (way == Way::chunk_alone && t % chunk == chunk - 1) sum = 0.0f;
        sum += dx[t];
        dx[t] = sum / x[t];
    }
}

// ---- y[t] = log(exp(x[0]) + ... + exp(x[t]))

__device__ float log_of_sum(float a, float b) { return fmaxf(a, b) + log1pf(expf(-fabsf(a - b))); }
template <Way way>
__device__ void log_sum_exp(int row, long long length, const float* x, float* y) {
    x += row * length, y += row * length;
    for (long long t = 0; t < length; ++t) {
        if (way == Way::serial) {
            y[t] = t == 0 ? x[0] : log_of_sum(y[t - 1], x[t]);
            continue;
        }
        const long long first = t / chunk * chunk;
        float largest = x[first], sum = 0.0f;
        for (long long s = first; s <= t; ++s) largest = fmaxf(largest, x[s]);
        for (long long s = first; s <= t; ++s) sum += expf(x[s] - largest);
        const float part = logf(sum) + largest;
        y[t] = first == 0 || way == Way::chunk_alone ? part : log_of_sum(y[first - 1], part);
    }
}
/// From y, which is made again in dx.
template <Way way>
__device__ void log_sum_exp_gradient(int row, long long length, const float* dy, const float* x,
                                     float* dx) {
    log_sum_exp<way>(row, length, x, dx);
    dy += row * length, x += row * length, dx += row * length;
    // dx[s] = sum over t >= s of dy[t] exp(x[s] - y[t]), backwards with the sum at y[s].
    float sum = 0.0f, before = 0.0f;
    for (long long t = length; t-- > 0;) {
        const float y = dx[t];
        sum = dy[t] + (t + 1 < length ? sum * expf(y - before) : 0.0f);
        before = y;
        dx[t] = sum * expf(x[t] - y);
    }
}

// ---- a block for each chunk of all rows, which waits for the one before, as look-back scans do

/// Places `flags` has: 0 until a chunk's last product stands in y.
template <bool waits>
__global__ void look_back(const float* x, float* y, int* flags, int rows, int length) {
    const int chunks = (length + 3) / 4;
    const int row = blockIdx.x / chunks, part = blockIdx.x % chunks;
    x += row * length, y += row * length;
    float before = 1.0f;
    if (part > 0) {
        volatile int* const flag = flags + blockIdx.x - 1;
        while (waits && *flag == 0) continue;
        __threadfence();
        before = *const_cast<volatile float*>(y + 4 * part - 1);
    }
    for (int t = 4 * part; t < length && t < 4 * part + 4; ++t) y[t] = before *= x[t];
    __threadfence();
    atomicExch(flags + blockIdx.x, 1);
}
template <bool waits>
void launch_look_back(const Product& call) {
    const int rows = int(call.tensor("x").size(0)), length = int(call.tensor("x").size(1));
    const int blocks = rows * ((length + 3) / 4);
    auto* const flags = static_cast<int*>(call.launch.workspace);
    cudaMemsetAsync(flags, 0, blocks * sizeof(int), call.launch.stream);
    look_back<waits><<<blocks, 1, 0, call.launch.stream>>>(
        call.tensor("x").as<const float>(), call.tensor("y").as<float>(), flags, rows, length);
}
void flag_for_each_block(gradverify::KernelDeclaration& kernel) {
    kernel.workspace([](const gradverify::Problem& problem) {
        return problem.scalar("rows") * ((problem.scalar("length") + 3) / 4) *
               std::int64_t{sizeof(int)};
    });
}

}  // namespace

GRADVERIFY_KERNEL(Product, "right_look_back", launch_look_back<true>)
    .with(flag_for_each_block)
    .blocks_begin_in_order();
GRADVERIFY_KERNEL(Product, "bug_order_not_declared", launch_look_back<true>)
    .with(flag_for_each_block);
GRADVERIFY_KERNEL(Product, "bug_does_not_wait", launch_look_back<false>)
    .with(flag_for_each_block)
    .blocks_begin_in_order();

#define ALL_WAYS(CALL, FUNCTION, ...)                                            \
    GRADVERIFY_KERNEL(CALL, "right_serial",                                      \
                      (launch_rows<CALL, FUNCTION<Way::serial>, __VA_ARGS__>));  \
    GRADVERIFY_KERNEL(CALL, "right_chunked",                                     \
                      (launch_rows<CALL, FUNCTION<Way::chunked>, __VA_ARGS__>)); \
    GRADVERIFY_KERNEL(CALL, "bug_chunk_alone",                                   \
                      (launch_rows<CALL, FUNCTION<Way::chunk_alone>, __VA_ARGS__>))
ALL_WAYS(Decayed, decayed_sum, "a", "x", "y");
ALL_WAYS(DecayedBackward, decayed_backward, "dy", "a", "x", "da", "dx");
ALL_WAYS(Product, running_product, "x", "y");
ALL_WAYS(ProductBackward, product_gradient, "dy", "x", "dx");
ALL_WAYS(LogSum, log_sum_exp, "x", "y");
ALL_WAYS(LogSumBackward, log_sum_exp_gradient, "dy", "x", "dx");
