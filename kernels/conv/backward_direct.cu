// SPDX-License-Identifier: Apache-2.0
// conv.backward/direct: those of the three gradients that the output mask asks for, a kernel each.
#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_direct_product;

template <class T>
void launch(const conv::Backward& call) {
    if (call.wants("dx"))
        conv::launch_to_image<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
    if (call.wants("dw"))
        conv::launch_to_filter<T>(call.problem, call.dy, call.x, call.dw, call.launch);
    if (call.wants("db")) conv::launch_to_bias<T>(call.dy, call.db, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Backward, "direct", launch<float>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "direct_f64", launch<double>)
    .with(declare_direct_product<double>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "direct_f16", launch<__half>)
    .with(declare_direct_product<__half>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "direct_bf16", launch<__nv_bfloat16>)
    .with(declare_direct_product<__nv_bfloat16>)
    .takes_mask();
