// SPDX-License-Identifier: Apache-2.0
// fc/tiled and fc/blocked: y = x w^T + b, dx = dy w and dw = dy^T x in tiles of shared memory, with
// one element of the result for each thread, and with 4 x 4 in registers.
#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "kernels/fc/tiled_product.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;

template <int each>
void forward(const fc::Forward& call) {
    const auto *const x = call.x.as<const float>(), *const w = call.w.as<const float>();
    fc::launch_tiled_product<each>(fc::rows_of(x, call.n, call.c),
                                   fc::transposed(w, call.c, call.k), call.b.as<const float>(),
                                   call.y.as<float>(), call.launch.stream);
}

template <int each>
void grad_input(const fc::GradInput& call) {
    const auto *const dy = call.dy.as<const float>(), *const w = call.w.as<const float>();
    fc::launch_tiled_product<each>(fc::rows_of(dy, call.n, call.k), fc::rows_of(w, call.k, call.c),
                                   nullptr, call.dx.as<float>(), call.launch.stream);
}

template <int each>
void grad_weight(const fc::GradWeight& call) {
    const auto *const dy = call.dy.as<const float>(), *const x = call.x.as<const float>();
    fc::launch_tiled_product<each>(fc::transposed(dy, call.k, call.n),
                                   fc::rows_of(x, call.n, call.c), nullptr, call.dw.as<float>(),
                                   call.launch.stream);
}

void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<float>(kernel);
    kernel.costs({.barriers_per_thread = 2, .threads = fc::threads_of_steps});
}

}  // namespace

GRADVERIFY_KERNEL(fc::Forward, "tiled", forward<1>).with(declare);
GRADVERIFY_KERNEL(fc::Forward, "blocked", forward<4>).with(declare);
GRADVERIFY_KERNEL(fc::GradInput, "tiled", grad_input<1>).with(declare);
GRADVERIFY_KERNEL(fc::GradInput, "blocked", grad_input<4>).with(declare);
GRADVERIFY_KERNEL(fc::GradWeight, "tiled", grad_weight<1>).with(declare);
GRADVERIFY_KERNEL(fc::GradWeight, "blocked", grad_weight<4>).with(declare);
