// SPDX-License-Identifier: Apache-2.0
// How a header declares a library that runs on cuda only: a file that includes it builds, and a
// call ends its launcher, or its kernel, with an error that names the function and the line.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/each.hpp"
#include "gradverify_simt/runtime_refused.hpp"

#define GRADVERIFY_SIMT_REFUSE(LIBRARY, NAME, FILE, LINE)                                       \
    gradverify::simt::unit::gradverify_simt_trap(                                               \
        cudaErrorNotSupported, NAME " runs on cuda only: the cpu device has no " LIBRARY, FILE, \
        LINE)

// Declares functions, or members, of any arguments; SCOPE stands before their names in an error.
#define GRADVERIFY_SIMT_CUDA_ONLY(LIBRARY, SCOPE, RETURN, ...) \
    GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_CUDA_ONLY_ONE, (LIBRARY, SCOPE, RETURN), __VA_ARGS__)
#define GRADVERIFY_SIMT_CUDA_ONLY_ONE(NAME, LIBRARY, SCOPE, RETURN)                    \
    template <class... Args>                                                           \
    [[noreturn]] RETURN NAME(gradverify::simt::unit::FirstArgument first, Args&&...) { \
        GRADVERIFY_SIMT_REFUSE(LIBRARY, SCOPE #NAME, first.file, first.line);          \
    }
