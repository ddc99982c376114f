// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of asynchrony on sm_90a, in the products of a fully connected layer: what orders the
// copies and products of a ring of stages is missing, wrong, or comes too early.
#include "kernels/fast/fc/wgmma.cuh"

namespace {

using namespace gradverify;
using fc::Ring;

struct NoWait : Ring {
    __device__ static void wait_until_filled(hopper::Barrier&, int) {}
};
struct WrongParity : Ring {
    __device__ static void wait_until_filled(hopper::Barrier& filled, int step) {
        filled.wait((step / stages + 1) % 2);
    }
};
// The half that the other block copies comes, too.
struct WrongByteCount : Ring {
    static constexpr unsigned bytes_expected = 2 * fc::tile_bytes - fc::half_bytes;
};
// The products that were begun last still read the stage.
struct EarlyRefill : Ring {
    __device__ static int released_at(int step) { return step; }
};
struct OneStageTooFew : Ring {
    __device__ static int place_of(int step) { return step % (stages - 1); }
};
struct WrongSwizzle : Ring {
    static constexpr CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};
struct NoCommit : Ring {
    __device__ static void commit() {}
};
struct NoSumFence : Ring {
    __device__ static void fence_sums() {}
};
struct NoProxyFence : Ring {
    __device__ static void fence_result() {}
};
// The other block may begin its barriers after copies have come.
struct NoClusterBarrier : Ring {
    __device__ static void meet_first() {}
};

}  // namespace

#define GRADVERIFY_WGMMA(NAME, RING) \
    GRADVERIFY_KERNEL(fc::Forward, NAME, fc::forward_in_tiles<RING>).with(fc::declare_forward)
#if !defined(__NVCC__) || defined(GRADVERIFY_SM_90A)
GRADVERIFY_WGMMA("bug_wgmma_no_wait", NoWait);
GRADVERIFY_WGMMA("bug_wgmma_wrong_parity", WrongParity);
GRADVERIFY_WGMMA("bug_wgmma_wrong_byte_count", WrongByteCount);
GRADVERIFY_WGMMA("bug_wgmma_early_refill", EarlyRefill);
GRADVERIFY_WGMMA("bug_wgmma_one_stage_too_few", OneStageTooFew);
GRADVERIFY_WGMMA("bug_wgmma_wrong_swizzle", WrongSwizzle);
GRADVERIFY_WGMMA("bug_wgmma_no_commit", NoCommit);
GRADVERIFY_WGMMA("bug_wgmma_no_sum_fence", NoSumFence);
GRADVERIFY_WGMMA("bug_wgmma_no_proxy_fence", NoProxyFence);
GRADVERIFY_WGMMA("bug_wgmma_no_cluster_barrier", NoClusterBarrier);
#endif
