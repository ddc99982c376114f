// SPDX-License-Identifier: Apache-2.0
// Kernel files that register launchers of a PyTorch extension include this: `call.x.tensor()` is an
// at::Tensor over the call's buffer, and PyTorch's current stream is the call's while one runs.
//
//   static void launch(const gradverify::Pass<"scale", "backward">& call) {
//       call.tensor("dx").tensor().copy_(scale_backward(call.tensor("dy").tensor()));
//   }
//
// On the device cpu PyTorch's names are a shim's (docs/pytorch.md), on cuda its own.
#pragma once

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "harness/kernel.hpp"

namespace gradverify {

namespace detail {
inline at::ScalarType torch_type(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return at::kFloat;
        case DType::f64:
            return at::kDouble;
        case DType::i32:
            return at::kInt;
        case DType::i64:
            return at::kLong;
        case DType::u8:
            return at::kByte;
        case DType::f16:
            return at::kHalf;
        case DType::bf16:
            return at::kBFloat16;
        default:
            TORCH_CHECK(false, "gradverify: no at::Tensor has elements of type ",
                        std::string(traits_of(dtype).name));
            return at::kFloat;
    }
}

template <PassStruct Pass>
struct CallScope<Pass> {
    explicit CallScope(const Launch& launch)
        : guard(c10::cuda::getStreamFromExternal(launch.stream, c10::cuda::current_device())) {}
    c10::cuda::CUDAStreamGuard guard;
};
}  // namespace detail

inline at::Tensor as_torch_tensor(const TensorView& view) {
    const auto rank = static_cast<std::size_t>(view.rank);
    const auto options = at::TensorOptions(detail::torch_type(view.dtype))
                             .device(at::Device(at::kCUDA, c10::cuda::current_device()));
    return at::from_blob(view.data, at::IntArrayRef(view.sizes.data(), rank),
                         at::IntArrayRef(view.strides.data(), rank), options);
}

}  // namespace gradverify
