// SPDX-License-Identifier: Apache-2.0
// Launchers with PyTorch's tensors whose copies and streams lack a wait, and their twins;
// works_test.cpp says which. A right copy leaves data[0] = 100 + the sum of the 64 values.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#include "harness/simt/tests/launcher.hpp"

#ifndef __NVCC__
namespace {

__global__ void twice(float* data, float* scratch) {
    scratch[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = 2.0f * scratch[threadIdx.x];
}

/// The call's data as a tensor, with its stream the current one.
struct Tensors {
    c10::cuda::CUDAStream stream;
    at::Tensor data, pinned = at::empty({1}, at::TensorOptions().pinned_memory(true));
    explicit Tensors(const simt_test::Call& call)
        : stream(c10::cuda::getStreamFromExternal(call.stream, 0)) {
        c10::cuda::setCurrentCUDAStream(stream);
        data = torch::from_blob(call.data, {call.count}, at::TensorOptions().device(at::kCUDA));
    }
    at::Tensor sum() const { return data.sum().view({1}); }
    void hand_on(float value) const { data.narrow(0, 0, 1).fill_(value + 100.0f); }
};

}  // namespace

#define WITH_TENSORS(NAME, ...)                                             \
    LAUNCHER(NAME) {                                                        \
        const Tensors t(call);                                              \
        __VA_ARGS__;                                                        \
        c10::cuda::setCurrentCUDAStream(c10::cuda::getDefaultCUDAStream()); \
    }

WITH_TENSORS(tensor_to_pinned, t.pinned.copy_(t.sum(), true);
             t.hand_on(t.pinned.data_ptr<float>()[0]))
WITH_TENSORS(tensor_to_pinned_waits, t.pinned.copy_(t.sum(), true); t.stream.synchronize();
             t.hand_on(t.pinned.data_ptr<float>()[0]))
WITH_TENSORS(tensor_to_pinned_blocks, t.pinned.copy_(t.sum());
             t.hand_on(t.pinned.data_ptr<float>()[0]))
WITH_TENSORS(tensor_to_pageable,
             t.hand_on(t.sum().to(at::kCPU, at::kFloat, true).data_ptr<float>()[0]))
WITH_TENSORS(tensor_from_pinned, const at::Tensor one = t.sum().cpu().add(100).pin_memory();
             t.data.narrow(0, 0, 1).copy_(one, true); one.data_ptr<float>()[0] = 7.0f)
WITH_TENSORS(tensor_from_pinned_waits, const at::Tensor one = t.sum().cpu().add(100).pin_memory();
             t.data.narrow(0, 0, 1).copy_(one, true); t.stream.synchronize();
             one.data_ptr<float>()[0] = 7.0f)

/// A tensor that another stream uses ends before the current one waits for that.
static void use_on_side(const simt_test::Call& call, bool is_recorded) {
    const Tensors t(call);
    const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
    at::cuda::CUDAEvent begins, ends;
    {
        const at::Tensor scratch = at::empty({64}, t.data.options());
        begins.record(t.stream);
        begins.block(side);
        twice<<<1, 64, 0, side>>>(call.data, scratch.data_ptr<float>());
        if (is_recorded) scratch.record_stream(side);
    }
    ends.record(side);
    ends.block(t.stream);
    c10::cuda::setCurrentCUDAStream(c10::cuda::getDefaultCUDAStream());
}
LAUNCHER(tensor_of_two_streams) { use_on_side(call, false); }
LAUNCHER(tensor_of_two_streams_in_order) { use_on_side(call, true); }
#endif
