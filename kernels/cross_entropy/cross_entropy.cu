// SPDX-License-Identifier: Apache-2.0
// cross_entropy.{forward,backward,fused}/naive: a thread for each row.
// cross_entropy.{forward,backward,fused}/rows: a block for each row, whose sum is scaled when a
// larger logit comes; the gradient over the logits. In float and bfloat16.
// linear_cross_entropy.fused/chunked: the logits of some rows at a time are in the workspace, where
// their gradient takes their place before the products with it.
#include <cmath>

#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

using gradverify::TensorView;

struct Forward : gradverify::Pass<"cross_entropy", "forward"> {
    using Pass::Pass;
    TensorView logits = tensor("logits"), labels = tensor("labels");
    TensorView loss = tensor("loss"), lse = tensor("lse");
    float smoothing = attribute("smoothing"), z_loss = attribute("z_loss");
};
struct Backward : gradverify::Pass<"cross_entropy", "backward"> {
    using Pass::Pass;
    TensorView dloss = tensor("dloss"), logits = tensor("logits"), labels = tensor("labels");
    TensorView lse = tensor("lse"), dlogits = tensor("dlogits");
    float smoothing = attribute("smoothing"), z_loss = attribute("z_loss");
};
struct Fused : gradverify::Pass<"cross_entropy", "fused"> {
    using Pass::Pass;
    TensorView logits = tensor("logits"), labels = tensor("labels");
    TensorView loss = tensor("loss"), dlogits = tensor("dlogits");
    float smoothing = attribute("smoothing"), z_loss = attribute("z_loss");
};
struct LinearFused : gradverify::Pass<"linear_cross_entropy", "fused"> {
    using Pass::Pass;
    TensorView x = tensor("x"), w = tensor("w"), labels = tensor("labels");
    TensorView loss = tensor("loss"), dx = tensor("dx"), dw = tensor("dw");
    float smoothing = attribute("smoothing"), z_loss = attribute("z_loss");
};

constexpr int threads = 128;

/// What a row is held to.
struct Target {
    long long width;
    float smoothing, z_loss;

    /// A row's term of the loss, from its lse, its label's logit and the sum of all.
    __device__ float loss(float lse, float logit, float all) const {
        return lse - (1.0f - smoothing) * logit - smoothing * all / static_cast<float>(width) +
               z_loss * lse * lse;
    }
    /// The gradient of that by a logit.
    __device__ float gradient(float lse, float logit, bool is_label) const {
        return expf(logit - lse) * (1.0f + 2.0f * z_loss * lse) -
               smoothing / static_cast<float>(width) - (is_label ? 1.0f - smoothing : 0.0f);
    }
};

/// In a workspace: one over the rows that count, and each row's term of the loss.
struct Shares {
    float *scale, *losses;

    explicit Shares(void* workspace) : scale(static_cast<float*>(workspace)), losses(scale + 1) {}
};
std::int64_t bytes_of_shares(const gradverify::Problem& problem) {
    return (1 + problem.scalar("n")) * static_cast<std::int64_t>(sizeof(float));
}

/// One block.
__global__ void count_rows(const int* labels, long long rows, Shares shares) {
    __shared__ float share[32];
    float count = 0.0f;
    for (long long i = threadIdx.x; i < rows; i += threads) count += labels[i] >= 0 ? 1.0f : 0.0f;
    count = sum_of_warps(count, share);
    if (threadIdx.x == 0) *shares.scale = 1.0f / fmaxf(count, 1.0f);
}
/// One block.
__global__ void add_losses(Shares shares, long long rows, float* loss) {
    __shared__ float share[32];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < rows; i += threads) sum += shares.losses[i];
    sum = sum_of_warps(sum, share);
    if (threadIdx.x == 0) *loss = sum * *shares.scale;
}

// ---- a thread for each row

