// SPDX-License-Identifier: Apache-2.0
// Warps and cooperative groups, up to the grid of a cooperative launch.
#include "harness/simt/tests/construct.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

template <class T>
__global__ void shuffle_all(T* out) {
    const unsigned full = 0xffffffffu, lane = threadIdx.x;
    const T own = static_cast<T>(static_cast<float>(lane));
    out[lane] = __shfl_sync(full, own, lane + 5);
    out[32 + lane] = __shfl_up_sync(full, own, 3);
    out[64 + lane] = __shfl_down_sync(full, own, 7);
    out[96 + lane] = __shfl_xor_sync(full, own, 9);
    out[128 + lane] = __shfl_sync(full, own, 2, 8);
    out[160 + lane] = __shfl_up_sync(full, own, 1, 4);
    out[192 + lane] = __shfl_down_sync(full, own, 1, 16);
    out[224 + lane] = __shfl_xor_sync(full, own, 1, 2);
}
template <class T>
static void check_shuffles(construct::Report& report, const char* type) {
    Array<T> out(256);
    shuffle_all<<<1, 32>>>((T*)out);
    const auto want = table(256, [](int i) -> float {
        const int lane = i % 32;
        const int from[] = {(lane + 5) % 32,
                            lane < 3 ? lane : lane - 3,
                            lane + 7 > 31 ? lane : lane + 7,
                            lane ^ 9,
                            lane / 8 * 8 + 2,
                            lane % 4 < 1 ? lane : lane - 1,
                            lane % 16 == 15 ? lane : lane + 1,
                            lane ^ 1};
        return float(from[i / 32]);
    });
    report.equal(type, as<float>(out.host()), want);
}
CONSTRUCT(shuffles_of_every_type_and_width) {
    check_shuffles<int>(report, "int");
    check_shuffles<unsigned>(report, "unsigned");
    check_shuffles<long long>(report, "long long");
    check_shuffles<unsigned long>(report, "unsigned long");
    check_shuffles<float>(report, "float");
    check_shuffles<double>(report, "double");
    check_shuffles<__half>(report, "half");
}

__global__ void votes(unsigned* out) {
    const unsigned lane = threadIdx.x, full = ~0u;
    unsigned* own = out + lane * 12;
    own[0] = __ballot_sync(full, lane % 3 == 0);
    own[1] = unsigned(__any_sync(full, lane == 40));
    own[2] = unsigned(__all_sync(full, lane < 32));
    own[3] = __match_any_sync(full, lane % 4);
    int all = 5;
    own[4] = __match_all_sync(full, 3.5f, &all) + unsigned(all);  // wraps to 0
    own[5] = __reduce_add_sync(full, lane);
    own[6] = unsigned(__reduce_min_sync(full, 4 - int(lane)));
    own[7] = __reduce_max_sync(full, lane);
    own[8] = __reduce_or_sync(full, 1u << lane % 4) + __reduce_and_sync(full, lane | 6u);
    own[9] = __reduce_xor_sync(full, 1u << lane % 3);
    own[10] = 0;
    if (lane < 8) own[10] = __ballot_sync(0xffu, lane % 2);
    __syncwarp();
    own[11] = __activemask();
}
CONSTRUCT(votes_matches_and_warp_reductions) {
    Array<unsigned> out(32 * 12);
    votes<<<1, 32>>>(out);
    report.equal("out", out.host(), [](int i) {
        const unsigned lane = unsigned(i) / 12;
        const unsigned want[] = {
            0x49249249u, 0,      1,     0x11111111u << lane % 4, 0u, 496, unsigned(-27),
            31,          15 + 6, 0b011, lane < 8 ? 0xaau : 0u,   ~0u};
        return want[i % 12];
    });
}

__global__ void block_votes(int* out) {
    const int i = int(threadIdx.x);
    const int count = __syncthreads_count(i % 3 == 0);
    const int all = __syncthreads_and(i < 1000), any = __syncthreads_or(i == 200);
    out[i] = count * 100 + all * 10 + any;
}
CONSTRUCT(barriers_that_count) {
    Array<int> out(70);
    block_votes<<<1, 70>>>(out);
    report.equal("out", out.host(), std::vector<int>(70, 2410));
}

