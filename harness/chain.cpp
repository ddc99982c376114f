// SPDX-License-Identifier: Apache-2.0
#include "harness/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/registry/element_types.hpp"
#include "harness/registry/layout.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

template <class... Values>
[[noreturn]] static void refuse(const std::string& step, fmt::format_string<Values...> why,
                                Values&&... values) {
    throw std::invalid_argument(
        fmt::format("the step {} {}", step, fmt::format(why, std::forward<Values>(values)...)));
}

static const Kernel& kernel_for(const Step& step, const std::vector<std::string>& kernels) {
    for (const std::string& name : kernels) {
        if (!name.starts_with(step.pass + "/")) continue;
        if (const Kernel* kernel = Registry::instance().find_kernel(name)) return *kernel;
        refuse(step.pass, "has no kernel {}", name);
    }
    refuse(step.pass, "is implemented by none of the chain's kernels");
}

static void call_step(const Step& step, const Kernel& kernel, const std::string& device,
                      const Problem& whole, const Launch& launch,
                      const std::function<TensorView(std::string_view)>& tensors) {
    const KernelDeclaration* declaration = kernel.on(device);
    if (!declaration) refuse(kernel.name, "{}", kernel.why_not_on(device));
    const Problem problem = Problem::parse(kernel.op->space, step.problem(whole));
    if (const auto why = kernel.op->validate(problem)) refuse(kernel.name, "is invalid: {}", *why);
    if (const auto why = kernel.why_unsupported(problem)) refuse(kernel.name, "fails: {}", *why);
    if (!takes_row_major(*kernel.op, *kernel.pass, *declaration))
        refuse(kernel.name, "takes another layout than row-major");

    const std::vector<std::string> names = kernel.pass->tensors();
    std::vector<TensorView> views;
    for (const std::string& name : names) {
        const TensorView buffer = tensors(step.tensor(name));
        const Sizes sizes = kernel.op->sizes_of(name, problem);
        if (buffer.elements() != element_count(sizes))
            refuse(kernel.name, "takes {} elements as {}, and is given the {} of {}",
                   element_count(sizes), name, buffer.elements(), step.tensor(name));
        if (buffer.dtype != dtype_of(*declaration, *kernel.op, name))
            refuse(kernel.name, "is given {} of another element type", step.tensor(name));
        views.push_back(view_of(buffer.data, buffer.dtype, sizes, row_major_strides(sizes)));
    }
    if (const auto bytes = declaration->workspace_at(problem); bytes > launch.workspace_bytes)
        refuse(kernel.name, "needs a workspace of {} bytes, and the chain has {}", bytes,
               launch.workspace_bytes);
    declaration->thunk({.problem = problem,
                        .tensors = views,
                        .launch = {.stream = launch.stream,
                                   .block_size = declaration->usual_block_size(),
                                   .workspace = launch.workspace,
                                   .workspace_bytes = launch.workspace_bytes},
                        .names = names,
                        .outputs = kernel.pass->outputs.size()});
}

static const std::vector<Step>& steps_of(std::string_view operator_name,
                                         std::string_view pass_name) {
    const Operator* op = Registry::instance().find_operator(std::string(operator_name));
    const PassSpec* pass = op ? op->find_pass(pass_name) : nullptr;
    if (pass && !pass->steps.empty()) return pass->steps;
    throw std::invalid_argument(
        fmt::format("the pass {}.{} is not declared as steps", operator_name, pass_name));
}

void Chain::run(std::string_view operator_name, std::string_view pass_name, const Problem& problem,
                const Launch& launch, const Tensors& tensors) const {
    for (const Step& step : steps_of(operator_name, pass_name))
        call_step(step, kernel_for(step, kernels_), device_, problem, launch, tensors);
}

std::int64_t Chain::largest_workspace(std::string_view operator_name, std::string_view pass_name,
                                      const Problem& whole) const {
    std::int64_t most = 0;
    for (const Step& step : steps_of(operator_name, pass_name)) {
        const Kernel& kernel = kernel_for(step, kernels_);
        const Problem problem = Problem::parse(kernel.op->space, step.problem(whole));
        most = std::max(most, kernel.any().workspace_at(problem));
    }
    return most;
}

}  // namespace gradverify
