// SPDX-License-Identifier: Apache-2.0
// A product of bf16 matrices as kernels of sm_90 form it: one thread loads tiles by TMA into two
// stages, a warpgroup multiplies them by wgmma, and a tensor copy stores the result. Two blocks of
// a cluster may share the tiles of A by multicast. It can be asked to make one mistake.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <stdexcept>
#include <vector>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/device_array.hpp"
#include "harness/simt/tests/tensor_maps.hpp"

namespace {

enum class Mistake {
    none,
    full_not_waited_for,
    empty_not_waited_for,
    wrong_parity,
    expects_too_little,
    expects_too_much,
    released_early,
    store_not_fenced,
    no_cluster_barrier,
};

constexpr int gemm_size = 128, gemm_depth = 320, gemm_tile = 64;
constexpr unsigned tile_bytes = gemm_tile * gemm_tile * 2, stage_bytes = 2 * tile_bytes;
constexpr unsigned gemm_shared_bytes = 2 * stage_bytes + tile_bytes;

#if !defined(__NVCC__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ void arrive_in_block(std::uint64_t* mbarrier, unsigned block) {
    asm volatile(
        "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }" ::"r"(
            shared_address(mbarrier)),
        "r"(block)
        : "memory");
}
__device__ void load_tile(unsigned to, const CUtensorMap& map, std::uint64_t* full, int column,
                          int row) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%3, %4}], [%2];" ::"r"(to),
        "l"(&map), "r"(shared_address(full)), "r"(column), "r"(row)
        : "memory");
}
__device__ void load_for_both(unsigned to, const CUtensorMap& map, std::uint64_t* full, int column,
                              int row) {
    WGMMA(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(&map), "r"(shared_address(full)), "r"(column), "r"(row),
        "h"(static_cast<unsigned short>(3)) : "memory");
}

/// Of 64 rows of 128 bytes, swizzled.
__device__ unsigned long long descriptor(unsigned tile) {
    return (tile & 0x3ffffu) >> 4 | 1024ull >> 4 << 32 | 1ull << 62;
}
#define D8(I)                                                                                   \
    "+f"(d[I]), "+f"(d[I + 1]), "+f"(d[I + 2]), "+f"(d[I + 3]), "+f"(d[I + 4]), "+f"(d[I + 5]), \
        "+f"(d[I + 6]), "+f"(d[I + 7])
__device__ void multiply_tiles(float (&d)[32], unsigned a, unsigned b) {
    for (unsigned k = 0; k < 128; k += 32)
        WGMMA(
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, "
            "%8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, "
            "%25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;" : D8(0),
            D8(8), D8(16), D8(24) : "l"(descriptor(a + k)), "l"(descriptor(b + k)));
}
#undef D8
/// The warpgroup's 64 rows of 128 bytes, swizzled.
__device__ void write_tile(unsigned char* tile, const float (&d)[32]) {
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    for (int i = 0; i < 32; ++i) {
        const int row = warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        const int at = row * 128 + ((column * 2) ^ (row % 8 * 16));
        *reinterpret_cast<__nv_bfloat16*>(tile + at) = __float2bfloat16(d[i]);
    }
}

