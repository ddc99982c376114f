// SPDX-License-Identifier: Apache-2.0
// Registers the kernel of permute.cu, which has no launcher: the file is included.
#include "kernels.hpp"

#include "dev/cuda/permute.cu"

using Forward = Pass<"permute", "forward">;

static void forward(const Forward& call) {
    const int n = static_cast<int>(call.tensor("x").elements());
    permute_kernel<<<(n + 255) / 256, 256>>>(data(call, "x"), data(call, "y"), size(call, "d1"),
                                             size(call, "d2"), size(call, "d3"), size(call, "d4"));
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward).on_default_stream().up_to_elements(1 << 30);
