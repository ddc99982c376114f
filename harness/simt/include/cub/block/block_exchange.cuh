// SPDX-License-Identifier: Apache-2.0
// cub::BlockExchange: items change hands between the threads of a block, by way of shared memory.
#pragma once
#pragma GCC system_header

#include "cub/gradverify_common.cuh"

namespace cub {

/// Which item of the block a thread's i-th is.
namespace gradverify_detail {
template <int threads, int items>
struct Arrangement {
    static int blocked(int i) { return thread() * items + i; }
    static int striped(int i) { return i * threads + thread(); }
    static int warp_striped(int i) {
        const int lanes = threads < 32 ? threads : 32;
        return thread() / 32 * 32 * items + i * lanes + thread() % 32;
    }
};
}  // namespace gradverify_detail

template <class T, int threads_x, int items, bool = false, int threads_y = 1, int threads_z = 1,
          int = 0>
class BlockExchange {
    static constexpr int threads = threads_x * threads_y * threads_z;
    using At = gradverify_detail::Arrangement<threads, items>;

  public:
    using TempStorage = gradverify_detail::Values<T, threads * items>;
    explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

    template <class Out>
    void StripedToBlocked(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        put(in, At::striped);
        __syncthreads(file, line);
        take(out, At::blocked);
    }
    void StripedToBlocked(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        StripedToBlocked(both, both, file, line);
    }
    template <class Out>
    void BlockedToStriped(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        put(in, At::blocked);
        __syncthreads(file, line);
        take(out, At::striped);
    }
    void BlockedToStriped(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        BlockedToStriped(both, both, file, line);
    }
    template <class Out>
    void WarpStripedToBlocked(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        put(in, At::warp_striped);
        sync_warp(file, line);
        take(out, At::blocked);
    }
    void WarpStripedToBlocked(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        WarpStripedToBlocked(both, both, file, line);
    }
    template <class Out>
    void BlockedToWarpStriped(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        put(in, At::blocked);
        sync_warp(file, line);
        take(out, At::warp_striped);
    }
    void BlockedToWarpStriped(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        BlockedToWarpStriped(both, both, file, line);
    }
    /// Item i goes to the rank `ranks[i]`.
    template <class Out, class Rank>
    void ScatterToBlocked(const T (&in)[items], Out (&out)[items], Rank (&ranks)[items],
                          GRADVERIFY_SIMT_PLACE) {
        put(in, [&](int i) { return static_cast<int>(ranks[i]); });
        __syncthreads(file, line);
        take(out, At::blocked);
    }
    template <class Rank>
    void ScatterToBlocked(T (&both)[items], Rank (&ranks)[items], GRADVERIFY_SIMT_PLACE) {
        ScatterToBlocked(both, both, ranks, file, line);
    }
    template <class Out, class Rank>
    void ScatterToStriped(const T (&in)[items], Out (&out)[items], Rank (&ranks)[items],
                          GRADVERIFY_SIMT_PLACE) {
        put(in, [&](int i) { return static_cast<int>(ranks[i]); });
        __syncthreads(file, line);
        take(out, At::striped);
    }
    template <class Rank>
    void ScatterToStriped(T (&both)[items], Rank (&ranks)[items], GRADVERIFY_SIMT_PLACE) {
        ScatterToStriped(both, both, ranks, file, line);
    }

  private:
    template <class Index>
    void put(const T (&in)[items], Index index) {
        for (int i = 0; i < items; ++i) storage_[index(i)] = in[i];
    }
    template <class Out, class Index>
    void take(Out (&out)[items], Index index) {
        for (int i = 0; i < items; ++i) out[i] = storage_[index(i)];
    }
    static void sync_warp(const char* file, int line) {
        const int first = gradverify_detail::thread() / 32 * 32;
        const int lanes = threads - first < 32 ? threads - first : 32;
        __syncwarp(lanes == 32 ? ~0u : (1u << lanes) - 1u, file, line);
    }
    TempStorage& storage_;
};

}  // namespace cub
