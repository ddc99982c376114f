// SPDX-License-Identifier: Apache-2.0
// What most kernels here include: CUDA's runtime, the registration, passes, elements and grids.
#pragma once

#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "harness/pass.hpp"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
