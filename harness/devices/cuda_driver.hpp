// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA driver that the runtime has no functions for.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace gradverify::detail {

/// The runtime has loaded the driver's library. **Errors** std::runtime_error.
template <class Function>
Function* of_driver(const char* name) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void* const found = driver ? dlsym(driver, name) : nullptr;
    if (!found) throw std::runtime_error(std::string("the CUDA driver has no ") + name);
    return reinterpret_cast<Function*>(found);
}

/// **Errors** std::runtime_error.
inline void check_driver(CUresult result, const char* name) {
    if (result != CUDA_SUCCESS)
        throw std::runtime_error(result == CUDA_ERROR_OUT_OF_MEMORY
                                     ? "cudaErrorMemoryAllocation: out of memory"
                                     : std::string(name) + ": CUDA driver error " +
                                           std::to_string(static_cast<int>(result)));
}

}  // namespace gradverify::detail
