// SPDX-License-Identifier: Apache-2.0
// CUB's loads, stores, exchanges, scans and sorts of blocks.
#include "harness/simt/tests/construct.hpp"

#include <algorithm>

#include <cuda_fp16.h>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

constexpr int threads = 64, items = 4, count = threads * items;

template <cub::BlockLoadAlgorithm loading, cub::BlockStoreAlgorithm storing>
__global__ void load_and_store(const float* from, float* held, float* stored, int end) {
    using Load = cub::BlockLoad<float, threads, items, loading>;
    using Store = cub::BlockStore<float, threads, items, storing>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } storage;
    float mine[items];
    if (end < count) {
        Load(storage.load).Load(from, mine, end, -1.0f);
    } else {
        Load(storage.load).Load(from, mine);
    }
    for (int i = 0; i < items; ++i) held[int(threadIdx.x) * items + i] = mine[i];
    __syncthreads();
    if (end < count) {
        Store(storage.store).Store(stored, mine, end);
    } else {
        Store(storage.store).Store(stored, mine);
    }
}
template <cub::BlockLoadAlgorithm loading, cub::BlockStoreAlgorithm storing>
static void check_load_and_store(construct::Report& report, const std::string& name) {
    constexpr bool is_striped = loading == cub::BLOCK_LOAD_STRIPED;
    for (const int end : {count, 150}) {
        Array<float> from(numbers(count, 1)), held(count), stored(count);
        load_and_store<loading, storing><<<1, threads>>>(from, held, stored, end);
        report.equal(name + ": held", held.host(), [=](int i) {
            const int at = is_striped ? i % items * threads + i / items : i;
            return at < end ? float(at + 1) : -1.0f;
        });
        report.equal(name + ": stored", stored.host(),
                     [=](int i) { return i < end ? float(i + 1) : 0.0f; });
    }
}
#define CHECK_ALGORITHM(NAME) \
    check_load_and_store<cub::BLOCK_LOAD_##NAME, cub::BLOCK_STORE_##NAME>(report, #NAME)
CONSTRUCT(cub_loads_and_stores) {
    CHECK_ALGORITHM(DIRECT);
    CHECK_ALGORITHM(STRIPED);
    CHECK_ALGORITHM(VECTORIZE);
    CHECK_ALGORITHM(TRANSPOSE);
    CHECK_ALGORITHM(WARP_TRANSPOSE);
    CHECK_ALGORITHM(WARP_TRANSPOSE_TIMESLICED);
}

// Kernels lay storages behind each other, so that each begins where the one before ends.
static_assert(sizeof(cub::BlockScan<float2, 32>::TempStorage) % 16 == 0);
static_assert(sizeof(cub::BlockScan<int, 33>::TempStorage) % 16 == 0);
static_assert(sizeof(cub::BlockExchange<short, 33, 1>::TempStorage) % 16 == 0);
static_assert(sizeof(cub::BlockRadixSort<short, 33, 1>::TempStorage) % 16 == 0);

template <bool is_sliced>
__global__ void exchange(int* out) {
    using Exchange = cub::BlockExchange<int, threads, items, is_sliced>;
    __shared__ typename Exchange::TempStorage storage;
    const int own = int(threadIdx.x) * items;
    int mine[items], ranks[items];
    const auto write = [&](int part) {
        for (int i = 0; i < items; ++i) out[part * count + own + i] = mine[i];
        __syncthreads();
        for (int i = 0; i < items; ++i) mine[i] = own + i;
    };
    for (int i = 0; i < items; ++i) {
        mine[i] = own + i;
        ranks[i] = count - 1 - (own + i);
    }
    Exchange(storage).StripedToBlocked(mine);
    write(0);
    Exchange(storage).BlockedToStriped(mine, mine);
    write(1);
    Exchange(storage).WarpStripedToBlocked(mine, mine);
    write(2);
    Exchange(storage).BlockedToWarpStriped(mine);
    write(3);
    Exchange(storage).ScatterToBlocked(mine, ranks);
    write(4);
    Exchange(storage).ScatterToStriped(mine, mine, ranks);
    write(5);
}
CONSTRUCT(cub_exchanges) {
    Array<int> out(6 * count), sliced(6 * count);
    exchange<false><<<1, threads>>>(out);
    exchange<true><<<1, threads>>>(sliced);
    report.equal("sliced", sliced.host(), out.host());
    report.equal("out", out.host(), [](int at) {
        const int own = at % count, thread = own / items, i = own % items;
        const int striped = i * threads + thread;
        const int of_warp = own / (32 * items) * 32 * items;
        const int lane = thread % 32, from = own - of_warp;
        const int want[] = {own % threads * items + own / threads,  // item own, were they striped
                            striped,
                            of_warp + from % 32 * items + from / 32,
                            of_warp + i * 32 + lane,
                            count - 1 - own,
                            count - 1 - striped};
        return want[at / count];
    });
}

