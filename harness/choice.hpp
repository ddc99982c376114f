// SPDX-License-Identifier: Apache-2.0
// A launcher that calls one of several registered kernels of its pass, the first that takes the
// problem, as a library's dispatcher does:
//
//   const gradverify::Choice& choice() {
//       static const gradverify::Choice choice(
//           {{"conv.forward/winograd", has_small_filter}, {"conv.forward/direct"}},
//           GRADVERIFY_UNIT_DEVICE);
//       return choice;
//   }
//   void launch(const gradverify::conv::Forward& call) { choice()(call); }
//
// Each kernel is found by its name, and runs on the caller's device, in the same build.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/pass.hpp"

namespace gradverify {

struct Kernel;
class KernelDeclaration;

/// A kernel's full name, and the problems that it is good for; by default all that it supports.
struct Candidate {
    std::string kernel;
    bool (*suits)(const Problem&) = nullptr;
};

class Choice {
  public:
    /// `device`: GRADVERIFY_UNIT_DEVICE. What this build lacks there is passed over.
    Choice(std::vector<Candidate> candidates, std::string device)
        : candidates_(std::move(candidates)), device_(std::move(device)) {}

    /// The kernel for a problem, or null: `.only_if("...", [](const Problem& problem) { return
    /// choice().kernel_for(problem) != nullptr; })`.
    const KernelDeclaration* kernel_for(const Problem& problem) const;
    /// For the registration's `.workspace`.
    std::int64_t workspace_bytes(const Problem& problem) const;

    /// **Errors** std::invalid_argument where no kernel takes the problem, or the chosen one has
    /// other element types or a greater alignment, or needs more workspace than there is.
    template <class OfPass>
    void operator()(const OfPass& call) const {
        const typename OfPass::Pass& pass = call;  // a struct may have a `problem` of its own
        run(pass.problem(), pass.launch,
            [&pass](std::string_view name) { return pass.tensor(name); });
    }

  private:
    const Kernel* choose(const Problem& problem) const;
    void run(const Problem& problem, const Launch& launch,
             const std::function<TensorView(std::string_view)>& tensor) const;

    std::vector<Candidate> candidates_;
    std::string device_;
};

}  // namespace gradverify
