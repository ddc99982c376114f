// SPDX-License-Identifier: Apache-2.0
// The products of fully connected layers on the tensor cores of sm_90a: y = x w^T + b, dx = dy w
// and dw = dy^T x, from factors in bfloat16 to results in float32. A block has 64 x 64 elements of
// the result. One warp has tiles of the factors copied through a ring of stages, and a warpgroup
// multiplies them. Two blocks side by side, a cluster, need the same tile of the left factor: each
// copies half of it for both.
#pragma once

#include <stdexcept>

#include <cuda_bf16.h>

#include "harness/kernel.hpp"
#include "kernels/fast/hopper.cuh"
#include "kernels/fast/tensor_maps.hpp"
#include "kernels/grids.hpp"
#include "reference/fc.hpp"

namespace gradverify::fc {

using Element = __nv_bfloat16;

constexpr int tile = 64;   ///< elements of a tile along each axis
constexpr int blocks = 2;  ///< of a cluster
constexpr int depth = 16;  ///< terms of the sum in one product
constexpr int row_bytes = tile * sizeof(Element);
constexpr int tile_bytes = tile * row_bytes, half_bytes = tile_bytes / blocks;
constexpr int multiplying_warps = 4, multiplying = 32 * multiplying_warps;
constexpr int threads = multiplying + 32;

/// What orders a stage's filling and reading.
struct Ring {
    static constexpr int stages = 3;
    static constexpr CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    /// Of both factors' tiles, which one phase of a stage's barrier waits for.
    static constexpr unsigned bytes_expected = 2 * tile_bytes;

    __device__ static void meet_first() { hopper::meet_in_cluster(); }
    __device__ static int place_of(int step) { return step % stages; }
    __device__ static void wait_until_filled(hopper::Barrier& filled, int step) {
        filled.wait(step / stages % 2);
    }
    __device__ static void fence_sums() { hopper::fence_sums(); }
    __device__ static void commit() { hopper::commit_products(); }
    /// Only the products that were begun last may still read their stage.
    __device__ static void wait_before_release() { hopper::wait_for_products_but<1>(); }
    __device__ static void wait_for_sums() { hopper::wait_for_products_but<0>(); }
    /// The stage whose products have ended when those of `step` have begun.
    __device__ static int released_at(int step) { return step - 1; }
    __device__ static void fence_result() { hopper::fence_for_copies(); }
};

/// Factors and result as the copies see them.
struct Maps {
    CUtensorMap a, b, result;
};

/// Shared memory, from a multiple of 1,024 bytes on: the stages, then the result, then barriers.
template <class Ring>
struct Memory {
    static constexpr int result_bytes = tile * tile * sizeof(float);
    static constexpr int barriers_at = Ring::stages * 2 * tile_bytes + result_bytes;
    static constexpr int bytes = barriers_at + 2 * Ring::stages * sizeof(hopper::Barrier);

    unsigned char* first;

    __device__ unsigned char* a(int step) const {
        return first + Ring::place_of(step) * 2 * tile_bytes;
    }
    __device__ unsigned char* b(int step) const { return a(step) + tile_bytes; }
    __device__ float* result() const {
        return reinterpret_cast<float*>(first + Ring::stages * 2 * tile_bytes);
    }
    __device__ hopper::Barrier& filled(int step) const {
        return reinterpret_cast<hopper::Barrier*>(first + barriers_at)[step % Ring::stages];
    }
    __device__ hopper::Barrier& emptied(int step) const { return (&filled(step))[Ring::stages]; }
};

/// A block's work. `a_transposed`: the rows of a, as it lies in memory, go along the sum.
template <class Ring, bool a_transposed, bool b_transposed>
struct Block {
    Memory<Ring> memory;
    const Maps& maps;
    int row, column, steps;  ///< of the result; along the sum
    unsigned rank;

    __device__ void begin_barriers() const {
        if (threadIdx.x == 0) {
            for (int stage = 0; stage < Ring::stages; ++stage) {
                memory.filled(stage).begin(1);
                memory.emptied(stage).begin(blocks * multiplying_warps);
            }
            hopper::publish_barriers();
        }
    }

    /// By one thread: has the stages filled, one after the other.
    __device__ void copy() const {
        for (int step = 0; step < steps; ++step) {
            hopper::Barrier& filled = memory.filled(step);
            memory.emptied(step).wait(step / Ring::stages % 2 ^ 1);
            filled.arrive_and_expect(Ring::bytes_expected);
            const int along = step * tile, half = static_cast<int>(rank) * tile / blocks;
            hopper::load_tile_for((1u << blocks) - 1, memory.a(step) + rank * half_bytes, maps.a,
                                  a_transposed ? row : along, (a_transposed ? along : row) + half,
                                  filled);
            hopper::load_tile(memory.b(step), maps.b, b_transposed ? column : along,
                              b_transposed ? along : column, filled);
        }
    }

    __device__ void release(int step) const {
        if (threadIdx.x % 32 == 0)
            for (unsigned block = 0; block < blocks; ++block)
                memory.emptied(step).arrive_in_block(block);
    }

    __device__ void multiply(hopper::Sums& sums) const {
        for (int step = 0; step < steps; ++step) {
            Ring::wait_until_filled(memory.filled(step), step);
            Ring::fence_sums();
            for (int i = 0; i < tile / depth; ++i) {
                constexpr int in_row = depth * sizeof(Element), in_rows = depth * row_bytes;
                hopper::begin_product<Element, a_transposed, b_transposed>(
                    sums,
                    hopper::descriptor(memory.a(step) + i * (a_transposed ? in_rows : in_row)),
                    hopper::descriptor(memory.b(step) + i * (b_transposed ? in_rows : in_row)));
            }
            Ring::commit();
            Ring::wait_before_release();
            if (Ring::released_at(step) >= 0) release(Ring::released_at(step));
        }
        Ring::wait_for_sums();
    }

