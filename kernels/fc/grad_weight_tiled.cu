// SPDX-License-Identifier: Apache-2.0
// fc.grad_weight/tiled and /blocked: dw = dy^T x in tiles of shared memory, with one element of the
// result for each thread, and with 4 x 4 in registers.
#include "harness/kernel.hpp"
#include "kernels/fc/tiled_product.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;

template <int each>
void launch(const fc::GradWeight& call) {
    const auto *const dy = call.dy.as<const float>(), *const x = call.x.as<const float>();
    fc::launch_tiled_product<each>(fc::transposed(dy, call.k, call.n),
                                   fc::rows_of(x, call.n, call.c), nullptr, call.dw.as<float>(),
                                   call.launch.stream);
}

}  // namespace

GRADVERIFY_KERNEL(fc::GradWeight, "tiled", launch<1>)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .costs({.barriers_per_thread = 2, .threads = fc::threads_of_steps})
    .with_empty_problems();
GRADVERIFY_KERNEL(fc::GradWeight, "blocked", launch<4>)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .costs({.barriers_per_thread = 2, .threads = fc::threads_of_steps})
    .with_empty_problems();
