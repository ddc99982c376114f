// SPDX-License-Identifier: Apache-2.0
// The verb `list`: what there is.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/devices/device.hpp"
#include "harness/operators/tensor_text.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/registry/layout.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

/// By operator what the head of its file says; one without a name ends it. GradverifyParts.cmake
/// writes them.
extern const char* const operator_heads[][2];

namespace {

std::string supports(const Kernel& kernel) {
    const auto conditions = kernel.conditions();
    return conditions.empty() ? "every problem" : joined(conditions);
}

std::string promises(const Kernel& kernel) {
    const KernelDeclaration& declared = kernel.any();
    std::vector<std::string> words{
        "tensors of " + print_types(declared, *kernel.op, *kernel.pass),
        fmt::format("accumulates in {}", traits_of(declared.accumulator()).name)};
    if (const auto layouts = print_layouts(declared, *kernel.op, *kernel.pass); !layouts.empty())
        words.push_back("layout " + layouts);
    words.push_back(declared.determinism == Determinism::bitwise ? "deterministic"
                                                                 : "not deterministic");
    words.push_back(declared.adds_to_all       ? "adds to outputs"
                    : !declared.adds_to_some() ? "overwrites"
                                               : "adds to " + joined(declared.added_to));
    if (!declared.always_zero.empty()) words.push_back("without " + joined(declared.always_zero));
    words.push_back(fmt::format("aligned to {} bytes", declared.base_alignment_bytes));
    if (declared.takes_output_mask) words.emplace_back("takes an output mask");
    for (const Alias& alias : declared.aliases)
        words.push_back(alias.output + (alias.is_always ? " is always " : " may be ") +
                        alias.input);
    if (declared.stream_use == StreamUse::default_stream) words.emplace_back("default stream");
    if (declared.stream_use == StreamUse::given_only) words.emplace_back("given stream");
    if (declared.split_factors)
        words.push_back(fmt::format("on tensor cores, {} products of pieces, {} digits of a factor",
                                    declared.split_factors->products,
                                    declared.split_factors->digits));
    else if (declared.uses_tensor_cores)
        words.emplace_back(declared.multiplies_in_tf32() ? "on tensor cores, factors of tf32"
                                                         : "on tensor cores");
    for (const auto& [number, dtype] : declared.roundings)
        words.push_back(fmt::format("rounds {} to {}", number, traits_of(dtype).name));
    if (declared.arithmetic == Arithmetic::fast) words.emplace_back("fast math");
    if (declared.accepts_invalid_indices) words.emplace_back("invalid indices");
    if (declared.takes_finite_numbers_alone) words.emplace_back("finite numbers alone");
    if (declared.norm_wise_growth)
        words.push_back("norm-wise, growth " + print_exactly(*declared.norm_wise_growth));
    for (const std::string& output : declared.rounded_stochastically)
        words.push_back(fmt::format("rounds {} stochastically", output));
    if (declared.saturates_results) words.emplace_back("saturates");
    if (declared.may_refuse_problems) words.emplace_back("may refuse problems");
    if (declared.has_blocks_in_order) words.emplace_back("blocks begin in order");
    if (declared.keeps_host_threads) words.emplace_back("keeps threads");
    if (!declared.yardstick_name.empty())
        words.push_back("a yardstick: " + declared.yardstick_name);
    if (!declared.block_sizes.empty())
        words.push_back(fmt::format("blocks of {}", fmt::join(declared.block_sizes, "/")));
    return joined(words);
}

std::string steps(const PassSpec& pass) {
    std::vector<std::string> words;
    for (const Step& step : pass.steps)
        words.push_back(fmt::format("{} {}", words.size() + 1, step.pass));
    return joined(words);
}

struct TensorRow {
    std::string name, role, sizes;
    std::int64_t elements = 0, bytes = 0;
};

TensorRow row_of(const Kernel& kernel, const Problem& problem, const std::string& name) {
    const Sizes sizes = kernel.op->sizes_of(name, problem);
    const KernelDeclaration& declared = kernel.any();
    return {.name = name,
            .role = role_of(*kernel.op, *kernel.pass, name),
            .sizes = fmt::format("{} {}", storage_name(declared, *kernel.op, name),
                                 fmt::join(sizes.empty() ? Sizes{1} : sizes, " x ")),
            .elements = element_count(sizes),
            .bytes = bytes_of(declared, *kernel.op, name, sizes)};
}

void print(const TensorRow& row) {
    fmt::print("  {:<16} {:<24} {:<22} {:>12} {:>14}\n", row.name, row.role, row.sizes,
               row.elements, row.bytes);
}

/// Prints a call's tensors, their memory, and its sum for each role.
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
        print(TensorRow{.name = "workspace", .bytes = bytes_of(problem)});
}

