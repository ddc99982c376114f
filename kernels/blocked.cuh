// SPDX-License-Identifier: Apache-2.0
// Tensors of two axes that may be cut into blocks, once or twice, as oneDNN's nChw16c and
// OIhw8i16o2i, and up to three spatial axes; filters with an axis for groups in front, as
// gOIhw16i16o. How a kernel reads an element of one, and how it counts through all places of one
// that it writes, tails included. Blocks are powers of two.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>

#include "harness/registry/tensor_view.hpp"

namespace gradverify {

/// An axis in blocks of 2^shift elements, and these in blocks of 2^inner_shift: 1 where it is not
/// cut.
struct BlockedAxis {
    long long stride, stride_in_block, stride_in_inner_block;
    int shift, inner_shift;

    __device__ long long offset(long long i) const {
        return (i >> shift) * stride + ((i & last(shift)) >> inner_shift) * stride_in_block +
               (i & last(inner_shift)) * stride_in_inner_block;
    }
    __device__ static long long last(int shift) { return (1LL << shift) - 1; }
};

/// **Errors** std::invalid_argument when it is no power of two.
inline int shift_of_block(long long block) {
    int shift = 0;
    while ((1LL << shift) < block) ++shift;
    if (1LL << shift != block)
        throw std::invalid_argument("a block of these kernels is a power of two");
    return shift;
}

inline BlockedAxis blocked_axis(const TensorView& view, int axis) {
    return {view.stride(axis), view.stride_in_block(axis), view.stride_in_inner_block(axis),
            shift_of_block(view.block(axis)), shift_of_block(view.inner_block(axis))};
}

/// A tensor that is read; a spatial axis that it lacks has one element.
template <class T>
struct Blocked {
    const T* data;
    BlockedAxis first, second;
    long long axes[3];

    __device__ long long offset(long long i, long long j, const long long (&position)[3]) const {
        return first.offset(i) + second.offset(j) + position[0] * axes[0] + position[1] * axes[1] +
               position[2] * axes[2];
    }
    __device__ T at(long long i, long long j, const long long (&position)[3]) const {
        return data[offset(i, j, position)];
    }
};

/// Of a tensor, or of what is behind the axis for groups.
template <class T>
Blocked<T> blocked(const TensorView& view, int first_axis = 0) {
    Blocked<T> tensor{
        view.as<const T>(), blocked_axis(view, first_axis), blocked_axis(view, first_axis + 1), {}};
    for (int axis = first_axis + 2; axis < view.rank; ++axis)
        tensor.axes[axis + 3 - view.rank] = view.stride(axis);
    return tensor;
}

/// The axes in front of a filter's own two.
inline int group_axes(const TensorView& filter, int spatial_axes) {
    return filter.rank - 2 - spatial_axes;
}

/// A filter that is read, with an axis for groups or without.
template <class T>
struct BlockedFilter {
    Blocked<T> of_group;  ///< without the axis of all of them
    BlockedAxis groups;
    long long per_group;  ///< along the first axis where there is one for groups, else 0

    /// `i` counts the first axis through all groups.
    __device__ T at(long long group, long long i, long long j,
                    const long long (&position)[3]) const {
        return of_group
            .data[groups.offset(group) + of_group.offset(i - group * per_group, j, position)];
    }
};

template <class T>
BlockedFilter<T> blocked_filter(const TensorView& view, int spatial_axes) {
    const int first = group_axes(view, spatial_axes);
    if (first == 0) return {blocked<T>(view), {}, 0};
    return {blocked<T>(view, first), blocked_axis(view, 0), view.size(first)};
}

/// An index of such a tensor: the first axis counts through all groups.
struct BlockedIndex {
    long long first, second, position[3];
};

/// The places of a tensor without gaps, from its begin to its end: a number whose digits, the
/// innermost first, are the axes' blocks and what lies within these.
struct Places {
    struct Digit {
        long long values, step;  ///< what one more of it adds to the index
        int axis;                ///< groups, first, second, or the three spatial ones
    };
    static constexpr int most_digits = 12;
    Digit digits[most_digits];
    int count;
    long long groups, first, second;  ///< the sizes; first of each group
    long long elements;

    /// Whether an element lies there, and which; in a tail lies none.
    __device__ bool index_of(long long place, BlockedIndex& index) const {
        long long axes[6] = {0, 0, 0, 0, 0, 0};
        for (int i = 0; i < count; ++i) {
            axes[digits[i].axis] += place % digits[i].values * digits[i].step;
            place /= digits[i].values;
        }
        index = {axes[0] * first + axes[1], axes[2], {axes[3], axes[4], axes[5]}};
        return axes[0] < groups && axes[1] < first && axes[2] < second;
    }
};

inline Places places(const TensorView& view, int spatial_axes) {
    const int at = group_axes(view, spatial_axes);
    Places all{{},
               0,
               at > 0 ? view.size(0) : 1,
               view.size(at),
               view.size(at + 1),
               view.elements_with_tails()};
    long long strides[Places::most_digits] = {};
    // From the outermost axis on, each in front of those whose elements lie farther apart.
    const auto insert = [&](Places::Digit digit, long long stride) {
        if (digit.values == 1) return;
        int at = all.count++;
        for (; at > 0 && strides[at - 1] > stride; --at) {
            strides[at] = strides[at - 1];
            all.digits[at] = all.digits[at - 1];
        }
        strides[at] = stride;
        all.digits[at] = digit;
    };
    for (int axis = 0; axis < view.rank; ++axis) {
        const int which = axis < at + 2 ? axis + 1 - at : axis + 6 - view.rank;
        const long long block = view.block(axis), inner = view.inner_block(axis);
        insert({(view.size(axis) + block - 1) / block, block, which}, view.stride(axis));
        insert({block / inner, inner, which}, view.stride_in_block(axis));
        insert({inner, 1, which}, view.stride_in_inner_block(axis));
    }
    return all;
}

/// Of a tensor without an axis for groups.
inline Places places(const TensorView& view) { return places(view, view.rank - 2); }

}  // namespace gradverify
