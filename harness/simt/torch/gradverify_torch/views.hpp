// SPDX-License-Identifier: Apache-2.0
// Views of at::Tensor: other sizes and strides over the same memory.
#pragma once
#pragma GCC system_header

#include "gradverify_torch/tensor.hpp"

namespace at {

inline Tensor Tensor::as_strided(IntArrayRef sizes, IntArrayRef strides,
                                 std::int64_t offset) const {
    return viewed(Shape(sizes, strides), offset);
}
inline Tensor Tensor::view(IntArrayRef sizes) const {
    const std::optional<Shape> seen = shape().viewed(sizes);
    TORCH_CHECK(seen.has_value(), "view: sizes ", this->sizes(), " with strides ", strides(),
                " can't be seen as ", sizes, "; use .reshape()");
    return viewed(*seen);
}
inline Tensor Tensor::view(ScalarType type) const {
    TORCH_CHECK(elementSize(type) == element_size(),
                "the cpu device's tensors are viewed as types of the same size alone");
    return Tensor(impl().memory, impl().data, shape(), type, device());
}
inline Tensor Tensor::transpose(std::int64_t a, std::int64_t b) const {
    Shape seen = shape();
    std::swap(seen.sizes[axis_of(a)], seen.sizes[axis_of(b)]);
    std::swap(seen.strides[axis_of(a)], seen.strides[axis_of(b)]);
    return viewed(seen);
}
inline Tensor Tensor::permute(IntArrayRef axes) const {
    TORCH_CHECK(std::int64_t(axes.size()) == dim(), "permute: as many axes as the tensor has");
    Shape seen = shape();
    for (int axis = 0; axis < seen.rank; ++axis) {
        seen.sizes[axis] = size(axes[std::size_t(axis)]);
        seen.strides[axis] = stride(axes[std::size_t(axis)]);
    }
    return viewed(seen);
}
inline Tensor Tensor::select(std::int64_t axis, std::int64_t index) const {
    Shape seen = shape();
    const int at = axis_of(axis);
    TORCH_CHECK_INDEX(index >= -seen.sizes[at] && index < seen.sizes[at], "index ", index,
                      " of an axis of ", seen.sizes[at]);
    const std::int64_t first = (index < 0 ? index + seen.sizes[at] : index) * seen.strides[at];
    seen.drop(at);
    return viewed(seen, first);
}
inline Tensor Tensor::narrow(std::int64_t axis, std::int64_t start, std::int64_t length) const {
    TORCH_CHECK(start >= 0 && length >= 0 && start + length <= size(axis), "narrow: ", start, " + ",
                length, " of an axis of ", size(axis));
    return slice(axis, start, start + length);
}
inline Tensor Tensor::slice(std::int64_t axis, std::optional<std::int64_t> start,
                            std::optional<std::int64_t> end, std::int64_t step) const {
    Shape seen = shape();
    const int at = axis_of(axis);
    const std::int64_t length = seen.sizes[at];
    const auto within = [&](std::int64_t i) {
        return std::clamp<std::int64_t>(i < 0 ? i + length : i, 0, length);
    };
    const std::int64_t from = within(start.value_or(0)), to = within(end.value_or(length));
    TORCH_CHECK(step > 0, "slice: a step is positive");
    seen.sizes[at] = from < to ? (to - from + step - 1) / step : 0;
    seen.strides[at] *= step;
    return viewed(seen, from * shape().strides[at]);
}
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
    using indexing::TensorIndex;
    Tensor seen = *this;
    const auto takes_axis = [](const TensorIndex& one) {
        return one.kind == TensorIndex::integer || one.kind == TensorIndex::slice;
    };
    const auto taken = std::count_if(indices.begin(), indices.end(), takes_axis);
    std::int64_t axis = 0;
    for (const TensorIndex& one : indices) {
        switch (one.kind) {
            case TensorIndex::none:
                seen = seen.unsqueeze(axis++);
                break;
            case TensorIndex::ellipsis:
                axis += dim() - taken;
                break;
            case TensorIndex::integer:
                seen = seen.select(axis, one.number);
                break;
            case TensorIndex::slice:
                seen = seen.slice(axis++, one.part.start, one.part.stop, one.part.step);
        }
    }
    return seen;
}
inline Tensor Tensor::unsqueeze(std::int64_t axis) const {
    Shape seen = shape();
    const int at = c10::gradverify_detail::axis_of(axis, seen.rank + 1);
    seen.insert(at, 1, at < seen.rank ? seen.sizes[at] * seen.strides[at] : 1);
    return viewed(seen);
}
inline Tensor Tensor::squeeze(std::int64_t axis) const {
    Shape seen = shape();
    if (size(axis) == 1) seen.drop(axis_of(axis));
    return viewed(seen);
}
inline Tensor Tensor::squeeze() const {
    Shape seen = shape();
    for (int axis = seen.rank - 1; axis >= 0; --axis)
        if (seen.sizes[axis] == 1) seen.drop(axis);
    return viewed(seen);
}
inline Tensor Tensor::expand(IntArrayRef sizes) const { return viewed(shape().expanded(sizes)); }
inline Tensor Tensor::flatten(std::int64_t first, std::int64_t last) const {
    if (dim() == 0) return view({1});
    std::vector<std::int64_t> merged;
    for (int axis = 0; axis < dim(); ++axis) {
        if (axis > axis_of(first) && axis <= axis_of(last)) {
            merged.back() *= size(axis);
        } else {
            merged.push_back(size(axis));
        }
    }
    return reshape(merged);
}

/// A last axis of two numbers, as one axis less of complex numbers.
inline Tensor view_as_complex(const Tensor& pairs) {
    TORCH_CHECK(pairs.scalar_type() == kFloat || pairs.scalar_type() == kDouble,
                "view_as_complex: float or double");
    TORCH_CHECK(pairs.dim() > 0 && pairs.size(-1) == 2 && pairs.stride(-1) == 1,
                "view_as_complex: the last axis has two numbers side by side");
    c10::gradverify_detail::Shape shape = pairs.gradverify_shape();
    shape.drop(shape.rank - 1);
    for (int axis = 0; axis < shape.rank; ++axis) {
        TORCH_CHECK(shape.strides[axis] % 2 == 0, "view_as_complex: strides of whole pairs");
        shape.strides[axis] /= 2;
    }
    return pairs.gradverify_as(shape,
                               pairs.scalar_type() == kFloat ? kComplexFloat : kComplexDouble);
}
inline Tensor view_as_real(const Tensor& numbers) {
    TORCH_CHECK(numbers.is_complex(), "view_as_real: complex numbers");
    c10::gradverify_detail::Shape shape = numbers.gradverify_shape();
    for (int axis = 0; axis < shape.rank; ++axis) shape.strides[axis] *= 2;
    shape.insert(shape.rank, 2, 1);
    return numbers.gradverify_as(shape, numbers.scalar_type() == kComplexFloat ? kFloat : kDouble);
}

}  // namespace at
