// SPDX-License-Identifier: Apache-2.0
// relu/naive: a thread for each element, of float, half or bfloat16, which it may write over.
#include "kernels/kernel.cuh"
#include "reference/relu.hpp"

namespace {

using gradverify::relu::Forward;
using gradverify::relu::GradInput;

template <class T>
__global__ void relu(const T* x, T* y, long long n) {
    const long long i = thread_in_grid();
    // So that a NaN stays one.
    if (i < n) y[i] = static_cast<Accumulator<T>>(x[i]) <= 0.0f ? static_cast<T>(0.0f) : x[i];
}

template <class T>
void forward(const Forward& call) {
    if (call.n == 0) return;
    relu<<<blocks_of(call.n, 256), 256, 0, call.launch.stream>>>(call.x.as<const T>(),
                                                                 call.y.as<T>(), call.n);
}

template <class T>
__global__ void mask(const T* dy, const T* x, T* dx, long long n) {
    const long long i = thread_in_grid();
    if (i < n) dx[i] = static_cast<Accumulator<T>>(x[i]) > 0.0f ? dy[i] : static_cast<T>(0.0f);
}

template <class T>
void grad_input(const GradInput& call) {
    if (call.n == 0) return;
    mask<<<blocks_of(call.n, 256), 256, 0, call.launch.stream>>>(
        call.dy.as<const T>(), call.x.as<const T>(), call.dx.as<T>(), call.n);
}

template <class T>
void declare_forward(gradverify::KernelDeclaration& kernel) {
    declare_elements<T>(kernel);
    kernel.in_place("y", "x");
}
template <class T>
void declare_grad_input(gradverify::KernelDeclaration& kernel) {
    declare_elements<T>(kernel);
    kernel.in_place("dx", "dy").in_place("dx", "x");
}

}  // namespace

GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "naive", forward, declare_forward);
GRADVERIFY_KERNEL(Forward, "naive_f16", forward<__half>).with(declare_forward<__half>);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(GradInput, "naive", grad_input, declare_grad_input);
GRADVERIFY_KERNEL(GradInput, "naive_f16", grad_input<__half>).with(declare_grad_input<__half>);
