// SPDX-License-Identifier: Apache-2.0
// Stands for CUDA's header of this name, which the CPU device does not serve.
#pragma once

#error \
    "gradverify: <thrust/fill.h> (algorithms for the whole device) runs on cuda only; name this file behind CUDA_ONLY in gradverify_add_kernels, and the rest of the target still builds for the cpu device"
