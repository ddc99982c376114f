// SPDX-License-Identifier: Apache-2.0
// A tensor as kernels take it that go over its elements by one number: sizes and strides by value.
#pragma once
#pragma GCC system_header

#include "gradverify_torch/atomic_add.hpp"
#include "gradverify_torch/tensor_math.hpp"

#define MAX_TENSORINFO_DIMS 25

namespace at {
namespace native {
/// Whether each offset, and their number, is below `most`.
inline bool canUse32BitIndexMath(const TensorBase& tensor, std::int64_t most = INT32_MAX) {
    const std::int64_t count = tensor.numel();
    return count < most && (count == 0 || tensor.gradverify_shape().offset_of(count - 1) < most);
}
}  // namespace native

namespace cuda::detail {
using native::canUse32BitIndexMath;

template <class T, class IndexType>
struct TensorInfo {
    T* data = nullptr;
    IndexType sizes[MAX_TENSORINFO_DIMS] = {}, strides[MAX_TENSORINFO_DIMS] = {};
    int dims = 0;

    TensorInfo() = default;
    TensorInfo(T* p, int dim, IndexType* sz, IndexType* st) : data(p), dims(dim) {
        TORCH_CHECK(dims < MAX_TENSORINFO_DIMS, "CUDA Tensors cannot have more than 25 dimensions");
        std::copy(sz, sz + dim, sizes);
        std::copy(st, st + dim, strides);
    }
    bool isContiguous() const { return dims == 1 && strides[0] == 1; }
};
template <class T, class IndexType>
TensorInfo<T, IndexType> getTensorInfo(const TensorBase& tensor) {
    IndexType sizes[MAX_TENSORINFO_DIMS], strides[MAX_TENSORINFO_DIMS];
    std::copy(tensor.sizes().begin(), tensor.sizes().end(), sizes);
    std::copy(tensor.strides().begin(), tensor.strides().end(), strides);
    return {tensor.data_ptr<T>(), int(tensor.dim()), sizes, strides};
}
/// Where element number `i` lies; -1 stands for as many axes as the tensor has.
template <class T, class IndexType, int Dims>
struct IndexToOffset {
    static IndexType get(IndexType i, const TensorInfo<T, IndexType>& info) {
        IndexType offset = 0;
        for (int axis = (Dims == -1 ? info.dims : Dims) - 1; axis > 0; --axis) {
            offset += i % info.sizes[axis] * info.strides[axis];
            i /= info.sizes[axis];
        }
        return offset + i * info.strides[0];
    }
};
}  // namespace cuda::detail
}  // namespace at
