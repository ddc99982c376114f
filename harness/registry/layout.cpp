// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

constexpr int row_padding_maximum = 4096;

/// The declaration for "dx" itself, else for x; null when there is none.
const LayoutSupport* support_of(const Operator& op, const KernelDeclaration& kernel,
                                std::string_view tensor) {
    for (const std::string_view name : {tensor, std::string_view(op.tensor_named(tensor).name)}) {
        const LayoutSupport* last = nullptr;
        for (const LayoutSupport& support : kernel.layouts)
            if (support.tensor == name) last = &support;
        if (last != nullptr) return last;
    }
    return nullptr;
}

std::string why_no_order(const TensorSpec& spec, const std::string& name) {
    return fmt::format("{} has no layout '{}'; there are: {}", spec.name, name,
                       joined_or_none(names_of(spec.orders)));
}

/// The order that a layout names, or the kernel's first; null for row-major.
/// **Errors** std::invalid_argument, which says what there is.
const AxisOrder* order_meant(const Operator& op, const KernelDeclaration& kernel,
                             std::string_view tensor, const TensorLayout& layout) {
    const auto orders = orders_of(op, kernel, tensor);
    const std::string& name =
        layout.order.empty() && !orders.empty() ? orders.front() : layout.order;
    if (name.empty()) return nullptr;
    const TensorSpec& spec = op.tensor_named(tensor);
    const AxisOrder* const order = find_named(spec.orders, name);
    if (!order) throw std::invalid_argument(why_no_order(spec, name));
    return order;
}

bool is_row_major_by_default(const Operator& op, const KernelDeclaration& kernel,
                             std::string_view tensor) {
    const auto& all = op.tensor_named(tensor).orders;
    const auto orders = orders_of(op, kernel, tensor);
    return orders.empty() || (!all.empty() && orders.front() == all.front().name);
}

/// The strides of an array without gaps whose axes lie in this order, the innermost last.
Strides dense_strides(const Sizes& sizes, const std::vector<int>& order) {
    Strides strides(sizes.size());
    std::int64_t stride = 1;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
        const auto at = static_cast<std::size_t>(*axis);
        strides[at] = stride;
        stride *= sizes[at];
    }
    return strides;
}

std::vector<int> row_major_order(const Sizes& sizes) {
    std::vector<int> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
}

}  // namespace

Strides row_major_strides(const Sizes& sizes) {
    return dense_strides(sizes, row_major_order(sizes));
}

TensorView view_of(void* data, DType dtype, const Sizes& sizes, const Strides& strides) {
    TensorView view{.data = data, .dtype = dtype, .rank = static_cast<int>(sizes.size())};
    std::ranges::copy(sizes, view.sizes.begin());
    std::ranges::copy(strides, view.strides.begin());
    return view;
}

Strides strides_of(const Operator& op, const KernelDeclaration& kernel, std::string_view tensor,
                   const Sizes& sizes, const TensorLayout& layout) {
    const AxisOrder* const meant = order_meant(op, kernel, tensor, layout);
    const std::vector<int> order =
        meant ? meant->axes(static_cast<int>(sizes.size())) : row_major_order(sizes);
    // An expanded axis has one element in memory; a padded row is longer than its elements.
    Sizes in_memory = sizes;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        if (layout.is_expanded(axis)) in_memory[axis] = 1;
    if (layout.row_padding > 0 && sizes.size() > 1)
        in_memory[static_cast<std::size_t>(order.back())] += layout.row_padding;
    Strides strides = dense_strides(in_memory, order);
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        if (layout.is_expanded(axis)) strides[axis] = 0;
    return strides;
}

std::vector<std::string> orders_of(const Operator& op, const KernelDeclaration& kernel,
                                   std::string_view tensor) {
    const std::vector<AxisOrder>& all = op.tensor_named(tensor).orders;
    const LayoutSupport* const support = support_of(op, kernel, tensor);
    if (support && !support->orders.empty()) return support->orders;
    if (all.empty()) return {};
    // Row-major alone, unless any strides will do.
    if (!support || !support->any_strides) return {all.front().name};
    return names_of(all);
}

bool takes_any_strides(const Operator& op, const KernelDeclaration& kernel,
                       std::string_view tensor) {
    const LayoutSupport* const support = support_of(op, kernel, tensor);
    return support && support->any_strides;
}

bool may_be_expanded(const Operator& op, const PassSpec& pass, std::string_view tensor) {
    return std::ranges::find(pass.inputs, tensor) != pass.inputs.end() &&
           op.tensor_named(tensor).name != tensor;
}

std::vector<std::string> undeclared_cotangents(const Operator& op, const PassSpec& pass,
                                               const KernelDeclaration& kernel) {
    std::vector<std::string> names;
    if (kernel.takes_contiguous_cotangents) return names;
    for (const std::string& input : pass.inputs)
        if (may_be_expanded(op, pass, input) && !support_of(op, kernel, input) &&
            !block_format_of(kernel, input) &&
            std::ranges::find(kernel.aliases, input, &Alias::input) == kernel.aliases.end())
            names.push_back(input);
    return names;
}

