// SPDX-License-Identifier: Apache-2.0
// How a failed call of the CUDA runtime is said: file, line, call, name, text.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace gradverify::detail {

inline std::string text_of(cudaError_t error) {
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

[[noreturn]] inline void throw_cuda(cudaError_t error, const char* call, const char* file,
                                    int line) {
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                             text_of(error));
}

}  // namespace gradverify::detail

#define GRADVERIFY_CUDA_CHECK(CALL)                                                        \
    do {                                                                                   \
        const cudaError_t gradverify_error = (CALL);                                       \
        if (gradverify_error != cudaSuccess)                                               \
            ::gradverify::detail::throw_cuda(gradverify_error, #CALL, __FILE__, __LINE__); \
    } while (false)
