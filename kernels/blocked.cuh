// SPDX-License-Identifier: Apache-2.0
// Tensors of two axes that may be cut into blocks, as oneDNN's nChw16c and OIhw16i16o, and up to
// three spatial axes: how a kernel reads an element of one, and how it counts through all places of
// one that it writes, tails included. Blocks are powers of two.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>

#include "harness/tensor_view.hpp"

namespace gradverify {

/// An axis in blocks of 2^shift elements, which is 1 where it is not blocked.
struct BlockedAxis {
    long long stride, stride_in_block;
    int shift;

    __device__ long long offset(long long i) const {
        return (i >> shift) * stride + (i & ((1LL << shift) - 1)) * stride_in_block;
    }
};

/// **Errors** std::invalid_argument when the block is no power of two.
inline BlockedAxis blocked_axis(const TensorView& view, int axis) {
    BlockedAxis blocked{view.stride(axis), view.stride_in_block(axis), 0};
    while ((1LL << blocked.shift) < view.block(axis)) ++blocked.shift;
    if (1LL << blocked.shift != view.block(axis))
        throw std::invalid_argument("a block of these kernels is a power of two");
    return blocked;
}

/// A tensor that is read; a spatial axis that it lacks has one element.
template <class T>
struct Blocked {
    const T* data;
    BlockedAxis first, second;
    long long axes[3];

    __device__ T at(long long i, long long j, const long long (&position)[3]) const {
        return data[first.offset(i) + second.offset(j) + position[0] * axes[0] +
                    position[1] * axes[1] + position[2] * axes[2]];
    }
};

template <class T>
Blocked<T> blocked(const TensorView& view) {
    Blocked<T> tensor{view.as<const T>(), blocked_axis(view, 0), blocked_axis(view, 1), {}};
    for (int axis = 2; axis < view.rank; ++axis)
        tensor.axes[axis + 3 - view.rank] = view.stride(axis);
    return tensor;
}

/// An index of such a tensor.
struct BlockedIndex {
    long long first, second, position[3];
};

/// The places of a tensor without gaps, from its begin to its end: a number whose digits, the
/// innermost first, are the axes' blocks and what lies within these.
struct Places {
    struct Digit {
        long long values, step;  ///< what one more of it adds to the index
        int axis;                ///< 0, 1, or the three spatial ones
    };
    Digit digits[7];
    int count;
    long long sizes[2];
    long long elements;

    /// Whether an element lies there, and which; in a tail lies none.
    __device__ bool index_of(long long place, BlockedIndex& index) const {
        long long axes[5] = {0, 0, 0, 0, 0};
        for (int i = 0; i < count; ++i) {
            axes[digits[i].axis] += place % digits[i].values * digits[i].step;
            place /= digits[i].values;
        }
        index = {axes[0], axes[1], {axes[2], axes[3], axes[4]}};
        return axes[0] < sizes[0] && axes[1] < sizes[1];
    }
};

inline Places places(const TensorView& view) {
    Places all{{}, 0, {view.size(0), view.size(1)}, view.elements_with_tails()};
    long long strides[7] = {};
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
        const int which = axis < 2 ? axis : axis + 5 - view.rank;
        const long long block = view.block(axis);
        insert({(view.size(axis) + block - 1) / block, block, which}, view.stride(axis));
        insert({block, 1, which}, view.stride_in_block(axis));
    }
    return all;
}

}  // namespace gradverify
