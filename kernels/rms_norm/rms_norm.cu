// SPDX-License-Identifier: Apache-2.0
// rms_norm.forward/naive, rms_norm.backward/naive: a thread for each row, and for each column.
// rms_norm.forward/rows, rms_norm.backward/rows: blocks loop over the rows in vectors of 16 bytes;
// dweight in two steps, over groups of rows and then over the groups, without atomics. In float, in
// bfloat16, and in bfloat16 with weights in float.
//
//   dx = rstd (g - xhat (mean of g xhat)),  g = dy weight,  xhat = x rstd
#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

using gradverify::TensorView;

struct Forward : gradverify::Pass<"rms_norm", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), weight = tensor("weight"), y = tensor("y"), rstd = tensor("rstd");
    std::int64_t rows = size("rows"), width = size("width");
    float eps = attribute("eps");
};
struct Backward : gradverify::Pass<"rms_norm", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), weight = tensor("weight"), rstd = tensor("rstd");
    TensorView dx = tensor("dx"), dweight = tensor("dweight");
    std::int64_t rows = size("rows"), width = size("width");
};

__global__ void normalise_row(const float* x, const float* weight, float* y, float* rstd,
                              long long rows, long long width, float eps) {
    const long long r = thread_in_grid();
    if (r >= rows) return;
    float squares = 0.0f;
    for (long long j = 0; j < width; ++j) squares += x[r * width + j] * x[r * width + j];
    const float scale = rsqrtf(squares / static_cast<float>(width) + eps);
    for (long long j = 0; j < width; ++j) y[r * width + j] = x[r * width + j] * scale * weight[j];
    rstd[r] = scale;
}

void forward(const Forward& call) {
    if (call.rows == 0) return;
    normalise_row<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.weight.as<const float>(), call.y.as<float>(),
        call.rstd.as<float>(), call.rows, call.width, call.eps);
}

__global__ void row_of_dx(const float* dy, const float* x, const float* weight, const float* rstd,
                          float* dx, long long rows, long long width) {
    const long long r = thread_in_grid(), at = r * width;
    if (r >= rows) return;
    float sum = 0.0f;
    for (long long j = 0; j < width; ++j) sum += dy[at + j] * weight[j] * x[at + j] * rstd[r];
    for (long long j = 0; j < width; ++j)
        dx[at + j] = rstd[r] * (dy[at + j] * weight[j] -
                                x[at + j] * rstd[r] * sum / static_cast<float>(width));
}

__global__ void column_of_dweight(const float* dy, const float* x, const float* rstd,
                                  float* dweight, long long rows, long long width) {
    const long long j = thread_in_grid();
    if (j >= width) return;
    float sum = 0.0f;
    for (long long r = 0; r < rows; ++r) sum += dy[r * width + j] * x[r * width + j] * rstd[r];
    dweight[j] = sum;
}

void backward(const Backward& call) {
    const float *const dy = call.dy.as<const float>(), *const x = call.x.as<const float>();
    const float* const rstd = call.rstd.as<const float>();
    if (call.rows > 0)
        row_of_dx<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
            dy, x, call.weight.as<const float>(), rstd, call.dx.as<float>(), call.rows, call.width);
    column_of_dweight<<<blocks_of(call.width, 64), 64, 0, call.launch.stream>>>(
        dy, x, rstd, call.dweight.as<float>(), call.rows, call.width);
}

constexpr int threads = 128;

template <int count, class T, class Weight>
__global__ void normalise_rows(const T* x, const Weight* weight, T* y, float* rstd, long long rows,
                               long long width, float eps) {
    __shared__ float share[32];
    for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
        float squares = 0.0f;
        for (long long j = threadIdx.x * count; j < width; j += threads * count) {
            const auto pack = pack_at<count>(x + r * width + j);
            for (const T& element : pack.at) {
                const float value = static_cast<float>(element);
                squares += value * value;
            }
        }
        const float scale = rsqrtf(sum_of_warps(squares, share) / static_cast<float>(width) + eps);
        for (long long j = threadIdx.x * count; j < width; j += threads * count) {
            auto pack = pack_at<count>(x + r * width + j);
            const auto weights = pack_at<count>(weight + j);
            for (int i = 0; i < count; ++i)
                pack.at[i] = static_cast<T>(static_cast<float>(pack.at[i]) * scale *
                                            static_cast<float>(weights.at[i]));
            pack_at<count>(y + r * width + j) = pack;
        }
        if (threadIdx.x == 0) rstd[r] = scale;
    }
}

template <class T, class Weight>
void forward_by_rows(const Forward& call) {
    if (call.rows == 0) return;
    constexpr int full = elements_of_pack<T>;
    const auto normalise =
        call.width % full == 0 ? normalise_rows<full, T, Weight> : normalise_rows<1, T, Weight>;
    normalise<<<blocks_of_rows(call.rows), threads, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.weight.as<const Weight>(), call.y.as<T>(), call.rstd.as<float>(),
        call.rows, call.width, call.eps);
}

/// Terms of some elements of a row.
template <int count>
struct Terms {
    float g[count], xhat[count];

