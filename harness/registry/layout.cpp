// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/layout.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>

#include "harness/base/text.hpp"
#include "harness/registry/layout_tag.hpp"

namespace gradverify {

namespace {

constexpr int row_padding_maximum = 4096;

std::vector<std::string> names_of(const std::vector<AxisOrder>& orders) {
    std::vector<std::string> names;
    names.reserve(orders.size());
    for (const AxisOrder& order : orders) names.push_back(order.name);
    return names;
}

/// Of "dx" itself, then of x; null when nothing is declared.
const LayoutSupport* support_of(const Operator& op, const KernelDeclaration& kernel,
                                std::string_view tensor) {
    for (const std::string_view name : {tensor, std::string_view(op.tensor_named(tensor).name)}) {
        // The last one holds, as of any other declaration.
        const auto found = std::find_if(kernel.layouts.rbegin(), kernel.layouts.rend(),
                                        [&](const auto& one) { return one.tensor == name; });
        if (found != kernel.layouts.rend()) return &*found;
    }
    return nullptr;
}

/// One of a tensor's orders, by its name or a tag.
///
/// **Errors** std::invalid_argument, which says what there is.
AxisOrder order_named(const TensorSpec& spec, const std::string& name) {
    const auto found = std::ranges::find(spec.orders, name, &AxisOrder::name);
    if (found != spec.orders.end()) return *found;
    std::string why;
    auto known = names_of(spec.orders);
    if (!spec.tags.letters.empty()) try {
            return order_of_tag(name, spec.tags);
        } catch (const std::invalid_argument& wrong) {
            why = std::string(": ") + wrong.what();
            known.push_back("tags such as " + example_of_tags(spec.tags));
        }
    throw std::invalid_argument(spec.name + " has no layout '" + name + "'" + why +
                                "; there are: " + (known.empty() ? "none" : joined(known)));
}

std::string why_no_order(const TensorSpec& spec, const std::string& name) try {
    static_cast<void>(order_named(spec, name));
    return {};
} catch (const std::invalid_argument& wrong) {
    return wrong.what();
}

/// The order that a layout means, the kernel's first where it names none; nothing for row-major.
std::optional<AxisOrder> order_meant(const Operator& op, const KernelDeclaration& kernel,
                                     std::string_view tensor, const TensorLayout& layout) {
    const auto orders = orders_of(op, kernel, tensor);
    const std::string& name =
        layout.order.empty() && !orders.empty() ? orders.front() : layout.order;
    if (name.empty()) return std::nullopt;
    return order_named(op.tensor_named(tensor), name);
}

/// Whether no strides of the tensor's own axes say it.
bool is_blocked(const AxisOrder& order) { return !order.blocks.empty() || order.has_groups; }

bool is_blocked(const TensorSpec& spec, const std::string& order) {
    return !order.empty() && why_no_order(spec, order).empty() &&
           is_blocked(order_named(spec, order));
}

/// Whether the kernel is given the tensor in blocks, by the first of its layouts or a later one.
bool may_be_blocked(const Operator& op, const KernelDeclaration& kernel, std::string_view tensor) {
    return std::ranges::any_of(orders_of(op, kernel, tensor), [&](const std::string& order) {
        return is_blocked(op.tensor_named(tensor), order);
    });
}

/// What is wrong with an order of an operator, and what would be right.
std::string mistake_in_order(const TensorSpec& tensor, const AxisOrder& order,
                             const Problem& smallest) {
    if (order.has_groups && tensor.tags.groups.empty())
        return " has an axis for groups; its tags name no parameter that says how many";
    const auto axes = static_cast<int>(tensor.sizes(smallest).size()) + (order.has_groups ? 1 : 0);
    std::int64_t elements = 1;
    for (const AxisBlock& block : order.blocks)
        if (block.size < 2 || block.axis < 0 || block.axis >= axes ||
            std::ranges::count(order.blocks, block.axis, &AxisBlock::axis) > 2 ||
            block.size > most_elements_in_blocks ||
            (elements *= block.size) > most_elements_in_blocks)
            return " has a block of " + std::to_string(block.size) + " on axis " +
                   std::to_string(block.axis) +
                   "; a block has two elements or more, all together " +
                   std::to_string(most_elements_in_blocks) +
                   " at most, and is one of two at most of an axis that the tensor always has";
    return {};
}

std::string why_no_strides(const std::string& tensor, const AxisOrder& order) {
    return tensor + " in " + order.name + " has " +
           (order.blocks.empty() ? "an axis for groups" : "blocks") +
           ", whose rows are neither padded nor expanded";
}

}  // namespace

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

Strides row_major_strides(const Sizes& sizes) {
    std::vector<int> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    return dense_strides(sizes, order);
}

Strides strides_of(const Operator& op, const KernelDeclaration& kernel, std::string_view tensor,
                   const Sizes& sizes, const TensorLayout& layout) {
    const auto meant = order_meant(op, kernel, tensor, layout);
    std::vector<int> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    if (meant) order = meant->axes(static_cast<int>(sizes.size()));
    // An expanded axis has one element in memory; a padded row is longer than its elements; of a
    // blocked axis there are blocks, and within each of their places a piece of every blocked axis.
    Sizes in_memory = sizes;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        if (layout.is_expanded(axis)) in_memory[axis] = 1;
    if (layout.row_padding > 0 && sizes.size() > 1)
        in_memory[static_cast<std::size_t>(order.back())] += layout.row_padding;
    const Blocks blocks = blocks_of(op, kernel, tensor, layout);
    std::int64_t within = 1;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        const std::int64_t block = block_of(blocks, axis).size;
        in_memory[axis] = (in_memory[axis] + block - 1) / block;
        within *= block;
    }
    Strides strides = dense_strides(in_memory, order);
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        strides[axis] *= layout.is_expanded(axis) ? 0 : within;
    return strides;
}

