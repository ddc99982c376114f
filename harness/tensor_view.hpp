// SPDX-License-Identifier: Apache-2.0
// Decides how a launcher sees a tensor: device pointer, element type, sizes and strides.
// Owns nothing and knows no device. Included by CUDA units.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "harness/dtype.hpp"

namespace gradverify {

/// At most: batch, channel, three spatial axes, and one to spare.
inline constexpr int max_tensor_rank = 6;

/// A tensor in device memory, as a launcher gets it.
///
/// **Units** `sizes` and `strides` count elements; axis 0 is the outermost (for conv the batch).
struct TensorView {
    void* data = nullptr;
    DType dtype = DType::f32;
    int rank = 0;
    std::array<std::int64_t, max_tensor_rank> sizes{};
    std::array<std::int64_t, max_tensor_rank> strides{};

    std::int64_t size(int axis) const { return sizes[static_cast<std::size_t>(axis)]; }
    std::int64_t stride(int axis) const { return strides[static_cast<std::size_t>(axis)]; }

    std::int64_t elements() const {
        std::int64_t count = 1;
        for (int axis = 0; axis < rank; ++axis) count *= size(axis);
        return count;
    }

    /// The data as `T*`.
    ///
    /// **Errors** std::invalid_argument when `T` is not the tensor's element type.
    template <class T>
    T* as() const {
        constexpr DType wanted = DTypeOf<std::remove_const_t<T>>::value;
        if (dtype != wanted)
            throw std::invalid_argument("the launcher reads a tensor of " +
                                        std::string(traits_of(dtype).name) + " as " +
                                        std::string(traits_of(wanted).name));
        return static_cast<T*>(data);
    }
};

}  // namespace gradverify
