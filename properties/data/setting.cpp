// SPDX-License-Identifier: Apache-2.0
#include "properties/data/setting.hpp"

#include <algorithm>

#include "harness/base/random.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/registry/layout.hpp"

namespace gradverify {

namespace {

// A float4 path wants 16 bytes: moves of 1, 2 and 3 elements show each way to be misaligned.
constexpr std::int64_t steps_maximum = 3;

ThreadOrder draw_order(SplitMix64& random) {
    using enum ThreadOrder;
    constexpr ThreadOrder orders[] = {ascending,      ascending,    descending,
                                      random_threads, random_warps, random_warps};
    return orders[random.below(std::size(orders))];
}

TensorLayout draw_layout(const Kernel& of, const Problem& problem, const std::string& tensor,
                         SplitMix64& random) {
    const Operator& op = *of.op;
    const KernelDeclaration& kernel = of.any();
    const auto orders = orders_of(op, kernel, tensor);
    TensorLayout layout;
    if (orders.size() > 1) layout.order = orders[random.below(orders.size())];
    if (!orders.empty() && layout.order == orders.front()) layout.order.clear();
    const std::size_t axes = op.sizes_of(tensor, problem).size();
    if (!takes_any_strides(op, kernel, tensor) || axes < 2) return layout;
    if (random.one_in(3)) layout.row_padding = static_cast<int>(random.between(1, 5));
    if (may_be_expanded(op, *of.pass, tensor) && random.one_in(6)) {
        // All axes, as in the gradient of a sum, or some.
        const auto every_axis = (std::uint64_t{1} << axes) - 1;
        layout.expanded = static_cast<std::uint32_t>(
            random.one_in(2) ? every_axis : random.below(every_axis) + 1);
    }
    return layout;
}

}  // namespace

void draw_layouts(const Kernel& kernel, const Problem& problem, std::uint64_t seed,
                  Setting& setting) {
    SplitMix64 random(seed);
    for (const std::string& tensor : kernel.pass->tensors())
        if (const auto layout = draw_layout(kernel, problem, tensor, random);
            layout != TensorLayout{})
            setting.layouts[tensor] = layout;
}

bool takes_moved_buffers(const KernelDeclaration& kernel) {
    constexpr std::int64_t cudamalloc_bytes = 256;
    return kernel.base_alignment_bytes < cudamalloc_bytes;
}

std::vector<int> moved_buffers(const Kernel& kernel,
                               const std::function<std::int64_t(std::int64_t)>& steps) {
    const std::int64_t element_bytes =
        smallest_element_bytes(kernel.any(), *kernel.op, *kernel.pass);
    const std::int64_t step =
        std::max<std::int64_t>(kernel.any().base_alignment_bytes / element_bytes, 1);
    std::vector<int> offsets;
    for (std::int64_t buffer = 1; buffer <= std::ssize(kernel.pass->tensors()); ++buffer)
        offsets.push_back(static_cast<int>(step * steps(buffer)));
    while (!offsets.empty() && offsets.back() == 0) offsets.pop_back();
    return offsets;
}

Setting draw_setting(const Kernel& of, std::uint64_t seed) {
    const KernelDeclaration& kernel = of.any();
    SplitMix64 random(seed);
    Setting setting;
    setting.order = draw_order(random);
    // A short seed makes a short case.
    if (setting.order == ThreadOrder::random_threads || setting.order == ThreadOrder::random_warps)
        setting.order_seed = random.below(1u << 16);
    if (takes_moved_buffers(kernel) && !random.one_in(3))
        setting.offsets =
            moved_buffers(of, [&](std::int64_t) { return random.between(0, steps_maximum); });
    if (!kernel.block_sizes.empty())
        setting.block_size = kernel.block_sizes[random.below(kernel.block_sizes.size())];
    if (!kernel.block_sizes.empty() && setting.block_size == kernel.block_sizes.front())
        setting.block_size = 0;
    const auto outputs = static_cast<std::uint32_t>(of.pass->outputs.size());
    const auto subsets = std::uint64_t{1} << outputs;
    if (kernel.takes_output_mask && random.one_in(2))
        setting.output_mask = static_cast<std::uint32_t>(random.below(subsets));
    if (setting.output_mask + std::uint64_t{1} == subsets)
        setting.output_mask = Setting::every_output;
    if (kernel.places() > 0 && random.one_in(2))
        setting.place =
            kernel.places() == 1 ? 1 : static_cast<int>(random.between(1, kernel.places()));
    // On streams of their own a GPU runs many calls at once, on the default one each by itself.
    setting.own_stream = kernel.stream_use != StreamUse::default_stream && !random.one_in(8);
    return setting;
}

Setting draw_setting(const Kernel& kernel, const Problem& problem, std::uint64_t seed) {
    Setting setting = draw_setting(kernel, mix_seed(seed, "setting"));
    // All others' calls on the default stream would wait for it.
    if (kernel.pass->multiply_adds(problem) > most_multiply_adds_by_default)
        setting.own_stream = kernel.any().stream_use != StreamUse::default_stream;
    draw_layouts(kernel, problem, mix_seed(seed, "layouts"), setting);
    return setting;
}

}  // namespace gradverify
