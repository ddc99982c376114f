// SPDX-License-Identifier: Apache-2.0
// The type that a kernel computes in, by the type of its tensors: half, bfloat16 and floats of 8
// bits are read into floats, and a result is rounded to nearest once, when it is stored.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

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
