// SPDX-License-Identifier: Apache-2.0
// layer_norm.backward.{grad_dy,grad_x,double_backward}/rows and layer_norm.forward.jvp/rows: a
// thread for each row, in float; its shares of dgamma are added by atomics.
// The same /blocks, without double_backward: a block for each row, in float, or bfloat16 with mean
// and rstd in float.
//
// Along t = tx, or ddx, with t_ = t - mean of t, xhat = (x - mean) rstd and m = mean of xhat t:
//
//   ty = gamma rstd (t_ - xhat m) + tgamma xhat + tbeta, which is ddy along ddx, ddgamma and ddbeta
//
// The gradients of <dy, ty>, with a = dy gamma, q = mean of a xhat, c = mean of a t_,
// u = dy ddgamma:
//
//   dx = -rstd^2 (xhat (c - 3 q m) + m (a - mean of a) + q t_)
//        + rstd (u - mean of u - xhat (mean of u xhat))
//   dgamma = the sum over the rows of dy rstd (t_ - xhat m)
#include "kernels/block_sum.cuh"
#include "kernels/kernel.cuh"
#include "reference/layer_norm.hpp"

namespace {

using gradverify::layer_norm::DoubleBackward;
using gradverify::layer_norm::GradDy;
using gradverify::layer_norm::GradX;
using gradverify::layer_norm::Jvp;

/// What a kernel reads and writes; a null pointer where its pass does not have the tensor.
template <class T>
struct Tensors {
    const T *x, *gamma;
    const float *mean, *rstd;
    long long rows;
    int width;
    const T *along, *gamma_along;
    const T *beta_along = nullptr, *dy = nullptr;
    T *result = nullptr, *dx = nullptr;
    float* dgamma = nullptr;

    Tensors(const auto& call, const gradverify::TensorView& t, const gradverify::TensorView& tgamma)
        : x(call.x.template as<const T>()),
          gamma(call.gamma.template as<const T>()),
          mean(call.mean.template as<const float>()),
          rstd(call.rstd.template as<const float>()),
          rows(call.rows),
          width(static_cast<int>(call.width)),
          along(t.as<const T>()),
          gamma_along(tgamma.as<const T>()) {}
    explicit Tensors(const Jvp& call) : Tensors(call, call.tx, call.tgamma) {
        beta_along = call.tbeta.as<const T>();
        result = call.ty.as<T>();
    }
    explicit Tensors(const GradDy& call) : Tensors(call, call.ddx, call.ddgamma) {
        beta_along = call.ddbeta.as<const T>();
        result = call.ddy.as<T>();
    }
    explicit Tensors(const GradX& call) : Tensors(call, call.ddx, call.ddgamma) {
        dy = call.dy.as<const T>();
        dx = call.dx.as<T>();
    }
    explicit Tensors(const DoubleBackward& call) : Tensors(call, call.ddx, call.ddgamma) {
        beta_along = call.ddbeta.as<const T>();
        dy = call.dy.as<const T>();
        result = call.ddy.as<T>();
        dx = call.dx.as<T>();
        dgamma = call.dgamma.as<float>();
    }

