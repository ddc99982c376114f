// SPDX-License-Identifier: Apache-2.0
// A tensor copied into one of another layout, blocked or not: a thread for each place that is
// written, in the order of memory, tails included.
#pragma once

#include "harness/kernel.hpp"
#include "kernels/blocked.cuh"
#include "kernels/element.cuh"

namespace gradverify::relayout {

/// to[i] = from[i]; a tail is zeros.
template <class T>
__global__ void copy_to_places(BlockedFilter<T> from, T* to, Places places, long long per_group) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < places.elements; i += step) {
        BlockedIndex index;
        const bool is_element = places.index_of(i, index);
        to[i] = is_element
                    ? from.at(index.first / per_group, index.first, index.second, index.position)
                    : static_cast<T>(0.0f);
    }
}

/// Of images, which are filters of one group here, and of filters.
template <class T>
void launch_blocked(const TensorView& from, const TensorView& to, int spatial_axes,
                    const Launch& launch) {
    const Places all = places(to, spatial_axes);
    if (all.elements == 0) return;
    const BlockedFilter<T> filter = blocked_filter<T>(from, spatial_axes);
    const long long per_group = filter.per_group > 0 ? filter.per_group : all.groups * all.first;
    const long long blocks = (all.elements + launch.block_size - 1) / launch.block_size;
    copy_to_places<T><<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), launch.block_size,
                        0, launch.stream>>>(filter, to.as<T>(), all, per_group);
}

/// What all of them promise.
template <class T>
void declare_blocked(KernelDeclaration& kernel) {
    kernel.spatial_axes(1, 3)
        .blocks_of({256, 64, 37})
        .aligned_to(sizeof(T))
        .on_given_stream()
        .with_empty_problems();
    if constexpr (DTypeOf<T>::value != DType::f32) kernel.storage(DTypeOf<T>::value);
}

}  // namespace gradverify::relayout
