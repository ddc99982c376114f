// SPDX-License-Identifier: Apache-2.0
// CUDA's asynchronous copies, done at once here: a missing wait shows on cuda only.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstring>

#include "gradverify_simt/forced.hpp"

/// Copies `bytes` (4, 8 or 16), with zeros in place of the last `zero_bytes`.
GRADVERIFY_SIMT_ACCESS void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                                    std::size_t zero_bytes = 0) {
    auto* target = static_cast<unsigned char*>(to);
    std::memcpy(target, from, bytes - zero_bytes);
    if (zero_bytes > 0) std::memset(target + (bytes - zero_bytes), 0, zero_bytes);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(std::size_t) {}
