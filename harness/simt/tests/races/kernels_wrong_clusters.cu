// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster that use each other's shared memory without the cluster's barrier.
#include <cooperative_groups.h>

#include "harness/simt/tests/launcher.hpp"

#ifndef __NVCC__  // which wants compute capability 9.0
namespace cg = cooperative_groups;

/// A row of this block, and that of the other block of its cluster.
#define ROWS()                                               \
    const cg::cluster_group cluster = cg::this_cluster();    \
    const int rank = static_cast<int>(cluster.block_rank()); \
    const int i = static_cast<int>(threadIdx.x);             \
    __shared__ float own[32];                                \
    float* const other = cluster.map_shared_rank(own, 1 - rank)

__global__ void __cluster_dims__(2, 1, 1) read_without_barrier(float* data) {
    ROWS();
    cluster.sync();
    own[i] = static_cast<float>(i);  // line: cluster_read_without_barrier
    __syncthreads();
    data[32 * rank + i] = other[i];  // line: cluster_read_without_barrier
    cluster.sync();
}
LAUNCHER(cluster_read_without_barrier) { read_without_barrier<<<2, 32>>>(call.data); }

__global__ void __cluster_dims__(2, 1, 1) ends_while_read(float* data) {
    ROWS();
    own[i] = data[i];
    cluster.sync();
    data[32 * rank + i] = other[i];  // line: cluster_ends
}
LAUNCHER(cluster_ends) { ends_while_read<<<2, 32>>>(call.data); }

__global__ void __cluster_dims__(2, 1, 1) written_before_it_begins(float* data) {
    ROWS();
    other[i] = data[i];  // line: cluster_begins
    cluster.sync();
    data[32 * rank + i] = own[i];
}
LAUNCHER(cluster_begins) { written_before_it_begins<<<2, 32>>>(call.data); }

__global__ void __cluster_dims__(2, 1, 1) never_arrives(float* data) {
    ROWS();
    if (rank == 0) cluster.barrier_arrive();
    if (rank == 0 || i < 16) cluster.barrier_wait();  // line: cluster_wait_without_arrival
    data[i] = *other;
}
LAUNCHER(cluster_of_odd_grid) { never_arrives<<<3, 32>>>(call.data); }
LAUNCHER(cluster_wait_without_arrival) { never_arrives<<<2, 32>>>(call.data); }

// To the scope of a block, another block of the cluster is another block.
__global__ void __cluster_dims__(2, 1, 1) count_in_block(float* count) {
    asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;"  // line: cluster_block_scope
                 ::"l"(count)
                 : "memory");
}
LAUNCHER(cluster_block_scope) { count_in_block<<<2, 32>>>(call.data); }
#endif
