// SPDX-License-Identifier: Apache-2.0
// lenet5 as a chain of the simple kernels, on one stream.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/lenet5/simple_chain.cuh"

namespace {

using namespace gradverify::lenet5;

template <class Pass>
void launch(const Pass& call) {
    simple_chain()(call);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "chain", launch<Forward>).workspace(forward_workspace);
GRADVERIFY_KERNEL(Backward, "chain", launch<Backward>);
GRADVERIFY_KERNEL(LogitsForward, "chain", launch<LogitsForward>);
GRADVERIFY_KERNEL(LogitsBackward, "chain", launch<LogitsBackward>).contiguous();
