// SPDX-License-Identifier: Apache-2.0
// dropout_add_norm.{forward,backward}/naive: a thread for each row, and for each column of dweight
// and dbias; each element makes its own random number. In float.
// dropout_add_norm.{forward,backward}/rows: blocks loop over the rows, four elements for each call
// of the generator; z may be written over the residual, and dresidual over dz. In float and
// bfloat16.
//
//   dz' = dz + rstd (g - mean of g - xhat (mean of g xhat)),  g = dy weight,  xhat = (z - mean)
//   rstd dresidual = dz',  dx = keep dz' / (1 - p)
#include <curand_kernel.h>

#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

struct Forward : gradverify::Pass<"dropout_add_norm", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), residual = tensor("residual"), y = tensor("y"), z = tensor("z");
    TensorView weight = tensor("weight"), bias = tensor("bias");
    TensorView mean = tensor("mean"), rstd = tensor("rstd");
    long long rows = size("rows"), width = size("width");
    float eps = attribute("eps");
};
struct Backward : gradverify::Pass<"dropout_add_norm", "backward"> {
    using Pass::Pass;
    TensorView grad_y = tensor("dy"), grad_z = tensor("dz"), z = tensor("z");
    TensorView weight = tensor("weight"), mean = tensor("mean"), rstd = tensor("rstd");
    TensorView dx = tensor("dx"), dresidual = tensor("dresidual");
    TensorView dweight = tensor("dweight"), dbias = tensor("dbias");
    long long rows = size("rows"), width = size("width");
};

/// The factors of elements: 0 where they are dropped.
class Dropout {
  public:
    template <class Pass>
    explicit Dropout(const Pass& call)
        : seed_(call.tensor("seed").template as<const std::int64_t>()),
          offset_(call.tensor("offset").template as<const std::int64_t>()),
          p_(call.attribute("p")),
          scale_(static_cast<float>(1.0 / (1.0 - call.template attribute<double>("p")))) {}

    /// The factors of four elements, the first of which is a multiple of four.
    __device__ Pack<float, 4> four_from(long long first) const {
        curandStatePhilox4_32_10_t state;
        curand_init(*seed_, first / 4, *offset_, &state);
        const float4 uniform = curand_uniform4(&state);
        return {{of(uniform.x), of(uniform.y), of(uniform.z), of(uniform.w)}};
    }
    __device__ float at(long long element) const {
        return four_from(element / 4 * 4).at[element % 4];
    }
    /// Those of one element, or of `count`, a multiple of four.
    template <int count>
    __device__ Pack<float, count> pack(long long first) const {
        Pack<float, count> factors;
        if constexpr (count == 1) factors.at[0] = at(first);
        for (int i = 0; i + 4 <= count; i += 4) {
            const Pack<float, 4> four = four_from(first + i);
            for (int k = 0; k < 4; ++k) factors.at[i + k] = four.at[k];
        }
        return factors;
    }

  private:
    __device__ float of(float uniform) const { return uniform > p_ ? scale_ : 0.0f; }

    const std::int64_t *seed_, *offset_;
    float p_, scale_;
};

__global__ void normalise_each(Dropout dropout, const float* x, const float* residual,
                               const float* weight, const float* bias, float* y, float* z,
                               float* means, float* rstds, long long rows, long long width,
                               float eps) {
    const long long r = thread_in_grid(), at = r * width;
    if (r >= rows) return;
    float mean = 0.0f, squares = 0.0f;
    for (long long j = 0; j < width; ++j)
        mean += z[at + j] = residual[at + j] + dropout.at(at + j) * x[at + j];
    mean /= static_cast<float>(width);
    for (long long j = 0; j < width; ++j) squares += (z[at + j] - mean) * (z[at + j] - mean);
    const float rstd = rsqrtf(squares / static_cast<float>(width) + eps);
    for (long long j = 0; j < width; ++j)
        y[at + j] = (z[at + j] - mean) * rstd * weight[j] + bias[j];
    means[r] = mean;
    rstds[r] = rstd;
}

void forward(const Forward& call) {
    if (call.rows == 0) return;
    normalise_each<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
        Dropout(call), call.x.as<const float>(), call.residual.as<const float>(),
        call.weight.as<const float>(), call.bias.as<const float>(), call.y.as<float>(),
        call.z.as<float>(), call.mean.as<float>(), call.rstd.as<float>(), call.rows, call.width,
        call.eps);
}

template <class T>
struct Inputs {
    const T *dy, *dz, *z, *weight;
    const float *mean, *rstd;
    long long rows, width;

    explicit Inputs(const Backward& call)
        : dy(call.grad_y.as<const T>()),
          dz(call.grad_z.as<const T>()),
          z(call.z.as<const T>()),
          weight(call.weight.as<const T>()),
          mean(call.mean.as<const float>()),
          rstd(call.rstd.as<const float>()),
          rows(call.rows),
          width(call.width) {}

