// SPDX-License-Identifier: Apache-2.0
#include "harness/part.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/element_types.hpp"
#include "harness/registry.hpp"

namespace gradverify {

namespace {

[[noreturn]] void refuse(const std::string& kernel, const std::string& why) {
    throw std::invalid_argument("the part " + kernel + " " + why);
}

/// The buffer in the shape that the pass's tensor has.
TensorView shaped(const TensorView& buffer, const Sizes& sizes) {
    TensorView view{.data = buffer.data, .dtype = buffer.dtype, .rank = static_cast<int>(sizes.size())};
    std::int64_t stride = 1;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
        view.sizes[axis] = sizes[axis];
        view.strides[axis] = stride;
        stride *= sizes[axis];
    }
    return view;
}

}  // namespace

void Part::operator()(std::string_view problem_text, std::initializer_list<PartTensor> tensors,
                      const Launch& launch) const {
    const Kernel* kernel = Registry::instance().find_kernel(kernel_);
    if (!kernel) refuse(kernel_, "is not registered");
    const KernelDeclaration* declaration = kernel->on(device_);
    if (!declaration) refuse(kernel_, "is not built for the device " + device_);
    if (declaration->workspace_bytes) refuse(kernel_, "needs a workspace, which a chain has not");
    const Problem problem = Problem::parse(kernel->op->space, problem_text);
    if (const auto why = kernel->op->validate(problem)) refuse(kernel_, "was given a problem: " + *why);
    if (const auto why = kernel->why_unsupported(problem)) refuse(kernel_, *why);

    std::vector<std::string> names = kernel->pass->inputs;
    names.insert(names.end(), kernel->pass->outputs.begin(), kernel->pass->outputs.end());
    std::vector<TensorView> views;
    for (const std::string& name : names) {
        const auto given = std::ranges::find(tensors, name, &PartTensor::name);
        if (given == tensors.end()) refuse(kernel_, "was not given its tensor " + name);
        const Sizes sizes = kernel->op->sizes_of(name, problem);
        if (given->buffer.elements() != element_count(sizes))
            refuse(kernel_, "was given " + std::to_string(given->buffer.elements()) +
                                " elements for " + name + ", which has " +
                                std::to_string(element_count(sizes)));
        if (given->buffer.dtype != dtype_of(*declaration, *kernel->op, name))
            refuse(kernel_, "was given " + name + " of another element type");
        views.push_back(shaped(given->buffer, sizes));
    }
    PassCall call{.problem = problem,
                  .tensors = views,
                  .launch = {},
                  .names = names,
                  .outputs = kernel->pass->outputs.size()};
    call.launch.stream = launch.stream;
    if (!declaration->block_sizes.empty()) call.launch.block_size = declaration->block_sizes.front();
    declaration->thunk(call);
}

}  // namespace gradverify
