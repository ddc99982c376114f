// SPDX-License-Identifier: Apache-2.0
// lenet5 as a chain of the simple kernels, on one stream: each step a kernel that is verified by
// itself.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/lenet5/simple_chain.cuh"
#include "reference/lenet5.hpp"

namespace {

void forward(const gradverify::lenet5::Forward& call) { simple_chain()(call); }
void backward(const gradverify::lenet5::Backward& call) { simple_chain()(call); }
void backward_to_image(const gradverify::lenet5::BackwardToImage& call) { simple_chain()(call); }
void logits_forward(const gradverify::lenet5::LogitsForward& call) { simple_chain()(call); }
void logits_backward(const gradverify::lenet5::LogitsBackward& call) { simple_chain()(call); }

}  // namespace

GRADVERIFY_KERNEL(gradverify::lenet5::Forward, "chain", forward)
    .workspace([](const gradverify::Problem& problem) {
        return simple_chain().workspace_bytes<gradverify::lenet5::Forward>(problem);
    });
GRADVERIFY_KERNEL(gradverify::lenet5::Backward, "chain", backward);
GRADVERIFY_KERNEL(gradverify::lenet5::BackwardToImage, "chain", backward_to_image);
GRADVERIFY_KERNEL(gradverify::lenet5::LogitsForward, "chain", logits_forward);
GRADVERIFY_KERNEL(gradverify::lenet5::LogitsBackward, "chain", logits_backward);
