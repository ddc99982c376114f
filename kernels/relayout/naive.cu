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

GRADVERIFY_KERNEL_OF_EACH_TYPE(relayout::Forward, "naive", forward, relayout::declare_naive);
GRADVERIFY_KERNEL_OF_EACH_TYPE(relayout::GradInput, "naive", grad_input, relayout::declare_naive);