bool takes_row_major(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel) {
    return std::ranges::all_of(pass.tensors(), [&](const std::string& tensor) {
        return is_row_major_by_default(op, kernel, tensor);
    });
}

std::optional<std::string> why_unsupported(const Operator& op, const PassSpec& pass,
                                           const KernelDeclaration& kernel,
                                           const std::string& tensor, const TensorLayout& layout) {
    const std::string what = fmt::format("layout={}.{}", tensor, print(layout));
    const auto names = pass.tensors();
    if (std::ranges::find(names, tensor) == names.end())
        return what + ", but its tensors are " + joined(names);
    const auto orders = orders_of(op, kernel, tensor);
    if (!layout.order.empty() && std::ranges::find(orders, layout.order) == orders.end())
        return what + (orders.empty() ? ", but it declares no layouts of it"
                                      : ", but it takes " + joined(orders));
    const bool takes_any = takes_any_strides(op, kernel, tensor);
    if (layout.row_padding > 0 && !takes_any)
        return fmt::format("{}, but it does not declare strided(\"{}\")", what, tensor);
    if (layout.expanded != 0 && !(takes_any && may_be_expanded(op, pass, tensor)))
        return what + ", but only a cotangent that it declares strided() may be expanded";
    return std::nullopt;
}

std::string print(const TensorLayout& layout) {
    std::vector<std::string> parts;
    if (!layout.order.empty()) parts.push_back(layout.order);
    if (layout.row_padding > 0) parts.push_back(fmt::format("pad{}", layout.row_padding));
    if (layout.expanded != 0) parts.emplace_back("expand");
    for (int axis = 0; axis < max_tensor_rank; ++axis)
        if (layout.is_expanded(static_cast<std::size_t>(axis)))
            parts.back() += std::to_string(axis);
    return joined(parts, ".");
}

TensorLayout parse_layout(std::string_view text) {
    TensorLayout layout;
    for (const std::string_view part : split(text, '.')) {
        const bool is_padding = part.starts_with("pad"), is_expansion = part.starts_with("expand");
        if (is_padding && layout.row_padding == 0) {
            const auto padding = parse_int(part.substr(3));
            if (!padding || *padding < 1 || *padding > row_padding_maximum)
                refuse("{} is not pad and a number of elements in 1..{}", part,
                       row_padding_maximum);
            layout.row_padding = static_cast<int>(*padding);
        } else if (is_expansion && layout.expanded == 0) {
            for (const char axis : part.substr(6)) {
                if (axis < '0' || axis >= '0' + max_tensor_rank)
                    refuse("{} is not expand and axes such as 02", part);
                layout.expanded |= std::uint32_t{1} << (axis - '0');
            }
            if (layout.expanded == 0)
                throw std::invalid_argument("expand names no axis, as expand02 does");
        } else if (!part.empty() && layout.order.empty() && !is_padding && !is_expansion) {
            layout.order = part;
        } else {
            refuse("'{}' is not a layout such as nhwc.pad1.expand02", text);
        }
    }
    return layout;
}

std::vector<std::string> mistakes_in_layouts(const KernelDeclaration& kernel, const Operator& op,
                                             const PassSpec& pass) {
    std::vector<std::string> mistakes;
    const auto names = pass.tensors();
    for (const LayoutSupport& support : kernel.layouts) {
        const auto concerned = std::ranges::find_if(names, [&](const std::string& name) {
            return name == support.tensor || op.tensor_named(name).name == support.tensor;
        });
        if (concerned == names.end()) {
            add(mistakes, "a layout of '{}' needs a tensor of the pass; there are {}",
                support.tensor, joined(names));
            continue;
        }
        const TensorSpec& spec = op.tensor_named(support.tensor);
        for (const std::string& order : support.orders)
            if (!find_named(spec.orders, order)) mistakes.push_back(why_no_order(spec, order));
    }
    for (const Alias& alias : kernel.aliases)
        for (const std::string& tensor : {alias.output, alias.input}) {
            if (!op.find_tensor(tensor)) continue;
            if (orders_of(op, kernel, tensor).size() > 1 || takes_any_strides(op, kernel, tensor))
                add(mistakes, "{} may lie where another tensor does, so it has one layout", tensor);
        }
    return mistakes;
}

std::string print_layouts(const KernelDeclaration& kernel, const Operator& op,
                          const PassSpec& pass) {
    std::map<std::string, std::vector<std::string>> tensors;
    for (const std::string& name : pass.tensors()) {
        const auto orders = orders_of(op, kernel, name);
        if (takes_any_strides(op, kernel, name))
            tensors["any strides"].push_back(name);
        else if (orders.size() > 1 || !is_row_major_by_default(op, kernel, name))
            tensors[joined(orders, " or ")].push_back(name);
    }
    std::vector<std::string> parts;
    parts.reserve(tensors.size());
    for (const auto& [layout, names] : tensors) parts.push_back(joined(names) + ": " + layout);
    return joined(parts, "; ");
}

}  // namespace gradverify
