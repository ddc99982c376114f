// SPDX-License-Identifier: Apache-2.0
// Products of a warpgroup (wgmma) whose asynchrony is wrong: each kernel lacks one thing.
#include <cuda_runtime.h>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/launcher.hpp"

#define FENCE() WGMMA("wgmma.fence.sync.aligned;" :: : "memory")
#define COMMIT() WGMMA("wgmma.commit_group.sync.aligned;" :: : "memory")
#define WAIT(GROUPS) WGMMA("wgmma.wait_group.sync.aligned " #GROUPS ";" :: : "memory")
#define FENCE_PROXIES() WGMMA("fence.proxy.async.shared::cta;" :: : "memory")
#define R4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define PRODUCT()                                                                             \
    WGMMA(                                                                                    \
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1," \
        " 1, 0, 0;" : R4 : "l"(tile.of_a()),                                                  \
        "l"(tile.of_b()))
#define PRODUCT_OF_REGISTERS()                                                               \
    WGMMA(                                                                                   \
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6," \
        " %7}, %8, 1, 1, 1, 0;" : R4 : "r"(a[0]),                                            \
        "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(tile.of_b()))

/// Ones in 64 rows of A and 8 columns of B, of 16 numbers of 16 bits each, without a swizzle.
struct ProductTile {
    unsigned short a[1024], b[128];
    __device__ static unsigned long long descriptor(const void* matrix) {
        const auto at = static_cast<unsigned>(__cvta_generic_to_shared(matrix));
        return (at & 0x3ffffu) >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
    }
    __device__ unsigned long long of_a() const { return descriptor(a); }
    __device__ unsigned long long of_b() const { return descriptor(b); }
    __device__ void fill() {
        for (unsigned i = threadIdx.x; i < 1024; i += 128) a[i] = 0x3f80;
        b[threadIdx.x] = 0x3f80;
    }
    __device__ void fill_and_fence() {
        fill();
        FENCE_PROXIES();
        __syncthreads();
    }
};

#define TILE_AND_SUM()                          \
    __shared__ __align__(128) ProductTile tile; \
    float d[4] = {}
// The product is committed and waited for, and the sum is used.
#define FINISH() \
    COMMIT();    \
    WAIT(0);     \
    data[threadIdx.x] = d[0]

KERNEL(wgmma_without_wait, 1, 128) {
    TILE_AND_SUM();
    tile.fill_and_fence();
    FENCE();
    PRODUCT();  // line: wgmma_without_wait
    COMMIT();
    data[threadIdx.x] = d[0];  // line: wgmma_without_wait
    WAIT(0);
}

KERNEL(wgmma_without_commit, 1, 128) {
    TILE_AND_SUM();
    tile.fill_and_fence();
    FENCE();
    PRODUCT();  // line: wgmma_without_commit
    WAIT(0);
    data[threadIdx.x] = d[0];  // line: wgmma_without_commit
}

KERNEL(wgmma_one_group_too_many, 1, 128) {
    TILE_AND_SUM();
    tile.fill_and_fence();
    FENCE();
    for (int k = 0; k < 2; ++k) {
        PRODUCT();  // line: wgmma_one_group_too_many
        COMMIT();
    }
    WAIT(1);
    data[threadIdx.x] = d[0];  // line: wgmma_one_group_too_many
}

KERNEL(wgmma_fenced_early, 1, 128) {
    __shared__ __align__(128) ProductTile tile;
    float d[4];
    tile.fill_and_fence();
    FENCE();
    for (float& one : d) one = data[threadIdx.x];  // line: wgmma_fenced_early
    PRODUCT();                                     // line: wgmma_fenced_early
    FINISH();
}

KERNEL(wgmma_without_fence, 1, 128) {
    TILE_AND_SUM();
    tile.fill_and_fence();
    PRODUCT();  // line: wgmma_without_fence
    FINISH();
}

KERNEL(wgmma_rescaled, 1, 128) {
    TILE_AND_SUM();
    tile.fill_and_fence();
    FENCE();
    for (int k = 0; k < 2; ++k) {
        PRODUCT();  // line: wgmma_rescaled
        COMMIT();
        WAIT(0);
        for (float& one : d) one *= 0.5f;  // line: wgmma_rescaled
    }
    data[threadIdx.x] = d[0];
}

KERNEL(wgmma_without_proxy_fence, 1, 128) {
    TILE_AND_SUM();
    tile.fill();
    tile.b[threadIdx.x] = 0x4000;  // line: wgmma_without_proxy_fence
    __syncthreads();
    FENCE();
    PRODUCT();  // line: wgmma_without_proxy_fence
    FINISH();
}

