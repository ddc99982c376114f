// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/element_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/numbers/element_bits.hpp"

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
    // The greatest pieces' products alone may add up to a little more than the sum.
    if (kernel.split_factors) bits = std::min({bits, kernel.split_factors->digits, 23});
    for (const auto& [number, dtype] : kernel.roundings)
        bits = std::min(bits, traits_of(dtype).exact_bits);
    return bits;
}

/// What an input needs to have scales for blocks; nothing where it may.
std::optional<std::string> why_not_block_scaled(const KernelDeclaration& kernel, const Operator& op,
                                                const PassSpec& pass, const std::string& tensor) {
    if (std::ranges::find(pass.inputs, tensor) == pass.inputs.end())
        return "an input of the pass; there are " + joined(pass.inputs);
    const TensorSpec& spec = op.tensor_named(tensor);
    if (spec.holds_whole_numbers() || spec.domain)
        return "an input of any numbers, and " + tensor + " has a range";
    if (!spec.lengths.tensor.empty())
        return "an input whose rows are all used, and " + tensor + " is padded";
    if (op.find_tensor(scales_of(tensor)))
        return fmt::format("the name {} for the scales, which another tensor has",
                           scales_of(tensor));
    for (const LayoutSupport& layout : kernel.layouts)
        if (layout.tensor == tensor) return "a tensor in rows, without a layout or strides";
    for (const Alias& alias : kernel.aliases)
        if (alias.input == tensor) return "an input that no output is written over";
    return std::nullopt;
}

void require_floating(const std::string& call, DType dtype, Mistakes& mistakes) {
    if (!is_floating(dtype) || dtype == DType::f4e2m1)
        add(mistakes, "{} needs f8e4m3, f8e5m2, f16, bf16, f32 or f64, not {}", call,
            traits_of(dtype).name);
}

void check_roundings(const KernelDeclaration& kernel, const PassSpec& pass, Mistakes& mistakes) {
    const DType sums = kernel.accumulator();
    for (const auto& [number, dtype] : kernel.roundings) {
        const std::string call = fmt::format("rounds(\"{}\")", number);
        require_floating(call, dtype, mistakes);
        if (is_floating(dtype) && holds_all_of(dtype, sums))
            add(mistakes, "{} needs a narrower type than {}, which the kernel computes in, not {}",
                call, traits_of(sums).name, traits_of(dtype).name);
        if (pass.roundings.empty())
            add(mistakes,
                "{0} needs a number that a reference names, and that of {1} names none; let it say "
                "call.rounds(\"{2}\", value)",
                call, pass.name, number);
        else if (std::ranges::find(pass.roundings, number) == pass.roundings.end())
            add(mistakes, "{} needs a number that the reference of {} names{}; there are {}", call,
                pass.name, did_you_mean(number, pass.roundings), joined(pass.roundings));
    }
}

void check_factors(const KernelDeclaration& kernel, Mistakes& mistakes) {
    if (kernel.uses_tensor_cores && kernel.accumulator() == DType::f64 &&
        (kernel.storage_type != DType::f64 || !kernel.storage_types.empty()))
        add(mistakes,
            "on_tensor_cores() sums in f64 only where all tensors are of f64: there are no tensor "
            "cores for wider sums of narrower factors");
    const auto& split = kernel.split_factors;
    if (split && (split->products < 1 || split->digits < 8 || split->digits > 24))
        add(mistakes,
            "splits_factors({{.products = {}, .digits = {}}}) needs a product at least, and 8 to "
            "24 digits",
            split->products, split->digits);
    if (split && !kernel.has_f32_factors())
        add(mistakes, "splits_factors() needs tensors of f32, which are the factors");
}

void check_storage(const KernelDeclaration& kernel, const Operator& op, const PassSpec& pass,
                   Mistakes& mistakes) {
    const std::vector<std::string> floating = floating_tensors_of(op, pass);
    for (const auto& [tensor, dtype] : kernel.storage_types) {
        const std::string call = fmt::format("storage(\"{}\")", tensor);
        require_floating(call, dtype, mistakes);
        const auto concerns = [&op, &tensor = tensor](const std::string& name) {
            return name == tensor || op.tensor_named(name).name == tensor;
        };
        if (std::ranges::none_of(floating, concerns))
            add(mistakes, "{} needs a floating tensor of the pass; there are {}", call,
                joined(floating));
    }
    for (const std::string& input : pass.inputs)
        if (!block_format_of(kernel, input) && dtype_of(kernel, op, input) == DType::f8e8m0)
            add(mistakes,
                "{0} can't be of f8e8m0, which has neither signs nor zero: it is for results; an "
                "input with such scales is block_scaled(\"{0}\", gradverify::mxfp8)",
                input);
    for (const auto& [tensor, format] : kernel.block_formats)
        if (const auto why = why_not_block_scaled(kernel, op, pass, tensor))
            add(mistakes, "block_scaled(\"{}\", gradverify::{}) needs {}", tensor, format.name,
                *why);
}

}  // namespace

