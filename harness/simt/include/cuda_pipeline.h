// SPDX-License-Identifier: Apache-2.0
// CUDA's asynchronous copies: those of cp.async.
#pragma once
#pragma GCC system_header

#include <cstddef>

#include "gradverify_simt/forced.hpp"

/// Copies `bytes` (4, 8 or 16), with zeros in place of the last `zero_bytes`.
GRADVERIFY_SIMT_ACCESS void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                                    std::size_t zero_bytes = 0,
                                                    GRADVERIFY_SIMT_PLACE) {
    namespace ptx = gradverify::simt::ptx;
    ptx::cp_async(ptx::to_shared(reinterpret_cast<std::uintptr_t>(to)),
                  reinterpret_cast<std::uintptr_t>(from), static_cast<std::uint32_t>(bytes),
                  static_cast<std::uint32_t>(bytes - zero_bytes), file, line);
}
inline void __pipeline_commit() { gradverify::simt::ptx::cp_async_commit(); }
inline void __pipeline_wait_prior(std::size_t groups) {
    gradverify::simt::ptx::cp_async_wait(static_cast<std::uint32_t>(groups));
}
