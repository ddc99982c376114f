// SPDX-License-Identifier: Apache-2.0
// Tensor copies of sm_90: which maps there are, a pipeline of loads, and maps that a kernel
// changes. The conformance test has loads, stores and sums of each rank, type, swizzle and fill.
#include <cuda.h>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/construct.hpp"
#include "harness/simt/tests/tensor_maps.hpp"

namespace {

template <class T>
CUtensorMap map_of(T* data, CUtensorMapDataType type, const Shape& shape,
                   CUtensorMapSwizzle swizzle, bool nan = false) {
    CUtensorMap map;
    if (encode(map, data, type, shape, swizzle, nan) != CUDA_SUCCESS)
        throw std::runtime_error("cuTensorMapEncodeTiled refuses");
    return map;
}

CONSTRUCT(ptx_tensor_maps) {
    Array<float> data(64);
    const auto type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const auto refuses = [&](float* at, const Shape& shape, CUtensorMapSwizzle swizzle) {
        CUtensorMap map;
        return encode(map, at, type, shape, swizzle) == CUDA_ERROR_INVALID_VALUE;
    };
    const auto none = CU_TENSOR_MAP_SWIZZLE_NONE;
    report.holds("right", !refuses(data, {{8, 8}, {4, 4}, {1, 1}}, none));
    report.holds("address", refuses(data + 1, {{8, 8}, {4, 4}, {1, 1}}, none));
    report.holds("stride", refuses(data, {{7, 8}, {4, 4}, {1, 1}}, none));
    report.holds("box", refuses(data, {{8, 8}, {4, 257}, {1, 1}}, none));
    report.holds("row", refuses(data, {{8, 8}, {3, 4}, {1, 1}}, none));
    report.holds("step", refuses(data, {{8, 8}, {4, 4}, {1, 9}}, none));
    report.holds("span", refuses(data, {{16, 4}, {16, 4}, {1, 1}}, CU_TENSOR_MAP_SWIZZLE_32B));
}

/// One warp fetches tiles of both factors in two stages, the others multiply.
constexpr int tile = 16, stages = 2;
__global__ void multiply(const __grid_constant__ CUtensorMap a,
                         const __grid_constant__ CUtensorMap b, float* sums, int depth) {
    __shared__ alignas(1024) float of_a[stages][tile][tile], of_b[stages][tile][tile];
    __shared__ std::uint64_t full[stages], empty[stages];
    const int warp = int(threadIdx.x / 32);
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; ++i) init(&full[i], 1), init(&empty[i], 8);
    }
    __syncthreads();
    if (warp == 8) {
        for (int k = 0; k < depth / tile; ++k) {
            const int at = k % stages;
            wait(&empty[at], unsigned(k / stages % 2) ^ 1u);
            if (threadIdx.x % 32 != 0) continue;
            arrive_expecting(&full[at], 2 * sizeof of_a[0]);
            const auto fetch = [&](const CUtensorMap& map, const void* to, int x, int y) {
                asm volatile(
                    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                    ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
                    "l"(&map), "r"(shared_address(&full[at])), "r"(x), "r"(y), "l"(0ull)
                    : "memory");
            };
            fetch(a, of_a[at], k * tile, int(blockIdx.y) * tile);
            fetch(b, of_b[at], int(blockIdx.x) * tile, k * tile);
        }
        return;
    }
    const int row = int(threadIdx.x) / tile, column = int(threadIdx.x) % tile;
    float sum = 0;
    for (int k = 0; k < depth / tile; ++k) {
        const int at = k % stages;
        wait(&full[at], unsigned(k / stages % 2));
        for (int i = 0; i < tile; ++i) sum += of_a[at][row][i] * of_b[at][i][column];
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(&empty[at]);
    }
    sums[(int(blockIdx.y) * tile + row) * int(gridDim.x) * tile + int(blockIdx.x) * tile + column] =
        sum;
}
CONSTRUCT(ptx_tensor_pipeline) {
    constexpr int rows = 32, columns = 16, depth = 96;
    const auto a = table(rows * depth, [](int i) { return float(i % 7 - 3); });
    const auto b = table(depth * columns, [](int i) { return float(i % 5 - 2); });
    Array<float> of_a(a), of_b(b), sums(rows * columns);
    const auto map = [](float* data, cuuint64_t width, cuuint64_t height) {
        return map_of<float>(data, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                             {{width, height}, {tile, tile}, {1, 1}}, CU_TENSOR_MAP_SWIZZLE_NONE);
    };
    multiply<<<dim3(columns / tile, rows / tile), 9 * 32>>>(map(of_a, depth, rows),
                                                            map(of_b, columns, depth), sums, depth);
    report.equal("sums", sums.host(), [&](int i) {
        float want = 0;
        for (int k = 0; k < depth; ++k)
            want +=
                a[std::size_t(i / columns * depth + k)] * b[std::size_t(k * columns + i % columns)];
        return want;
    });
}

/// The map's copy in shared memory is changed, and put back into global memory. A GPU has this in
/// code for sm_90a alone.
#if !defined(__NVCC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool changes_maps = true;
__device__ void change(CUtensorMap& map, CUtensorMap* to, float* data) {
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"l"(
                         std::uint64_t(shared_address(&map))),
                     "l"(data)
                     : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"l"(
                         std::uint64_t(shared_address(&map))),
                     "r"(4)
                     : "memory");
    }
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%0], [%1], 128;" ::"l"(to),
        "r"(shared_address(&map))
        : "memory");
}
#else
constexpr bool changes_maps = false;
__device__ void change(CUtensorMap& map, CUtensorMap* to, float*) {
    if (threadIdx.x == 0) *to = map;
}
#endif
__global__ void change_map(const CUtensorMap* from, CUtensorMap* to, float* data, int* changed) {
    __shared__ alignas(128) CUtensorMap map;
    if (threadIdx.x < 16) map.opaque[threadIdx.x] = from->opaque[threadIdx.x];
    __syncwarp();
    change(map, to, data);
    if (threadIdx.x == 0) *changed = changes_maps;
}
__global__ void load_by_pointer(const CUtensorMap* map, float* out) {
    __shared__ std::uint64_t mbarrier;
    __shared__ alignas(128) float box[64];
    if (threadIdx.x == 0) {
        init(&mbarrier, 1);
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
        arrive_expecting(&mbarrier, sizeof box);
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
            " [%0], [%1, {%3, %3}], [%2];" ::"r"(shared_address(box)),
            "l"(map), "r"(shared_address(&mbarrier)), "r"(0)
            : "memory");
    }
    __syncthreads();
    wait(&mbarrier, 0);
    out[threadIdx.x] = box[threadIdx.x];
}
CONSTRUCT(ptx_changed_tensor_maps) {
    Array<float> zeros(64), ones(std::vector<float>(64, 1.0f)), out(64);
    CUtensorMap map;
    report.holds("encoded", encode<float>(map, zeros, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                          {{8, 8}, {8, 8}, {1, 1}},
                                          CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_SUCCESS);
    Array<CUtensorMap> from({map}), to(1);
    Array<int> changed(1);
    change_map<<<1, 32>>>(from, to, ones, changed);
    const bool is_changed = changed.host()[0] != 0;
#ifndef __NVCC__
    report.holds("changed", is_changed);
#endif
    load_by_pointer<<<1, 64>>>(to, out);
    report.equal("box", out.host(), [&](int i) { return is_changed && i < 32 ? 1.0f : 0.0f; });
}

}  // namespace
