// SPDX-License-Identifier: Apache-2.0
// Tensor maps by the driver's functions, which are asked for by name on each device.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <vector>

namespace {

template <class Function>
Function* driver_function(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found) !=
        cudaSuccess)
        throw std::runtime_error(name);
    return reinterpret_cast<Function*>(function);
}

struct Shape {
    std::vector<cuuint64_t> size;
    std::vector<cuuint32_t> box, steps;
    cuuint64_t row_bytes = 0;  ///< 0: rows are packed
};
/// Bytes from a row to the next, and so on.
[[maybe_unused]] std::vector<cuuint64_t> strides_of(const Shape& shape, cuuint64_t element_bytes) {
    std::vector<cuuint64_t> strides;
    cuuint64_t stride = shape.row_bytes != 0 ? shape.row_bytes : element_bytes * shape.size[0];
    for (std::size_t i = 0; i < shape.size.size(); ++i) {
        if (i > 0) stride *= shape.size[i];
        strides.push_back(stride);
    }
    return strides;
}
template <class T>
CUresult encode(CUtensorMap& map, T* data, CUtensorMapDataType type, const Shape& shape,
                CUtensorMapSwizzle swizzle, bool nan = false) {
    const std::vector<cuuint64_t> strides = strides_of(shape, sizeof(T));
    return driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled")(
        &map, type, static_cast<cuuint32_t>(shape.size.size()), data, shape.size.data(),
        strides.data(), shape.box.data(), shape.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
            : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
/// Pixels between the corners' bounds; a box has so many of them.
struct Pixels {
    std::vector<int> lower, upper;
    cuuint32_t channels, count;
};
template <class T>
CUresult encode_columns(CUtensorMap& map, T* data, CUtensorMapDataType type, const Shape& shape,
                        const Pixels& pixels, CUtensorMapSwizzle swizzle, bool nan = false) {
    const std::vector<cuuint64_t> strides = strides_of(shape, sizeof(T));
    return driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col")(
        &map, type, static_cast<cuuint32_t>(shape.size.size()), data, shape.size.data(),
        strides.data(), pixels.lower.data(), pixels.upper.data(), pixels.channels, pixels.count,
        shape.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
            : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace
