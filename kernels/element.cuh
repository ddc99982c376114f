// SPDX-License-Identifier: Apache-2.0
// The type that a kernel computes in: narrow floats are read into floats, and a result is rounded
// once, when it is stored. And the registration of a kernel template for several types.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "harness/kernel.hpp"

template <class T>
struct AccumulatorOf {
    using type = float;
};
template <>
struct AccumulatorOf<double> {
    using type = double;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

/// Declares a kernel of tensors of T that takes empty problems too.
template <class T>
void declare_elements(gradverify::KernelDeclaration& kernel) {
    using gradverify::DType;
    constexpr DType dtype = gradverify::DTypeOf<T>::value;
    kernel.aligned_to(sizeof(T)).with_empty_problems().contiguous();
    if constexpr (dtype != DType::f32) kernel.storage(dtype);
}
/// The same of one whose work is all on the given stream.
template <class T>
void declare_elements_on_stream(gradverify::KernelDeclaration& kernel) {
    declare_elements<T>(kernel);
    kernel.on_given_stream();
}
/// The same of one whose threads loop over the grid.
template <class T>
void declare_loop(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.blocks_of({256, 64, 37});
}

/// Registers the template `LAUNCH` for some types; `DECLARE` says what each type's kernel supports.
#define GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(PASS, NAME, LAUNCH, DECLARE) \
    GRADVERIFY_KERNEL(PASS, NAME, LAUNCH<float>).with(DECLARE<float>);   \
    GRADVERIFY_KERNEL(PASS, NAME "_bf16", LAUNCH<__nv_bfloat16>).with(DECLARE<__nv_bfloat16>)
#define GRADVERIFY_KERNEL_OF_EACH_TYPE(PASS, NAME, LAUNCH, DECLARE)             \
    GRADVERIFY_KERNEL(PASS, NAME, LAUNCH<float>).with(DECLARE<float>);          \
    GRADVERIFY_KERNEL(PASS, NAME "_f64", LAUNCH<double>).with(DECLARE<double>); \
    GRADVERIFY_KERNEL(PASS, NAME "_f16", LAUNCH<__half>).with(DECLARE<__half>); \
    GRADVERIFY_KERNEL(PASS, NAME "_bf16", LAUNCH<__nv_bfloat16>).with(DECLARE<__nv_bfloat16>)
