// SPDX-License-Identifier: Apache-2.0
// fc/wgmma: products of a warpgroup over tiles that tensor copies bring, for sm_90a.
#include "harness/kernel.hpp"
#include "kernels/fast/fc/wgmma.cuh"

using namespace gradverify;

// nvcc builds it where it builds for sm_90a (kernels/CMakeLists.txt).
#if !defined(__NVCC__) || defined(GRADVERIFY_SM_90A)
GRADVERIFY_KERNEL(fc::Forward, "wgmma", fc::forward_in_tiles<fc::Ring>).with(fc::declare_forward);
GRADVERIFY_KERNEL(fc::GradInput, "wgmma", fc::grad_input_in_tiles<fc::Ring>)
    .with(fc::declare_gradient)
    .storage("w", DType::bf16);
GRADVERIFY_KERNEL(fc::GradWeight, "wgmma", fc::grad_weight_in_tiles<fc::Ring>)
    .with(fc::declare_gradient)
    .storage("x", DType::bf16);
#endif
