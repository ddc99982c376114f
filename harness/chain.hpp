// SPDX-License-Identifier: Apache-2.0
// A launcher made of registered kernels: a pass that its operator declares as steps, each called
// by the kernel of one's choice. Every buffer between two steps is a tensor of the pass.
//
//   static void launch(const gradverify::lenet5::Backward& call) {
//       static const gradverify::Chain chain({"fc.grad_weight/naive"}, GRADVERIFY_UNIT_DEVICE);
//       chain(call);
//   }
//
// Each kernel is found by its name, and runs on the caller's device, in the same build.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/registry/pass_call.hpp"

namespace gradverify {

class Chain {
  public:
    /// Each step calls the first kernel that implements its pass. `device`: GRADVERIFY_UNIT_DEVICE.
    Chain(std::vector<std::string> kernels, std::string device)
        : kernels_(std::move(kernels)), device_(std::move(device)) {}

    /// Calls the steps of the pass in their order, on its stream. A buffer may have another shape
    /// than the step's tensor, but as many elements: nothing is copied.
    ///
    /// **Errors** std::invalid_argument for a pass without steps, a step that none of the kernels
    /// implements, a kernel that does not support its problem or needs more workspace than there
    /// is, and a tensor that is missing or has another type or number of elements.
    template <class Pass>
    void operator()(const Pass& call) const {
        run(Pass::operator_name, Pass::pass_name, call.problem(), call.launch,
            [&call](std::string_view name) { return call.tensor(name); });
    }

    /// The largest workspace of the steps, for the chain's own registration:
    /// `.workspace([](const Problem& problem) { return chain().workspace_bytes<Pass>(problem); })`.
    template <class Pass>
    std::int64_t workspace_bytes(const Problem& problem) const {
        return largest_workspace(Pass::operator_name, Pass::pass_name, problem);
    }

  private:
    std::int64_t largest_workspace(std::string_view operator_name, std::string_view pass_name,
                                   const Problem& problem) const;
    using Tensors = std::function<TensorView(std::string_view)>;
    void run(std::string_view operator_name, std::string_view pass_name, const Problem& problem,
             const Launch& launch, const Tensors& tensors) const;

    std::vector<std::string> kernels_;
    std::string device_;
};

}  // namespace gradverify
