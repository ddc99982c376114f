// SPDX-License-Identifier: Apache-2.0
// cub::BlockLoad: the items of a block, blocked over its threads, or striped with
// BLOCK_LOAD_STRIPED. What transposes goes through shared memory here too. What is vectorized needs
// no alignment: since version 3, CUB's looks for it first.
#pragma once
#pragma GCC system_header

#include <type_traits>

#include "cub/block/block_exchange.cuh"

namespace cub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

namespace gradverify_detail {
template <bool transposes, class Exchange>
struct StorageOf {
    using Type = NullType;
};
template <class Exchange>
struct StorageOf<true, Exchange> {
    using Type = typename Exchange::TempStorage;
};
}  // namespace gradverify_detail

template <class T, int threads_x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT,
          int threads_y = 1, int threads_z = 1, int = 0>
class BlockLoad {
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr bool by_warps =
        algorithm == BLOCK_LOAD_WARP_TRANSPOSE || algorithm == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
    static constexpr bool transposes = by_warps || algorithm == BLOCK_LOAD_TRANSPOSE;
    static_assert(!by_warps || threads % 32 == 0, "whole warps transpose");
    using Exchange =
        BlockExchange<T, threads_x, items, algorithm == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
                      threads_y, threads_z>;
    using At = gradverify_detail::Arrangement<threads, items>;

  public:
    using TempStorage = typename gradverify_detail::StorageOf<transposes, Exchange>::Type;
    explicit BlockLoad(TempStorage& storage) : storage_(storage) {}

    template <class Iterator>
    void Load(Iterator block, T (&to)[items], GRADVERIFY_SIMT_PLACE) {
        Load(block, to, threads * items, file, line);
    }
    /// Items from `end` on are left as they are; of those that are transposed, unspecified.
    template <class Iterator>
    void Load(Iterator block, T (&to)[items], int end, GRADVERIFY_SIMT_PLACE) {
        for (int i = 0; i < items; ++i)
            if (index(i) < end) to[i] = block[index(i)];
        if constexpr (by_warps) {
            Exchange(storage_).WarpStripedToBlocked(to, file, line);
        } else if constexpr (transposes) {
            Exchange(storage_).StripedToBlocked(to, file, line);
        }
    }
    template <class Iterator, class Default>
    void Load(Iterator block, T (&to)[items], int end, Default beyond, GRADVERIFY_SIMT_PLACE) {
        for (T& item : to) item = beyond;
        Load(block, to, end, file, line);
    }

  private:
    static int index(int i) {
        if constexpr (by_warps) return At::warp_striped(i);
        return transposes || algorithm == BLOCK_LOAD_STRIPED ? At::striped(i) : At::blocked(i);
    }
    TempStorage& storage_;
};

}  // namespace cub
