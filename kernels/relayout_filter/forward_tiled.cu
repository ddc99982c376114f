// SPDX-License-Identifier: Apache-2.0
// relayout_filter.forward/tiled: filters, through tiles in shared memory.
#include "kernels/relayout/tiled.cuh"
#include "reference/relayout.hpp"

namespace {

using namespace gradverify;

template <class T>
void launch(const relayout_filter::Forward& call) {
    relayout::launch_tiled<T>(call.x, call.y, call.launch);
}

template <class T>
void declare(KernelDeclaration& kernel) {
    relayout::declare_tiled<T>(kernel);
    kernel.layout_of("x", {"oihw", "ohwi", "hwio"}).layout_of("y", {"oihw", "ohwi", "hwio"});
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "tiled", launch<float>)
    .with(declare<float>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "tiled_f64", launch<double>)
    .with(declare<double>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "tiled_f16", launch<__half>)
    .with(declare<__half>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "tiled_bf16", launch<__nv_bfloat16>)
    .with(declare<__nv_bfloat16>);
