// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of asynchronous copies, in attention's gradients on tensor cores: what orders a
// stage's filling and reading is missing, or comes too early. And weights that are rounded, in
// forward kernels too, where the kernel says so and where it does not.
#include "kernels/fast/attention/tiled_mma.cuh"

namespace {

using namespace gradverify;
using attention::Backward;
using attention::Element;
using attention::Forward;
using attention::Shape;

/// Tiles of 16 rows that stream, of heads of up to 16 elements; each bug hides a part of it.
using Right = attention::Pipeline<16, 16>;
using RightInThreeStages = attention::Pipeline<16, 16, 3>;

struct NoWait : Right {
    template <class Fill>
    __device__ static void next(Fill fill) {
        __syncthreads();
        fill();
    }
};
struct WaitForAllButOne : Right {
    template <class Fill>
    __device__ static void next(Fill fill) {
        warp::wait_for_copies_but<stages - 1>();
        __syncthreads();
        fill();
    }
};
struct NoBarrierAfterWait : Right {
    template <class Fill>
    __device__ static void next(Fill fill) {
        warp::wait_for_copies_but<stages - 2>();
        fill();
    }
};
// Other warps may still read the stage of the step before.
struct RefillBeforeBarrier : Right {
    template <class Fill>
    __device__ static void next(Fill fill) {
        warp::wait_for_copies_but<stages - 2>();
        fill();
        __syncthreads();
    }
};
struct NoCommit : Right {
    __device__ static void commit() {}
};
struct OneStageTooFew : Right {
    __device__ static int stage_of(long long step) { return static_cast<int>(step % (stages - 1)); }
};
// Rows 4 to 7 of eight are looked for where rows 0 to 3 would be.
struct SwizzleOfFourRows : attention::Pipeline<64, 16> {
    __device__ static int swizzled_when_read(int row, int column) {
        return swizzled(row & 3, column);
    }
};

template <class Pipeline>
void declare(KernelDeclaration& kernel) {
    kernel.with(attention::declare_tiles).where("d", between(8, Pipeline::width));
}
// The weights are rounded to bfloat16 all the same.
void declare_without_factors(KernelDeclaration& kernel) {
    kernel.with(declare<Right>);
    kernel.roundings.clear();
}

// ---- the forward pass, in bfloat16

constexpr int widest_head = 64;

__device__ float product(const Element* x, const Element* y, long long width) {
    float sum = 0.0f;
    for (long long c = 0; c < width; ++c)
        sum += static_cast<float>(x[c]) * static_cast<float>(y[c]);
    return sum;
}

/// A thread for each query takes its keys by fours, and scales its sums to their largest product
/// so far, as kernels that read their keys once do. The weights may be rounded before they are
/// multiplied.
template <bool rounds>
__global__ void forward_by_fours(const Shape shape, const Element* q, const Element* k,
                                 const Element* v, Element* o, float* lse, float scale) {
    const long long index = thread_in_grid();
    if (index >= shape.query_rows()) return;
    const auto [sample, query, head] = shape.query_at(index);
    const Element* const row = q + shape.of_query({sample, query, head});
    const long long keys = shape.keys_seen_by(query);
    float largest = -INFINITY, sum = 0.0f, sums[widest_head] = {};
    for (long long first = 0; first < keys; first += 4) {
        const long long end = min(first + 4, keys);
        float products[4], largest_here = largest;
        for (long long j = first; j < end; ++j) {
            products[j - first] =
                scale * product(row, k + shape.of_key({sample, j, head}), shape.width);
            largest_here = fmaxf(largest_here, products[j - first]);
        }
        const float rescaled = expf(largest - largest_here);
        largest = largest_here;
        sum *= rescaled;
        for (long long c = 0; c < shape.width; ++c) sums[c] *= rescaled;
        for (long long j = first; j < end; ++j) {
            const float weight = expf(products[j - first] - largest);
            const float factor = rounds ? static_cast<float>(Element(weight)) : weight;
            const Element* const value = v + shape.of_key({sample, j, head});
            sum += weight;
            for (long long c = 0; c < shape.width; ++c)
                sums[c] += factor * static_cast<float>(value[c]);
        }
    }
    for (long long c = 0; c < shape.width; ++c)
        o[shape.of_query({sample, query, head}) + c] = Element(sums[c] / sum);
    lse[shape.of_sum({sample, query, head})] = largest + logf(sum);
}

template <bool rounds>
void launch_forward(const Forward& call) {
    const Shape shape(call);
    if (shape.query_rows() == 0) return;
    forward_by_fours<rounds><<<blocks_of(shape.query_rows(), 128), 128, 0, call.launch.stream>>>(
        shape, call.q.as<const Element>(), call.k.as<const Element>(), call.v.as<const Element>(),
        call.o.as<Element>(), call.lse.as<float>(), shape.scale());
}

void declare_forward(KernelDeclaration& kernel) {
    kernel.storage(DType::bf16).where("d", between(1, widest_head)).aligned_to(2);
}

}  // namespace

#define GRADVERIFY_ATTENTION(NAME, PIPELINE)                                   \
    GRADVERIFY_KERNEL(Backward, NAME, (attention::launch_gradients<PIPELINE>)) \
        .with(declare<PIPELINE>)
GRADVERIFY_ATTENTION("right_two_stages", Right);
GRADVERIFY_ATTENTION("right_three_stages", RightInThreeStages);
GRADVERIFY_ATTENTION("bug_no_wait", NoWait);
GRADVERIFY_ATTENTION("bug_wait_for_all_but_one", WaitForAllButOne);
GRADVERIFY_ATTENTION("bug_no_barrier_after_wait", NoBarrierAfterWait);
GRADVERIFY_ATTENTION("bug_refill_before_barrier", RefillBeforeBarrier);
GRADVERIFY_ATTENTION("bug_no_commit", NoCommit);
GRADVERIFY_ATTENTION("bug_one_stage_too_few", OneStageTooFew);
GRADVERIFY_ATTENTION("bug_swizzle_of_four_rows", SwizzleOfFourRows);
GRADVERIFY_KERNEL(Backward, "bug_undeclared_factors", attention::launch_gradients<Right>)
    .with(declare_without_factors);
GRADVERIFY_KERNEL(Forward, "right_whole_weights", launch_forward<false>).with(declare_forward);
GRADVERIFY_KERNEL(Forward, "right_rounded_weights", launch_forward<true>)
    .with(declare_forward)
    .rounds("p", DType::bf16);
GRADVERIFY_KERNEL(Forward, "bug_undeclared_weights", launch_forward<true>).with(declare_forward);
