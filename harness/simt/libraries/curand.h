// SPDX-License-Identifier: Apache-2.0
// Declares curand's host interface, which runs on cuda only. Device functions are
// curand_kernel.h's.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/cuda_only.hpp"

// clang-format off
enum curandStatus_t { CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101, CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103, CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105, CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201, CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203, CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999 };
using curandStatus = curandStatus_t;
enum curandRngType_t { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121, CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202, CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204 };
using curandRngType = curandRngType_t;
enum curandOrdering_t { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102, CURAND_ORDERING_PSEUDO_LEGACY = 103,
    CURAND_ORDERING_QUASI_DEFAULT = 201 };
// clang-format on
struct curandGenerator_st;
using curandGenerator_t = curandGenerator_st*;

GRADVERIFY_SIMT_CUDA_ONLY("curand's host interface", "", curandStatus_t, curandCreateGenerator,
                          curandCreateGeneratorHost, curandDestroyGenerator, curandGenerate,
                          curandGenerateLogNormal, curandGenerateLogNormalDouble,
                          curandGenerateLongLong, curandGenerateNormal, curandGenerateNormalDouble,
                          curandGeneratePoisson, curandGenerateSeeds, curandGenerateUniform,
                          curandGenerateUniformDouble, curandGetVersion, curandSetGeneratorOffset,
                          curandSetGeneratorOrdering, curandSetPseudoRandomGeneratorSeed,
                          curandSetQuasiRandomGeneratorDimensions, curandSetStream)