/// The sum of all earlier tiles is each tile's prefix.
struct RunningSum {
    int total;
    __device__ int operator()(int of_block) {
        const int before = total;
        total += of_block;
        return before;
    }
};
struct Added {
    __device__ int operator()(int a, int b) const { return a + b; }
};
struct Largest {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
__global__ void scans(int* out) {
    using Scan = cub::BlockScan<int, threads>;
    __shared__ typename Scan::TempStorage storage;
    RunningSum exclusive{1000}, inclusive{0}, of_arrays{0};
    int* at = out + threadIdx.x;
    const auto next = [&](int value) {
        *at = value;
        at += threads;
        __syncthreads();
    };
    for (int tile = 0; tile < 3; ++tile) {
        const int value = tile * threads + int(threadIdx.x);
        int through = 0;
        Scan(storage).ExclusiveSum(value, through, exclusive);
        next(through);
        Scan(storage).InclusiveSum(value, through, inclusive);
        next(through);
        int values[2] = {2 * value, 2 * value + 1};
        Scan(storage).ExclusiveSum(values, values, of_arrays);
        next(values[0] * 3 + values[1]);
    }
    const int own = int(threadIdx.x), zigzag = own * 37 % 64;
    int through = -1, all = 0;
    Scan(storage).ExclusiveScan(zigzag, through, 5, Largest());
    next(through);
    Scan(storage).InclusiveScan(zigzag, through, Largest(), all);
    next(through + 100 * all);
    RunningSum none{0};
    Scan(storage).ExclusiveScan(own, through, Added(), none);
    next(through);
    int values[3] = {own, 1, 2};
    Scan(storage).InclusiveSum(values, values, all);
    next(values[0] + values[1] + values[2] + all);
}
CONSTRUCT(cub_scans_with_a_prefix) {
    Array<int> out(13 * threads);
    scans<<<1, threads>>>(out);
    std::vector<int> want;
    const auto add = [&](auto value) {
        for (int own = 0; own < threads; ++own) want.push_back(value(own));
    };
    const auto below = [](int n) { return n * (n - 1) / 2; };
    for (int tile = 0; tile < 3; ++tile) {
        const int first = tile * threads;
        add([&](int own) { return 1000 + below(first + own); });
        add([&](int own) { return below(first + own + 1); });
        add([&](int own) { return 3 * below(2 * (first + own)) + below(2 * (first + own) + 1); });
    }
    const auto largest = [](int n, int least) {
        for (int i = 0; i < n; ++i) least = std::max(least, i * 37 % 64);
        return least;
    };
    add([&](int own) { return largest(own, 5); });
    add([&](int own) { return largest(own + 1, 0) + 6300; });
    add([&](int own) { return below(own); });
    add([&](int own) {
        const int before = below(own) + 3 * own;
        return 3 * (before + own) + 1 + 3 + below(threads) + 3 * threads;
    });
    report.equal("out", out.host(), want);
}

template <class Key>
__global__ void sort(const Key* keys, Key* sorted, int* order, bool is_descending) {
    using Sort = cub::BlockRadixSort<Key, threads, items, int>;
    __shared__ typename Sort::TempStorage storage;
    Key mine[items];
    int from[items];
    for (int i = 0; i < items; ++i) {
        from[i] = int(threadIdx.x) * items + i;
        mine[i] = keys[from[i]];
    }
    if (is_descending) {
        Sort(storage).SortDescendingBlockedToStriped(mine, from);
    } else {
        Sort(storage).Sort(mine, from);
    }
    for (int i = 0; i < items; ++i) {
        const int at = is_descending ? i * threads + int(threadIdx.x) : threadIdx.x * items + i;
        sorted[at] = mine[i];
        order[at] = from[i];
    }
}
template <class Key, class Make>
static void check_sort(construct::Report& report, const std::string& type, Make make) {
    const std::vector<Key> keys = table(count, [&](int i) { return Key(make(i * 73 % count)); });
    for (const bool is_descending : {false, true}) {
        Array<Key> from(keys), sorted(count);
        Array<int> order(count);
        sort<Key><<<1, threads>>>(from, sorted, order, is_descending);
        std::vector<int> want = table(count, [](int i) { return i; });
        std::stable_sort(want.begin(), want.end(), [&](int a, int b) {
            const float x = float(keys[a]), y = float(keys[b]);
            return is_descending ? x > y : x < y;
        });
        report.equal(type + ": order", order.host(), want);
        report.equal(type + ": keys", sorted.host(), [&](int i) { return keys[want[i]]; });
    }
}
__global__ void sort_by_bits(int* keys) {
    using Sort = cub::BlockRadixSort<int, threads, 1>;
    __shared__ typename Sort::TempStorage storage;
    int mine[1] = {keys[threadIdx.x]};
    Sort(storage).Sort(mine, 1, 4);
    keys[threadIdx.x] = mine[0];
}
CONSTRUCT(cub_sorts) {
    check_sort<int>(report, "int", [](int i) { return i / 3 - 40; });
    check_sort<unsigned>(report, "unsigned", [](int i) { return unsigned(i / 2) << 20; });
    check_sort<float>(report, "float", [](int i) { return float(i / 2 - 60) * 0.125f; });
    check_sort<__half>(report, "half", [](int i) { return __float2half(float(i / 2 - 60)); });
    check_sort<double>(report, "double", [](int i) { return i % 7 == 0 ? -0.0 : i - 100.0; });
    check_sort<unsigned char>(report, "bytes", [](int i) { return (unsigned char)(i); });
    std::vector<int> want = table(threads, [](int i) { return 63 - i; });
    Array<int> keys(want);
    sort_by_bits<<<1, threads>>>(keys);
    std::stable_sort(want.begin(), want.end(),
                     [](int a, int b) { return (a >> 1 & 7) < (b >> 1 & 7); });
    report.equal("by three bits", keys.host(), want);
}
