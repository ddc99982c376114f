// SPDX-License-Identifier: Apache-2.0
// relayout/naive: images, by strides.
#include "kernels/relayout/naive.cuh"
#include "reference/relayout.hpp"

namespace {

using namespace gradverify;

template <class T>
void forward(const relayout::Forward& call) {
    relayout::launch_naive<T>(call.x, call.y, call.launch);
}

template <class T>
void grad_input(const relayout::GradInput& call) {
    relayout::launch_naive<T>(call.dy, call.dx, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relayout::Forward, "naive", forward<float>)
    .with(gradverify::relayout::declare_naive<float>);
GRADVERIFY_KERNEL(gradverify::relayout::Forward, "naive_f64", forward<double>)
    .with(gradverify::relayout::declare_naive<double>);
GRADVERIFY_KERNEL(gradverify::relayout::Forward, "naive_f16", forward<__half>)
    .with(gradverify::relayout::declare_naive<__half>);
GRADVERIFY_KERNEL(gradverify::relayout::Forward, "naive_bf16", forward<__nv_bfloat16>)
    .with(gradverify::relayout::declare_naive<__nv_bfloat16>);
GRADVERIFY_KERNEL(gradverify::relayout::GradInput, "naive", grad_input<float>)
    .with(gradverify::relayout::declare_naive<float>);
GRADVERIFY_KERNEL(gradverify::relayout::GradInput, "naive_f64", grad_input<double>)
    .with(gradverify::relayout::declare_naive<double>);
GRADVERIFY_KERNEL(gradverify::relayout::GradInput, "naive_f16", grad_input<__half>)
    .with(gradverify::relayout::declare_naive<__half>);
GRADVERIFY_KERNEL(gradverify::relayout::GradInput, "naive_bf16", grad_input<__nv_bfloat16>)
    .with(gradverify::relayout::declare_naive<__nv_bfloat16>);
