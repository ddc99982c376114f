// SPDX-License-Identifier: Apache-2.0
// What `list --problem` prints: the tensors that a call of a kernel has on a problem, and their
// memory. From what the harness itself allocates a call's buffers by.
#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/verbs.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

struct TensorRow {
    std::string name, role, sizes;
    std::int64_t elements = 0;
    std::int64_t bytes = 0;
};

/// Which sum a tensor belongs to.
std::string role_of(const Operator& op, const PassSpec& pass, const std::string& name) {
    const bool is_input = std::ranges::find(pass.inputs, name) != pass.inputs.end();
    if (is_input) return op.is_output(name) ? "saved" : "input";
    if (op.is_output(name)) return "output";
    return op.is_gradient(name) ? "gradient" : "gradient between layers";
}

TensorRow row_of(const Kernel& kernel, const Problem& problem, const std::string& name) {
    const Sizes sizes = kernel.op->sizes_of(name, problem);
    const DType dtype = dtype_of(kernel.any(), *kernel.op, name);
    const std::int64_t elements = element_count(sizes);
    return {.name = name,
            .role = role_of(*kernel.op, *kernel.pass, name),
            .sizes = fmt::format("{} {}", traits_of(dtype).name,
                                 fmt::join(sizes.empty() ? Sizes{1} : sizes, " x ")),
            .elements = elements,
            .bytes = elements * static_cast<std::int64_t>(traits_of(dtype).bytes)};
}

void print(const TensorRow& row) {
    fmt::print("  {:<16} {:<24} {:<22} {:>12} {:>14}\n", row.name, row.role, row.sizes,
               row.elements, row.bytes);
}

}  // namespace

void print_tensors(const Kernel& kernel, const Problem& problem) {
    fmt::print("  on {}\n  {:<16} {:<24} {:<22} {:>12} {:>14}\n", problem.print(), "tensor", "",
               "type and sizes", "elements", "bytes");
    std::vector<TensorRow> sums;
    for (const std::string& name : kernel.pass->tensors()) {
        const TensorRow row = row_of(kernel, problem, name);
        print(row);
        auto sum = std::ranges::find(sums, row.role, &TensorRow::role);
        if (sum == sums.end()) sum = sums.insert(sum, {.name = "all", .role = row.role});
        sum->elements += row.elements;
        sum->bytes += row.bytes;
    }
    for (const TensorRow& sum : sums) print(sum);
    if (const auto bytes_of = kernel.any().workspace_bytes)
        print({.name = "workspace", .bytes = bytes_of(problem)});
}

}  // namespace gradverify
