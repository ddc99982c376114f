// SPDX-License-Identifier: Apache-2.0
// Kernels of the operators that go through long rows: one step after the other, or in chunks, whose
// sums are those of a triangular matrix as state space models have them; and wrong ones, which
// forget what a chunk begins with. A thread serves a row.
#include <cuda_runtime.h>

#include "harness/pass.hpp"
#include "properties/tests/launches.cuh"

namespace {

using namespace gradverify;

template <FixedText name>
struct Forward : Pass<name, "forward"> {
    using Base = Pass<name, "forward">;
    using Base::Base;
    TensorView x = Base::tensor("x"), y = Base::tensor("y");
    std::int64_t rows = Base::size("rows"), length = Base::size("length");
};
template <FixedText name>
struct Backward : Pass<name, "grad_x"> {
    using Base = Pass<name, "grad_x">;
    using Base::Base;
    TensorView dy = Base::tensor("dy"), x = Base::tensor("x"), dx = Base::tensor("dx");
    std::int64_t rows = Base::size("rows"), length = Base::size("length");
};
struct Decayed : Pass<"decayed_sum", "forward"> {
    using Pass::Pass;
    TensorView a = tensor("a"), x = tensor("x"), y = tensor("y");
    std::int64_t rows = size("rows"), length = size("length");
};
struct DecayedBackward : Pass<"decayed_sum", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), a = tensor("a"), x = tensor("x");
    TensorView grad_a = tensor("da"), grad_x = tensor("dx");
    std::int64_t rows = size("rows"), length = size("length");
};

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

template <Way way>
void forward(const Decayed& call) {
    launch_each<decayed_sum<way>>(call.launch, call.rows, call.length, call.a, call.x, call.y);
}
template <Way way>
void backward(const DecayedBackward& call) {
    launch_each<decayed_backward<way>>(call.launch, call.rows, call.length, call.dy, call.a, call.x,
                                       call.grad_a, call.grad_x);
}
template <Way way>
void product(const Forward<"running_product">& call) {
    launch_each<running_product<way>>(call.launch, call.rows, call.length, call.x, call.y);
}
template <Way way>
void product_backward(const Backward<"running_product">& call) {
    launch_each<product_gradient<way>>(call.launch, call.rows, call.length, call.dy, call.x,
                                       call.dx);
}
template <Way way>
void log_sum(const Forward<"running_log_sum_exp">& call) {
    launch_each<log_sum_exp<way>>(call.launch, call.rows, call.length, call.x, call.y);
}
template <Way way>
void log_sum_backward(const Backward<"running_log_sum_exp">& call) {
    launch_each<log_sum_exp_gradient<way>>(call.launch, call.rows, call.length, call.dy, call.x,
                                           call.dx);
}

using Product = Forward<"running_product">;
using ProductBackward = Backward<"running_product">;
using LogSum = Forward<"running_log_sum_exp">;
using LogSumBackward = Backward<"running_log_sum_exp">;

}  // namespace

GRADVERIFY_KERNEL(Decayed, "right_serial", forward<Way::serial>);
GRADVERIFY_KERNEL(Decayed, "right_chunked", forward<Way::chunked>);
GRADVERIFY_KERNEL(Decayed, "bug_chunk_alone", forward<Way::chunk_alone>);
GRADVERIFY_KERNEL(DecayedBackward, "right_serial", backward<Way::serial>);
GRADVERIFY_KERNEL(DecayedBackward, "right_chunked", backward<Way::chunked>);
GRADVERIFY_KERNEL(DecayedBackward, "bug_chunk_alone", backward<Way::chunk_alone>);
GRADVERIFY_KERNEL(Product, "right_serial", product<Way::serial>);
GRADVERIFY_KERNEL(Product, "right_chunked", product<Way::chunked>);
GRADVERIFY_KERNEL(Product, "bug_chunk_alone", product<Way::chunk_alone>);
GRADVERIFY_KERNEL(ProductBackward, "right_serial", product_backward<Way::serial>);
GRADVERIFY_KERNEL(ProductBackward, "right_chunked", product_backward<Way::chunked>);
GRADVERIFY_KERNEL(ProductBackward, "bug_chunk_alone", product_backward<Way::chunk_alone>);
GRADVERIFY_KERNEL(LogSum, "right_serial", log_sum<Way::serial>);
GRADVERIFY_KERNEL(LogSum, "right_chunked", log_sum<Way::chunked>);
GRADVERIFY_KERNEL(LogSum, "bug_chunk_alone", log_sum<Way::chunk_alone>);
GRADVERIFY_KERNEL(LogSumBackward, "right_serial", log_sum_backward<Way::serial>);
GRADVERIFY_KERNEL(LogSumBackward, "right_chunked", log_sum_backward<Way::chunked>);
GRADVERIFY_KERNEL(LogSumBackward, "bug_chunk_alone", log_sum_backward<Way::chunk_alone>);
