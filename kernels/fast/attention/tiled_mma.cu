// SPDX-License-Identifier: Apache-2.0
// attention.backward/tiled_mma: bfloat16 on tensor cores, by mma.sync, with tiles of keys or
// queries that stream through two stages of shared memory. Heads have up to 64 elements, or up to
// 128.
#include "harness/kernel.hpp"
#include "kernels/fast/attention/tiled_mma.cuh"

namespace {

using namespace gradverify;
using attention::Pipeline;

void backward(const attention::Backward& call) {
    if (call.d <= 64)
        attention::launch_gradients<Pipeline<64>>(call);
    else
        attention::launch_gradients<Pipeline<128>>(call);
}

}  // namespace

GRADVERIFY_KERNEL(attention::Backward, "tiled_mma", backward)
    .with(attention::declare_tiles)
    .where("d", between(8, 128));
