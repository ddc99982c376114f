// SPDX-License-Identifier: Apache-2.0
// lenet5's chains as CUDA graphs: they can be captured, and a replay does the same.
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "harness/kernel.hpp"
#include "kernels/lenet5/simple_chain.cuh"

namespace {

using namespace gradverify::lenet5;

void require(cudaError_t status) {
    if (status != cudaSuccess)
        throw std::runtime_error(std::string("graph: ") + cudaGetErrorString(status));
}

/// Records on a stream of its own, since the default stream can't be captured.
template <class Pass>
void launch(const Pass& call) {
    Pass recorded = call;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    require(cudaStreamCreateWithFlags(&recorded.launch.stream, cudaStreamNonBlocking));
    require(cudaStreamBeginCapture(recorded.launch.stream, cudaStreamCaptureModeThreadLocal));
    simple_chain()(recorded);
    require(cudaStreamEndCapture(recorded.launch.stream, &graph));
    require(cudaGraphInstantiate(&replay, graph, 0));
    require(cudaGraphLaunch(replay, call.launch.stream));
    require(cudaGraphExecDestroy(replay));
    require(cudaGraphDestroy(graph));
    require(cudaStreamDestroy(recorded.launch.stream));
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "graph", launch<Forward>).workspace(forward_workspace);
GRADVERIFY_KERNEL(Backward, "graph", launch<Backward>);
