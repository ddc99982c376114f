// SPDX-License-Identifier: Apache-2.0
// PyTorch's functions that make a tensor, and those that its methods have as functions too.
#pragma once
#pragma GCC system_header

#include "gradverify_torch/tensor_math.hpp"
#include "gradverify_torch/tensor_utils.hpp"

namespace at {

inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {},
                    std::optional<MemoryFormat> format = {}) {
    const bool channels_last = format.has_value() && Tensor::is_channels_last(*format);
    return Tensor::gradverify_make(c10::gradverify_detail::Shape(sizes, channels_last), options);
}
inline Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                            const TensorOptions& options = {}) {
    std::int64_t last = 0;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        last += (sizes[axis] - 1) * strides[axis];
    return empty(last + 1, options).as_strided(sizes, strides);
}
inline Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {}) {
    return empty(sizes, options).zero_();
}
inline Tensor ones(IntArrayRef sizes, const TensorOptions& options = {}) {
    return empty(sizes, options).fill_(1);
}
inline Tensor full(IntArrayRef sizes, Scalar value, const TensorOptions& options = {}) {
    const ScalarType natural = value.isIntegral(false) ? kLong : kFloat;
    return empty(sizes, options.or_else(natural)).fill_(value);
}
inline Tensor scalar_tensor(Scalar value, const TensorOptions& options = {}) {
    return empty(IntArrayRef(), options).fill_(value);
}

inline Tensor empty_like(const Tensor& tensor, const TensorOptions& options = {},
                         std::optional<MemoryFormat> format = {}) {
    const TensorOptions all = options.or_else(tensor.options());
    if (format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve)
        return empty(tensor.sizes(), all, format);
    return Tensor::gradverify_make(tensor.gradverify_shape().like(), all);
}
inline Tensor zeros_like(const Tensor& tensor, const TensorOptions& options = {}) {
    return empty_like(tensor, options).zero_();
}
inline Tensor ones_like(const Tensor& tensor, const TensorOptions& options = {}) {
    return empty_like(tensor, options).fill_(1);
}
inline Tensor full_like(const Tensor& tensor, Scalar value, const TensorOptions& options = {}) {
    return empty_like(tensor, options).fill_(value);
}

/// The settings of the process, at PyTorch's defaults.
struct Context {
    bool deterministicAlgorithms() const { return false; }
    bool allowTF32CuBLAS() const { return false; }
    bool allowFP16ReductionCuBLAS() const { return true; }
    /// An error where deterministic algorithms are asked for, which they are not.
    static void alertNotDeterministic(std::string_view) {}
};
inline const Context& globalContext() {
    static const Context context;
    return context;
}

/// Over memory that stays its owner's.
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const TensorOptions& options = {}) {
    return Tensor(nullptr, data, {sizes, strides}, options.dtype(), options.device());
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
    return Tensor(nullptr, data, c10::gradverify_detail::Shape(sizes), options.dtype(),
                  options.device());
}

inline Tensor sum(const Tensor& tensor, IntArrayRef axes = {}, bool keepdim = false) {
    return tensor.sum(axes, keepdim);
}
inline Tensor& sum_out(Tensor& out, const Tensor& tensor, IntArrayRef axes, bool keepdim = false) {
    return out.copy_(tensor.sum(axes, keepdim, out.scalar_type()));
}
inline Tensor reshape(const Tensor& tensor, IntArrayRef sizes) { return tensor.reshape(sizes); }
inline Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b) {
    return tensor.transpose(a, b);
}
inline std::optional<Device> device_of(const Tensor& tensor) {
    return tensor.defined() ? std::optional<Device>(tensor.device()) : std::nullopt;
}
inline Tensor cat(TensorList tensors, std::int64_t axis = 0) {
    const int at = c10::gradverify_detail::axis_of(axis, int(tensors.front().dim()));
    std::vector<std::int64_t> sizes = tensors.front().sizes().vec();
    sizes[std::size_t(at)] = 0;
    for (const Tensor& one : tensors) sizes[std::size_t(at)] += one.size(at);
    const Tensor all = empty(sizes, tensors.front().options());
    std::int64_t begin = 0;
    for (const Tensor& one : tensors) {
        all.narrow(at, begin, one.size(at)).copy_(one);
        begin += one.size(at);
    }
    return all;
}
inline Tensor stack(TensorList tensors, std::int64_t axis = 0) {
    std::vector<Tensor> rows;
    for (const Tensor& one : tensors) rows.push_back(one.unsqueeze(axis));
    return cat(rows, axis);
}
inline Tensor add(const Tensor& a, const Tensor& b) { return a.add(b); }
inline Tensor sub(const Tensor& a, const Tensor& b) { return a.sub(b); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return a.mul(b); }
inline Tensor div(const Tensor& a, const Tensor& b) { return a.div(b); }

GRADVERIFY_TORCH_REFUSED("at::", Tensor, abs, arange, clamp, cumsum, cumsum_out, exp, eye,
                         index_select, linspace, log, max, maximum, mean, min, minimum, norm, rand,
                         rand_like, randint, randn, randn_like, randperm, relu, sigmoid, softmax,
                         sort, sqrt, tanh, tensor, topk, where)

}  // namespace at

namespace torch {
using at::empty;  // qualified as torch::, where another library declares the name too
struct NoGradGuard {};
struct InferenceMode {
    explicit InferenceMode(bool = true) {}
};
namespace nn::functional {
struct PadFuncOptions {
    explicit PadFuncOptions(std::vector<std::int64_t>) {}
    PadFuncOptions& value(double) { return *this; }
};
GRADVERIFY_TORCH_REFUSED("torch::nn::functional::", Tensor, pad)
}  // namespace nn::functional
}  // namespace torch
