// SPDX-License-Identifier: Apache-2.0
// Maps of tensors for the copies of sm_90a (CUDA driver API, "Tensor Map Object Management"), of
// elements of 16 bits or floats. Sizes go from the innermost axis outwards, and each row of the
// innermost but the last is a multiple of 16 bytes long.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace gradverify::tensor_maps {

template <class T>
constexpr CUtensorMapDataType type_of() {
    if constexpr (std::is_same_v<T, float>)
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    else if constexpr (std::is_same_v<T, __half>)
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    else
        return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

/// A function of the driver, which programs are not linked with.
template <class Function>
Function* driver_function(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess)
        throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<Function*>(function);
}

/// A tensor whose axes lie one in the other, without gaps, or, where `apart` has a number, so many
/// elements apart.
template <class T, std::size_t rank>
struct Tensor {
    const T* data;
    std::array<long long, rank> sizes;
    std::array<long long, rank> apart = {};

    void* address() const { return const_cast<T*>(data); }
    std::array<cuuint64_t, rank> dimensions() const {
        std::array<cuuint64_t, rank> all{};
        for (std::size_t i = 0; i < rank; ++i) all[i] = static_cast<cuuint64_t>(sizes[i]);
        return all;
    }
    std::array<cuuint64_t, rank> strides() const {
        std::array<cuuint64_t, rank> all{};
        cuuint64_t bytes = sizeof(T);
        for (std::size_t i = 0; i < rank; ++i) {
            bytes *= static_cast<cuuint64_t>(sizes[i]);
            if (i + 1 < rank && apart[i + 1] > 0)
                bytes = static_cast<cuuint64_t>(apart[i + 1]) * sizeof(T);
            all[i] = bytes;
        }
        return all;
    }
};

/// A map as the driver asks for it. The place of a function's result may have less alignment where
/// g++ 12 assigns the result, so none is filled in there.
struct Aligned {
    CUtensorMap map;
};

/// Boxes of a tensor.
/// **Errors** std::runtime_error where the driver refuses, as boxes of more than 256 along an axis.
template <class T, std::size_t rank>
CUtensorMap in_boxes(const Tensor<T, rank>& tensor, const std::array<int, rank>& box,
                     CUtensorMapSwizzle swizzle) {
    static const auto encode =
        driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    Aligned made;
    std::array<cuuint32_t, rank> boxes{}, steps{};
    for (std::size_t i = 0; i < rank; ++i) boxes[i] = static_cast<cuuint32_t>(box[i]), steps[i] = 1;
    const auto sizes = tensor.dimensions(), strides = tensor.strides();
    const CUresult result =
        encode(&made.map, type_of<T>(), rank, tensor.address(), sizes.data(), strides.data(),
               boxes.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) throw std::runtime_error("cuTensorMapEncodeTiled failed");
    return made.map;
}

/// Pixels of images `n, height, width, channels` that a window's corner goes through: along width
/// and height from `first` in steps of `stride`, `count` of them; a box has some channels of some
/// pixels that follow each other.
struct Corners {
    std::array<int, 2> first, count, stride;
};
/// **Errors** as above; corners go from -128 to 127, from the first pixel and from the last.
template <class T>
CUtensorMap in_columns(const Tensor<T, 4>& images, const Corners& corners, int channels, int pixels,
                       CUtensorMapSwizzle swizzle) {
    static const auto encode =
        driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    Aligned made;
    const auto step = [&](int axis) { return static_cast<cuuint32_t>(corners.stride[axis]); };
    const cuuint32_t steps[] = {1, step(0), step(1), 1};
    int last[2];
    for (int axis = 0; axis < 2; ++axis)
        last[axis] = corners.first[axis] + (corners.count[axis] - 1) * corners.stride[axis] -
                     static_cast<int>(images.sizes[axis + 1] - 1);
    const auto sizes = images.dimensions(), strides = images.strides();
    const CUresult result =
        encode(&made.map, type_of<T>(), 4, images.address(), sizes.data(), strides.data(),
               corners.first.data(), last, static_cast<cuuint32_t>(channels),
               static_cast<cuuint32_t>(pixels), steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) throw std::runtime_error("cuTensorMapEncodeIm2col failed");
    return made.map;
}

}  // namespace gradverify::tensor_maps
