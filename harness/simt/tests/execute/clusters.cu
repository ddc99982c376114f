// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks: their barrier, their indices, and shared memory of one block that others use.
#include <cooperative_groups.h>

#include "harness/simt/tests/construct.hpp"

namespace cg = cooperative_groups;

namespace {

#if !defined(__NVCC__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Each block sums what the blocks of its cluster have, and hands a number on to its neighbour.
__global__ void __cluster_dims__(4, 1, 1) sum_of_cluster(const int* data, int* sums) {
    __shared__ int own, from_neighbour[32];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
    if (threadIdx.x == 0) own = data[blockIdx.x];
    cluster.sync();
    int sum = 0;
    for (unsigned i = 0; i < blocks; ++i) sum += *cluster.map_shared_rank(&own, int(i));
    int* const neighbour = cluster.map_shared_rank(from_neighbour, int((rank + 1) % blocks));
    neighbour[threadIdx.x] = int(blockIdx.x * 100 + threadIdx.x);
    cluster.sync();
    sums[blockIdx.x * 32 + threadIdx.x] = sum * 10000 + from_neighbour[31 - threadIdx.x];
}

__device__ unsigned in_shared(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

/// The same in PTX, with the dynamic array, arrivals that go on, and atomics.
__global__ void exchange_by_ptx(int* out) {
    extern __shared__ __align__(16) int mine[];
    unsigned rank, count, x, y, has_cluster, of_rank;
    asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(count));
    asm("mov.u32 %0, %%cluster_ctaid.x; mov.u32 %1, %%cluster_ctaid.y;" : "=r"(x), "=r"(y));
    asm("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}"
        : "=r"(has_cluster));
    mine[threadIdx.x] = 0;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned next;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(next)
                 : "r"(in_shared(mine + threadIdx.x)), "r"((rank + 1) % count));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_rank) : "r"(next));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(next), "r"(rank * 1000) : "memory");
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    unsigned first, seen;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(in_shared(mine)));
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(first) : "memory");
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(first) : "memory");
    const int block = int(blockIdx.y * gridDim.x + blockIdx.x);
    int* const of_block = out + block * 64 + threadIdx.x * 2;
    of_block[0] = int(rank * 1000000 + x * 100000 + y * 10000 + has_cluster * 1000 + of_rank);
    of_block[1] = int(seen) * 10000 + mine[threadIdx.x];
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

/// As the kernel says, however it is launched, and for each instance.
template <unsigned size>
__global__ void __cluster_dims__(size, 1, 1) rank_in_cluster(int* ranks) {
    if (threadIdx.x == 0) ranks[blockIdx.x] += int(cg::this_cluster().block_rank() + 10 * size);
}

#else
template <unsigned size>
__global__ void rank_in_cluster(int*) {}
__global__ void sum_of_cluster(const int*, int*) {}
__global__ void exchange_by_ptx(int*) {}
#endif

CONSTRUCT(clusters_of_four_blocks) {
    const Array<int> data(table(8, [](int i) { return i + 1; })), sums(8 * 32);
    sum_of_cluster<<<8, 32>>>(data, sums);
    report.equal("sums", sums.host(), [](int i) {
        const int block = i / 32, neighbour = block / 4 * 4 + (block + 3) % 4;
        return (block < 4 ? 10 : 26) * 10000 + neighbour * 100 + 31 - i % 32;
    });
}

CONSTRUCT(clusters_of_kernels_by_pointer) {
    const Array<int> by_pointer(8), by_call(8), by_name(8);
    auto* const in_twos = &rank_in_cluster<2>;
    in_twos<<<8, 32>>>(by_pointer);
    int* to = by_call;
    void* arguments[] = {&to};
    auto* in_fours = &rank_in_cluster<4>;
    CHECK_CUDA(cudaLaunchKernel(in_fours, dim3(8), dim3(32), arguments, 0, nullptr));
    rank_in_cluster<4><<<8, 32>>>(by_name);
    rank_in_cluster<1><<<8, 32>>>(by_name);
    report.equal("by a variable", by_pointer.host(), [](int i) { return 20 + i % 2; });
    report.equal("by a call", by_call.host(), [](int i) { return 40 + i % 4; });
    report.equal("by name", by_name.host(), [](int i) { return 50 + i % 4; });
}

CONSTRUCT(clusters_by_an_attribute_in_ptx) {
    const Array<int> out(8 * 64);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4, 2);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = 128;
    cudaLaunchAttribute attributes[2];
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = attributes[0].val.clusterDim.y = 2;
    attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 2;
    int* pointer = out;
    CHECK_CUDA(cudaLaunchKernelEx(&config, exchange_by_ptx, pointer));
    report.equal("out", out.host(), [](int i) {
        const int block = i / 64, x = block % 4 % 2, y = block / 4, rank = y * 2 + x;
        if (i % 2 == 0) return rank * 1000000 + x * 100000 + y * 10000 + 1000 + (rank + 1) % 4;
        const int seen = 3000 + 128, own = (rank + 3) % 4 * 1000;
        return seen * 10000 + own + (rank == 0 && i % 64 == 1 ? 128 : 0);
    });
}

}  // namespace
