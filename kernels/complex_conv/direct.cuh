// SPDX-License-Identifier: Apache-2.0
// What convolutions of complex numbers by their definition add to those of real ones,
// kernels/conv/direct.cuh: the products, and what such kernels declare. Tensors are read and
// written as pairs, by their strides.
#pragma once

#include "harness/kernel.hpp"
#include "kernels/conv/direct.cuh"

namespace gradverify::complex_conv {

/// sum += a * b.
struct Product {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        sum.x += a.x * b.x - a.y * b.y;
        sum.y += a.x * b.y + a.y * b.x;
    }
};
/// sum += a * the conjugate of b.
struct ConjugateProduct {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        sum.x += a.x * b.x + a.y * b.y;
        sum.y += a.y * b.x - a.x * b.y;
    }
};
/// sum += the conjugate of a * b.
struct ProductOfConjugate {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        ConjugateProduct().add(sum, b, a);
    }
};

/// What all of them support and promise.
template <class Pair>
void declare_direct(KernelDeclaration& kernel) {
    constexpr DType dtype = DTypeOf<decltype(Pair::x)>::value;
    kernel.spatial_axes(1, 3)
        .supports("asymmetric_padding")
        .layout_of("y", {"nchw", "nhwc"})
        .blocks_of({64, 128, 37})
        .aligned_to(sizeof(Pair))
        .on_given_stream()
        .with_empty_problems();
    if constexpr (dtype != DType::f32) kernel.storage(dtype);
}

/// The same of a pass of complex_conv with an image and a filter.
template <class Pair>
void declare_direct_product(KernelDeclaration& kernel) {
    declare_direct<Pair>(kernel);
    kernel.layout_of("x", {"nchw", "nhwc"}).layout_of("w", {"oihw", "ohwi", "hwio"});
}

/// Of complex_conv_transpose, whose filters have the input's channels first.
template <class Pair>
void declare_direct_transposed(KernelDeclaration& kernel) {
    declare_direct<Pair>(kernel);
    kernel.layout_of("x", {"nchw", "nhwc"}).layout_of("w", {"iohw", "ihwo", "hwoi"});
}

}  // namespace gradverify::complex_conv
