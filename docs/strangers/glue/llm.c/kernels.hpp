// SPDX-License-Identifier: Apache-2.0
// What the files that register llm.c's kernels have in common: each kernel has a number.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "harness/kernel.hpp"
#include "harness/pass.hpp"

using Bf16 = __nv_bfloat16;
using gradverify::DType;
using gradverify::KernelDeclaration;
using gradverify::multiple_of;
using gradverify::Pass;
using gradverify::Problem;

/// All offsets are ints, and all work is on the default stream. Blocks are those of each `main`.
inline void as_llm_c(KernelDeclaration& kernel) {
    kernel.on_default_stream().up_to_elements(1 << 30).blocks_of({128, 32, 64, 256, 512, 1024});
}
/// A launcher counts the threads of a warp for each row, rounded up to blocks, in an int.
inline void warps_of_rows(KernelDeclaration& kernel) {
    kernel.where("rows", gradverify::between(1, (INT32_MAX - 1023) / 32));
}
inline void in_bf16(KernelDeclaration& kernel) { kernel.with(as_llm_c).storage(DType::bf16); }

inline int size(const auto& call, const char* parameter) {
    return static_cast<int>(call.size(parameter));
}
/// A tensor's numbers, as the launcher wants them.
template <class T = float>
T* data(const auto& call, const char* tensor) {
    return call.tensor(tensor).template as<T>();
}

/// Device memory for a launcher's buffers, one behind the other.
template <class T>
class Buffers {
  public:
    explicit Buffers(const gradverify::Launch& launch) : next_(static_cast<T*>(launch.workspace)) {}
    T* take(std::int64_t elements) {
        return (next_ += elements + (-elements & 63)) - (elements + (-elements & 63));
    }

  private:
    T* next_;
};
