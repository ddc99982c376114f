// SPDX-License-Identifier: Apache-2.0
// Decides what a launcher is given: the problem, the tensors, and how to launch. Launchers take one
// struct per pass, made from a PassCall. CUDA units include this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "harness/problems/problem.hpp"
#include "harness/registry/tensor_view.hpp"

// The CUDA runtime's own incomplete type, so that this header needs no CUDA.
struct CUstream_st;

namespace gradverify {

/// How to launch, the same for every pass.
struct Launch {
    CUstream_st* stream = nullptr;  ///< a cudaStream_t
    /// Threads in a block, one of those that the kernel declares; 0 when it declares none.
    int block_size = 0;
    /// Bit i: output i of the pass is wanted.
    std::uint32_t output_mask = ~std::uint32_t{0};
    void* workspace = nullptr;  ///< poisoned; as many bytes as the kernel declares
    std::int64_t workspace_bytes = 0;
};

/// One call of a kernel. The tensors are the pass's inputs, then its outputs, as declared.
struct PassCall {
    const Problem& problem;
    std::span<const TensorView> tensors;
    Launch launch;
    /// The tensors' names, in the same order, and how many of them are outputs.
    std::span<const std::string> names{};
    std::size_t outputs = 0;
};

}  // namespace gradverify
