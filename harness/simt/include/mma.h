// SPDX-License-Identifier: Apache-2.0
// Stands for CUDA's header of this name: nvcuda::wmma of half, bfloat16, tf32 and double.
#pragma once
#pragma GCC system_header

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gradverify_simt/mma.hpp"