    template <class T, class Weight>
    __device__ Terms(const T* dy, const T* x, const Weight* weight, float scale) {
        const auto of_dy = pack_at<count>(dy), of_x = pack_at<count>(x);
        const auto weights = pack_at<count>(weight);
        for (int i = 0; i < count; ++i) {
            g[i] = static_cast<float>(of_dy.at[i]) * static_cast<float>(weights.at[i]);
            xhat[i] = static_cast<float>(of_x.at[i]) * scale;
        }
    }
};

template <int count, class T, class Weight>
__global__ void gradients_of_rows(const T* dy, const T* x, const Weight* weight, const float* rstd,
                                  T* dx, long long rows, long long width) {
    __shared__ float share[32];
    for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
        const float scale = rstd[r];
        float sum = 0.0f;
        for (long long j = threadIdx.x * count; j < width; j += threads * count) {
            const Terms<count> terms(dy + r * width + j, x + r * width + j, weight + j, scale);
            for (int i = 0; i < count; ++i) sum += terms.g[i] * terms.xhat[i];
        }
        const float mean = sum_of_warps(sum, share) / static_cast<float>(width);
        for (long long j = threadIdx.x * count; j < width; j += threads * count) {
            const Terms<count> terms(dy + r * width + j, x + r * width + j, weight + j, scale);
            Pack<T, count> result;
            for (int i = 0; i < count; ++i)
                result.at[i] = static_cast<T>(scale * (terms.g[i] - terms.xhat[i] * mean));
            pack_at<count>(dx + r * width + j) = result;
        }
    }
}

/// The rows are dealt out to as many groups, one for each y of the grid.
long long groups_of(long long rows) { return std::min(divided_up(rows, 16), 128LL); }

template <class T>
__global__ void sums_of_groups(const T* dy, const T* x, const float* rstd, float* sums,
                               long long rows, long long width) {
    const long long j = thread_in_grid();
    if (j >= width) return;
    float sum = 0.0f;
    for (long long r = blockIdx.y; r < rows; r += gridDim.y)
        sum +=
            static_cast<float>(dy[r * width + j]) * static_cast<float>(x[r * width + j]) * rstd[r];
    sums[blockIdx.y * width + j] = sum;
}

template <class Weight>
__global__ void sum_of_groups(const float* sums, Weight* dweight, long long groups,
                              long long width) {
    const long long j = thread_in_grid();
    if (j >= width) return;
    float sum = 0.0f;
    for (long long group = 0; group < groups; ++group) sum += sums[group * width + j];
    dweight[j] = static_cast<Weight>(sum);
}

template <class T, class Weight>
void backward_by_rows(const Backward& call) {
    const auto stream = call.launch.stream;
    const auto *const dy = call.dy.as<const T>(), *const x = call.x.as<const T>();
    const auto* const rstd = call.rstd.as<const float>();
    const long long groups = groups_of(call.rows);
    auto* const sums = static_cast<float*>(call.launch.workspace);
    if (call.rows > 0) {
        constexpr int full = elements_of_pack<T>;
        const auto gradients = call.width % full == 0 ? gradients_of_rows<full, T, Weight>
                                                      : gradients_of_rows<1, T, Weight>;
        gradients<<<blocks_of_rows(call.rows), threads, 0, stream>>>(
            dy, x, call.weight.as<const Weight>(), rstd, call.dx.as<T>(), call.rows, call.width);
        const dim3 grid(blocks_of(call.width, threads), static_cast<unsigned>(groups));
        sums_of_groups<<<grid, threads, 0, stream>>>(dy, x, rstd, sums, call.rows, call.width);
    }
    sum_of_groups<<<blocks_of(call.width, threads), threads, 0, stream>>>(
        sums, call.dweight.as<Weight>(), groups, call.width);
}

std::int64_t workspace(const gradverify::Problem& problem) {
    return groups_of(problem.scalar("rows")) * problem.scalar("width") *
           static_cast<std::int64_t>(sizeof(float));
}

std::int64_t threads_of_rows(const gradverify::Problem& problem) {
    return threads * problem.scalar("rows") + problem.scalar("width");
}

template <class T, class Weight>
void declare_rows(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.aligned_to(16)
        .storage("weight", gradverify::DTypeOf<Weight>::value)
        .costs({.barriers_per_thread = 6, .threads = threads_of_rows});
}

}  // namespace

#define RMS_NORM_BY_ROWS(NAME, ...)                                  \
    GRADVERIFY_KERNEL(Forward, NAME, forward_by_rows<__VA_ARGS__>)   \
        .with(declare_rows<__VA_ARGS__>);                            \
    GRADVERIFY_KERNEL(Backward, NAME, backward_by_rows<__VA_ARGS__>) \
        .with(declare_rows<__VA_ARGS__>)                             \
        .workspace(workspace)

GRADVERIFY_KERNEL(Forward, "naive", forward).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Backward, "naive", backward).with(declare_elements_on_stream<float>);
RMS_NORM_BY_ROWS("rows", float, float);
RMS_NORM_BY_ROWS("rows_bf16", __nv_bfloat16, __nv_bfloat16);
RMS_NORM_BY_ROWS("rows_bf16_weight_f32", __nv_bfloat16, float);
