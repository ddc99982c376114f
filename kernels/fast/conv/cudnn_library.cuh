// SPDX-License-Identifier: Apache-2.0
// cuDNN as kernels call it: loaded when it is first needed, so that the executable also starts
// without it; one handle and one workspace for the process. Decides which of cuDNN's errors say
// that it does not take a problem.
#pragma once

#include <cudnn.h>
#include <dlfcn.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "harness/base/cuda_check.hpp"
#include "harness/kernel.hpp"

namespace gradverify::conv::cudnn {

// A macro, since a function's name is needed both as a text and as a type.
#define GRADVERIFY_CUDNN_FUNCTIONS(DO)            \
    DO(Create)                                    \
    DO(SetStream)                                 \
    DO(GetErrorString)                            \
    DO(CreateTensorDescriptor)                    \
    DO(SetTensorNdDescriptor)                     \
    DO(DestroyTensorDescriptor)                   \
    DO(CreateFilterDescriptor)                    \
    DO(SetFilterNdDescriptor)                     \
    DO(DestroyFilterDescriptor)                   \
    DO(CreateConvolutionDescriptor)               \
    DO(SetConvolutionNdDescriptor)                \
    DO(SetConvolutionGroupCount)                  \
    DO(SetConvolutionMathType)                    \
    DO(DestroyConvolutionDescriptor)              \
    DO(CreateActivationDescriptor)                \
    DO(SetActivationDescriptor)                   \
    DO(DestroyActivationDescriptor)               \
    DO(AddTensor)                                 \
    DO(ConvolutionForward)                        \
    DO(ConvolutionBiasActivationForward)          \
    DO(GetConvolutionForwardAlgorithm_v7)         \
    DO(GetConvolutionForwardWorkspaceSize)        \
    DO(ConvolutionBackwardData)                   \
    DO(GetConvolutionBackwardDataAlgorithm_v7)    \
    DO(GetConvolutionBackwardDataWorkspaceSize)   \
    DO(ConvolutionBackwardFilter)                 \
    DO(GetConvolutionBackwardFilterAlgorithm_v7)  \
    DO(GetConvolutionBackwardFilterWorkspaceSize) \
    DO(ConvolutionBackwardBias)

/// Its functions, without the `cudnn` in front.
struct Library {
    std::string why_absent;  ///< empty where it is here
#define GRADVERIFY_CUDNN_DECLARE(NAME) decltype(&::cudnn##NAME) NAME = nullptr;
    GRADVERIFY_CUDNN_FUNCTIONS(GRADVERIFY_CUDNN_DECLARE)
#undef GRADVERIFY_CUDNN_DECLARE

    Library() {
        // It has the version that the kernels are compiled for, and is never unloaded.
        const std::string name = "libcudnn.so." + std::to_string(CUDNN_MAJOR);
        void* const opened = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (!opened) {
            const char* const why = dlerror();
            why_absent = why ? why : name + " can't be loaded";
            return;
        }
#define GRADVERIFY_CUDNN_LOAD(NAME)                                        \
    NAME = reinterpret_cast<decltype(NAME)>(dlsym(opened, "cudnn" #NAME)); \
    if (!NAME && why_absent.empty()) why_absent = name + " has no cudnn" #NAME;
        GRADVERIFY_CUDNN_FUNCTIONS(GRADVERIFY_CUDNN_LOAD)
#undef GRADVERIFY_CUDNN_LOAD
    }
};
#undef GRADVERIFY_CUDNN_FUNCTIONS

inline const Library& library() {
    static const Library loaded;
    return loaded;
}

inline std::string why_absent() { return library().why_absent; }

/// Throws NotSupported where cuDNN calls it so, and std::runtime_error for any other failure.
inline void require(cudnnStatus_t status, const char* call) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    const std::string text = std::string(call) + ": " + library().GetErrorString(status);
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) throw NotSupported(text);
    throw std::runtime_error(text);
}

#define GRADVERIFY_CUDNN(NAME, ...)                                                            \
    ::gradverify::conv::cudnn::require(::gradverify::conv::cudnn::library().NAME(__VA_ARGS__), \
                                       "cudnn" #NAME)

/// The handle of this process, put on the stream. Never destroyed: at exit the driver may be gone.
inline cudnnHandle_t handle_on(CUstream_st* stream) {
    static const cudnnHandle_t handle = [] {
        cudnnHandle_t created = nullptr;
        GRADVERIFY_CUDNN(Create, &created);
        return created;
    }();
    GRADVERIFY_CUDNN(SetStream, handle, stream);
    return handle;
}

/// Device memory for one call at a time, grown as needed: cuDNN says how much only on the device,
/// which the process that plans the calls never touches.
inline void* workspace_of(std::size_t bytes) {
    static void* data = nullptr;
    static std::size_t size = 0;
    if (bytes > size) {
        // Waits for all work that may still use it.
        GRADVERIFY_CUDA_CHECK(cudaFree(data));
        data = nullptr;
        size = 0;
        GRADVERIFY_CUDA_CHECK(cudaMalloc(&data, bytes));
        size = bytes;
    }
    return data;
}

/// cuDNN counts in ints.
inline int as_int(std::int64_t value) {
    if (value > std::numeric_limits<int>::max())
        throw NotSupported("cuDNN's descriptors take 32 bits, not " + std::to_string(value));
    return static_cast<int>(value);
}

}  // namespace gradverify::conv::cudnn
