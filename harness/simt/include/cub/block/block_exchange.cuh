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

/// Where `is_sliced`, in the storage of one warp: a slice of the items after another.
template <class T, int threads_x, int items, bool is_sliced = false, int threads_y = 1,
          int threads_z = 1, int = 0>
class BlockExchange {
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int at_once = (is_sliced && threads > 32 ? 32 : threads) * items;
    using At = gradverify_detail::Arrangement<threads, items>;

  public:
    using TempStorage = gradverify_detail::Values<T, at_once>;
    explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

    template <class Out>
    void StripedToBlocked(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        by_block(in, out, At::striped, At::blocked, file, line);
    }
    void StripedToBlocked(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        StripedToBlocked(both, both, file, line);
    }
    template <class Out>
    void BlockedToStriped(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        by_block(in, out, At::blocked, At::striped, file, line);
    }
    void BlockedToStriped(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        BlockedToStriped(both, both, file, line);
    }
    template <class Out>
    void WarpStripedToBlocked(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        by_warp(in, out, At::warp_striped, At::blocked, file, line);
    }
    void WarpStripedToBlocked(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        WarpStripedToBlocked(both, both, file, line);
    }
    template <class Out>
    void BlockedToWarpStriped(const T (&in)[items], Out (&out)[items], GRADVERIFY_SIMT_PLACE) {
        by_warp(in, out, At::blocked, At::warp_striped, file, line);
    }
    void BlockedToWarpStriped(T (&both)[items], GRADVERIFY_SIMT_PLACE) {
        BlockedToWarpStriped(both, both, file, line);
    }
    /// Item i goes to the rank `ranks[i]`.
    template <class Out, class Rank>
    void ScatterToBlocked(const T (&in)[items], Out (&out)[items], Rank (&ranks)[items],
                          GRADVERIFY_SIMT_PLACE) {
        by_block(
            in, out, [&](int i) { return static_cast<int>(ranks[i]); }, At::blocked, file, line);
    }
    template <class Rank>
    void ScatterToBlocked(T (&both)[items], Rank (&ranks)[items], GRADVERIFY_SIMT_PLACE) {
        ScatterToBlocked(both, both, ranks, file, line);
    }
    template <class Out, class Rank>
    void ScatterToStriped(const T (&in)[items], Out (&out)[items], Rank (&ranks)[items],
                          GRADVERIFY_SIMT_PLACE) {
        by_block(
            in, out, [&](int i) { return static_cast<int>(ranks[i]); }, At::striped, file, line);
    }
    template <class Rank>
    void ScatterToStriped(T (&both)[items], Rank (&ranks)[items], GRADVERIFY_SIMT_PLACE) {
        ScatterToStriped(both, both, ranks, file, line);
    }

  private:
    /// Whether an item is of the slice. Without slices what is beyond is stored beyond the storage,
    /// as by CUB.
    static bool is_now(int at) { return !is_sliced || (0 <= at && at < at_once); }
    /// From one arrangement of the block to another; `in` and `out` may be one.
    template <class Out, class From, class To>
    void by_block(const T (&in)[items], Out (&out)[items], From from, To to, const char* file,
                  int line) {
        Out taken[items];
        for (int first = 0; first < threads * items; first += at_once) {
            if (first > 0) __syncthreads(file, line);
            for (int i = 0; i < items; ++i)
                if (const int at = from(i) - first; is_now(at)) storage_[at] = in[i];
            __syncthreads(file, line);
            for (int i = 0; i < items; ++i)
                if (const int at = to(i) - first; is_now(at)) taken[i] = storage_[at];
        }
        for (int i = 0; i < items; ++i) out[i] = taken[i];
    }
    /// The same within each warp, whose slice is its own where they are not sliced.
    template <class Out, class From, class To>
    void by_warp(const T (&in)[items], Out (&out)[items], From from, To to, const char* file,
                 int line) {
        const int own = gradverify_detail::thread() / 32 * 32 * items;
        for (int first = 0; first < threads * items; first += at_once) {
            if (first > 0) __syncthreads(file, line);
            if (own < first || own >= first + at_once) continue;
            for (int i = 0; i < items; ++i) storage_[from(i) - first] = in[i];
            sync_warp(file, line);
            for (int i = 0; i < items; ++i) out[i] = storage_[to(i) - first];
        }
    }
    static void sync_warp(const char* file, int line) {
        const int first = gradverify_detail::thread() / 32 * 32;
        const int lanes = threads - first < 32 ? threads - first : 32;
        __syncwarp(lanes == 32 ? ~0u : (1u << lanes) - 1u, file, line);
    }
    TempStorage& storage_;
};

}  // namespace cub
