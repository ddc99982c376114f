// SPDX-License-Identifier: Apache-2.0
// cub::BlockStore: what BlockLoad gives, back to memory.
#pragma once
#pragma GCC system_header

#include "cub/block/block_load.cuh"

namespace cub {

namespace gradverify_detail {
/// Whole blocks of this type are stored by vectors of up to 4 items and 16 bytes.
template <class T, int items, class Iterator>
void check_vectors(Iterator block, const char* file, int line) {
    constexpr std::size_t count = items % (items < 4 ? items : 4) != 0 ? 1 : items < 4 ? items : 4;
    constexpr std::size_t bytes = sizeof(T) * count < 16 ? sizeof(T) * count : 16;
    constexpr bool is_pointer = std::is_same_v<Iterator, T*> || std::is_same_v<Iterator, const T*>;
    if constexpr (is_pointer && (bytes & (bytes - 1)) == 0) {
        if (reinterpret_cast<std::size_t>(block) % bytes != 0)
            gradverify::simt::unit::gradverify_simt_trap(
                cudaErrorMisalignedAddress, "a vectorized store is not aligned for its vectors",
                file, line);
    }
}
}  // namespace gradverify_detail

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

template <class T, int threads_x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT,
          int threads_y = 1, int threads_z = 1, int = 0>
class BlockStore {
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr bool by_warps = algorithm == BLOCK_STORE_WARP_TRANSPOSE ||
                                     algorithm == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
    static constexpr bool transposes = by_warps || algorithm == BLOCK_STORE_TRANSPOSE;
    static_assert(!by_warps || threads % 32 == 0, "whole warps transpose");
    using Exchange =
        BlockExchange<T, threads_x, items, algorithm == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
                      threads_y, threads_z>;
    using At = gradverify_detail::Arrangement<threads, items>;

  public:
    using TempStorage = typename gradverify_detail::StorageOf<transposes, Exchange>::Type;
    explicit BlockStore(TempStorage& storage) : storage_(storage) {}

    template <class Iterator>
    void Store(Iterator block, T (&from)[items], GRADVERIFY_SIMT_PLACE) {
        if constexpr (algorithm == BLOCK_STORE_VECTORIZE)
            gradverify_detail::check_vectors<T, items>(block, file, line);
        Store(block, from, threads * items, file, line);
    }
    template <class Iterator>
    void Store(Iterator block, T (&from)[items], int end, GRADVERIFY_SIMT_PLACE) {
        if constexpr (by_warps) {
            Exchange(storage_).BlockedToWarpStriped(from, file, line);
        } else if constexpr (transposes) {
            Exchange(storage_).BlockedToStriped(from, file, line);
        }
        for (int i = 0; i < items; ++i)
            if (index(i) < end) block[index(i)] = from[i];
    }

  private:
    static int index(int i) {
        if constexpr (by_warps) return At::warp_striped(i);
        return transposes || algorithm == BLOCK_STORE_STRIPED ? At::striped(i) : At::blocked(i);
    }
    TempStorage& storage_;
};

}  // namespace cub
