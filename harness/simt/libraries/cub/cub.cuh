// SPDX-License-Identifier: Apache-2.0
// CUB's primitives for blocks and warps. As in CUB, the first thread gets a reduction's result, and
// temporary storage may be used again behind a barrier only. CUB promises no order of a sum.
#pragma once
#pragma GCC system_header

#include "cub/block/block_exchange.cuh"
#include "cub/block/block_load.cuh"
#include "cub/block/block_radix_sort.cuh"
#include "cub/block/block_scan.cuh"
#include "cub/block/block_store.cuh"
#include "cub/gradverify_common.cuh"
#include "cub/gradverify_iterators.cuh"
#include "cub/gradverify_utilities.cuh"
#include "gradverify_libraries/cub_device.hpp"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
};

template <class T, int threads_x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int threads_y = 1, int threads_z = 1, int = 0>
class BlockReduce {
    static constexpr int threads = threads_x * threads_y * threads_z;

  public:
    using TempStorage = gradverify_detail::Values<T, threads>;
    explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

    T Reduce(T value, auto op, int valid = threads, GRADVERIFY_SIMT_PLACE) {
        const int own = gradverify_detail::thread();
        storage_[own] = value;
        __syncthreads(file, line);
        for (int i = 1; own == 0 && i < valid; ++i) value = op(value, storage_[i]);
        return value;
    }
    template <int items>
    T Reduce(T (&values)[items], auto op, GRADVERIFY_SIMT_PLACE) {
        T value = values[0];
        for (int i = 1; i < items; ++i) value = op(value, values[i]);
        return Reduce(value, op, threads, file, line);
    }
    T Sum(T value, int valid = threads, GRADVERIFY_SIMT_PLACE) {
        return Reduce(value, cub::Sum(), valid, file, line);
    }
    template <int items>
    T Sum(T (&values)[items], GRADVERIFY_SIMT_PLACE) {
        return Reduce(values, cub::Sum(), file, line);
    }

  private:
    TempStorage& storage_;
};

/// The lanes of one warp, or of equal parts of it.
template <class T, int lanes = 32, int = 0>
class WarpReduce {
  public:
    using TempStorage = NullType;
    explicit WarpReduce(TempStorage&) {}

    T Reduce(T value, auto op, int valid = lanes, GRADVERIFY_SIMT_PLACE) {
        const int own = gradverify_detail::thread() % lanes;
        const unsigned mask = gradverify_detail::mask_of_part(lanes);
        for (int step = 1; step < lanes; step *= 2) {
            const T other = __shfl_down_sync(mask, value, unsigned(step), lanes, file, line);
            if (own + step < valid) value = op(value, other);
        }
        return value;
    }
    T Sum(T value, int valid = lanes, GRADVERIFY_SIMT_PLACE) {
        return Reduce(value, cub::Sum(), valid, file, line);
    }
};

/// A scan's last argument is a variable for the sum of all. Without an initial value, lane 0's
/// exclusive result is left as it is.
template <class T, int lanes = 32, int = 0>
class WarpScan {
  public:
    using TempStorage = NullType;
    explicit WarpScan(TempStorage&) {}

    void InclusiveScan(T in, T& out, auto op, GRADVERIFY_SIMT_PLACE) {
        const int own = gradverify_detail::thread() % lanes;
        const unsigned mask = gradverify_detail::mask_of_part(lanes);
        out = in;
        for (int step = 1; step < lanes; step *= 2) {
            const T other = __shfl_up_sync(mask, out, unsigned(step), lanes, file, line);
            if (own >= step) out = op(other, out);
        }
    }
    void InclusiveScan(T in, T& out, auto op, T& all, GRADVERIFY_SIMT_PLACE) {
        InclusiveScan(in, out, op, file, line);
        all = Broadcast(out, lanes - 1, file, line);
    }
    void InclusiveSum(T in, T& out, GRADVERIFY_SIMT_PLACE) {
        InclusiveScan(in, out, cub::Sum(), file, line);
    }
    void InclusiveSum(T in, T& out, T& all, GRADVERIFY_SIMT_PLACE) {
        InclusiveScan(in, out, cub::Sum(), all, file, line);
    }
    template <class Op>
    requires(std::is_invocable_v<Op&, const T&, const T&>)
    void ExclusiveScan(T in, T& out, Op op, GRADVERIFY_SIMT_PLACE) {
        T all;
        ExclusiveScan(in, out, op, all, file, line);
    }
    template <class Op>
    requires(std::is_invocable_v<Op&, const T&, const T&>)
    void ExclusiveScan(T in, T& out, Op op, T& all, GRADVERIFY_SIMT_PLACE) {
        T through;
        InclusiveScan(in, through, op, all, file, line);
        const T before =
            __shfl_up_sync(gradverify_detail::mask_of_part(lanes), through, 1u, lanes, file, line);
        if (gradverify_detail::thread() % lanes > 0) out = before;
    }
    template <class Op>
    requires(std::is_invocable_v<Op&, const T&, const T&>)
    void ExclusiveScan(T in, T& out, T initial, Op op, GRADVERIFY_SIMT_PLACE) {
        T before = initial;
        ExclusiveScan(in, before, op, file, line);
        out = gradverify_detail::thread() % lanes > 0 ? op(initial, before) : initial;
    }
    void ExclusiveSum(T in, T& out, GRADVERIFY_SIMT_PLACE) {
        ExclusiveScan(in, out, T(), cub::Sum(), file, line);
    }
    T Broadcast(T value, unsigned lane, GRADVERIFY_SIMT_PLACE) {
        return __shfl_sync(gradverify_detail::mask_of_part(lanes), value, int(lane), lanes, file,
                           line);
    }
};

}  // namespace cub