    /// Adds the bias, if there is one, and has the result copied out.
    __device__ void store(const hopper::Sums& sums, const float* bias, int columns) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        float* const result = memory.result() + (threadIdx.x / 32 * 16 + lane / 4) * tile;
        for (int i = 0; i < 32; ++i) {
            const int at = i / 4 * 8 + lane % 4 * 2 + i % 2;
            const bool has_bias = bias != nullptr && column + at < columns;
            result[i / 2 % 2 * 8 * tile + at] = sums.at[i] + (has_bias ? bias[column + at] : 0.0f);
        }
        Ring::fence_result();
        asm volatile("bar.sync 1, %0;" ::"n"(multiplying) : "memory");
        if (threadIdx.x == 0) hopper::store_tile(maps.result, column, row, memory.result());
    }
};

/// result = a b, plus bias[column] where there is one.
///
/// **Grid** a block for each tile of the result, columns first, an even number of them; `threads`.
/// **Shapes** a `m, l`, or `l, m` if transposed; b `p, l`, or `l, p`; bias `p`; result `m, p`.
template <class Ring, bool a_transposed, bool b_transposed>
__global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__(threads)
    multiply_tiles(const __grid_constant__ Maps maps, const float* bias, int columns, int terms) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned across = (columns + tile * blocks - 1) / (tile * blocks) * blocks;
    const Block<Ring, a_transposed, b_transposed> block{
        {shared},
        maps,
        static_cast<int>(blockIdx.x / across) * tile,
        static_cast<int>(blockIdx.x % across) * tile,
        (terms + tile - 1) / tile,
        hopper::rank_in_cluster()};
    block.begin_barriers();
    __syncthreads();
    Ring::meet_first();
    if (threadIdx.x == multiplying) block.copy();
    if (threadIdx.x < multiplying) {
        hopper::Sums sums{};
        block.multiply(sums);
        block.store(sums, bias, columns);
    }
    // The other block may still copy into this one's memory, and arrive at its barriers.
    hopper::meet_in_cluster();
}

/// A matrix of `rows, columns` in tiles of `rows_of_tile` by 64.
template <class T>
CUtensorMap map_of(const T* data, long long rows, long long columns, int rows_of_tile,
                   CUtensorMapSwizzle swizzle) {
    return tensor_maps::in_boxes<T, 2>({data, {columns, rows}}, {tile, rows_of_tile}, swizzle);
}

/// The sizes of a product, `m, l` times `l, p`.
struct Sizes {
    long long m, l, p;
};

template <class Ring, bool a_transposed, bool b_transposed>
void launch_tiles(const Sizes& sizes, const Element* a, const Element* b, const float* bias,
                  float* result, cudaStream_t stream) {
    const auto factor = [](const Element* data, bool transposed, long long outer, long long terms,
                           int rows_of_tile) {
        return map_of(data, transposed ? terms : outer, transposed ? outer : terms, rows_of_tile,
                      Ring::swizzle);
    };
    const Maps maps{factor(a, a_transposed, sizes.m, sizes.l, tile / blocks),
                    factor(b, b_transposed, sizes.p, sizes.l, tile),
                    map_of(result, sizes.m, sizes.p, tile, CU_TENSOR_MAP_SWIZZLE_NONE)};
    if (cudaFuncSetAttribute(multiply_tiles<Ring, a_transposed, b_transposed>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             Memory<Ring>::bytes) != cudaSuccess)
        throw std::runtime_error("no block has as much shared memory");
    const auto across = divided_up(sizes.p, tile * blocks) * blocks;
    const auto grid = static_cast<unsigned>(across * divided_up(sizes.m, tile));
    multiply_tiles<Ring, a_transposed, b_transposed>
        <<<grid, threads, Memory<Ring>::bytes, stream>>>(maps, bias, static_cast<int>(sizes.p),
                                                         static_cast<int>(sizes.l));
}

template <class Ring>
void forward_in_tiles(const Forward& call) {
    launch_tiles<Ring, false, false>({call.n, call.c, call.k}, call.x.as<const Element>(),
                                     call.w.as<const Element>(), call.b.as<const float>(),
                                     call.y.as<float>(), call.launch.stream);
}
template <class Ring>
void grad_input_in_tiles(const GradInput& call) {
    launch_tiles<Ring, false, true>({call.n, call.k, call.c}, call.dy.as<const Element>(),
                                    call.w.as<const Element>(), nullptr, call.dx.as<float>(),
                                    call.launch.stream);
}
template <class Ring>
void grad_weight_in_tiles(const GradWeight& call) {
    launch_tiles<Ring, true, true>({call.k, call.n, call.c}, call.dy.as<const Element>(),
                                   call.x.as<const Element>(), nullptr, call.dw.as<float>(),
                                   call.launch.stream);
}

/// Rows of whole 16 bytes, which tensor maps ask for.
inline void declare_forward(KernelDeclaration& kernel) {
    kernel.on_tensor_cores()
        .storage("x", DType::bf16)
        .storage("w", DType::bf16)
        .where("c", multiple_of(8))
        .where("k", multiple_of(4));
}
inline void declare_gradient(KernelDeclaration& kernel) {
    kernel.on_tensor_cores()
        .contiguous()
        .storage("y", DType::bf16)
        .where("c", multiple_of(8))
        .where("k", multiple_of(8));
}

}  // namespace gradverify::fc
