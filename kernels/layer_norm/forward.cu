// SPDX-License-Identifier: Apache-2.0
// layer_norm.forward/naive: a thread for each row, in float, or bfloat16 with mean and rstd in
// float. layer_norm.forward/block: a block for each row, with sums in shared memory.
#include "kernels/block_sum.cuh"
#include "kernels/kernel.cuh"
#include "reference/layer_norm.hpp"

namespace {

using gradverify::layer_norm::Forward;

template <class T>
struct Tensors {
    const T *x, *gamma, *beta;
    T* y;
    float *mean, *rstd;

    explicit Tensors(const Forward& call)
        : x(call.x.as<const T>()),
          gamma(call.gamma.as<const T>()),
          beta(call.beta.as<const T>()),
          y(call.y.as<T>()),
          mean(call.mean.as<float>()),
          rstd(call.rstd.as<float>()) {}
};

template <class T>
__global__ void normalise_rows(Tensors<T> t, long long rows, int width, float eps) {
    const long long r = thread_in_grid();
    if (r >= rows) return;
    const auto x = [&](int j) { return static_cast<float>(t.x[r * width + j]); };
    float mean = 0.0f;
    for (int j = 0; j < width; ++j) mean += x(j);
    mean /= width;
    float variance = 0.0f;
    for (int j = 0; j < width; ++j) variance += (x(j) - mean) * (x(j) - mean);
    const float rstd = rsqrtf(variance / width + eps);
    for (int j = 0; j < width; ++j)
        t.y[r * width + j] = static_cast<T>((x(j) - mean) * rstd * static_cast<float>(t.gamma[j]) +
                                            static_cast<float>(t.beta[j]));
    t.mean[r] = mean;
    t.rstd[r] = rstd;
}

template <class T>
void naive(const Forward& call) {
    if (call.rows == 0) return;
    normalise_rows<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
        Tensors<T>(call), call.rows, static_cast<int>(call.width), call.eps);
}

__global__ void normalise_row(Tensors<float> t, int width, float eps) {
    extern __shared__ float share[];
    const long long r = blockIdx.x;
    const float* x = t.x + r * width;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) sum += x[j];
    const float mean = block_sum(sum, share) / width;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) squares += (x[j] - mean) * (x[j] - mean);
    const float rstd = rsqrtf(block_sum(squares, share) / width + eps);
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        t.y[r * width + j] = (x[j] - mean) * rstd * t.gamma[j] + t.beta[j];
    if (threadIdx.x > 0) return;
    t.mean[r] = mean;
    t.rstd[r] = rstd;
}

void block(const Forward& call) {
    if (call.rows == 0) return;
    const int threads = call.launch.block_size;
    normalise_row<<<static_cast<unsigned>(call.rows), threads, threads * sizeof(float),
                    call.launch.stream>>>(Tensors<float>(call), static_cast<int>(call.width),
                                          call.eps);
}

std::int64_t threads_of_rows(const gradverify::Problem& problem) {
    return 64 * problem.scalar("rows");
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", naive<float>).with(declare_elements<float>);
GRADVERIFY_KERNEL(Forward, "naive_bf16", naive<__nv_bfloat16>)
    .with(declare_elements<__nv_bfloat16>)
    .aligned_to(sizeof(float));
GRADVERIFY_KERNEL(Forward, "block", block)
    .with(declare_elements<float>)
    .blocks_of({64, 32, 256})
    .costs({.barriers_per_thread = 18, .threads = threads_of_rows});
