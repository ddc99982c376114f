// SPDX-License-Identifier: Apache-2.0
// The museum's pieces of batch_norm.
#include "properties/tests/museum/pair.cuh"
#include "reference/batch_norm.hpp"

namespace {

using gradverify::batch_norm::Backward;
using gradverify::batch_norm::Forward;

struct Sizes {
    int n, c, pixels;

    template <class Call>
    explicit Sizes(const Call& call)
        : n(static_cast<int>(call.n)),
          c(static_cast<int>(call.c)),
          pixels(static_cast<int>(call.pixels)) {}
    __device__ int at(int image, int channel, int pixel) const {
        return (image * c + channel) * pixels + pixel;
    }
    __device__ float count() const { return static_cast<float>(n) * static_cast<float>(pixels); }
};

constexpr int threads = 256;

__device__ float sum_of_block(float* shared, float value) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    const float sum = shared[0];
    __syncthreads();
    return sum;
}

// Each thread has one pixel of each image, also where there are more pixels than threads.
template <bool is_fixed>
__global__ void block_for_channel(const float* dy, const float* x, const float* gamma,
                                  const float* mean, const float* rstd, float* dx, float* dgamma,
                                  float* dbeta, Sizes s) {
    __shared__ float shared[threads];
    const int c = blockIdx.x, end = is_fixed ? s.pixels : min(s.pixels, threads);
    const auto xhat = [&](int at) { return (x[at] - mean[c]) * rstd[c]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int n = 0; n < s.n; ++n)
        for (int p = threadIdx.x; p < end; p += threads)
            sum += dy[s.at(n, c, p)], sum_xhat += dy[s.at(n, c, p)] * xhat(s.at(n, c, p));
    sum = sum_of_block(shared, sum);
    sum_xhat = sum_of_block(shared, sum_xhat);
    if (threadIdx.x == 0) dgamma[c] = sum_xhat, dbeta[c] = sum;
    for (int n = 0; n < s.n; ++n)
        for (int p = threadIdx.x; p < s.pixels; p += threads) {
            const int at = s.at(n, c, p);
            dx[at] = gamma[c] * rstd[c] * (dy[at] - (sum + xhat(at) * sum_xhat) / s.count());
        }
}

template <bool is_fixed>
void backward(const Backward& call) {
    launch_blocks(call.launch, block_for_channel<is_fixed>, static_cast<unsigned>(call.c), threads,
                  call.dy, call.x, call.gamma, call.mean, call.rstd, call.dx, call.dgamma,
                  call.dbeta, Sizes(call));
}

// The mean of the squares less the square of the mean cancels where the mean is large.
template <bool is_fixed>
__device__ void normalise(int c, const float* x, const float* gamma, const float* beta,
                          const float* running_mean, const float* running_var, float* y,
                          float* means, float* rstds, float* new_mean, float* new_var, Sizes s,
                          float eps, float momentum) {
    float sum = 0.0f, squares = 0.0f, from_mean = 0.0f;
    const auto for_each = [&](const auto& visit) {
        for (int n = 0; n < s.n; ++n)
            for (int p = 0; p < s.pixels; ++p) visit(s.at(n, c, p));
    };
    for_each([&](int at) { sum += x[at], squares += __fmul_rn(x[at], x[at]); });
    const float mean = sum / s.count();
    for_each([&](int at) { from_mean += (x[at] - mean) * (x[at] - mean); });
    const float variance =
        is_fixed ? from_mean / s.count() : squares / s.count() - __fmul_rn(mean, mean);
    const float rstd = rsqrtf(variance + eps);
    for_each([&](int at) { y[at] = (x[at] - mean) * rstd * gamma[c] + beta[c]; });
    const float unbiased = variance * s.count() / fmaxf(s.count() - 1.0f, 1.0f);
    means[c] = mean, rstds[c] = rstd;
    new_mean[c] = (1.0f - momentum) * running_mean[c] + momentum * mean;
    new_var[c] = (1.0f - momentum) * running_var[c] + momentum * unbiased;
}

template <bool is_fixed>
void forward(const Forward& call) {
    launch_each<normalise<is_fixed>>(call.launch, call.c, call.x, call.gamma, call.beta,
                                     call.running_mean, call.running_var, call.y, call.mean,
                                     call.rstd, call.new_running_mean, call.new_running_var,
                                     Sizes(call), call.eps, call.momentum);
}

}  // namespace

GRADVERIFY_MUSEUM_PAIR(Backward, "pixel_for_thread", backward, gradverify::declare_piece);
GRADVERIFY_MUSEUM_PAIR(Forward, "difference_of_squares", forward, gradverify::declare_piece);
