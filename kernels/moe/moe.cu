// SPDX-License-Identifier: Apache-2.0
// moe_permute.{forward,grad_x}/naive, moe_combine.{forward,backward}/naive: a thread for each
// element of a result; sums over a token's rows look through the whole order.
// moe_permute.{forward,grad_x}/rows, moe_combine.{forward,backward}/rows: blocks loop over the rows
// in vectors of 16 bytes, sums by the inverse of the order. In float, in bfloat16, and moe_combine
// in bfloat16 with weights in float.
#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

using gradverify::TensorView;

template <gradverify::FixedText operator_text, gradverify::FixedText pass_text>
struct Moe : gradverify::Pass<operator_text, pass_text> {
    using Base = gradverify::Pass<operator_text, pass_text>;
    using Base::Base;
    const int* order = Base::tensor("order").template as<const int>();
    long long slots = Base::size("slots"), k = Base::size("k"), width = Base::size("width");
    long long tokens = slots / k;

    template <class T>
    T* data(const char* tensor) const {
        return Base::tensor(tensor).template as<T>();
    }
};
using Permute = Moe<"moe_permute", "forward">;
using PermuteGradX = Moe<"moe_permute", "grad_x">;
using Combine = Moe<"moe_combine", "forward">;
using CombineBackward = Moe<"moe_combine", "backward">;

__global__ void permute_each(const float* x, const int* order, float* y, long long elements,
                             long long k, long long width) {
    const long long i = thread_in_grid();
    if (i < elements) y[i] = x[order[i / width] / k * width + i % width];
}

void permute(const Permute& call) {
    const long long elements = call.slots * call.width;
    if (elements == 0) return;
    permute_each<<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        call.data<const float>("x"), call.order, call.data<float>("y"), elements, call.k,
        call.width);
}

/// Without weights the sum of a token's rows.
__global__ void combine_each(const float* x, const float* weight, const int* order, float* y,
                             long long elements, long long slots, long long k, long long width) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    float sum = 0.0f;
    for (long long r = 0; r < slots; ++r)
        if (order[r] / k == i / width)
            sum += (weight ? weight[order[r]] : 1.0f) * x[r * width + i % width];
    y[i] = sum;
}

template <class Pass>
void combine_naively(const Pass& call, const float* x, const float* weight, float* y) {
    const long long elements = call.tokens * call.width;
    if (elements == 0) return;
    combine_each<<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        x, weight, call.order, y, elements, call.slots, call.k, call.width);
}
void permute_grad(const PermuteGradX& call) {
    combine_naively(call, call.data<const float>("dy"), nullptr, call.data<float>("dx"));
}
void combine(const Combine& call) {
    combine_naively(call, call.data<const float>("x"), call.data<const float>("weight"),
                    call.data<float>("y"));
}

__global__ void gradients_of_each(const float* dy, const float* x, const float* weight,
                                  const int* order, float* dx, float* dweight, long long slots,
                                  long long k, long long width) {
    const long long r = thread_in_grid();
    if (r >= slots) return;
    float sum = 0.0f;
    for (long long i = 0; i < width; ++i) {
        const float of_dy = dy[order[r] / k * width + i];
        dx[r * width + i] = weight[order[r]] * of_dy;
        sum += x[r * width + i] * of_dy;
    }
    dweight[order[r]] = sum;
}

void backward(const CombineBackward& call) {
    if (call.slots == 0) return;
    gradients_of_each<<<blocks_of(call.slots, 64), 64, 0, call.launch.stream>>>(
        call.data<const float>("dy"), call.data<const float>("x"), call.data<const float>("weight"),
        call.order, call.data<float>("dx"), call.data<float>("dweight"), call.slots, call.k,
        call.width);
}

constexpr int threads = 128;

template <int count, class T>
__global__ void permute_rows(const T* x, const int* order, T* y, long long slots, long long k,
                             long long width) {
    for (long long r = blockIdx.x; r < slots; r += gridDim.x) {
        const T* const from = x + order[r] / k * width;
        for (long long i = threadIdx.x * count; i < width; i += threads * count)
            pack_at<count>(y + r * width + i) = pack_at<count>(from + i);
    }
}

template <class T>
void permute_by_rows(const Permute& call) {
    if (call.slots == 0) return;
    constexpr int full = elements_of_pack<T>;
    const auto kernel = call.width % full == 0 ? permute_rows<full, T> : permute_rows<1, T>;
    kernel<<<blocks_of_rows(call.slots), threads, 0, call.launch.stream>>>(
        call.data<const T>("x"), call.order, call.data<T>("y"), call.slots, call.k, call.width);
}

__global__ void invert(const int* order, int* row_of_slot, long long slots) {
    const long long r = thread_in_grid();
    if (r < slots) row_of_slot[order[r]] = static_cast<int>(r);
}

template <int count, class T, class Weight>
__global__ void combine_rows(const T* x, const Weight* weight, const int* row_of_slot, T* y,
                             long long tokens, long long k, long long width) {
    for (long long token = blockIdx.x; token < tokens; token += gridDim.x)
        for (long long i = threadIdx.x * count; i < width; i += threads * count) {
            float sums[count] = {};
            for (long long slot = token * k; slot < (token + 1) * k; ++slot) {
                const auto pack = pack_at<count>(x + row_of_slot[slot] * width + i);
                const float factor = weight ? static_cast<float>(weight[slot]) : 1.0f;
                for (int j = 0; j < count; ++j) sums[j] += factor * static_cast<float>(pack.at[j]);
            }
            Pack<T, count> result;
            for (int j = 0; j < count; ++j) result.at[j] = static_cast<T>(sums[j]);
            pack_at<count>(y + token * width + i) = result;
        }
}