/// The lse of a row, and the sum of its logits.
struct Sums {
    float lse, all;
};
__device__ Sums sums_of(const float* row, long long width) {
    float largest = -INFINITY, sum = 0.0f, all = 0.0f;
    for (long long j = 0; j < width; ++j) largest = fmaxf(largest, row[j]);
    for (long long j = 0; j < width; ++j) {
        sum += expf(row[j] - largest);
        all += row[j];
    }
    return {largest + logf(sum), all};
}
__device__ void write_gradient(const Target& target, const float* row, int label, float lse,
                               float scale, float* gradient) {
    for (long long j = 0; j < target.width; ++j)
        gradient[j] = label < 0 ? 0.0f : scale * target.gradient(lse, row[j], j == label);
}

/// The gradient and the lse are written where their pointers are not null.
__global__ void row_of_loss(Target target, const float* logits, const int* labels, long long rows,
                            Shares shares, float* lse, float* gradient) {
    const long long i = thread_in_grid();
    if (i >= rows) return;
    const float* const row = logits + i * target.width;
    const Sums sums = sums_of(row, target.width);
    shares.losses[i] = labels[i] < 0 ? 0.0f : target.loss(sums.lse, row[labels[i]], sums.all);
    if (lse) lse[i] = sums.lse;
    if (gradient)
        write_gradient(target, row, labels[i], sums.lse, *shares.scale,
                       gradient + i * target.width);
}
__global__ void row_of_gradient(Target target, const float* dloss, const float* logits,
                                const int* labels, const float* lse, long long rows, Shares shares,
                                float* gradient) {
    const long long i = thread_in_grid();
    if (i >= rows) return;
    write_gradient(target, logits + i * target.width, labels[i], lse[i], *dloss * *shares.scale,
                   gradient + i * target.width);
}

template <class Call>
Target target_of(const Call& call) {
    return {call.logits.size(1), call.smoothing, call.z_loss};
}

template <class Call>
void losses(const Call& call, float* lse, float* gradient) {
    const long long rows = call.labels.elements();
    const auto* const labels = call.labels.template as<const int>();
    const Shares shares(call.launch.workspace);
    const auto stream = call.launch.stream;
    count_rows<<<1, threads, 0, stream>>>(labels, rows, shares);
    if (rows > 0)
        row_of_loss<<<blocks_of(rows, threads), threads, 0, stream>>>(
            target_of(call), call.logits.template as<const float>(), labels, rows, shares, lse,
            gradient);
    add_losses<<<1, threads, 0, stream>>>(shares, rows, call.loss.template as<float>());
}
void forward(const Forward& call) { losses(call, call.lse.as<float>(), nullptr); }
void fused(const Fused& call) { losses(call, nullptr, call.dlogits.as<float>()); }
void backward(const Backward& call) {
    const long long rows = call.labels.elements();
    if (rows == 0) return;
    const Shares shares(call.launch.workspace);
    count_rows<<<1, threads, 0, call.launch.stream>>>(call.labels.as<const int>(), rows, shares);
    row_of_gradient<<<blocks_of(rows, threads), threads, 0, call.launch.stream>>>(
        target_of(call), call.dloss.as<const float>(), call.logits.as<const float>(),
        call.labels.as<const int>(), call.lse.as<const float>(), rows, shares,
        call.dlogits.as<float>());
}

// ---- a block for each row

/// A thread's share of a row's sum of exponentials, against the largest that it has seen.
struct Exponentials {
    float largest = -INFINITY, sum = 0.0f;

    __device__ void add(float other_largest, float other_sum) {
        const float larger = fmaxf(largest, other_largest);
        if (larger == -INFINITY) return;
        sum = sum * expf(largest - larger) + other_sum * expf(other_largest - larger);
        largest = larger;
    }
};