Blocks blocks_of(const Operator& op, const KernelDeclaration& kernel, std::string_view tensor,
                 const TensorLayout& layout) {
    const auto order = order_meant(op, kernel, tensor, layout);
    if (!order || !is_blocked(*order)) return {};
    const TensorSpec& spec = op.tensor_named(tensor);
    if (layout.row_padding > 0 || layout.expanded != 0)
        throw std::invalid_argument(why_no_strides(spec.name, *order));
    return order->blocks;
}

MemoryShape memory_shape_of(const Operator& op, const KernelDeclaration& kernel,
                            std::string_view tensor, const Problem& problem,
                            const TensorLayout& layout) {
    Sizes sizes = op.sizes_of(tensor, problem);
    if (const auto order = order_meant(op, kernel, tensor, layout); order && order->has_groups) {
        const std::int64_t groups = problem.scalar(op.tensor_named(tensor).tags.groups);
        if (groups < 1 || sizes.front() % groups != 0)
            throw std::invalid_argument(std::string(tensor) + " has " +
                                        std::to_string(sizes.front()) + " rows, which " +
                                        std::to_string(groups) + " groups do not divide");
        sizes.front() /= groups;
        sizes.insert(sizes.begin(), groups);
    }
    Strides strides = strides_of(op, kernel, tensor, sizes, layout);
    return {std::move(sizes), std::move(strides), blocks_of(op, kernel, tensor, layout)};
}

std::int64_t MemoryShape::elements() const { return element_count(with_tails(sizes, blocks)); }

std::int64_t most_elements_of(const Operator& op, const KernelDeclaration& kernel,
                              std::string_view tensor, const Problem& problem) {
    std::int64_t most = element_count(op.sizes_of(tensor, problem));
    if (kernel.layouts.empty()) return most;
    for (const std::string& order : orders_of(op, kernel, tensor))
        most = std::max(most,
                        memory_shape_of(op, kernel, tensor, problem, {.order = order}).elements());
    return most;
}

