// SPDX-License-Identifier: Apache-2.0
// Copies and reductions of boxes of a tensor, by its map (PTX ISA, 9.7.9.26). The library
// (ptx/tensor.cpp) does them as bulk copies.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/bulk.hpp"

namespace gradverify::simt::ptx {

/// Of the box's first element, the fastest dimension first.
struct Coordinates {
    std::int32_t at[5];
    std::uint32_t count;
    bool is_im2col;
};
/// Of an im2col box: how far it lies from its pixels, for W, H and D.
struct Offsets {
    std::int32_t by[3];
};

enum class TensorMapField {
    global_address,
    rank,
    box_dim,
    global_dim,
    global_stride,
    element_stride,
    swizzle_mode,
};

extern "C" {
void gradverify_simt_acquire_tensor_map(const void* map);
void gradverify_simt_tensor_map_replace(void* map, TensorMapField field, std::uint32_t index,
                                        std::uint64_t value, const char* file, int line);
/// To the blocks of the cluster whose bits are set; without any, where the address says.
void gradverify_simt_tensor_load(void* to, const void* map, const Coordinates& coordinates,
                                 const Offsets& offsets, void* mbarrier, std::uint32_t blocks,
                                 const char* file, int line);
void gradverify_simt_tensor_store(const void* map, const Coordinates& coordinates, const void* from,
                                  const char* file, int line);
void gradverify_simt_tensor_reduce(const void* map, const Coordinates& coordinates,
                                   const void* from, BulkOperation operation, const char* file,
                                   int line);
}

/// 9.7.13.4 fence.proxy.tensormap::generic, which is also a fence of its scope.
GRADVERIFY_SIMT_ACCESS void fence_tensor_maps_release() {
    fence_();
    fence_proxy<tensor_maps>();
}
GRADVERIFY_SIMT_ACCESS void fence_tensor_map_acquire(std::uint64_t map, GRADVERIFY_SIMT_PLACE) {
    fence_();
    const void* const at = memory_at<const void, Space::generic>(map, 128, file, line);
    if constexpr (unit::is_checked) gradverify_simt_acquire_tensor_map(at);
}

/// 9.7.9.27.1.5 tensormap.replace; `index` is a dimension's.
template <Space space>
GRADVERIFY_SIMT_ACCESS void tensormap_replace(std::uint64_t map, TensorMapField field,
                                              std::uint32_t index, std::uint64_t value,
                                              GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_tensor_map_replace(memory_at<void, space>(map, 64, file, line), field, index,
                                       value, file, line);
}
/// 9.7.13.16.2 tensormap.cp_fenceproxy, by one thread of the warp. What other lanes wrote before is
/// not ordered by it.
GRADVERIFY_SIMT_ACCESS void tensormap_copy(std::uint64_t to, std::uint64_t from,
                                           std::uint32_t bytes, GRADVERIFY_SIMT_PLACE) {
    __any_sync(0xffffffffu, 1, file, line);
    auto* const words = memory_at<std::uint32_t, Space::generic>(to, 64, file, line);
    const auto* const source = memory_at<const std::uint32_t, Space::shared>(from, 64, file, line);
    if (unit::state.thread.rank % 32 == 0) {
        for (std::uint32_t i = 0; i < bytes / 4; ++i) words[i] = source[i];
        fence_tensor_maps_release();
    }
    __syncwarp(0xffffffffu, file, line);
}

/// 9.7.9.26.5.2 cp.async.bulk.tensor to shared memory, and from it.
GRADVERIFY_SIMT_ACCESS void tensor_load(std::uint64_t to, std::uint64_t map,
                                        const Coordinates& coordinates, std::uint64_t mbarrier,
                                        const Offsets& offsets = {}, std::uint32_t blocks = 0,
                                        GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_tensor_load(
        memory_at<void, Space::shared>(to, 128, file, line),
        memory_at<const void, Space::generic>(map, 64, file, line), coordinates, offsets,
        mbarrier_at<Space::shared>(mbarrier, file, line), blocks, file, line);
}
/// The same to several blocks of the cluster.
GRADVERIFY_SIMT_ACCESS void tensor_multicast(std::uint16_t blocks, std::uint64_t to,
                                             std::uint64_t map, const Coordinates& coordinates,
                                             std::uint64_t mbarrier, const Offsets& offsets = {},
                                             GRADVERIFY_SIMT_PLACE) {
    constexpr int illegal_instruction = 715;
    if (blocks == 0) [[unlikely]]
        unit::gradverify_simt_trap(illegal_instruction, "a copy to no block of the cluster", file,
                                   line);
    tensor_load(to, map, coordinates, mbarrier, offsets, blocks, file, line);
}
GRADVERIFY_SIMT_ACCESS void tensor_store(std::uint64_t map, const Coordinates& coordinates,
                                         std::uint64_t from, GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_tensor_store(
        memory_at<const void, Space::generic>(map, 64, file, line), coordinates,
        memory_at<const void, Space::shared>(from, 128, file, line), file, line);
}
/// 9.7.9.26.5.3 cp.reduce.async.bulk.tensor.
template <BulkOperation operation>
GRADVERIFY_SIMT_ACCESS void tensor_reduce(std::uint64_t map, const Coordinates& coordinates,
                                          std::uint64_t from, GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_tensor_reduce(
        memory_at<const void, Space::generic>(map, 64, file, line), coordinates,
        memory_at<const void, Space::shared>(from, 128, file, line), operation, file, line);
}

}  // namespace gradverify::simt::ptx
