// SPDX-License-Identifier: Apache-2.0
// The plainest kernel for each step of lenet5.
#pragma once

#include "harness/chain.hpp"
#include "reference/lenet5.hpp"

/// The chain of these kernels; those of `instead` come before the ones of their passes.
inline gradverify::Chain simple_chain_with(std::vector<std::string> instead) {
    for (const char* kernel :
         {"conv.forward/naive", "conv.grad_weight/general", "conv.grad_bias/general",
          "conv.grad_input/naive", "fc.forward/naive", "fc.grad_weight/naive", "fc.grad_bias/naive",
          "fc.grad_input/naive", "relu.forward/naive", "relu.grad_input/naive",
          "maxpool.forward/naive", "maxpool.grad_input/scatter",
          "softmax_cross_entropy.forward/naive", "softmax_cross_entropy.backward/naive"})
        instead.emplace_back(kernel);
    return {std::move(instead), GRADVERIFY_UNIT_DEVICE};
}

inline const gradverify::Chain& simple_chain() {
    static const gradverify::Chain chain = simple_chain_with({});
    return chain;
}

inline std::int64_t forward_workspace(const gradverify::Problem& problem) {
    return simple_chain().workspace_bytes<gradverify::lenet5::Forward>(problem);
}