/// What the forward function is made of.
std::string made_of(const Operator& op) {
    std::vector<std::string> products;
    for (const auto& factors : op.products) products.push_back(joined(factors, " "));
    switch (op.algebra) {
        case Algebra::smooth:
            return "a function with derivatives";
        case Algebra::products:
            return "sums of " + joined(products, " and ");
        case Algebra::piecewise_linear:
            return "linear pieces";
        case Algebra::piecewise_polynomial:
            return "pieces, each a sum of products";
    }
    return {};
}

/// What an operator of ours computes, in formulas.
void print_head(const Operator& op) {
    for (const auto* head = operator_heads; (*head)[0]; ++head)
        if (op.name == (*head)[0]) fmt::print("{}", (*head)[1]);
}

/// An operator's passes, and with a problem at hand its tensors there.
void print_operator(const Operator& op) {
    fmt::print("{}\n  parameters  {}\n  computes    {}\n", op.name,
               wrapped(joined(names_of(op.space.parameters())), 14), made_of(op));
    for (const PassSpec& pass : op.passes)
        fmt::print("  {:<11} {}\n", pass.name,
                   wrapped(fmt::format("{} -> {}", joined(pass.inputs), joined(pass.outputs)), 14));
    if (op.benchmark.empty()) return;
    const Problem problem = Problem::parse(op.space, op.benchmark);
    fmt::print("  on {}\n", problem.print());
    for (const auto* tensors : {&op.inputs, &op.outputs})
        for (const TensorSpec& tensor : *tensors) {
            const Sizes sizes = tensor.sizes(problem);
            const char* const role = tensors == &op.inputs   ? "input"
                                     : tensor.differentiable ? "output"
                                                             : "saved";
            fmt::print("    {:<14} {:<8} {} {}\n", tensor.name, role, traits_of(tensor.dtype).name,
                       fmt::join(sizes.empty() ? Sizes{1} : sizes, " x "));
        }
}

int list_operators(const ListArguments& arguments) {
    if (!arguments.problem.empty())
        throw UsageError("--problem is of kernels; leave out --operators");
    const Registry& registry = Registry::instance();
    const std::vector<std::string> names = registry.operator_names();
    const std::vector<std::string> filters = meant_filters(arguments.filters, names, "operator");
    for (const std::string& name : names)
        if (filters.empty())
            fmt::print("{:<24} {}\n", name,
                       wrapped(joined(names_of(registry.find_operator(name)->passes)), 25));
        else if (is_selected(name, filters)) {
            print_operator(*registry.find_operator(name));
            print_head(*registry.find_operator(name));
        }
    return exit_ok;
}

}  // namespace

int run_list(const ListArguments& arguments) {
    if (arguments.operators) return list_operators(arguments);
    const std::string& problem = arguments.problem;
    const std::vector<std::string> filters = meant_filters(arguments.filters);
    const Operator* whose = nullptr;
    for (const Kernel& kernel : Registry::instance().kernels()) {
        if (problem.empty() || !is_selected(kernel.name, filters)) continue;
        if (whose && whose != kernel.op)
            throw UsageError(
                fmt::format("--problem is one of {}; {} is another operator's: name "
                            "the kernels of one",
                            whose->name, kernel.name));
        whose = kernel.op;
    }
    std::optional<Problem> at;
    if (whose) at = usage_of([&] { return Problem::parse(whose->space, problem); });
    if (const auto why = at ? whose->validate(*at) : std::nullopt) throw UsageError(*why);
    for (const Kernel& kernel : Registry::instance().kernels()) {
        if (!is_selected(kernel.name, filters)) continue;
        fmt::print("{}\n  devices   {}\n  supports  {}\n  promises  {}\n", kernel.name,
                   joined(kernel.devices()), wrapped(supports(kernel), 12),
                   wrapped(promises(kernel), 12));
        if (!kernel.why_absent.empty())
            fmt::print("  absent    {}\n", wrapped(kernel.why_absent, 12));
        if (!kernel.pass->steps.empty())
            fmt::print("  steps     {}\n", wrapped(steps(*kernel.pass), 12));
        if (!at) continue;
        if (const auto why = kernel.why_unsupported(*at))
            fmt::print("  on {}: {}\n", at->print(), *why);
        else
            print_tensors(kernel, *at);
    }
    return exit_ok;
}

}  // namespace gradverify
