// SPDX-License-Identifier: Apache-2.0
// fc.grad_input/tiled and /blocked: dx = dy w in tiles of shared memory, with one element of the
// result for each thread, and with 4 x 4 in registers.
#include "harness/kernel.hpp"
#include "kernels/fc/tiled_product.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;

template <int each>
void launch(const fc::GradInput& call) {
    const auto *const dy = call.dy.as<const float>(), *const w = call.w.as<const float>();
    fc::launch_tiled_product<each>(fc::rows_of(dy, call.n, call.k), fc::rows_of(w, call.k, call.c),
                                   nullptr, call.dx.as<float>(), call.launch.stream);
}

}  // namespace

GRADVERIFY_KERNEL(fc::GradInput, "tiled", launch<1>)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .costs({.barriers_per_thread = 2, .threads = fc::threads_of_steps})
    .with_empty_problems();
GRADVERIFY_KERNEL(fc::GradInput, "blocked", launch<4>)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .costs({.barriers_per_thread = 2, .threads = fc::threads_of_steps})
    .with_empty_problems();
