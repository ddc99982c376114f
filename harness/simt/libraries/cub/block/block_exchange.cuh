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

/// Where `is_sliced`, the storage holds one warp's items, and the warps take turns.
template <class T, int threads_x, int items, bool is_sliced = false, int threads_y = 1,
          int threads_z = 1, int = 0>
class BlockExchange {
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int at_once = (is_sliced && threads > 32 ? 32 : threads) * items;
    using At = gradverify_detail::Arrangement<threads, items>;

  public:
    struct alignas(gradverify_detail::storage_alignment) TempStorage
        : gradverify_detail::Values<T, at_once> {};
    explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

#define GRADVERIFY_SIMT_EXCHANGE(NAME, BY, FROM, TO)                          \
    template <class Out>                                                      \
    void NAME(const T(&in)[items], Out(&out)[items], GRADVERIFY_SIMT_PLACE) { \
        BY(in, out, At::FROM, At::TO, file, line);                            \
    }                                                                         \
    void NAME(T(&both)[items], GRADVERIFY_SIMT_PLACE) { NAME(both, both, file, line); }
    GRADVERIFY_SIMT_EXCHANGE(StripedToBlocked, by_block, striped, blocked)
    GRADVERIFY_SIMT_EXCHANGE(BlockedToStriped, by_block, blocked, striped)
    GRADVERIFY_SIMT_EXCHANGE(WarpStripedToBlocked, by_warp, warp_striped, blocked)
    GRADVERIFY_SIMT_EXCHANGE(BlockedToWarpStriped, by_warp, blocked, warp_striped)
#undef GRADVERIFY_SIMT_EXCHANGE

/// Item i goes to the rank `ranks[i]`.
#define GRADVERIFY_SIMT_SCATTER(NAME, TO)                                                          \
    template <class Out, class Rank>                                                               \
    void NAME(const T(&in)[items], Out(&out)[items], Rank(&ranks)[items], GRADVERIFY_SIMT_PLACE) { \
        const auto rank = [&](int i) { return static_cast<int>(ranks[i]); };                       \
        by_block(in, out, rank, At::TO, file, line);                                               \
    }                                                                                              \
    template <class Rank>                                                                          \
    void NAME(T(&both)[items], Rank(&ranks)[items], GRADVERIFY_SIMT_PLACE) {                       \
        NAME(both, both, ranks, file, line);                                                       \
    }
    GRADVERIFY_SIMT_SCATTER(ScatterToBlocked, blocked)
    GRADVERIFY_SIMT_SCATTER(ScatterToStriped, striped)
#undef GRADVERIFY_SIMT_SCATTER

  private:
    /// Whether an item is of the slice. Without slices, even items beyond the storage are stored.
    static bool is_now(int at) { return !is_sliced || (0 <= at && at < at_once); }
    /// From one arrangement of the block to another; `in` and `out` may be one.
    template <class Out>
    void by_block(const T (&in)[items], Out (&out)[items], auto from, auto to, const char* file,
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
    template <class Out>
    void by_warp(const T (&in)[items], Out (&out)[items], auto from, auto to, const char* file,
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