    __device__ float slope(long long r, long long j) const {
        return static_cast<float>(dy[r * width + j]);
    }
    __device__ float xhat(long long r, long long j) const {
        return (static_cast<float>(z[r * width + j]) - mean[r]) * rstd[r];
    }
};

__global__ void row_of_gradients(Dropout dropout, Inputs<float> in, float* dx, float* dresidual) {
    const long long r = thread_in_grid(), at = r * in.width;
    if (r >= in.rows) return;
    float sum = 0.0f, sum_xhat = 0.0f;
    for (long long j = 0; j < in.width; ++j) {
        sum += in.slope(r, j) * in.weight[j];
        sum_xhat += in.slope(r, j) * in.weight[j] * in.xhat(r, j);
    }
    for (long long j = 0; j < in.width; ++j) {
        const float mean = (sum + in.xhat(r, j) * sum_xhat) / static_cast<float>(in.width);
        const float gradient = in.dz[at + j] + in.rstd[r] * (in.slope(r, j) * in.weight[j] - mean);
        dresidual[at + j] = gradient;
        dx[at + j] = dropout.at(at + j) * gradient;
    }
}

__global__ void column_of_parameters(Inputs<float> in, float* dweight, float* dbias) {
    const long long j = thread_in_grid();
    if (j >= in.width) return;
    float weight = 0.0f, bias = 0.0f;
    for (long long r = 0; r < in.rows; ++r) {
        weight += in.slope(r, j) * in.xhat(r, j);
        bias += in.slope(r, j);
    }
    dweight[j] = weight;
    dbias[j] = bias;
}

void backward(const Backward& call) {
    const Inputs<float> in(call);
    if (call.rows > 0)
        row_of_gradients<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
            Dropout(call), in, call.dx.as<float>(), call.dresidual.as<float>());
    column_of_parameters<<<blocks_of(call.width, 64), 64, 0, call.launch.stream>>>(
        in, call.dweight.as<float>(), call.dbias.as<float>());
}

constexpr int threads = 128;

/// The sums of a row lie in shared memory, so that they are rounded only when they are stored. A
/// thread writes its elements of the next row when all have read this one for its squares.
template <int count, class T>
__global__ void normalise_rows(Dropout dropout, const T* x, const T* residual, const T* weight,
                               const T* bias, T* y, T* z, float* means, float* rstds,
                               long long rows, long long width, float eps) {
    extern __shared__ float row[];
    __shared__ float share[32];
    for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
        float sum = 0.0f, squares = 0.0f;
        for (long long j = threadIdx.x * count; j < width; j += threads * count) {
            const long long at = r * width + j;
            const auto factors = dropout.template pack<count>(at);
            const auto of_x = pack_at<count>(x + at);
            auto of_z = pack_at<count>(residual + at);
            for (int k = 0; k < count; ++k) {
                row[j + k] =
                    static_cast<float>(of_z.at[k]) + factors.at[k] * static_cast<float>(of_x.at[k]);
                sum += row[j + k];
                of_z.at[k] = static_cast<T>(row[j + k]);
            }
            pack_at<count>(z + at) = of_z;
        }
        const float mean = sum_of_warps(sum, share) / static_cast<float>(width);
        for (long long j = threadIdx.x; j < width; j += threads)
            squares += (row[j] - mean) * (row[j] - mean);
        const float rstd = rsqrtf(sum_of_warps(squares, share) / static_cast<float>(width) + eps);
        for (long long j = threadIdx.x * count; j < width; j += threads * count) {
            const auto of_weight = pack_at<count>(weight + j), of_bias = pack_at<count>(bias + j);
            Pack<T, count> result;
            for (int k = 0; k < count; ++k)
                result.at[k] = static_cast<T>((row[j + k] - mean) * rstd *
                                                  static_cast<float>(of_weight.at[k]) +
                                              static_cast<float>(of_bias.at[k]));
            pack_at<count>(y + r * width + j) = result;
        }
        if (threadIdx.x > 0) continue;
        means[r] = mean;
        rstds[r] = rstd;
    }
}

template <class T>
void forward_by_rows(const Forward& call) {
    if (call.rows == 0) return;
    constexpr int full = elements_of_pack<T>;
    const auto normalise = call.width % full == 0 ? normalise_rows<full, T> : normalise_rows<1, T>;
    normalise<<<blocks_of_rows(call.rows), threads, call.width * sizeof(float),
                call.launch.stream>>>(
        Dropout(call), call.x.as<const T>(), call.residual.as<const T>(), call.weight.as<const T>(),
        call.bias.as<const T>(), call.y.as<T>(), call.z.as<T>(), call.mean.as<float>(),
        call.rstd.as<float>(), call.rows, call.width, call.eps);
}

