// SPDX-License-Identifier: Apache-2.0
// The driver's names (cuda.h) that headers of other libraries need to be read.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"
#include "gradverify_simt/tensor_maps.hpp"

#define CUDAAPI
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUgraph = cudaGraph_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUkernel = struct CUkern_st*;
using CUlibrary = struct CUlib_st*;

using CUlaunchAttributeID = cudaLaunchAttributeID;
using CUlaunchAttributeValue = cudaLaunchAttributeValue;
struct CUlaunchAttribute {
    CUlaunchAttributeID id;
    CUlaunchAttributeValue value;
};
constexpr auto CU_LAUNCH_ATTRIBUTE_IGNORE = cudaLaunchAttributeIgnore;
constexpr auto CU_LAUNCH_ATTRIBUTE_COOPERATIVE = cudaLaunchAttributeCooperative;
constexpr auto CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = cudaLaunchAttributeClusterDimension;
constexpr auto CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION =
    cudaLaunchAttributeProgrammaticStreamSerialization;
constexpr auto CU_LAUNCH_ATTRIBUTE_PRIORITY = cudaLaunchAttributePriority;
struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute* attrs;
    unsigned numAttrs;
};
