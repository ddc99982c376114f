// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/element_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

std::vector<std::string> floating_tensors_of(const Operator& op, const PassSpec& pass) {
    std::vector<std::string> names = pass.tensors();
    std::erase_if(names, [&](const std::string& name) {
        return op.tensor_named(name).holds_whole_numbers();
    });
    return names;
}

/// Of the numbers that are rounded on the way.
int exact_bits_of_factors(const KernelDeclaration& kernel) {
    int bits = kernel.multiplies_in_tf32() ? tf32_exact_bits : traits_of(DType::f64).exact_bits;
    for (const auto& [number, dtype] : kernel.roundings)
        bits = std::min(bits, traits_of(dtype).exact_bits);
    return bits;
}

}  // namespace

DType dtype_of(const KernelDeclaration& kernel, const Operator& op, std::string_view tensor) {
    const TensorSpec& spec = op.tensor_named(tensor);
    if (spec.holds_whole_numbers()) return spec.dtype;
    // "dgamma" itself, then gamma.
    for (const std::string_view name : {tensor, std::string_view(spec.name)}) {
        std::optional<DType> last;
        for (const auto& [declared_for, type] : kernel.storage_types)
            if (declared_for == name) last = type;
        if (last) return *last;
    }
    if (!kernel.storage_type) return spec.dtype;
    const bool is_saved = op.is_output(tensor) && !spec.differentiable;
    return is_saved && !holds_all_of(*kernel.storage_type, DType::f32) ? DType::f32
                                                                       : *kernel.storage_type;
}

ElementTypes::ElementTypes(const KernelDeclaration& kernel)
    : exact_bits_(std::min(traits_of(kernel.accumulator()).exact_bits,
                           traits_of(kernel.storage_type.value_or(DType::f32)).exact_bits)),
      kernel_(&kernel) {
    for (const auto& [tensor, dtype] : kernel.storage_types)
        exact_bits_ = std::min(exact_bits_, traits_of(dtype).exact_bits);
    exact_bits_ = std::min(exact_bits_, exact_bits_of_factors(kernel));
}

ElementTypes::ElementTypes(const KernelDeclaration& kernel, const Operator& op)
    : exact_bits_(
          std::min(traits_of(kernel.accumulator()).exact_bits, exact_bits_of_factors(kernel))),
      kernel_(&kernel) {
    const PassSpec* const pass = op.find_pass(kernel.pass_name);
    for (const std::string& name : pass ? pass->tensors() : std::vector<std::string>()) {
        // Saved outputs of the forward pass are sums as well. Factors of 16 bits count, since the
        // identities of gradients need a forward kernel, which often stores sums in the same type;
        // 8 bits would leave too few integers, so their factors have a limit of their own.
        const bool holds_sums =
            op.is_output(name) || std::ranges::find(pass->outputs, name) != pass->outputs.end();
        const DType dtype = of(op, name);
        if (op.tensor_named(name).holds_whole_numbers()) continue;
        if (holds_sums || !is_of_8_bits(dtype))
            exact_bits_ = std::min(exact_bits_, traits_of(dtype).exact_bits);
    }
}

std::int64_t ElementTypes::largest_integer(const Operator& op, std::string_view tensor) const {
    return std::int64_t{1} << (traits_of(of(op, tensor)).exact_bits - 1);
}

DType ElementTypes::of(const Operator& op, std::string_view tensor) const {
    return kernel_ ? dtype_of(*kernel_, op, tensor) : op.tensor_named(tensor).dtype;
}

std::int64_t smallest_element_bytes(const KernelDeclaration& kernel, const Operator& op,
                                    const PassSpec& pass) {
    std::int64_t smallest = 8;
    for (const std::string& name : pass.tensors())
        smallest = std::min(smallest,
                            static_cast<std::int64_t>(traits_of(dtype_of(kernel, op, name)).bytes));
    return smallest;
}

