// SPDX-License-Identifier: Apache-2.0
// Declares NCCL, which runs on cuda only.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/cuda_only.hpp"

#define NCCL_MAJOR 2
#define NCCL_MINOR 18
#define NCCL_PATCH 0
#define NCCL_VERSION(X, Y, Z) ((X) * 10000 + (Y) * 100 + (Z))
#define NCCL_VERSION_CODE NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)
#define NCCL_UNIQUE_ID_BYTES 128

struct ncclComm;
using ncclComm_t = ncclComm*;
struct ncclUniqueId {
    char internal[NCCL_UNIQUE_ID_BYTES];
};
// clang-format off
enum ncclResult_t {
    ncclSuccess, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument,
    ncclInvalidUsage, ncclRemoteError, ncclInProgress,
};
enum ncclRedOp_t { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 };
enum ncclDataType_t {
    ncclInt8 = 0, ncclChar = 0, ncclUint8 = 1, ncclInt32 = 2, ncclInt = 2, ncclUint32 = 3,
    ncclInt64 = 4, ncclUint64 = 5, ncclFloat16 = 6, ncclHalf = 6, ncclFloat32 = 7, ncclFloat = 7,
    ncclFloat64 = 8, ncclDouble = 8, ncclBfloat16 = 9,
};
// clang-format on

// No call returns with an error.
inline const char* ncclGetErrorString(ncclResult_t) { return "no error"; }
inline const char* ncclGetLastError(ncclComm_t) { return "no error"; }
GRADVERIFY_SIMT_CUDA_ONLY_PLAIN(ncclGroupStart, "NCCL", "", ncclResult_t)
GRADVERIFY_SIMT_CUDA_ONLY_PLAIN(ncclGroupEnd, "NCCL", "", ncclResult_t)
GRADVERIFY_SIMT_CUDA_ONLY("NCCL", "", ncclResult_t, ncclAllGather, ncclAllReduce, ncclBcast,
                          ncclBroadcast, ncclCommAbort, ncclCommCount, ncclCommCuDevice,
                          ncclCommDestroy, ncclCommFinalize, ncclCommGetAsyncError, ncclCommInitAll,
                          ncclCommInitRank, ncclCommSplit, ncclCommUserRank, ncclGetUniqueId,
                          ncclGetVersion, ncclRecv, ncclReduce, ncclReduceScatter, ncclSend)