template <bool is_pair>
__global__ void multiply(const __grid_constant__ CUtensorMap a,
                         const __grid_constant__ CUtensorMap b,
                         const __grid_constant__ CUtensorMap c, Mistake mistake) {
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ std::uint64_t full[2], empty[2];
    const unsigned first = shared_address(tiles);
    unsigned rank = 0;
    if (is_pair) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            init(&full[i], 1);
            init(&empty[i], is_pair ? 2 : 1);
        }
    }
    __syncthreads();
    if (is_pair && mistake != Mistake::no_cluster_barrier) cluster_sync();

    const int row = static_cast<int>(blockIdx.y) * gemm_tile;
    const int column = static_cast<int>(blockIdx.x) * gemm_tile;
    constexpr int rounds = gemm_depth / gemm_tile;
    if (threadIdx.x == 128) {
        for (int k = 0; k < rounds; ++k) {
            const int stage = k % 2;
            if (k > 1 && mistake != Mistake::empty_not_waited_for)
                wait(&empty[stage], (k / 2 - 1) % 2);
            const unsigned of_a = first + static_cast<unsigned>(stage) * stage_bytes;
            arrive_expecting(&full[stage], stage_bytes -
                                               (mistake == Mistake::expects_too_little ? 4096 : 0) +
                                               (mistake == Mistake::expects_too_much ? 128 : 0));
            const int at = k * gemm_tile;
            if (is_pair)
                load_for_both(of_a + rank * tile_bytes / 2, a, &full[stage], at,
                              row + static_cast<int>(rank) * gemm_tile / 2);
            else
                load_tile(of_a, a, &full[stage], at, row);
            load_tile(of_a + tile_bytes, b, &full[stage], at, column);
        }
    } else if (threadIdx.x < 128) {
        float d[32] = {};
        const auto release = [&](int stage) {
            if (threadIdx.x == 0) arrive(&empty[stage]);
            if (is_pair && threadIdx.x == 32) arrive_in_block(&empty[stage], 1 - rank);
        };
        for (int k = 0; k < rounds; ++k) {
            const int stage = k % 2;
            if (mistake != Mistake::full_not_waited_for)
                wait(&full[stage], mistake == Mistake::wrong_parity ? 0 : k / 2 % 2);
            const unsigned of_a = first + static_cast<unsigned>(stage) * stage_bytes;
            WGMMA("wgmma.fence.sync.aligned;" :: : "memory");
            multiply_tiles(d, of_a, of_a + tile_bytes);
            WGMMA("wgmma.commit_group.sync.aligned;" :: : "memory");
            if (mistake == Mistake::released_early) release(stage);
            WGMMA("wgmma.wait_group.sync.aligned 0;" :: : "memory");
            if (mistake != Mistake::released_early) release(stage);
        }
        unsigned char* const out = tiles + 2 * stage_bytes;
        write_tile(out, d);
        if (mistake != Mistake::store_not_fenced) fence_proxy();
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (threadIdx.x == 0) {
            asm volatile(
                "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
                    &c),
                "r"(shared_address(out)), "r"(column), "r"(row)
                : "memory");
            commit();
            wait_for_stores();
        }
    }
    if (is_pair) cluster_sync();
}

#else
template <bool is_pair>
__global__ void multiply(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                         const __grid_constant__ CUtensorMap, Mistake) {}
#endif

/// A matrix in device memory, and its map of boxes of 64 columns.
class Matrix {
  public:
    Matrix(const std::vector<float>& values, int columns)
        : columns_(static_cast<cuuint64_t>(columns)),
          rows_(values.size() / columns_),
          numbers_(std::vector<__nv_bfloat16>(values.begin(), values.end())) {}
    CUtensorMap map(cuuint32_t rows) const {
        CUtensorMap map;
        if (encode<__nv_bfloat16>(map, numbers_, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                  {{columns_, rows_}, {gemm_tile, rows}, {1, 1}},
                                  CU_TENSOR_MAP_SWIZZLE_128B) != CUDA_SUCCESS)
            throw std::runtime_error("cuTensorMapEncodeTiled refuses");
        return map;
    }
    std::vector<float> values() const {
        const std::vector<__nv_bfloat16> numbers = numbers_.host();
        return std::vector<float>(numbers.begin(), numbers.end());
    }

  private:
    cuuint64_t columns_, rows_;
    simt_test::Array<__nv_bfloat16> numbers_;
};

/// How many elements of the product are not what they must be, bit for bit: sums of small integers.
/// Of a launch that fails, -1.
template <bool is_pair>
int wrong_elements(Mistake mistake = Mistake::none) {
    const auto fill = [](int rows, unsigned state) {
        std::vector<float> values;
        for (int i = 0; i < rows * gemm_depth; ++i) {
            state = state * 1664525 + 1013904223;
            values.push_back(static_cast<float>(state >> 16 & 1) -
                             static_cast<float>(state >> 20 & 1));
        }
        return values;
    };
    const auto a = fill(gemm_size, 1), b = fill(gemm_size, 2);
    const Matrix of_a(a, gemm_depth), of_b(b, gemm_depth);
    const Matrix of_c(std::vector<float>(gemm_size * gemm_size), gemm_size);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(gemm_size / gemm_tile, gemm_size / gemm_tile);
    config.blockDim = dim3(160);
    config.dynamicSmemBytes = gemm_shared_bytes;
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = is_pair ? 1 : 0;
    cudaLaunchKernelEx(&config, multiply<is_pair>, of_a.map(is_pair ? 32 : 64), of_b.map(64),
                       of_c.map(64), mistake);
    // A mistake may end the launch, and who made it looks at the error.
    if (cudaPeekAtLastError() != cudaSuccess) return -1;
    const auto c = of_c.values();
    int wrong = 0;
    for (int i = 0; i < gemm_size * gemm_size; ++i) {
        float sum = 0;
        for (int k = 0; k < gemm_depth; ++k)
            sum += a[std::size_t(i / gemm_size * gemm_depth + k)] *
                   b[std::size_t(i % gemm_size * gemm_depth + k)];
        wrong += c[std::size_t(i)] == sum ? 0 : 1;
    }
    return wrong;
}

}  // namespace
