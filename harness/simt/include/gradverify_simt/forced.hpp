// SPDX-License-Identifier: Apache-2.0
// The words of CUDA C++ that neither host compiler nor rewriter know, included before every kernel
// file's first line. The rewriter drops the words that say where a function runs. What a device's
// text has beside it is defined by the build (harness/cmake/cpu_preprocess.sh).
#pragma once
// They are no system header's, or each would stand between two line markers.
#define __global__ __global__
#define __device__ __device__
#define __host__ __host__
#define __constant__ __device__
#define __managed__ __device__
#pragma GCC system_header

#include <cmath>

// libstdc++'s math.h makes one of C++20's names global, which a user may have given to a function.
#if __cplusplus > 201703L
namespace std {
void gradverify_no_lerp();
}
#define lerp gradverify_no_lerp
#include <math.h>
#undef lerp
#endif

#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <type_traits>
#include <utility>

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 93
#define __CUDA_API_VER_MAJOR__ 12
#define __CUDA_API_VER_MINOR__ 8
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
// `__cluster_dims__(...)` stays for the rewriter, which gives it to the kernel's launches.
#define __forceinline__ inline __attribute__((always_inline))
// Empty: libstdc++ writes __attribute__((__noinline__)), which must stay well formed.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif
#define __assume(condition) __builtin_assume(condition)
#define __nv_is_extended_device_lambda_closure_type(T) false

#include "gradverify_simt/vector_types.hpp"

#include "gradverify_simt/atomics.hpp"
#include "gradverify_simt/intrinsics.hpp"
#include "gradverify_simt/launch.hpp"
#include "gradverify_simt/math.hpp"
#include "gradverify_simt/ptx/bulk.hpp"
#include "gradverify_simt/ptx/clusters.hpp"
#include "gradverify_simt/ptx/conversions.hpp"
#include "gradverify_simt/ptx/cp_async.hpp"
#include "gradverify_simt/ptx/mma.hpp"
#include "gradverify_simt/ptx/tensor.hpp"
#include "gradverify_simt/ptx/warps.hpp"
#include "gradverify_simt/ptx/wgmma.hpp"
#include "gradverify_simt/runtime.hpp"
#include "gradverify_simt/runtime_launch.hpp"
#include "gradverify_simt/runtime_refused.hpp"
#include "gradverify_simt/sync.hpp"
#include "gradverify_simt/tensor_maps.hpp"

#include <assert.h>