KERNEL(wgmma_one_thread_fenced, 1, 128) {
    TILE_AND_SUM();
    tile.fill();
    tile.b[threadIdx.x] = 0x4000;  // line: wgmma_one_thread_fenced
    if (threadIdx.x == 0) FENCE_PROXIES();
    __syncthreads();
    FENCE();
    PRODUCT();  // line: wgmma_one_thread_fenced
    FINISH();
}

KERNEL(wgmma_without_barrier, 1, 128) {
    TILE_AND_SUM();
    tile.fill_and_fence();
    tile.b[threadIdx.x] = 0x4000;  // line: wgmma_without_barrier
    FENCE_PROXIES();
    FENCE();
    PRODUCT();  // line: wgmma_without_barrier
    FINISH();
}

KERNEL(wgmma_early_refill, 1, 128) {
    TILE_AND_SUM();
    tile.fill_and_fence();
    FENCE();
    PRODUCT();  // line: wgmma_early_refill
    COMMIT();
    tile.a[threadIdx.x] = 0x4000;  // line: wgmma_early_refill
    WAIT(0);
    data[threadIdx.x] = d[0];
}

KERNEL(wgmma_factor_overwritten, 1, 128) {
    TILE_AND_SUM();
    unsigned a[4] = {0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80};
    tile.fill_and_fence();
    FENCE();
    PRODUCT_OF_REGISTERS();  // line: wgmma_factor_overwritten
    COMMIT();
    a[0] = threadIdx.x;  // line: wgmma_factor_overwritten
    WAIT(0);
    data[threadIdx.x] = d[0] + static_cast<float>(a[0]);
}

// All that the kernels above lack, in the order in which pipelines have it.
KERNEL(wgmma_pipeline, 1, 128) {
    __shared__ __align__(128) ProductTile tiles[2];
    float d[4] = {};
    unsigned a[4] = {0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80};
    WGMMA("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(232));
    WGMMA("griddepcontrol.wait;" :: : "memory");
    for (int k = 0; k < 3; ++k) {
        ProductTile& tile = tiles[k % 2];
        tile.fill_and_fence();
        for (float& one : d) one *= 0.5f;
        FENCE();
        PRODUCT();
        PRODUCT_OF_REGISTERS();
        COMMIT();
        tiles[1 - k % 2].fill();
        WAIT(0);
        for (unsigned& one : a) one ^= 0x80000000u;
    }
    data[threadIdx.x] = d[0];
}

// The same with a warpgroup that fills and one that multiplies, which meet at barriers of their
// own.
KERNEL(wgmma_specialised, 1, 256) {
    __shared__ __align__(128) ProductTile tiles[2];
    float d[4] = {};
    const unsigned thread = threadIdx.x % 128;
    for (int k = 0; k < 4; ++k) {
        ProductTile& tile = tiles[k % 2];
        if (threadIdx.x < 128) {
            if (k > 1) WGMMA("bar.sync %0, 256;" ::"r"(3 + k % 2) : "memory");
            for (unsigned i = thread; i < 1024; i += 128) tile.a[i] = 0x3f80;
            tile.b[thread] = 0x3f80;
            FENCE_PROXIES();
            WGMMA("bar.arrive %0, 256;" ::"r"(1 + k % 2) : "memory");
        } else {
            WGMMA("bar.sync %0, 256;" ::"r"(1 + k % 2) : "memory");
            FENCE();
            PRODUCT();
            COMMIT();
            WAIT(0);
            if (k < 2) WGMMA("bar.arrive %0, 256;" ::"r"(3 + k % 2) : "memory");
        }
    }
    if (threadIdx.x >= 128) data[thread] = d[0];
}

// The same by mbarriers, at which every thread arrives.
KERNEL(wgmma_by_mbarriers, 1, 256) {
    __shared__ __align__(128) ProductTile tiles[2];
    __shared__ std::uint64_t full[2], empty[2];
    float d[4] = {};
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) init(&full[i], 128), init(&empty[i], 128);
    __syncthreads();
    const unsigned thread = threadIdx.x % 128;
    for (int k = 0; k < 4; ++k) {
        ProductTile& tile = tiles[k % 2];
        if (threadIdx.x < 128) {
            if (k > 1) wait(&empty[k % 2], 0);
            for (unsigned i = thread; i < 1024; i += 128) tile.a[i] = 0x3f80;
            tile.b[thread] = 0x3f80;
            FENCE_PROXIES();
            arrive(&full[k % 2]);
        } else {
            wait(&full[k % 2], k / 2);
            FENCE();
            PRODUCT();
            COMMIT();
            WAIT(0);
            arrive(&empty[k % 2]);
        }
    }
    if (threadIdx.x >= 128) data[thread] = d[0];
}

// Three of the four warps come.
KERNEL(wgmma_of_three_warps, 1, 128) {
    if (threadIdx.x < 96) FENCE();
    data[threadIdx.x] = 1.0f;
}
