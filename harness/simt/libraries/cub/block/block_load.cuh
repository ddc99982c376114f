// SPDX-License-Identifier: Apache-2.0
// cub::BlockLoad: the items of a block, blocked or striped over its threads. A vectorized load
// needs no alignment: since version 3, CUB looks for it first.
#pragma once
#pragma GCC system_header

#include <type_traits>

#include "cub/block/block_exchange.cuh"

namespace cub {

namespace gradverify_detail {
/// The algorithms of loads and stores, which CUB names in this order.
enum { direct, striped, vectorize, transpose, warp_transpose, warp_transpose_timesliced };

/// What a load and a store share: a thread's items, and the storage for a transposition.
template <class T, int threads_x, int items, int algorithm, int threads_y, int threads_z>
class BlockAccess {
  protected:
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr bool by_warps = algorithm >= warp_transpose;
    static constexpr bool transposes = algorithm >= transpose;
    static_assert(!by_warps || threads % 32 == 0, "whole warps transpose");
    using Exchange = BlockExchange<T, threads_x, items, algorithm == warp_transpose_timesliced,
                                   threads_y, threads_z>;

  public:
    using TempStorage = std::conditional_t<transposes, typename Exchange::TempStorage, NullType>;
    explicit BlockAccess(TempStorage& storage) : storage_(storage) {}

  protected:
    static int index(int i) {
        using At = Arrangement<threads, items>;
        if constexpr (by_warps) return At::warp_striped(i);
        return transposes || algorithm == striped ? At::striped(i) : At::blocked(i);
    }
    TempStorage& storage_;
};
}  // namespace gradverify_detail

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

template <class T, int threads_x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT,
          int threads_y = 1, int threads_z = 1, int = 0>
class BlockLoad
    : public gradverify_detail::BlockAccess<T, threads_x, items, algorithm, threads_y, threads_z> {
    using Base = typename BlockLoad::BlockAccess;
    using typename Base::Exchange;

  public:
    using Base::Base;

    void Load(auto block, T (&to)[items], GRADVERIFY_SIMT_PLACE) {
        Load(block, to, Base::threads * items, file, line);
    }
    /// Items from `end` on stay as they are, or are unspecified where the load transposes.
    void Load(auto block, T (&to)[items], int end, GRADVERIFY_SIMT_PLACE) {
        for (int i = 0; i < items; ++i)
            if (this->index(i) < end) to[i] = block[this->index(i)];
        if constexpr (Base::by_warps) {
            Exchange(this->storage_).WarpStripedToBlocked(to, file, line);
        } else if constexpr (Base::transposes) {
            Exchange(this->storage_).StripedToBlocked(to, file, line);
        }
    }
    void Load(auto block, T (&to)[items], int end, auto beyond, GRADVERIFY_SIMT_PLACE) {
        for (T& item : to) item = beyond;
        Load(block, to, end, file, line);
    }
};

}  // namespace cub
