// SPDX-License-Identifier: Apache-2.0
// What extensions make their own primitives of: CUB's scans of warps, shuffles of any type, raking
// layouts, and iterators.
#include "harness/simt/tests/construct.hpp"

#include <cub/block/block_raking_layout.cuh>
#include <cub/cub.cuh>
#include <cub/util_ptx.cuh>
#include <cub/util_type.cuh>
#include <cub/warp/warp_scan.cuh>

struct Pair {
    double first;
    float second;
};
struct Larger {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

template <int lanes>
__global__ void scans(int* out) {
    using Scan = cub::WarpScan<int, lanes>;
    __shared__ typename Scan::TempStorage storage[64 / lanes];
    Scan scan(storage[threadIdx.x / lanes]);
    const int own = int(threadIdx.x), zigzag = own * 37 % 64;
    int through = -1, all = 0;
    const auto next = [&](int value) {
        *out = value;
        out += 64;
    };
    out += own;
    scan.InclusiveSum(own, through, all);
    next(through + 10000 * all);
    scan.ExclusiveScan(zigzag, through, 5, Larger());
    next(through);
    through = -1;
    scan.ExclusiveScan(zigzag, through, Larger(), all);
    next(own % lanes == 0 ? all : through + all);
    scan.ExclusiveSum(own, through);
    next(through + scan.Broadcast(own, 3));
}
template <int lanes>
static void check_scans(construct::Report& report) {
    Array<int> out(4 * 64);
    scans<lanes><<<1, 64>>>(out);
    const auto sum = [](int from, int to) {
        int total = 0;
        for (int i = from; i < to; ++i) total += i;
        return total;
    };
    const auto largest = [](int from, int to, int least) {
        for (int i = from; i < to; ++i) least = i * 37 % 64 > least ? i * 37 % 64 : least;
        return least;
    };
    report.equal("scans of " + std::to_string(lanes), out.host(), [&](int at) {
        const int own = at % 64, first = own / lanes * lanes, end = first + lanes;
        const int all = largest(first, end, 0);
        const int want[] = {sum(first, own + 1) + 10000 * sum(first, end), largest(first, own, 5),
                            own == first ? all : largest(first, own, 0) + all,
                            sum(first, own) + first + 3};
        return want[at / 64];
    });
}
CONSTRUCT(cub_scans_of_warps) {
    check_scans<32>(report);
    check_scans<8>(report);
}

__global__ void shuffles(double* out) {
    const unsigned mask = cub::WarpMask<8>(threadIdx.x / 8);
    const Pair own{double(threadIdx.x), float(threadIdx.x)};
    const Pair up = cub::ShuffleUp<8>(own, 3, 0, mask), down = cub::ShuffleDown<8>(own, 3, 7, mask);
    const Pair fifth = cub::ShuffleIndex<8>(own, 5, mask);
    const int thread = cub::RowMajorTid(int(blockDim.x), 1, 1);
    out[thread] = up.first * 10000 + down.second * 100 + fifth.first;
}
CONSTRUCT(cub_shuffles_of_pairs) {
    Array<double> out(32);
    shuffles<<<1, 32>>>(out);
    report.equal("out", out.host(), [](int own) {
        const int lane = own % 8, first = own - lane;
        return double(lane >= 3 ? own - 3 : own) * 10000 + double(lane < 5 ? own + 3 : own) * 100 +
               first + 5;
    });
}

template <int threads>
__global__ void rake(int* out) {
    using Layout = cub::BlockRakingLayout<int, threads>;
    __shared__ typename Layout::TempStorage storage;
    *Layout::PlacementPtr(storage, threadIdx.x) = int(threadIdx.x);
    __syncthreads();
    if (threadIdx.x >= Layout::RAKING_THREADS) return;
    const int* segment = Layout::RakingPtr(storage, threadIdx.x);
    for (int i = 0; i < Layout::SEGMENT_LENGTH; ++i)
        out[int(threadIdx.x) * Layout::SEGMENT_LENGTH + i] = segment[i];
}
CONSTRUCT(cub_raking_layouts) {
    Array<int> out(128);
    rake<128><<<1, 128>>>(out);
    report.equal("128 threads", out.host(), [](int i) { return i; });
    Array<int> few(16);
    rake<16><<<1, 16>>>(few);
    report.equal("16 threads", few.host(), [](int i) { return i; });
    static_assert(cub::Log2<32>::VALUE == 5 && cub::Log2<33>::VALUE == 6);
    static_assert(sizeof(cub::Uninitialized<Pair>) == sizeof(Pair));
}

#if CUDART_VERSION >= 13000  // whose CUB has none of its own
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
namespace cub {
template <class T>
using CountingInputIterator = thrust::counting_iterator<T>;
template <class T>
using ConstantInputIterator = thrust::constant_iterator<T>;
template <class T, class F, class I>
using TransformInputIterator = thrust::transform_iterator<F, I>;
}  // namespace cub
#endif
struct Squared {
    __host__ __device__ int operator()(int i) const { return i * i; }
};
__global__ void iterate(int* out) {
    const cub::CountingInputIterator<int> counting(3);
    const cub::ConstantInputIterator<int> constant(7);
    const cub::TransformInputIterator<int, Squared, cub::CountingInputIterator<int>> squares(
        counting, Squared());
    out[0] = counting[4];
    out[1] = *(counting + 2);
    out[2] = constant[100];
    out[3] = squares[2];
    auto next = squares;
    ++next;
    out[4] = *next++;
    out[5] = *next;
    out[6] = int(next - squares);
}
CONSTRUCT(cub_iterators) {
    Array<int> out(7);
    iterate<<<1, 1>>>(out);
    report.equal("out", out.host(), {7, 5, 7, 25, 16, 25, 2});
}