template <class T, class Weight, class Pass>
void combine_by_rows(const Pass& call, const T* x, const Weight* weight, T* y) {
    if (call.slots == 0) return;
    constexpr int full = elements_of_pack<T>;
    auto* const row_of_slot = static_cast<int*>(call.launch.workspace);
    invert<<<blocks_of(call.slots, threads), threads, 0, call.launch.stream>>>(
        call.order, row_of_slot, call.slots);
    const auto kernel =
        call.width % full == 0 ? combine_rows<full, T, Weight> : combine_rows<1, T, Weight>;
    kernel<<<blocks_of_rows(call.tokens), threads, 0, call.launch.stream>>>(
        x, weight, row_of_slot, y, call.tokens, call.k, call.width);
}
template <class T>
void permute_grad_by_rows(const PermuteGradX& call) {
    combine_by_rows<T, T>(call, call.data<const T>("dy"), nullptr, call.data<T>("dx"));
}
template <class T, class Weight>
void combine_by_rows(const Combine& call) {
    combine_by_rows<T, Weight>(call, call.data<const T>("x"), call.data<const Weight>("weight"),
                               call.data<T>("y"));
}

template <int count, class T, class Weight>
__global__ void gradients_of_rows(const T* dy, const T* x, const Weight* weight, const int* order,
                                  T* dx, Weight* dweight, long long slots, long long k,
                                  long long width) {
    __shared__ float share[32];
    for (long long r = blockIdx.x; r < slots; r += gridDim.x) {
        const long long slot = order[r];
        const float factor = static_cast<float>(weight[slot]);
        float sum = 0.0f;
        for (long long i = threadIdx.x * count; i < width; i += threads * count) {
            auto pack = pack_at<count>(dy + slot / k * width + i);
            const auto of_x = pack_at<count>(x + r * width + i);
            for (int j = 0; j < count; ++j) {
                sum += static_cast<float>(of_x.at[j]) * static_cast<float>(pack.at[j]);
                pack.at[j] = static_cast<T>(factor * static_cast<float>(pack.at[j]));
            }
            pack_at<count>(dx + r * width + i) = pack;
        }
        sum = sum_of_warps(sum, share);
        if (threadIdx.x == 0) dweight[slot] = static_cast<Weight>(sum);
    }
}

template <class T, class Weight>
void backward_by_rows(const CombineBackward& call) {
    if (call.slots == 0) return;
    constexpr int full = elements_of_pack<T>;
    const auto kernel = call.width % full == 0 ? gradients_of_rows<full, T, Weight>
                                               : gradients_of_rows<1, T, Weight>;
    kernel<<<blocks_of_rows(call.slots), threads, 0, call.launch.stream>>>(
        call.data<const T>("dy"), call.data<const T>("x"), call.data<const Weight>("weight"),
        call.order, call.data<T>("dx"), call.data<Weight>("dweight"), call.slots, call.k,
        call.width);
}

std::int64_t workspace(const gradverify::Problem& problem) {
    return problem.scalar("slots") * static_cast<std::int64_t>(sizeof(int));
}

std::int64_t threads_of_rows(const gradverify::Problem& problem) {
    return threads * problem.scalar("slots");
}

/// A thread of a naive sum, which the adjoint of a gradient runs, looks through all slots: some
/// dozen of them take as long as its start.
std::int64_t threads_that_look(const gradverify::Problem& problem) {
    const std::int64_t slots = problem.scalar("slots");
    return slots / problem.scalar("k") * problem.scalar("width") * (1 + slots / 32);
}
void declare_naive_sums(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<float>(kernel);
    kernel.costs({.threads = threads_that_look});
}

template <class T>
void declare_rows(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.aligned_to(16).costs({.threads = threads_of_rows});
}
template <class T, class Weight>
void declare_weighted_rows(gradverify::KernelDeclaration& kernel) {
    declare_rows<T>(kernel);
    kernel.storage("weight", gradverify::DTypeOf<Weight>::value);
}

}  // namespace

GRADVERIFY_KERNEL(Permute, "naive", permute).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(PermuteGradX, "naive", permute_grad).with(declare_naive_sums);
GRADVERIFY_KERNEL(Combine, "naive", combine).with(declare_naive_sums);
GRADVERIFY_KERNEL(CombineBackward, "naive", backward).with(declare_naive_sums);

#define PERMUTE_BY_ROWS(NAME, T)                                                \
    GRADVERIFY_KERNEL(Permute, NAME, permute_by_rows<T>).with(declare_rows<T>); \
    GRADVERIFY_KERNEL(PermuteGradX, NAME, permute_grad_by_rows<T>)              \
        .with(declare_rows<T>)                                                  \
        .workspace(workspace)
#define COMBINE_BY_ROWS(NAME, ...)                                          \
    GRADVERIFY_KERNEL(Combine, NAME, combine_by_rows<__VA_ARGS__>)          \
        .with(declare_weighted_rows<__VA_ARGS__>)                           \
        .workspace(workspace);                                              \
    GRADVERIFY_KERNEL(CombineBackward, NAME, backward_by_rows<__VA_ARGS__>) \
        .with(declare_weighted_rows<__VA_ARGS__>)                           \
        .costs({.barriers_per_thread = 6, .threads = threads_of_rows})

PERMUTE_BY_ROWS("rows", float);
PERMUTE_BY_ROWS("rows_bf16", __nv_bfloat16);
COMBINE_BY_ROWS("rows", float, float);
COMBINE_BY_ROWS("rows_bf16", __nv_bfloat16, __nv_bfloat16);
COMBINE_BY_ROWS("rows_bf16_weight_f32", __nv_bfloat16, float);
