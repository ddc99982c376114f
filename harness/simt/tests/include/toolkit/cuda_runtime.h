// SPDX-License-Identifier: Apache-2.0
// Stands for a toolkit's folder among a target's directories, as it is often there.
#ifdef __NVCC__
#include_next <cuda_runtime.h>
#else
#error "a toolkit's header was found before the cpu device's"
#endif
