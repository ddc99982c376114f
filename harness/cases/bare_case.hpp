// SPDX-License-Identifier: Apache-2.0
// A case as numbers alone: what a program calls the kernel with that has no generator and no
// reference, and what the kernel must give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/compare.hpp"
#include "harness/problems/problem.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

struct GivenTensor {
    std::string name;
    DType dtype = DType::f32;
    Sizes sizes;
    std::vector<std::int64_t> strides;  ///< in elements
    /// Elements between an address aligned to `alignment_bytes` and the first element.
    std::int64_t offset = 0, alignment_bytes = 256;
    std::optional<std::size_t> lies_in;  ///< the input that it is written over
    /// Before the call, in the order of the sizes; empty: whatever is there.
    std::vector<double> values;
};

struct GivenCall {
    Problem problem;
    std::vector<GivenTensor> tensors;  ///< the pass's inputs, then its outputs
    std::size_t outputs = 0;           ///< the number of these
    int block_size = 0;
    std::uint32_t output_mask = ~std::uint32_t{0};
    bool own_stream = false;
    std::int64_t workspace_bytes = 0;
};

struct GivenCalls {
    std::optional<GivenCall> before;
    GivenCall call;
};

struct Reproducer {
    const Kernel* kernel = nullptr;
    GivenCalls calls;
    std::vector<Expected> expected;  ///< of each output that is asked for
};

}  // namespace gradverify
