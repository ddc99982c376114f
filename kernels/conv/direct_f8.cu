// SPDX-License-Identifier: Apache-2.0
// conv.*/direct_f8: convolution of 8-bit floats, summed in float. As training has it: images and
// filters are e4m3, cotangents, which are of more different sizes, e5m2; results are wider. The
// forward pass also with everything in e4m3, where a result beyond 448 becomes 448.
#include <cuda_fp8.h>

#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::direct_blocks;
using gradverify::conv::direct_geometry;
using gradverify::conv::strided;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;

/// `Result` is the type of bias and features.
template <class Result>
void launch_forward(const conv::Forward& call) {
    const long long elements = call.y.elements();
    const int block = call.launch.block_size;
    if (elements == 0) return;
    conv::to_features<e4m3, e4m3, Result, Result>
        <<<direct_blocks(elements, block), block, 0, call.launch.stream>>>(
            strided<const e4m3>(call.x), strided<const e4m3>(call.w), call.b.as<const Result>(),
            strided<Result>(call.y), direct_geometry(call.problem, call.x, call.y), elements);
}

void launch_grad_input(const conv::GradInput& call) {
    const long long elements = call.dx.elements();
    const int block = call.launch.block_size;
    if (elements == 0) return;
    conv::to_image<e5m2, e4m3, __half, __half>
        <<<direct_blocks(elements, block), block, 0, call.launch.stream>>>(
            strided<const e5m2>(call.dy), strided<const e4m3>(call.w), nullptr,
            strided<__half>(call.dx), direct_geometry(call.problem, call.dx, call.dy), elements);
}

void launch_grad_weight(const conv::GradWeight& call) {
    const long long elements = call.dw.elements();
    const int block = call.launch.block_size;
    conv::to_filter<e5m2, e4m3, float>
        <<<direct_blocks(elements, block), block, 0, call.launch.stream>>>(
            strided<const e5m2>(call.dy), strided<const e4m3>(call.x), strided<float>(call.dw),
            direct_geometry(call.problem, call.x, call.dy), elements);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "direct_f8", launch_forward<float>)
    .with(gradverify::conv::declare_direct_product<float>)
    .storage("x", gradverify::DType::f8e4m3)
    .storage("w", gradverify::DType::f8e4m3);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "direct_f8_all", launch_forward<__nv_fp8_e4m3>)
    .with(gradverify::conv::declare_direct_product<__nv_fp8_e4m3>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "direct_f8", launch_grad_input)
    .with(gradverify::conv::declare_direct_product<__half>)
    .storage("dy", gradverify::DType::f8e5m2)
    .storage("w", gradverify::DType::f8e4m3);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "direct_f8", launch_grad_weight)
    .with(gradverify::conv::declare_direct_product<float>)
    .storage("dy", gradverify::DType::f8e5m2)
    .storage("x", gradverify::DType::f8e4m3);
