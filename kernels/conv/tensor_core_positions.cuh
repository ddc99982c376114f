// SPDX-License-Identifier: Apache-2.0
// What the rows, the columns and the depth of conv's products on tensor cores count: images and
// pixels, taps and channels. Written for the kernels alone: the references have their own geometry.
#pragma once

#include <climits>

#include <cuda_runtime.h>

#include "kernels/conv/direct.cuh"

namespace gradverify::conv {

/// Three spatial axes; one that the problem lacks has one element.
struct Extents {
    int of[3];
};

/// Counts through images and pixels, the last axis innermost.
struct Positions {
    long long count;
    Extents size;

    struct At {
        long long n;
        int of[3];
    };
    __device__ At at(long long index) const {
        At found;
#pragma unroll
        for (int axis = 2; axis >= 0; --axis) {
            const long long rest = divided(index, size.of[axis]);
            found.of[axis] = static_cast<int>(index - rest * size.of[axis]);
            index = rest;
        }
        found.n = index;
        return found;
    }
    /// A division of 32 bits takes a third of the time.
    __device__ static long long divided(long long a, int b) {
        return a <= UINT_MAX ? static_cast<unsigned>(a) / static_cast<unsigned>(b) : a / b;
    }
};

/// A tap of the filter and a channel: what the depth of a product counts, the channel innermost.
struct Tap {
    int channel, of[3];
    bool is_there;
};
struct Taps {
    int channels;
    Extents filter;
    long long count;

    __device__ Tap at(long long index) const {
        Tap tap;
        tap.is_there = index < count;
        if (!tap.is_there) return tap;
        const Positions::At place =
            Positions{count, filter}.at(Positions::divided(index, channels));
        tap.channel = static_cast<int>(index % channels);
        for (int axis = 0; axis < 3; ++axis) tap.of[axis] = place.of[axis];
        return tap;
    }
    __device__ void next(Tap& tap) const {
        if (++tap.channel < channels) return;
        tap.channel = 0;
#pragma unroll
        for (int axis = 2; axis >= 0; --axis) {
            if (++tap.of[axis] < filter.of[axis]) return;
            tap.of[axis] = 0;
        }
        tap.is_there = false;
    }
};

struct Row {
    long long offset;
    bool is_there;
};
struct Channel {
    long long index;
    bool is_there;
};

}  // namespace gradverify::conv