    __device__ float t(long long r, int j) const {
        return static_cast<float>(along[r * width + j]);
    }
    __device__ float xhat(long long r, int j) const {
        return (static_cast<float>(x[r * width + j]) - mean[r]) * rstd[r];
    }
    __device__ float dy_at(long long r, int j) const {
        return static_cast<float>(dy[r * width + j]);
    }
};

/// The sums of one thread over its elements of a row, and what is computed of the row's.
template <class T>
__device__ void differentiate_row(const Tensors<T>& of, long long r, int first, int step,
                                  auto total) {
    const int width = of.width;
    const float rstd = of.rstd[r];
    float sum_t = 0.0f, sum_xhat_t = 0.0f;
    for (int j = first; j < width; j += step) {
        sum_t += of.t(r, j);
        sum_xhat_t += of.xhat(r, j) * of.t(r, j);
    }
    const float mean_t = total(sum_t) / width, m = total(sum_xhat_t) / width;
    if (of.result)
        for (int j = first; j < width; j += step) {
            const float xhat = of.xhat(r, j), g = static_cast<float>(of.gamma[j]);
            const float along = rstd * (of.t(r, j) - mean_t - xhat * m);
            of.result[r * width + j] =
                static_cast<T>(g * along + static_cast<float>(of.gamma_along[j]) * xhat +
                               static_cast<float>(of.beta_along[j]));
        }
    if (of.dy == nullptr) return;
    float sum_a = 0.0f, sum_q = 0.0f, sum_c = 0.0f, sum_u = 0.0f, sum_u_xhat = 0.0f;
    for (int j = first; j < width; j += step) {
        const float xhat = of.xhat(r, j), dy = of.dy_at(r, j);
        const float a = dy * static_cast<float>(of.gamma[j]);
        const float u = dy * static_cast<float>(of.gamma_along[j]);
        sum_a += a, sum_q += a * xhat, sum_c += a * (of.t(r, j) - mean_t);
        sum_u += u, sum_u_xhat += u * xhat;
    }
    const float mean_a = total(sum_a) / width, q = total(sum_q) / width;
    const float c = total(sum_c) / width, mean_u = total(sum_u) / width;
    const float mean_u_xhat = total(sum_u_xhat) / width;
    for (int j = first; j < width; j += step) {
        const float xhat = of.xhat(r, j), dy = of.dy_at(r, j), t = of.t(r, j) - mean_t;
        const float a = dy * static_cast<float>(of.gamma[j]);
        const float u = dy * static_cast<float>(of.gamma_along[j]);
        of.dx[r * width + j] =
            static_cast<T>(-rstd * rstd * (xhat * (c - 3.0f * q * m) + m * (a - mean_a) + q * t) +
                           rstd * (u - mean_u - xhat * mean_u_xhat));
        if (of.dgamma) atomicAdd(&of.dgamma[j], dy * rstd * (t - xhat * m));
    }
}

__global__ void clear(float* dgamma, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < width) dgamma[j] = 0.0f;
}

__global__ void each_row(Tensors<float> of) {
    const long long r = thread_in_grid();
    if (r < of.rows) differentiate_row(of, r, 0, 1, [](float sum) { return sum; });
}

template <class Pass>
void rows(const Pass& call) {
    const Tensors<float> of(call);
    if (of.dgamma)
        clear<<<blocks_of(of.width, 64), 64, 0, call.launch.stream>>>(of.dgamma, of.width);
    if (of.rows > 0) each_row<<<blocks_of(of.rows, 64), 64, 0, call.launch.stream>>>(of);
}

template <class T>
__global__ void row_of_block(Tensors<T> of) {
    extern __shared__ float share[];
    float* const sums = share;
    differentiate_row(of, blockIdx.x, threadIdx.x, blockDim.x,
                      [sums](float sum) { return block_sum(sum, sums); });
}

template <class Pass, class T>
void blocks(const Pass& call) {
    const int threads = call.launch.block_size;
    if (call.rows > 0)
        row_of_block<<<static_cast<unsigned>(call.rows), threads, threads * sizeof(float),
                       call.launch.stream>>>(Tensors<T>(call));
}

std::int64_t threads_of_all(const gradverify::Problem& problem) {
    return 64 * problem.scalar("rows");
}

template <class T>
void declare_blocks(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.blocks_of({64, 32, 256}).costs({.barriers_per_thread = 63, .threads = threads_of_all});
}

}  // namespace

#define SECOND_ORDER(PASS)                                                               \
    GRADVERIFY_KERNEL(PASS, "rows", rows<PASS>).with(declare_elements_on_stream<float>); \
    GRADVERIFY_KERNEL(PASS, "blocks", blocks<PASS, float>).with(declare_blocks<float>);  \
    GRADVERIFY_KERNEL(PASS, "blocks_bf16", blocks<PASS, __nv_bfloat16>)                  \
        .with(declare_blocks<__nv_bfloat16>)

SECOND_ORDER(GradDy);
SECOND_ORDER(GradX);
SECOND_ORDER(Jvp);
GRADVERIFY_KERNEL(DoubleBackward, "rows", rows<DoubleBackward>)
    .with(declare_elements_on_stream<float>)
    .not_deterministic();