template <int count, class T>
__global__ void gradients_of_rows(Dropout dropout, Inputs<T> in, T* dx, T* dresidual) {
    __shared__ float share[32];
    for (long long r = blockIdx.x; r < in.rows; r += gridDim.x) {
        float sum = 0.0f, sum_xhat = 0.0f;
        for (long long j = threadIdx.x; j < in.width; j += threads) {
            const float g = in.slope(r, j) * static_cast<float>(in.weight[j]);
            sum += g;
            sum_xhat += g * in.xhat(r, j);
        }
        const float mean = sum_of_warps(sum, share) / static_cast<float>(in.width);
        const float mean_xhat = sum_of_warps(sum_xhat, share) / static_cast<float>(in.width);
        for (long long j = threadIdx.x * count; j < in.width; j += threads * count) {
            const long long at = r * in.width + j;
            const auto factors = dropout.template pack<count>(at);
            auto result = pack_at<count>(in.dz + at);
            Pack<T, count> of_x;
            for (int k = 0; k < count; ++k) {
                const float g = in.slope(r, j + k) * static_cast<float>(in.weight[j + k]);
                const float gradient = static_cast<float>(result.at[k]) +
                                       in.rstd[r] * (g - mean - in.xhat(r, j + k) * mean_xhat);
                result.at[k] = static_cast<T>(gradient);
                of_x.at[k] = static_cast<T>(factors.at[k] * gradient);
            }
            pack_at<count>(dresidual + at) = result;
            pack_at<count>(dx + at) = of_x;
        }
    }
}

/// The rows are dealt out to as many groups, one for each y of the grid.
long long groups_of(long long rows) { return std::min(divided_up(rows, 16), 128LL); }

/// Sums of dweight and dbias.
using Sums = float2;

template <class T>
__global__ void sums_of_groups(Inputs<T> in, Sums* sums) {
    const long long j = thread_in_grid();
    if (j >= in.width) return;
    Sums sum{0.0f, 0.0f};
    for (long long r = blockIdx.y; r < in.rows; r += gridDim.y) {
        sum.x += in.slope(r, j) * in.xhat(r, j);
        sum.y += in.slope(r, j);
    }
    sums[blockIdx.y * in.width + j] = sum;
}

template <class T>
__global__ void sum_of_groups(const Sums* sums, T* dweight, T* dbias, long long groups,
                              long long width) {
    const long long j = thread_in_grid();
    if (j >= width) return;
    Sums sum{0.0f, 0.0f};
    for (long long group = 0; group < groups; ++group) {
        sum.x += sums[group * width + j].x;
        sum.y += sums[group * width + j].y;
    }
    dweight[j] = static_cast<T>(sum.x);
    dbias[j] = static_cast<T>(sum.y);
}

template <class T>
void backward_by_rows(const Backward& call) {
    const auto stream = call.launch.stream;
    const Inputs<T> in(call);
    const long long groups = groups_of(call.rows);
    auto* const sums = static_cast<Sums*>(call.launch.workspace);
    if (call.rows > 0) {
        constexpr int full = elements_of_pack<T>;
        const dim3 grid(blocks_of(call.width, threads), static_cast<unsigned>(groups));
        sums_of_groups<<<grid, threads, 0, stream>>>(in, sums);
        const auto gradients =
            call.width % full == 0 ? gradients_of_rows<full, T> : gradients_of_rows<1, T>;
        gradients<<<blocks_of_rows(call.rows), threads, 0, stream>>>(
            Dropout(call), in, call.dx.as<T>(), call.dresidual.as<T>());
    }
    sum_of_groups<<<blocks_of(call.width, threads), threads, 0, stream>>>(
        sums, call.dweight.as<T>(), call.dbias.as<T>(), groups, call.width);
}

std::int64_t workspace(const gradverify::Problem& problem) {
    return groups_of(problem.scalar("rows")) * problem.scalar("width") *
           static_cast<std::int64_t>(sizeof(Sums));
}

std::int64_t threads_of_rows(const gradverify::Problem& problem) {
    return threads * problem.scalar("rows") + problem.scalar("width");
}

template <class T>
void declare_rows(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.aligned_to(16).costs({.barriers_per_thread = 12, .threads = threads_of_rows});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", forward).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Backward, "naive", backward).with(declare_elements_on_stream<float>);
#define DROPOUT_ADD_NORM_BY_ROWS(NAME, T)                  \
    GRADVERIFY_KERNEL(Forward, NAME, forward_by_rows<T>)   \
        .with(declare_rows<T>)                             \
        .where("width", gradverify::between(1, 12000))     \
        .in_place("z", "residual");                        \
    GRADVERIFY_KERNEL(Backward, NAME, backward_by_rows<T>) \
        .with(declare_rows<T>)                             \
        .workspace(workspace)                              \
        .in_place("dresidual", "dz")
DROPOUT_ADD_NORM_BY_ROWS("rows", float);
DROPOUT_ADD_NORM_BY_ROWS("rows_bf16", __nv_bfloat16);