DType dtype_of(const KernelDeclaration& kernel, const Operator& op, std::string_view tensor) {
    const TensorSpec& spec = op.tensor_named(tensor);
    if (spec.holds_whole_numbers()) return spec.dtype;
    if (const auto blocks = block_format_of(kernel, tensor)) return blocks->element;
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

std::optional<BlockFormat> block_format_of(const KernelDeclaration& kernel,
                                           std::string_view tensor) {
    std::optional<BlockFormat> last;
    for (const auto& [input, format] : kernel.block_formats)
        if (input == tensor) last = format;
    return last;
}

std::string scales_of(std::string_view tensor) { return std::string(tensor) + "_scales"; }

std::vector<std::string> tensors_of_call(const KernelDeclaration& kernel, const PassSpec& pass) {
    std::vector<std::string> names = pass.inputs;
    for (const std::string& input : pass.inputs)
        if (block_format_of(kernel, input)) names.push_back(scales_of(input));
    names.insert(names.end(), pass.outputs.begin(), pass.outputs.end());
    return names;
}

std::string_view storage_name(const KernelDeclaration& kernel, const Operator& op,
                              std::string_view tensor) {
    const auto blocks = block_format_of(kernel, tensor);
    return blocks ? blocks->name : traits_of(dtype_of(kernel, op, tensor)).name;
}

std::int64_t bytes_of(const KernelDeclaration& kernel, const Operator& op, std::string_view tensor,
                      const Sizes& sizes) {
    const auto blocks = block_format_of(kernel, tensor);
    const std::int64_t elements = element_count(sizes), row = row_length(sizes);
    if (!blocks || elements == 0)
        return elements * static_cast<std::int64_t>(traits_of(dtype_of(kernel, op, tensor)).bytes);
    const std::int64_t bytes = blocks->element == DType::f4e2m1 ? (row + 1) / 2 : row;
    return elements / row * (bytes + blocks->blocks_in(row));
}

bool can_store(const KernelDeclaration& kernel, const Operator& op, std::string_view tensor,
               const Array<double>& values) {
    if (const auto blocks = block_format_of(kernel, tensor))
        return encoded(*blocks, values.data, row_length(values.sizes)).has_value();
    return are_numbers_of(dtype_of(kernel, op, tensor), values.data);
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
    Mistakes mistakes;
    if (kernel.storage_type) require_floating("storage()", *kernel.storage_type, mistakes);
    const DType sums = kernel.accumulator();
    if (!is_floating(sums) || is_of_8_bits(sums))
        add(mistakes, "accumulates_in() needs f16, bf16, f32 or f64, not {}", traits_of(sums).name);
    check_roundings(kernel, pass, mistakes);
    check_factors(kernel, mistakes);
    check_storage(kernel, op, pass, mistakes);
    const auto is_short = [&](const std::string& name) {
        return !op.tensor_named(name).holds_whole_numbers() &&
               is_of_8_bits(dtype_of(kernel, op, name));
    };
    if (kernel.saturates_results && std::ranges::none_of(pass.outputs, is_short))
        add(mistakes, "saturates() needs a result of 8 bits; say which by storage()");
    for (const std::string& name : kernel.rounded_stochastically)
        if (std::ranges::find(pass.outputs, name) == pass.outputs.end() ||
            op.tensor_named(name).holds_whole_numbers() ||
            holds_all_of(dtype_of(kernel, op, name), sums))
            add(mistakes,
                "rounds_stochastically(\"{}\") needs an output that has fewer digits than what the "
                "kernel computes in, {}; there are {}",
                name, traits_of(sums).name, joined(pass.outputs));
    for (const Alias& alias : kernel.aliases) {
        if (!op.find_tensor(alias.output) || !op.find_tensor(alias.input)) continue;
        const DType output = dtype_of(kernel, op, alias.output);
        const DType input = dtype_of(kernel, op, alias.input);
        if (output != input)
            add(mistakes,
                "{} lies where {} does, but their types are {} and {}; name both in storage()",
                alias.output, alias.input, traits_of(output).name, traits_of(input).name);
    }
    return mistakes;
}

std::string print_types(const KernelDeclaration& kernel, const Operator& op, const PassSpec& pass) {
    // The types in the order of DType, each with its block formats.
    std::map<std::pair<DType, std::string_view>, std::vector<std::string>> names;
    for (const std::string& name : floating_tensors_of(op, pass))
        names[{dtype_of(kernel, op, name), storage_name(kernel, op, name)}].push_back(name);
    if (names.empty()) return "none";
    const auto most =
        std::ranges::max_element(names, {}, [](const auto& one) { return one.second.size(); });
    std::vector<std::string> others;
    for (const auto& [stored, tensors] : names)
        if (stored != most->first)
            others.push_back(fmt::format("{}: {}", joined(tensors), stored.second));
    const std::string usual(most->first.second);
    return others.empty() ? usual : fmt::format("{} ({})", usual, joined(others, "; "));
}

}  // namespace gradverify