BlockOfAxis block_of(const Blocks& blocks, std::size_t axis) {
    BlockOfAxis cut;
    std::int32_t stride = 1;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        const auto size = static_cast<std::int32_t>(block->size);
        if (static_cast<std::size_t>(block->axis) == axis) {
            // The second one from within is what the blocks are cut into.
            cut.inner_size = cut.size;
            cut.inner_stride = cut.stride;
            cut.size *= size;
            cut.stride = stride;
        }
        stride *= size;
    }
    return cut;
}

Sizes with_tails(const Sizes& sizes, const Blocks& blocks) {
    Sizes whole = sizes;
    for (std::size_t axis = 0; axis < whole.size(); ++axis) {
        const std::int64_t block = block_of(blocks, axis).size;
        whole[axis] = (whole[axis] + block - 1) / block * block;
    }
    return whole;
}

std::int64_t place_of(const Sizes& index, const Strides& strides, const Blocks& blocks) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
        place += block_of(blocks, axis).offset(index[axis], strides[axis]);
    return place;
}

std::vector<std::string> orders_of(const Operator& op, const KernelDeclaration& kernel,
                                   std::string_view tensor) {
    const std::vector<AxisOrder>& all = op.tensor_named(tensor).orders;
    const LayoutSupport* const support = support_of(op, kernel, tensor);
    if (support && !support->orders.empty()) return support->orders;
    if (all.empty()) return {};
    // Row-major alone, unless any strides will do: which say nothing of blocks.
    if (!support || !support->any_strides) return {all.front().name};
    std::vector<AxisOrder> strided;
    std::ranges::copy_if(all, std::back_inserter(strided),
                         [](const AxisOrder& order) { return !is_blocked(order); });
    return names_of(strided);
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

bool takes_row_major(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel) {
    return std::ranges::all_of(pass.tensors(), [&](const std::string& tensor) {
        const auto& all = op.tensor_named(tensor).orders;
        const auto orders = orders_of(op, kernel, tensor);
        return orders.empty() || (!all.empty() && orders.front() == all.front().name);
    });
}

std::optional<std::string> why_unsupported(const Operator& op, const PassSpec& pass,
                                           const KernelDeclaration& kernel,
                                           const std::string& tensor, const TensorLayout& layout) {
    const std::string what = "layout=" + tensor + "." + print(layout);
    const auto names = pass.tensors();
    if (std::ranges::find(names, tensor) == names.end())
        return what + ", but its tensors are " + joined(names);
    const auto orders = orders_of(op, kernel, tensor);
    if (!layout.order.empty() && std::ranges::find(orders, layout.order) == orders.end())
        return what + (orders.empty() ? ", but it declares no layouts of it"
                                      : ", but it takes " + joined(orders));
    const auto order = order_meant(op, kernel, tensor, layout);
    if (order && is_blocked(*order) && (layout.row_padding > 0 || layout.expanded != 0))
        return what + ", but " + why_no_strides(tensor, *order);
    if (layout.row_padding > 0 && !takes_any_strides(op, kernel, tensor))
        return what + ", but it does not declare strided(\"" + tensor + "\")";
    if (layout.expanded != 0 &&
        (!takes_any_strides(op, kernel, tensor) || !may_be_expanded(op, pass, tensor)))
        return what + ", but only a cotangent that it declares strided() may be expanded";
    return std::nullopt;
}

std::string print(const TensorLayout& layout) {
    std::vector<std::string> parts;
    if (!layout.order.empty()) parts.push_back(layout.order);
    if (layout.row_padding > 0) parts.push_back("pad" + std::to_string(layout.row_padding));
    if (layout.expanded != 0) {
        std::string axes;
        for (int axis = 0; axis < max_tensor_rank; ++axis)
            if (layout.is_expanded(static_cast<std::size_t>(axis))) axes += std::to_string(axis);
        parts.push_back("expand" + axes);
    }
    return joined(parts, ".");
}

TensorLayout parse_layout(std::string_view text) {
    TensorLayout layout;
    for (const std::string_view part : split(text, '.')) {
        if (part.starts_with("pad")) {
            const auto padding = parse_int(part.substr(3));
            if (!padding || *padding < 1 || *padding > row_padding_maximum)
                throw std::invalid_argument(std::string(part) +
                                            " is not pad and a number of "
                                            "elements in 1.." +
                                            std::to_string(row_padding_maximum));
            layout.row_padding = static_cast<int>(*padding);
        } else if (part.starts_with("expand")) {
            for (const char axis : part.substr(6)) {
                if (axis < '0' || axis >= '0' + max_tensor_rank)
                    throw std::invalid_argument(std::string(part) +
                                                " is not expand and axes such as 02");
                layout.expanded |= std::uint32_t{1} << (axis - '0');
            }
            if (layout.expanded == 0)
                throw std::invalid_argument("expand names no axis, as expand02 does");
        } else if (!part.empty() && layout.order.empty()) {
            layout.order = part;
        } else {
            throw std::invalid_argument("'" + std::string(text) +
                                        "' is not a layout such as nhwc.pad1.expand02");
        }
    }
    return layout;
}

std::vector<std::string> mistakes_in_orders(const Operator& op) {
    std::vector<std::string> mistakes;
    const Problem smallest(op.space, op.space.ranks().least);
    const Problem of_most_axes(op.space, op.space.ranks().most);
    for (const auto* tensors : {&op.inputs, &op.outputs})
        for (const TensorSpec& tensor : *tensors) {
            for (std::string& mistake : mistakes_in_tags(tensor, smallest, of_most_axes))
                mistakes.push_back(std::move(mistake));
            for (const AxisOrder& order : tensor.orders)
                if (auto mistake = mistake_in_order(tensor, order, smallest); !mistake.empty())
                    mistakes.push_back(tensor.name + "'s layout " + order.name + mistake);
        }
    return mistakes;
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
            mistakes.push_back("a layout of '" + support.tensor +
                               "' needs a tensor of the pass; there are " + joined(names));
            continue;
        }
        for (const std::string& order : support.orders)
            if (auto why = why_no_order(op.tensor_named(support.tensor), order); !why.empty())
                mistakes.push_back(std::move(why));
    }
    for (const Alias& alias : kernel.aliases)
        for (const std::string& tensor : {alias.output, alias.input}) {
            if (!op.find_tensor(tensor)) continue;
            if (orders_of(op, kernel, tensor).size() > 1 || takes_any_strides(op, kernel, tensor))
                mistakes.push_back(tensor +
                                   " may lie where another tensor does, so it has one layout");
            else if (may_be_blocked(op, kernel, tensor))
                mistakes.push_back(tensor +
                                   " may lie where another tensor does, so it is not blocked");
        }
    return mistakes;
}

std::string print_layouts(const KernelDeclaration& kernel, const Operator& op,
                          const PassSpec& pass) {
    std::map<std::string, std::vector<std::string>> tensors;
    for (const std::string& name : pass.tensors()) {
        const auto orders = orders_of(op, kernel, name);
        const auto& named = op.tensor_named(name).orders;
        const bool is_first = orders.empty() || (!named.empty() && orders[0] == named[0].name);
        if (takes_any_strides(op, kernel, name))
            tensors["any strides"].push_back(name);
        else if (orders.size() > 1 || !is_first)
            tensors[joined(orders, " or ")].push_back(name);
    }
    std::vector<std::string> parts;
    parts.reserve(tensors.size());
    for (const auto& [layout, names] : tensors) parts.push_back(joined(names) + ": " + layout);
    return joined(parts, "; ");
}

}  // namespace gradverify
