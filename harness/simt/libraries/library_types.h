// SPDX-License-Identifier: Apache-2.0
// The names of element types that CUDA's libraries share, with their numbers.
#pragma once
#pragma GCC system_header

// clang-format off
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_8I = 3,
    CUDA_R_32I = 10, CUDA_R_16BF = 14 };
// clang-format on
using cudaDataType = cudaDataType_t;

// What makes and destroys a library's handle.
#define GRADVERIFY_SIMT_HANDLE(NAME, STATUS)             \
    inline STATUS NAME##Create(NAME##Handle_t* handle) { \
        *handle = new NAME##Context;                     \
        return STATUS(0);                                \
    }                                                    \
    inline STATUS NAME##Destroy(NAME##Handle_t handle) { \
        delete handle;                                   \
        return STATUS(0);                                \
    }
