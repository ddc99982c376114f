// SPDX-License-Identifier: Apache-2.0
// cub::BlockStore: the items of a block go back to memory, as BlockLoad gave them.
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
class BlockStore
    : public gradverify_detail::BlockAccess<T, threads_x, items, algorithm, threads_y, threads_z> {
    using Base = typename BlockStore::BlockAccess;
    using typename Base::Exchange;

  public:
    using Base::Base;

    void Store(auto block, T (&from)[items], GRADVERIFY_SIMT_PLACE) {
        if constexpr (algorithm == BLOCK_STORE_VECTORIZE)
            gradverify_detail::check_vectors<T, items>(block, file, line);
        Store(block, from, Base::threads * items, file, line);
    }
    void Store(auto block, T (&from)[items], int end, GRADVERIFY_SIMT_PLACE) {
        if constexpr (Base::by_warps) {
            Exchange(this->storage_).BlockedToWarpStriped(from, file, line);
        } else if constexpr (Base::transposes) {
            Exchange(this->storage_).BlockedToStriped(from, file, line);
        }
        for (int i = 0; i < items; ++i)
            if (this->index(i) < end) block[this->index(i)] = from[i];
    }
};

}  // namespace cub
