// SPDX-License-Identifier: Apache-2.0
// Sizes and strides of a tensor, and its memory. A shape is passed to kernels by value.
#pragma once
#pragma GCC system_header

#include <algorithm>
#include <memory>
#include <vector>

#include "gradverify_torch/cuda.hpp"
#include "gradverify_torch/options.hpp"

namespace c10::gradverify_detail {

constexpr int max_rank = 8;

/// An axis that may count from the end, as a number from 0 on.
inline int axis_of(std::int64_t axis, int rank) {
    TORCH_CHECK_INDEX(axis >= -rank && axis < rank, "axis ", axis, " of a tensor of ", rank,
                      " axes");
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

struct Shape {
    int rank = 0;
    std::int64_t sizes[max_rank] = {}, strides[max_rank] = {};

    Shape() = default;
    Shape(IntArrayRef of_sizes, IntArrayRef of_strides) : rank(static_cast<int>(of_sizes.size())) {
        TORCH_CHECK(rank <= max_rank && of_strides.size() == of_sizes.size(),
                    "the cpu device's tensors have up to 8 axes, each with a stride; got ",
                    of_sizes, " and ", of_strides);
        std::copy(of_sizes.begin(), of_sizes.end(), sizes);
        std::copy(of_strides.begin(), of_strides.end(), strides);
    }
    /// Dense, the last axis innermost; where `channels_last`, axis 1 is the innermost.
    explicit Shape(IntArrayRef of_sizes, bool channels_last = false) : Shape(of_sizes, of_sizes) {
        std::int64_t stride = 1;
        const auto place = [&](int axis) {
            TORCH_CHECK(sizes[axis] >= 0, "a size is negative: ", of_sizes);
            strides[axis] = stride;
            stride *= std::max<std::int64_t>(sizes[axis], 1);
        };
        if (channels_last) place(1);
        for (int axis = rank - 1; axis >= 0; --axis)
            if (!channels_last || axis != 1) place(axis);
    }

    std::int64_t elements() const {
        std::int64_t count = 1;
        for (int axis = 0; axis < rank; ++axis) count *= sizes[axis];
        return count;
    }
    /// Where element `i`, in the order of indices, lies.
    std::int64_t offset_of(std::int64_t i) const {
        std::int64_t offset = 0;
        for (int axis = rank - 1; axis >= 0; --axis) {
            offset += i % sizes[axis] * strides[axis];
            i /= sizes[axis];
        }
        return offset;
    }
    bool is_dense_as(const Shape& other) const {
        for (int axis = 0; axis < rank; ++axis)
            if (sizes[axis] != 1 && strides[axis] != other.strides[axis]) return false;
        return true;
    }
    IntArrayRef size_list() const { return {sizes, static_cast<std::size_t>(rank)}; }
    IntArrayRef stride_list() const { return {strides, static_cast<std::size_t>(rank)}; }
    bool is_contiguous(bool channels_last = false) const {
        return elements() == 0 || is_dense_as(Shape(size_list(), channels_last));
    }
    /// The strides of a new tensor like this one: its own where they leave no gap.
    Shape like() const {
        int order[max_rank];
        for (int axis = 0; axis < rank; ++axis) order[axis] = axis;
        std::stable_sort(order, order + rank,
                         [this](int a, int b) { return strides[a] > strides[b]; });
        Shape dense = *this;
        std::int64_t stride = 1;
        for (int i = rank - 1; i >= 0; --i) {
            dense.strides[order[i]] = stride;
            stride *= std::max<std::int64_t>(sizes[order[i]], 1);
        }
        return dense.is_dense_as(*this) ? dense : Shape(size_list());
    }

    void drop(int axis) {
        --rank;
        std::copy(sizes + axis + 1, sizes + rank + 1, sizes + axis);
        std::copy(strides + axis + 1, strides + rank + 1, strides + axis);
    }
    void insert(int axis, std::int64_t size, std::int64_t stride) {
        TORCH_CHECK(rank < max_rank, "the cpu device's tensors have up to 8 axes");
        std::copy_backward(sizes + axis, sizes + rank, sizes + rank + 1);
        std::copy_backward(strides + axis, strides + rank, strides + rank + 1);
        ++rank;
        sizes[axis] = size;
        strides[axis] = stride;
    }
    /// Broadcast to `wanted`; -1 stands for a size of its own.
    Shape expanded(IntArrayRef wanted) const {
        const int more = static_cast<int>(wanted.size()) - rank;
        TORCH_CHECK(more >= 0, "sizes ", size_list(), " don't expand to ", wanted);
        Shape result(wanted, wanted);
        for (int axis = 0; axis < result.rank; ++axis) {
            const std::int64_t own = axis < more ? 1 : sizes[axis - more];
            if (result.sizes[axis] == -1) result.sizes[axis] = own;
            TORCH_CHECK(own == 1 || own == result.sizes[axis], "sizes ", size_list(),
                        " don't expand to ", wanted);
            result.strides[axis] =
                axis < more || own != result.sizes[axis] ? 0 : strides[axis - more];
        }
        return result;
    }
    /// With other sizes over the same elements; empty where a copy would be needed.
    std::optional<Shape> viewed(IntArrayRef wanted) const {
        Shape result(wanted, wanted);
        std::int64_t known = 1;
        std::int64_t* open = nullptr;
        for (int axis = 0; axis < result.rank; ++axis) {
            if (result.sizes[axis] == -1) {
                open = &result.sizes[axis];
            } else {
                known *= result.sizes[axis];
            }
        }
        if (open != nullptr) *open = known == 0 ? 0 : elements() / known;
        TORCH_CHECK(result.elements() == elements(), "sizes ", size_list(), " can't be ", wanted);
        if (elements() == 0) return Shape(result.size_list());
        // Each axis is taken from those of ours that lie on after another as one.
        int from = rank - 1;
        std::int64_t left = 1, stride = 1;
        for (int axis = result.rank - 1; axis >= 0; --axis) {
            while (left == 1 && from >= 0) {
                left = sizes[from];
                stride = strides[from--];
            }
            while (left % result.sizes[axis] != 0 && from >= 0) {
                if (sizes[from] != 1 && strides[from] != stride * left) return std::nullopt;
                left *= sizes[from--];
            }
            if (left % result.sizes[axis] != 0) return std::nullopt;
            result.strides[axis] = stride;
            left /= result.sizes[axis];
            stride *= result.sizes[axis];
        }
        return result;
    }
};

/// Frees memory of the device in the order of the current stream, behind the work so far of the
/// streams that were recorded.
struct FreeInOrder {
    std::vector<cudaStream_t> recorded{};
    void operator()(void* of_device) const {
        const cudaStream_t current = cuda::getCurrentCUDAStream();
        for (const cudaStream_t stream : recorded) {
            cudaEvent_t used = nullptr;
            cudaEventCreate(&used);
            cudaEventRecord(used, stream);
            cudaStreamWaitEvent(current, used, 0);
            cudaEventDestroy(used);
        }
        cudaFreeAsync(of_device, current);
    }
};
struct FreePinned {
    void operator()(void* of_host) const { cudaFreeHost(of_host); }
};
/// Memory of the device, guarded and poisoned. Kernels may use the host's where it is pinned.
inline std::shared_ptr<void> allocate(std::size_t bytes, Device device, bool is_pinned) {
    if (bytes == 0) return nullptr;
    void* memory = nullptr;
    if (device.is_cuda()) {
        C10_CUDA_CHECK(cudaMallocAsync(&memory, bytes, cuda::getCurrentCUDAStream()));
        return {memory, FreeInOrder()};
    }
    if (!is_pinned)
        return {::operator new(bytes), [](void* of_host) { ::operator delete(of_host); }};
    C10_CUDA_CHECK(cudaMallocHost(&memory, bytes));
    return {memory, FreePinned()};
}

}  // namespace c10::gradverify_detail
