// SPDX-License-Identifier: Apache-2.0
// relayout/tiled: an image copied into another layout. A tile of the two axes that are contiguous
// in either goes through shared memory, so that reads and writes are coalesced; its rows are one
// element longer, so that columns differ in bank. Images that lie alike are copied as they lie.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "reference/relayout.hpp"

namespace {

using namespace gradverify;

constexpr int tile = 32, tile_rows = 8;  // rows that a block moves at once

/// The axis that is contiguous in `from`, the one that is in `to`, and a third one.
struct Planes {
    long long read, written, rest;      ///< their sizes
    long long from_written, from_rest;  ///< strides of `from`, whose `read` has stride 1
    long long to_read, to_rest;         ///< strides of `to`, whose `written` has stride 1
    bool are_alike;                     ///< the first two are one axis
};

/// The spatial axes count as one, since no layout parts them.
inline Planes planes_of(const TensorView& from, const TensorView& to) {
    long long pixels = 1;
    for (int axis = 2; axis < from.rank; ++axis) pixels *= from.size(axis);
    const long long sizes[3] = {from.size(0), from.size(1), pixels};
    const auto stride = [](const TensorView& view, int axis) -> long long {
        return view.stride(axis < 2 ? axis : view.rank - 1);
    };
    // An axis of one element may have any stride.
    const auto contiguous_axis = [&](const TensorView& view) {
        for (int axis = 0; axis < 3; ++axis)
            if (sizes[axis] > 1 && stride(view, axis) == 1) return axis;
        return 2;
    };
    const int read = contiguous_axis(from), written = contiguous_axis(to);
    if (read == written) return {.are_alike = true};
    const int rest = 3 - read - written;
    return {.read = sizes[read],
            .written = sizes[written],
            .rest = sizes[rest],
            .from_written = stride(from, written),
            .from_rest = stride(from, rest),
            .to_read = stride(to, read),
            .to_rest = stride(to, rest),
            .are_alike = false};
}

template <class T>
__global__ void copy_tiles(const T* from, T* to, Planes p, long long tiles_read,
                           long long tiles_written) {
    __shared__ T cells[tile][tile + 1];
    const long long tiles = tiles_read * tiles_written * p.rest;
    for (long long which = blockIdx.x; which < tiles; which += gridDim.x) {
        const long long first_read = which % tiles_read * tile;
        const long long first_written = which / tiles_read % tiles_written * tile;
        const long long plane = which / tiles_read / tiles_written;
        const long long r = first_read + threadIdx.x, w = first_written + threadIdx.x;
        for (int row = threadIdx.y; row < tile; row += tile_rows)
            if (r < p.read && first_written + row < p.written)
                cells[row][threadIdx.x] =
                    from[r + (first_written + row) * p.from_written + plane * p.from_rest];
        __syncthreads();
        for (int row = threadIdx.y; row < tile; row += tile_rows)
            if (w < p.written && first_read + row < p.read)
                to[w + (first_read + row) * p.to_read + plane * p.to_rest] =
                    cells[threadIdx.x][row];
        __syncthreads();
    }
}

template <class T>
__global__ void copy_alike(const T* from, T* to, long long elements) {
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) to[i] = from[i];
}

template <class T>
void launch_tiled(const TensorView& from, const TensorView& to, const Launch& launch) {
    const long long elements = from.elements();
    if (elements == 0) return;
    constexpr int threads = tile * tile_rows;
    constexpr long long most_blocks = 1 << 20;
    const Planes planes = planes_of(from, to);
    if (planes.are_alike) {
        copy_alike<T><<<blocks_of_loop(elements, threads), threads, 0, launch.stream>>>(
            from.as<const T>(), to.as<T>(), elements);
        return;
    }
    const long long tiles_read = (planes.read + tile - 1) / tile;
    const long long tiles_written = (planes.written + tile - 1) / tile;
    const long long tiles = tiles_read * tiles_written * planes.rest;
    copy_tiles<T>
        <<<static_cast<unsigned>(tiles < most_blocks ? tiles : most_blocks), dim3(tile, tile_rows),
           0, launch.stream>>>(from.as<const T>(), to.as<T>(), planes, tiles_read, tiles_written);
}

template <class T>
void forward(const relayout::Forward& call) {
    launch_tiled<T>(call.x, call.y, call.launch);
}

template <class T>
void grad_input(const relayout::GradInput& call) {
    launch_tiled<T>(call.dy, call.dx, call.launch);
}

template <class T>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.spatial_axes(1, 3).layout_of("x", {"nchw", "nhwc"}).layout_of("y", {"nchw", "nhwc"});
}

}  // namespace

GRADVERIFY_KERNEL_OF_EACH_TYPE(relayout::Forward, "tiled", forward, declare);
GRADVERIFY_KERNEL_OF_EACH_TYPE(relayout::GradInput, "tiled", grad_input, declare);
