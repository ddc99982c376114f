// SPDX-License-Identifier: Apache-2.0
// What CUB's own primitives are made of, and primitives of others too: shuffles of any type, ranks,
// raking layouts, storage without constructors.
#pragma once
#pragma GCC system_header

#include "cub/gradverify_common.cuh"

#define CUB_LOG_WARP_THREADS(unused) (5)
#define CUB_WARP_THREADS(unused) (1 << CUB_LOG_WARP_THREADS(0))
#define CUB_PTX_LOG_WARP_THREADS CUB_LOG_WARP_THREADS(0)
#define CUB_PTX_WARP_THREADS CUB_WARP_THREADS(0)
#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) < (b)) ? (b) : (a))
#define CUB_QUOTIENT_CEILING(x, y) (((x) + (y) - 1) / (y))

namespace cub {

/// Rounded up.
template <int N>
struct Log2 {
    enum { VALUE = 1 + int(Log2<(N + 1) / 2>::VALUE) };
};
template <>
struct Log2<1> {
    enum { VALUE = 0 };
};
template <>
struct Log2<0> {
    enum { VALUE = 0 };
};

template <class T>
struct Uninitialized {
    alignas(T) unsigned char gradverify_bytes[sizeof(T)];
    T& Alias() { return reinterpret_cast<T&>(*this); }
};

inline int RowMajorTid(int, int, int) { return gradverify_detail::thread(); }
inline unsigned LaneId() { return gradverify::simt::unit::lane(); }
inline unsigned WarpId() { return unsigned(gradverify_detail::thread()) / 32u; }
/// The lanes of the warp's part number `part`, of `lanes` lanes each.
template <int lanes>
inline unsigned WarpMask(unsigned part) {
    return lanes == 32 ? ~0u : ((1u << (lanes % 32)) - 1u) << (part * unsigned(lanes));
}

/// The value of a lane of the same part of the warp; of the lane itself where there is none.
template <int lanes, class T>
T ShuffleUp(T value, int by, int first, unsigned mask, GRADVERIFY_SIMT_PLACE) {
    const int own = int(LaneId()) % lanes;
    return __shfl_sync(mask, value, own - by >= first ? own - by : own, lanes, file, line);
}
template <int lanes, class T>
T ShuffleDown(T value, int by, int last, unsigned mask, GRADVERIFY_SIMT_PLACE) {
    const int own = int(LaneId()) % lanes;
    return __shfl_sync(mask, value, own + by <= last ? own + by : own, lanes, file, line);
}
template <int lanes, class T>
T ShuffleIndex(T value, int lane, unsigned mask, GRADVERIFY_SIMT_PLACE) {
    return __shfl_sync(mask, value, lane, lanes, file, line);
}

/// Where the threads of a block put a value each, for one warp to go over; with CUB's padding.
template <class T, int threads>
struct BlockRakingLayout {
    enum {
        SHARED_ELEMENTS = threads,
        MAX_RAKING_THREADS = threads < 32 ? threads : 32,
        SEGMENT_LENGTH = (threads + MAX_RAKING_THREADS - 1) / MAX_RAKING_THREADS,
        RAKING_THREADS = (threads + SEGMENT_LENGTH - 1) / SEGMENT_LENGTH,
        USE_SEGMENT_PADDING = SEGMENT_LENGTH % 2 == 0 && SEGMENT_LENGTH > 2,
        GRID_ELEMENTS = RAKING_THREADS * (SEGMENT_LENGTH + USE_SEGMENT_PADDING),
        UNGUARDED = threads % RAKING_THREADS == 0,
    };
    struct alignas(16) _TempStorage {
        T buff[GRID_ELEMENTS];
    };
    struct TempStorage : Uninitialized<_TempStorage> {};

    static T* PlacementPtr(TempStorage& storage, unsigned thread) {
        const unsigned padding = USE_SEGMENT_PADDING != 0 ? thread / SEGMENT_LENGTH : 0;
        return storage.Alias().buff + thread + padding;
    }
    static T* RakingPtr(TempStorage& storage, unsigned thread) {
        return storage.Alias().buff + thread * (SEGMENT_LENGTH + USE_SEGMENT_PADDING);
    }
};

}  // namespace cub
