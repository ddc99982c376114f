// SPDX-License-Identifier: Apache-2.0
// Marks the functions that the host and a GPU both run.
#pragma once

#ifdef __CUDACC__
#define GRADVERIFY_ON_BOTH __host__ __device__
#else
#define GRADVERIFY_ON_BOTH
#endif
