// SPDX-License-Identifier: Apache-2.0
#include "harness/choice.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>

#include "harness/registry/element_types.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

const Kernel* Choice::choose(const Problem& problem) const {
    for (const Candidate& candidate : candidates_) {
        if (candidate.suits && !candidate.suits(problem)) continue;
        const Kernel* const kernel = Registry::instance().find_kernel(candidate.kernel);
        if (kernel && kernel->on(device_) && !kernel->why_unsupported(problem)) return kernel;
    }
    return nullptr;
}

const KernelDeclaration* Choice::kernel_for(const Problem& problem) const {
    const Kernel* const kernel = choose(problem);
    return kernel ? kernel->on(device_) : nullptr;
}

std::int64_t Choice::workspace_bytes(const Problem& problem) const {
    const KernelDeclaration* const chosen = kernel_for(problem);
    return chosen ? chosen->workspace_at(problem) : 0;
}

void Choice::run(const Problem& problem, const Launch& launch,
                 const std::function<TensorView(std::string_view)>& tensor) const {
    const Kernel* const kernel = choose(problem);
    if (!kernel)
        throw std::invalid_argument(
            fmt::format("none of the kernels takes the problem {}", problem.print()));
    const KernelDeclaration* const chosen = kernel->on(device_);
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument(fmt::format("{} {}", kernel->name, why));
    };
    const std::vector<std::string> names = kernel->pass->tensors();
    std::vector<TensorView> views;
    for (const std::string& name : names) {
        views.push_back(tensor(name));
        if (views.back().dtype != dtype_of(*chosen, *kernel->op, name))
            refuse(fmt::format("is given {} of another element type", name));
        const auto place = reinterpret_cast<std::uintptr_t>(views.back().data);
        if (place % static_cast<std::uintptr_t>(chosen->base_alignment_bytes) != 0)
            refuse(fmt::format("needs tensors at multiples of {} bytes, and {} is not at one",
                               chosen->base_alignment_bytes, name));
    }
    if (const auto bytes = chosen->workspace_at(problem); bytes > launch.workspace_bytes)
        refuse(fmt::format("needs a workspace of {} bytes, and there are {}", bytes,
                           launch.workspace_bytes));
    Launch own = launch;
    own.block_size = chosen->usual_block_size();
    chosen->thunk({.problem = problem,
                   .tensors = views,
                   .launch = own,
                   .names = names,
                   .outputs = kernel->pass->outputs.size()});
}

}  // namespace gradverify