__device__ float sum_of(const cg::thread_group& group, float* scratch, float value) {
    const unsigned rank = group.thread_rank();
    for (unsigned step = group.size() / 2; step > 0; step /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < step) value += scratch[rank + step];
        group.sync();
    }
    return value;
}
__device__ float tile_sum(cg::thread_block_tile<8> tile, float value) {
    for (int step = tile.size() / 2; step > 0; step /= 2) value += tile.shfl_xor(value, step);
    return value;
}
__global__ void groups(float* out) {
    __shared__ float scratch[64];
    const cg::thread_block block = cg::this_thread_block();
    const unsigned rank = block.thread_rank();
    const auto warp = cg::tiled_partition<32>(block);
    const auto tile = cg::tiled_partition<8>(warp);
    const float value = float(rank);
    const float of_block = sum_of(block, scratch, value);
    if (rank == 0) scratch[0] = of_block;
    block.sync();
    float* own = out + rank * 8;
    own[0] = scratch[0];
    own[1] = tile_sum(tile, value);
    own[2] = float(tile.meta_group_rank() * 10 + tile.meta_group_size());
    own[3] = cg::reduce(warp, value, cg::greater<float>());
    own[4] = cg::inclusive_scan(tile, value, cg::plus<float>());
    own[5] = cg::exclusive_scan(tile, value);
    const auto same = cg::labeled_partition(tile, int(rank % 3));
    own[6] = cg::reduce(same, value, cg::plus<float>()) + 1000 * float(same.size());
    own[7] = 0;
    if (rank % 2 == 1) {
        const auto active = cg::coalesced_threads();
        own[7] = float(active.ballot(active.thread_rank() == 0) + (active.any(1) != 0));
    }
}
CONSTRUCT(cooperative_groups_in_a_block) {
    Array<float> out(64 * 8);
    groups<<<1, 64>>>(out);
    report.equal("out", out.host(), [](int i) -> float {
        const int rank = i / 8, tile = rank / 8 * 8;
        float same = 0, members = 0, before = 0;
        for (int k = tile; k < tile + 8; ++k) {
            if (k % 3 == rank % 3) same += float(k), ++members;
            if (k < rank) before += float(k);
        }
        const float want[] = {2016,
                              float(8 * tile + 28),
                              float(rank % 32 / 8 * 10 + 4),
                              float(rank < 32 ? 31 : 63),
                              before + float(rank),
                              before,
                              same + 1000 * members,
                              rank % 2 == 1 ? 2.0f : 0.0f};
        return want[i % 8];
    });
}

// Each step adds the value of the next block in the step before; two barriers of the grid a step.
__global__ void exchange(float* values, float* sums, int steps) {
    __shared__ float own;
    const cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) own = float(blockIdx.x);
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0) values[blockIdx.x] = own;
        grid.sync();
        if (threadIdx.x == 0) own += values[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
    }
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = own + float(grid.is_valid());
}
CONSTRUCT(barriers_of_the_grid) {
    const int blocks = 6, steps = 3;
    Array<float> values(blocks), sums(blocks);
    float *values_pointer = values, *sums_pointer = sums;
    int count = steps;
    void* arguments[] = {&values_pointer, &sums_pointer, &count};
    int per_multiprocessor = 0, multiprocessors = 0, can = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, exchange, 64, 0));
    report.holds("there is room for the grid",
                 can && per_multiprocessor * multiprocessors >= blocks);
    CHECK_CUDA(cudaLaunchCooperativeKernel((void*)exchange, dim3(blocks), dim3(64), arguments));
    std::vector<float> want = numbers(blocks);
    for (int step = 0; step < steps; ++step) {
        const std::vector<float> before = want;
        for (int i = 0; i < blocks; ++i)
            want[std::size_t(i)] += before[std::size_t((i + 1) % blocks)];
    }
    for (float& value : want) value += 1;
    report.equal("sums", sums.host(), want);
}

// A barrier of the grid made by hand, which a cooperative launch allows.
__global__ void by_hand(unsigned* arrived, int* data) {
    data[blockIdx.x] = int(blockIdx.x) * 10;
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
    __threadfence();
    data[gridDim.x + blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
CONSTRUCT(blocks_that_wait_for_each_other) {
    Array<unsigned> arrived(1);
    Array<int> data(20);
    unsigned* arrived_pointer = arrived;
    int* data_pointer = data;
    void* arguments[] = {&arrived_pointer, &data_pointer};
    CHECK_CUDA(cudaLaunchCooperativeKernel(by_hand, 10, 1, arguments, 0, 0));
    report.equal("data", data.host(), [](int i) { return i < 10 ? 10 * i : (i + 1) % 10 * 10; });
}

__global__ void staged_copies(const float* from, float* to) {
    __shared__ __align__(16) float first[64];
    __shared__ __align__(16) float second[64];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, first, from, 64 * sizeof(float));
    __pipeline_memcpy_async(&second[4 * threadIdx.x], &from[64 + 4 * threadIdx.x], 16);
    __pipeline_commit();
    cg::wait(block);
    __pipeline_wait_prior(0);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) to[i] = first[63 - i] + second[i];
}
CONSTRUCT(copies_to_shared_memory) {
    Array<float> from(numbers(128)), to(64);
    staged_copies<<<1, 16>>>(from, to);
    report.equal("to", to.host(), std::vector<float>(64, 127));
}
