// SPDX-License-Identifier: Apache-2.0
// expect: as_pairs<T>() takes a type of two numbers that as<T>() takes, const or not: float2,
#include "harness/registry/tensor_view.hpp"

const float* read(const gradverify::TensorView& view) { return view.as_pairs<const float>(); }