std::vector<std::string> mistakes_in_types(const KernelDeclaration& kernel, const Operator& op,
                                           const PassSpec& pass) {
    std::vector<std::string> mistakes;
    const std::vector<std::string> floating = floating_tensors_of(op, pass);
    const auto require_floating = [&](const std::string& call, DType dtype) {
        if (!is_floating(dtype))
            mistakes.push_back(fmt::format("{} needs f8e4m3, f8e5m2, f16, bf16, f32 or f64, not {}",
                                           call, traits_of(dtype).name));
    };
    if (kernel.storage_type) require_floating("storage()", *kernel.storage_type);
    const DType sums = kernel.accumulator();
    if (!is_floating(sums) || is_of_8_bits(sums))
        mistakes.push_back(fmt::format("accumulates_in() needs f16, bf16, f32 or f64, not {}",
                                       traits_of(sums).name));
    for (const auto& [number, dtype] : kernel.roundings) {
        const std::string call = fmt::format("rounds(\"{}\")", number);
        require_floating(call, dtype);
        if (is_floating(dtype) && holds_all_of(dtype, sums))
            mistakes.push_back(fmt::format(
                "{} needs a narrower type than {}, which the kernel computes in, not {}", call,
                traits_of(sums).name, traits_of(dtype).name));
        if (pass.roundings.empty())
            mistakes.push_back(fmt::format(
                "{0} needs a number that a reference names, and that of {1} names none; let it say "
                "call.rounds(\"{2}\", value)",
                call, pass.name, number));
        else if (std::ranges::find(pass.roundings, number) == pass.roundings.end())
            mistakes.push_back(fmt::format(
                "{} needs a number that the reference of {} names{}; there are {}", call, pass.name,
                did_you_mean(number, pass.roundings), joined(pass.roundings)));
    }
    if (kernel.uses_tensor_cores && kernel.accumulator() == DType::f64 &&
        (kernel.storage_type != DType::f64 || !kernel.storage_types.empty()))
        mistakes.push_back(
            "on_tensor_cores() sums in f64 only where all tensors are of f64: there are no tensor "
            "cores for wider sums of narrower factors");
    const auto concerns = [&](const std::string& tensor) {
        return std::ranges::any_of(floating, [&](const std::string& name) {
            return name == tensor || op.tensor_named(name).name == tensor;
        });
    };
    for (const auto& [tensor, dtype] : kernel.storage_types) {
        const std::string call = fmt::format("storage(\"{}\")", tensor);
        require_floating(call, dtype);
        if (!concerns(tensor))
            mistakes.push_back(fmt::format("{} needs a floating tensor of the pass; there are {}",
                                           call, joined(floating)));
    }
    const auto is_short = [&](const std::string& name) {
        return !op.tensor_named(name).holds_whole_numbers() &&
               is_of_8_bits(dtype_of(kernel, op, name));
    };
    if (kernel.saturates_results && std::ranges::none_of(pass.outputs, is_short))
        mistakes.emplace_back("saturates() needs a result of 8 bits; say which by storage()");
    for (const Alias& alias : kernel.aliases) {
        if (!op.find_tensor(alias.output) || !op.find_tensor(alias.input)) continue;
        const DType output = dtype_of(kernel, op, alias.output);
        const DType input = dtype_of(kernel, op, alias.input);
        if (output != input)
            mistakes.push_back(fmt::format(
                "{} lies where {} does, but their types are {} and {}; name both in storage()",
                alias.output, alias.input, traits_of(output).name, traits_of(input).name));
    }
    return mistakes;
}

std::string print_types(const KernelDeclaration& kernel, const Operator& op, const PassSpec& pass) {
    std::map<DType, std::vector<std::string>> names;
    for (const std::string& name : floating_tensors_of(op, pass))
        names[dtype_of(kernel, op, name)].push_back(name);
    if (names.empty()) return "none";
    const auto most =
        std::ranges::max_element(names, {}, [](const auto& one) { return one.second.size(); });
    std::vector<std::string> others;
    for (const auto& [dtype, tensors] : names)
        if (dtype != most->first)
            others.push_back(fmt::format("{}: {}", joined(tensors), traits_of(dtype).name));
    const std::string usual(traits_of(most->first).name);
    return others.empty() ? usual : fmt::format("{} ({})", usual, joined(others, "; "));
}

}  // namespace gradverify