/// The sums of a row, in every thread; `share` holds 64 floats.
template <class T>
__device__ Sums sums_by_block(const T* row, long long width, float* share) {
    Exponentials mine;
    float all = 0.0f;
    for (long long j = threadIdx.x; j < width; j += threads) {
        const float logit = static_cast<float>(row[j]);
        mine.add(logit, 1.0f);
        all += logit;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        mine.add(__shfl_xor_sync(0xffffffffu, mine.largest, distance),
                 __shfl_xor_sync(0xffffffffu, mine.sum, distance));
    __syncthreads();  // the sums before may still be read
    if (threadIdx.x % 32 == 0) {
        share[threadIdx.x / 32] = mine.largest;
        share[32 + threadIdx.x / 32] = mine.sum;
    }
    __syncthreads();
    Exponentials whole;
    for (int warp = 0; warp < threads / 32; ++warp) whole.add(share[warp], share[32 + warp]);
    return {whole.largest + logf(whole.sum), sum_of_warps(all, share)};
}

/// The gradient may lie over the logits: a thread reads what it writes, after all have read the
/// label's logit.
template <class T>
__device__ void write_by_block(const Target& target, const T* row, int label, float lse,
                               float scale, T* gradient) {
    for (long long j = threadIdx.x; j < target.width; j += threads) {
        const float logit = static_cast<float>(row[j]);
        gradient[j] =
            static_cast<T>(label < 0 ? 0.0f : scale * target.gradient(lse, logit, j == label));
    }
}

template <class T>
__global__ void losses_of_rows(Target target, const T* logits, const int* labels, long long rows,
                               Shares shares, float* lse, T* gradient) {
    __shared__ float share[64];
    for (long long i = blockIdx.x; i < rows; i += gridDim.x) {
        const T* const row = logits + i * target.width;
        const int label = labels[i];
        const float logit = label < 0 ? 0.0f : static_cast<float>(row[label]);
        const Sums sums = sums_by_block(row, target.width, share);
        if (threadIdx.x == 0) {
            shares.losses[i] = label < 0 ? 0.0f : target.loss(sums.lse, logit, sums.all);
            if (lse) lse[i] = sums.lse;
        }
        if (gradient)
            write_by_block(target, row, label, sums.lse, *shares.scale,
                           gradient + i * target.width);
    }
}
template <class T>
__global__ void gradients_of_rows(Target target, const float* dloss, const T* logits,
                                  const int* labels, const float* lse, long long rows,
                                  Shares shares, T* gradient) {
    for (long long i = blockIdx.x; i < rows; i += gridDim.x)
        write_by_block(target, logits + i * target.width, labels[i], lse[i], *dloss * *shares.scale,
                       gradient + i * target.width);
}

template <class T, class Call>
void losses_by_rows(const Call& call, float* lse, T* gradient) {
    const long long rows = call.labels.elements();
    const auto* const labels = call.labels.template as<const int>();
    const Shares shares(call.launch.workspace);
    const auto stream = call.launch.stream;
    count_rows<<<1, threads, 0, stream>>>(labels, rows, shares);
    if (rows > 0)
        losses_of_rows<<<blocks_of_rows(rows), threads, 0, stream>>>(
            target_of(call), call.logits.template as<const T>(), labels, rows, shares, lse,
            gradient);
    add_losses<<<1, threads, 0, stream>>>(shares, rows, call.loss.template as<float>());
}
template <class T>
void forward_by_rows(const Forward& call) {
    losses_by_rows<T>(call, call.lse.as<float>(), nullptr);
}
template <class T>
void fused_by_rows(const Fused& call) {
    losses_by_rows<T>(call, nullptr, call.dlogits.as<T>());
}
template <class T>
void backward_by_rows(const Backward& call) {
    const long long rows = call.labels.elements();
    if (rows == 0) return;
    const Shares shares(call.launch.workspace);
    count_rows<<<1, threads, 0, call.launch.stream>>>(call.labels.as<const int>(), rows, shares);
    gradients_of_rows<<<blocks_of_rows(rows), threads, 0, call.launch.stream>>>(
        target_of(call), call.dloss.as<const float>(), call.logits.as<const T>(),
        call.labels.as<const int>(), call.lse.as<const float>(), rows, shares,
        call.dlogits.as<T>());
}

// ---- logits in chunks

constexpr long long rows_of_chunk = 8;

/// A matrix by its strides, so that it may be transposed.
struct Matrix {
    const float* data;
    long long row, column;

    __device__ float operator()(long long i, long long j) const {
        return data[i * row + j * column];
    }
};

/// y = a b, or y += a b, with a thread for each element of y, whose rows lie behind each other.
__global__ void multiply(Matrix a, Matrix b, float* y, long long rows, long long columns,
                         long long depth, bool adds) {
    const long long at = thread_in_grid(), i = at / columns, j = at % columns;
    if (at >= rows * columns) return;
    float sum = adds ? y[at] : 0.0f;
    for (long long c = 0; c < depth; ++c) sum += a(i, c) * b(c, j);
    y[at] = sum;
}
void launch_product(cudaStream_t stream, Matrix a, Matrix b, float* y, long long rows,
                    long long columns, long long depth, bool adds = false) {
    multiply<<<blocks_of(rows * columns, threads), threads, 0, stream>>>(a, b, y, rows, columns,
                                                                         depth, adds);
}

std::int64_t bytes_of_chunk(const gradverify::Problem& problem) {
    return bytes_of_shares(problem) +
           rows_of_chunk * problem.scalar("v") * static_cast<std::int64_t>(sizeof(float));
}

void linear_fused(const LinearFused& call) {
    const long long all = call.x.size(0), v = call.w.size(0), d = call.w.size(1);
    const Target target{v, call.smoothing, call.z_loss};
    const auto *const x = call.x.as<const float>(), *const w = call.w.as<const float>();
    const auto* const labels = call.labels.as<const int>();
    auto* const dw = call.dw.as<float>();
    const Shares shares(call.launch.workspace);
    float* const logits = shares.losses + all;
    const auto stream = call.launch.stream;
    count_rows<<<1, threads, 0, stream>>>(labels, all, shares);
    for (long long first = 0; first < all || first == 0; first += rows_of_chunk) {
        const long long rows = std::min(all - first, rows_of_chunk);
        const float* const of_chunk = x + first * d;
        if (rows > 0) {
            launch_product(stream, {of_chunk, d, 1}, {w, 1, d}, logits, rows, v, d);
            Shares shares_of_chunk = shares;
            shares_of_chunk.losses += first;
            losses_of_rows<<<blocks_of_rows(rows), threads, 0, stream>>>(
                target, static_cast<const float*>(logits), labels + first, rows, shares_of_chunk,
                static_cast<float*>(nullptr), logits);
            launch_product(stream, {logits, v, 1}, {w, d, 1}, call.dx.as<float>() + first * d, rows,
                           d, v);
        }
        launch_product(stream, {logits, 1, v}, {of_chunk, d, 1}, dw, v, d, rows, first > 0);
    }
    add_losses<<<1, threads, 0, stream>>>(shares, all, call.loss.as<float>());
}

template <class T>
void declare_rows(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    // The loss is a float.
    if (kernel.storage_type) kernel.storage("loss", gradverify::DType::f32);
    kernel.workspace(bytes_of_shares).costs({.threads_per_output = threads});
}
template <class T>
void declare_in_place(gradverify::KernelDeclaration& kernel) {
    declare_rows<T>(kernel);
    kernel.in_place("dlogits", "logits");
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", forward).with(declare_rows<float>);
GRADVERIFY_KERNEL(Backward, "naive", backward).with(declare_rows<float>);
GRADVERIFY_KERNEL(Fused, "naive", fused).with(declare_rows<float>);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "rows", forward_by_rows, declare_rows);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Backward, "rows", backward_by_rows, declare_in_place);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Fused, "rows", fused_by_rows, declare_in_place);
GRADVERIFY_KERNEL(LinearFused, "chunked", linear_fused)
    .with(declare_elements_on_stream<float>)
    .workspace(bytes_of_chunk);
