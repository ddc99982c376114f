// SPDX-License-Identifier: Apache-2.0
// A tensor copied into one of another layout: a thread for each element, by the strides of both.
#pragma once

#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"

namespace gradverify::relayout {

/// Five axes; those that the tensor lacks have one element.
struct CopiedAxes {
    long long sizes[5], from[5], to[5];
};

inline CopiedAxes copied_axes(const TensorView& from, const TensorView& to) {
    CopiedAxes axes{{1, 1, 1, 1, 1}, {}, {}};
    for (int axis = 0; axis < from.rank; ++axis) {
        axes.sizes[axis] = from.size(axis);
        axes.from[axis] = from.stride(axis);
        axes.to[axis] = to.stride(axis);
    }
    return axes;
}

/// to[i] = from[i]; the last axis of the sizes runs first.
template <class T>
__global__ void copy_by_strides(const T* from, T* to, CopiedAxes axes, long long elements) {
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        long long left = i, read = 0, written = 0;
        for (int axis = 4; axis >= 0; --axis) {
            const long long position = left % axes.sizes[axis];
            left /= axes.sizes[axis];
            read += position * axes.from[axis];
            written += position * axes.to[axis];
        }
        to[written] = from[read];
    }
}

template <class T>
void launch_naive(const TensorView& from, const TensorView& to, const Launch& launch) {
    const long long elements = from.elements();
    if (elements == 0) return;
    copy_by_strides<T>
        <<<blocks_of_loop(elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
            from.as<const T>(), to.as<T>(), copied_axes(from, to), elements);
}

template <class T>
void declare_naive(KernelDeclaration& kernel) {
    declare_loop<T>(kernel);
    kernel.strided("x").strided("y").spatial_axes(1, 3);
}

}  // namespace gradverify::relayout
