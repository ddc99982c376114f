// SPDX-License-Identifier: Apache-2.0
// CUDA's second name for the same.
#pragma once
#pragma GCC system_header

#include "cuda_bf16.h"
