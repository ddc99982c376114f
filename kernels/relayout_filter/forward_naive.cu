// SPDX-License-Identifier: Apache-2.0
// relayout_filter.forward/naive: filters, by strides.
#include "kernels/relayout/naive.cuh"
#include "reference/relayout.hpp"

namespace {

using namespace gradverify;

template <class T>
void launch(const relayout_filter::Forward& call) {
    relayout::launch_naive<T>(call.x, call.y, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "naive", launch<float>)
    .with(gradverify::relayout::declare_naive<float>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "naive_f64", launch<double>)
    .with(gradverify::relayout::declare_naive<double>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "naive_f16", launch<__half>)
    .with(gradverify::relayout::declare_naive<__half>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "naive_bf16", launch<__nv_bfloat16>)
    .with(gradverify::relayout::declare_naive<__nv_bfloat16>);
