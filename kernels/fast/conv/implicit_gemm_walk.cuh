// SPDX-License-Identifier: Apache-2.0
// The passes of a convolution as matrix products without a matrix of patches:
//
//   d[m, p] = sum over l of a[m, l] * b[l, p]
//
// A column p is an outer index and a place on three axes, a term l an outer index and a step on
// three axes. Place and step add up to a position in b's tensor; outside of it b is zero.
// Offsets are sums of parts by row, column and term, so that loads divide nothing.
#pragma once

#include <numeric>

#include "kernels/conv/direct.cuh"

namespace gradverify::conv {

/// One axis of the product: column q and term t meet at position `column_start + q * column_step +
/// term_start + t * term_step` of b's axis.
///
/// **Units** a_*, b_* and d_* count elements of these tensors, the others positions.
template <class Index>
struct GemmAxis {
    Index columns, column_start, column_step;
    Index terms, term_start, term_step;
    Index b_size, b_stride;
    Index a_start, a_step;  ///< by the term
    Index d_start, d_step;  ///< by the column
};

/// What is the same in all blocks. Strides are by row, by outer term, by outer column, by group.
template <class T, class Index>
struct GemmTensors {
    const T *a, *b;
    const T* bias;  ///< by row, or null
    T* d;
    Index rows, terms_outer, columns_outer;
    Index a_row, a_term, b_term, b_column, d_row, d_column;
    long long a_group, b_group, d_group;
    long long groups;
};

/// The axes of a product whose slices are shares of its sum.
template <class Index>
struct WholeWalk {
    GemmAxis<Index> axes[3];

    static long long slices() { return 1; }
    __device__ GemmAxis<Index> axis(int which, long long /*slice*/) const { return axes[which]; }
};

/// An axis along which features are scattered over an image. Pixels of one residue modulo the
/// stride, a phase, are reached through the same taps, so that their product is dense.
struct PhasedAxis {
    long long image, features, filter, stride, dilation, padding;
    long long a_stride, b_stride, d_stride;
    long long divisor;  ///< greatest common one of stride and dilation
    long long period;   ///< taps from one of a phase to its next: stride / divisor
    long long inverse;  ///< of dilation / divisor, modulo the period
    long long phases;   ///< with pixels in them
};

template <class Index>
struct PhasedWalk {
    PhasedAxis axes[3];

    long long slices() const { return axes[0].phases * axes[1].phases * axes[2].phases; }
    __device__ GemmAxis<Index> axis(int which, long long slice) const {
        for (int inner = 2; inner > which; --inner) slice /= axes[inner].phases;
        const PhasedAxis& of = axes[which];
        const long long phase = slice % of.phases;
        const long long shifted = phase + of.padding;
        // The first tap whose distance to the phase is a multiple of the stride, if there is one.
        const bool has_taps = shifted % of.divisor == 0;
        const long long tap = shifted / of.divisor % of.period * of.inverse % of.period;
        const auto index = [](long long value) { return static_cast<Index>(value); };
        GemmAxis<Index> result{};
        result.columns = index((of.image - phase + of.stride - 1) / of.stride);
        result.column_step = 1;
        if (has_taps && tap < of.filter)
            result.terms = index((of.filter - tap + of.period - 1) / of.period);
        if (result.terms > 0) result.term_start = index((shifted - tap * of.dilation) / of.stride);
        result.term_step = index(-(of.dilation / of.divisor));
        result.b_size = index(of.features);
        result.b_stride = index(of.b_stride);
        result.a_start = index(tap * of.a_stride);
        result.a_step = index(of.period * of.a_stride);
        result.d_start = index(phase * of.d_stride);
        result.d_step = index(of.stride * of.d_stride);
        return result;
    }
};

/// The number by which `value` is 1 modulo `modulus`, by Euclid's algorithm; 0 modulo 1. **Ranges**
/// without a common divisor.
inline long long inverse_modulo(long long value, long long modulus) {
    value %= modulus;
    if (value <= 1) return value;
    return modulus - inverse_modulo(modulus, value) * modulus / value;
}

inline PhasedAxis phased_axis(const DirectAxis& of, long long w_stride, long long features_stride,
                              long long image_stride) {
    const long long divisor = std::gcd(of.stride, of.dilation);
    const long long period = of.stride / divisor;
    return {.image = of.image,
            .features = of.features,
            .filter = of.filter,
            .stride = of.stride,
            .dilation = of.dilation,
            .padding = of.padding,
            .a_stride = w_stride,
            .b_stride = features_stride,
            .d_stride = image_stride,
            .divisor = divisor,
            .period = period,
            .inverse = inverse_modulo(of.dilation / divisor, period),
            .phases = of.stride < of.image ? of.stride : of.image};
}

/// The tensors that a filter joins, and the filter.
template <class T>
struct GemmOperands {
    Strided<T> image, features, w;
    DirectGeometry g;
    long long groups;
};

/// Whether every offset and position fits 32 bits, those of padding and of partial sums included.
template <class T>
bool fits_32_bits(const GemmOperands<T>& of) {
    const long long most = (1ll << 31) - 1024;  // a tile may begin before the end
    const DirectGeometry& g = of.g;
    const auto extent = [](long long size, long long stride) {
        return size > 0 ? (size - 1) * stride : 0;
    };
    long long image = extent(g.n, of.image.outer) + extent(g.image_channels, of.image.channel);
    long long features = extent(g.n, of.features.outer) + extent(g.features, of.features.channel);
    long long w = extent(g.features, of.w.outer) + extent(g.group_image, of.w.channel);
    double pixels = 1, positions = 1, taps = 1;
    for (int i = 0; i < 3; ++i) {
        const DirectAxis& axis = g.axes[i];
        const double reach = static_cast<double>(axis.features) * static_cast<double>(axis.stride) +
                             static_cast<double>(axis.filter) * static_cast<double>(axis.dilation) +
                             static_cast<double>(axis.padding + axis.image);
        const double farthest = static_cast<double>(of.image.axes[i] + of.features.axes[i] + 1);
        if (reach * farthest > static_cast<double>(most)) return false;
        const auto length = static_cast<long long>(reach);
        image += length * of.image.axes[i];
        features += length * of.features.axes[i];
        w += extent(axis.filter, of.w.axes[i]);
        pixels *= static_cast<double>(axis.image);
        positions *= static_cast<double>(axis.features);
        taps *= static_cast<double>(axis.filter);
    }
    const double outer = static_cast<double>(g.n + g.image_channels + g.features);
    const double longest = outer * (pixels + positions + taps);
    return image < most && features < most && w < most && longest < static_cast<double>(most);
}

}  // namespace gradverify::conv
