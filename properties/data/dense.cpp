// SPDX-License-Identifier: Apache-2.0
#include "properties/data/dense.hpp"

#include <algorithm>
#include <map>

#include "harness/registry/element_types.hpp"
#include "harness/registry/layout.hpp"
#include "properties/data/setting.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

namespace {

constexpr int draws_minimum = 3, draws_factor = 10;
// Four draws of different values, and as many with ties or NaN.
constexpr int draws_with_ties = 8;
// Many draws of a chain leave nothing of its output; half are positive, and a quarter have ties.
constexpr int draws_of_chain = 24;
// Enough for both kinds of expanded cotangents.
constexpr int draws_with_layouts = 6;

/// By turns each order of each tensor, padded rows and expanded cotangents.
std::map<std::string, TensorLayout> layouts_of(const Kernel& of, const Problem& problem, int draw) {
    std::map<std::string, TensorLayout> layouts;
    const auto turn = static_cast<std::size_t>(draw);
    std::size_t position = 0;  // of the tensor: in each round it meets other orders of the others
    for (const std::string& tensor : of.pass->tensors()) {
        TensorLayout layout;
        const auto orders = orders_of(*of.op, of.any(), tensor);
        const auto which =
            orders.empty() ? 0 : (turn + turn / orders.size() * position) % orders.size();
        ++position;
        if (which > 0) layout.order = orders[which];
        const std::size_t axes = of.op->sizes_of(tensor, problem).size();
        if (takes_any_strides(*of.op, of.any(), tensor) && axes > 1) {
            if (draw % 3 == 1) layout.row_padding = 1 + draw / 3;
            if (draw % 6 >= 4 && may_be_expanded(*of.op, *of.pass, tensor))
                layout.expanded = draw % 6 == 4 ? 1u << (axes - 1) : (1u << axes) - 1;
        }
        if (layout != TensorLayout{}) layouts[tensor] = layout;
    }
    return layouts;
}

/// By turns all outputs, and each subset of them, none the last.
std::uint32_t mask_of(const Kernel& kernel, int draw) {
    const auto outputs = kernel.pass->outputs.size();
    if (!kernel.any().takes_output_mask) return Setting::every_output;
    const std::uint32_t all = (std::uint32_t{1} << std::min<std::size_t>(outputs, 16)) - 1;
    const std::uint32_t mask = static_cast<std::uint32_t>(draw) % (all + 1);
    return mask == 0 ? Setting::every_output : mask % all;
}

int draws_for_layouts(const Kernel& of) {
    int draws = draws_minimum;
    for (const std::string& tensor : of.pass->tensors()) {
        const auto orders = static_cast<int>(orders_of(*of.op, of.any(), tensor).size());
        if (orders > 1 || takes_any_strides(*of.op, of.any(), tensor))
            draws = std::max({draws, draws_with_layouts, 2 * orders});
    }
    return draws;
}

}  // namespace

int dense_draw_count(const Kernel& kernel, std::string_view property) {
    const KernelDeclaration& declared = kernel.any();
    const auto outputs = std::min<std::size_t>(kernel.pass->outputs.size(), 3);
    const bool has_ties =
        kernel.op->has_pieces() || std::ranges::any_of(kernel.op->inputs, &TensorSpec::may_be_nan);
    const int draws_with_indices =
        takes_indices(*kernel.op) ? draws_of_mixed_indices(*kernel.op) + draws_of_simple_indices
                                  : 0;
    const int draws =
        std::max({draws_for_layouts(kernel), static_cast<int>(declared.block_sizes.size()),
                  declared.takes_output_mask ? 1 << outputs : draws_minimum, 2 * declared.places(),
                  has_ties ? draws_with_ties : draws_minimum,
                  kernel.op->is_chain() ? draws_of_chain : draws_minimum,
                  kernel.op->algebra == Algebra::smooth ? draws_of_sizes : draws_minimum,
                  draws_with_indices});
    const bool is_hidden = std::ranges::any_of(kernel.pass->outputs, [&](const auto& output) {
        const DType dtype = dtype_of(declared, *kernel.op, output);
        return !kernel.op->tensor_named(output).holds_whole_numbers() &&
               !holds_all_of(dtype, declared.accumulator());
    });
    const bool has_short_factors = std::ranges::any_of(kernel.pass->inputs, [&](const auto& input) {
        return is_of_8_bits(dtype_of(declared, *kernel.op, input));
    });
    return property == "within_rounding_bound" && (is_hidden || has_short_factors)
               ? draws_factor * draws
               : draws;
}

Case dense_case(const Kernel& kernel, const std::string& property, const std::string& device,
                const Problem& problem, int draw) {
    const KernelDeclaration& declared = kernel.any();
    Setting setting;
    if (device == "cpu" && draw % 3 != 0) {
        setting.order = draw % 3 == 1 ? ThreadOrder::descending : ThreadOrder::random_warps;
        setting.order_seed = draw % 3 == 1 ? 0 : 1;
    }
    // Each buffer at another step, which differs from draw to draw.
    if (takes_moved_buffers(declared))
        setting.offsets =
            moved_buffers(kernel, [&](std::int64_t buffer) { return draw * buffer % 4; });
    const auto& sizes = declared.block_sizes;
    const std::size_t block = sizes.empty() ? 0 : static_cast<std::size_t>(draw) % sizes.size();
    if (block > 0) setting.block_size = sizes[block];
    setting.layouts = layouts_of(kernel, problem, draw);
    setting.output_mask = mask_of(kernel, draw);
    if (declared.places() > 0 && draw % 2 == 1) setting.place = 1 + draw / 2 % declared.places();
    setting.own_stream = declared.stream_use != StreamUse::default_stream && draw % 2 == 1;
    return {.kernel = kernel.name,
            .property = property,
            .device = device,
            .problem = problem,
            .data = {.seed = static_cast<std::uint64_t>(draw) + 1, .is_dense = true},
            .setting = std::move(setting)};
}

std::vector<Case> dense_cases(const Kernel& kernel, const std::string& property,
                              const std::string& device, const Problem& problem) {
    std::vector<Case> cases;
    for (int draw = 0; draw < dense_draw_count(kernel, property); ++draw)
        cases.push_back(dense_case(kernel, property, device, problem, draw));
    return cases;
}

}  // namespace gradverify
