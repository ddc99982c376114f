// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of asynchronous copies, in attention's gradients on tensor cores: what orders a
// stage's filling and reading is missing, or comes too early.
#include "kernels/attention/tiled_mma.cuh"

namespace {

using namespace gradverify;
using attention::Backward;

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
    kernel.factor_type.reset();
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
