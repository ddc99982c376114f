// SPDX-License-Identifier: Apache-2.0
// conv.*/small_images: floats, where an image fits into shared memory with the filter or with its
// features, as those of LeNet do. The image's gradient is the forward pass of dy with the filter
// turned round. Zeros around an image are multiplied as its pixels are, so an infinite weight makes
// NaN of them; so does an infinite pixel of the zeros behind a row of features.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "kernels/conv/geometry.cuh"
#include "kernels/fast/conv/parts.cuh"
#include "kernels/fast/conv/small_images.cuh"
#include "kernels/kernel.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::small_images;

/// dw = the sums of `count` parts. **Grid** enough blocks of block_of_parts for the elements.
__global__ void add_parts(const float* __restrict__ parts, int count, float* dw, int elements) {
    const int i = static_cast<int>(thread_in_grid());
    const float sum = sum_of_parts(i < elements ? parts + i : nullptr, count, elements);
    if (i < elements && threadIdx.y == 0) dw[i] = sum;
}

int to_int(std::int64_t number) { return static_cast<int>(number); }
int packs_of(int numbers) { return to_int(divided_up(numbers, in_pack)); }
long long bytes_of(long long floats) { return floats * to_int(sizeof(float)); }

/// How long threads take that read so many packs from shared memory: a pack of a warp occupies it
/// for four clocks, in which each of four schedulers starts four products.
long long cost(long long products, long long packs) { return std::max(products, 16 * packs); }

/// None where sizes are so large that sums of their products might not fit into their types.
std::optional<Sizes> sizes_of(const Parameters& p, bool is_turned) {
    const auto is_small = [](std::int64_t size) { return size <= 1024; };
    const auto has_small_sizes = [&](const Axis& axis) {
        return is_small(axis.in) && is_small(axis.padding_left) && is_small(axis.padding_right);
    };
    if (p.rank != 2 || !is_small(p.c) || !is_small(p.k) || p.w().filter > largest_filter ||
        p.h().filter != p.w().filter || !std::ranges::all_of(p.spatial(), has_small_sizes))
        return {};
    Sizes sizes{.from = {to_int(p.c), to_int(p.h().in), to_int(p.w().in)},
                .to = {to_int(p.k), to_int(positions_along(p.h())), to_int(positions_along(p.w()))},
                .filter = to_int(p.w().filter),
                .above = to_int(p.h().padding_left),
                .before = to_int(p.w().padding_left),
                .is_turned = is_turned};
    if (is_turned) {
        std::swap(sizes.from, sizes.to);
        sizes.above = sizes.filter - 1 - sizes.above;
        sizes.before = sizes.filter - 1 - sizes.before;
    }
    constexpr long long most_elements = 1 << 24;  // far within an int
    if (std::max(sizes.from.elements(), sizes.to.elements()) > most_elements) return {};
    return sizes;
}

Correlation with_tile(const Sizes& sizes, int which) {
    Correlation g{sizes, which, packs_of(sizes.to.columns)};
    const Tile tile = tiles[which];
    const int packs = packs_of(g.across * in_pack + g.filter - 1);
    g.pitch = packs * in_pack;
    // Threads side by side then read from other banks, below each other too. All channels begin
    // alike, as add_products takes for granted.
    if (g.from.rows % tile.rows == 0) g.skew = ((g.across - tile.rows * packs) & 7) * in_pack;
    g.groups = to_int(divided_up(g.to.channels, tile.channels));
    g.warps_of_group = to_int(divided_up(divided_up(g.to.rows, tile.rows) * g.across, 32));
    g.tasks = g.groups * g.warps_of_group;
    g.shares = std::clamp(wanted_warps / std::max(g.tasks, 1), 1, g.from.channels);
    const long long rows = static_cast<long long>(g.from.channels) * g.from.rows;
    const long long sums = (g.shares - 1) * g.tasks * 32LL * pitch_of_sums(tile);
    g.weights_at = g.pitch + g.skew + std::max(rows * g.pitch + rows / tile.rows * g.skew, sums);
    g.bytes = bytes_of(g.weights_at +
                       static_cast<long long>(g.groups) * g.from.channels * g.filter *
                           pitch_of_weights(g.filter, tile.channels) +
                       g.groups * tile.channels);
    return g;
}
long long cost(const Correlation& g) {
    const Tile tile = tiles[g.which];
    return g.tasks * cost(g.filter * g.filter * tile.rows * tile.channels * in_pack,
                          (tile.rows + g.filter - 1) * packs_of(in_pack + g.filter - 1) +
                              g.filter * packs_of(tile.channels * g.filter));
}
/// With the tile that takes the least time, of those that fit into shared memory.
std::optional<Correlation> correlation(const Parameters& p, bool is_turned) {
    std::optional<Correlation> best;
    const std::optional<Sizes> sizes = sizes_of(p, is_turned);
    for (int which = 0; sizes && which < count_of_tiles; ++which) {
        const Correlation other = with_tile(*sizes, which);
        if (other.bytes <= most_bytes && (!best || cost(other) < cost(*best))) best = other;
    }
    return best;
}

/// None where not even one image fits.
std::optional<FilterSums> filter_sums(const Parameters& p) {
    const std::optional<Sizes> sizes = sizes_of(p, false);
    if (!sizes) return {};
    FilterSums g{*sizes, 0, packs_of(sizes->to.columns)};
    // Odd, so that threads whose rows follow each other read from other banks.
    g.x_pitch = (packs_of(g.across * in_pack + g.filter - 1) | 1) * in_pack;
    g.dy_pitch = (g.across | 1) * in_pack;
    const auto rows_of = [](const Images& of) {
        return static_cast<long long>(of.channels) * of.rows;
    };
    const long long of_image = bytes_of(rows_of(g.from) * g.x_pitch + rows_of(g.to) * g.dy_pitch);
    constexpr long long most_sums = 1 << 20;  // whose parts are far within an int
    const long long sums = static_cast<long long>(p.k) * p.c * g.filter * g.filter;
    if (of_image > most_bytes || sums > most_sums) return {};
    g.sums = to_int(sums);
    g.at_once = to_int(std::clamp(divided_up(p.n, most_parts), 1LL, most_bytes / of_image));
    const auto cost_with = [&](int which) {
        const int features = feature_tiles[which];
        return g.to.channels / features *
               cost(features * in_pack * g.filter, features + packs_of(in_pack + g.filter - 1));
    };
    for (int which = 1; which < count_of_tiles; ++which)  // the first takes any number of features
        if (g.to.channels % feature_tiles[which] == 0 && cost_with(which) < cost_with(g.which))
            g.which = which;
    g.groups = g.to.channels / feature_tiles[g.which];
    const int rows_of_taps = g.from.channels * g.filter, rows = g.at_once * g.to.rows;
    const long long most_slices =
        std::min({most_warps_of_sums / g.groups * 32LL / rows_of_taps, most_bytes / bytes_of(sums),
                  static_cast<long long>(rows)});
    g.slices = 1;
    if (most_slices > 1)  // slices of as many rows
        g.slices = to_int(divided_up(rows, divided_up(rows, most_slices)));
    g.warps_of_group = to_int(divided_up(rows_of_taps * g.slices, 32));
    g.bytes = std::max(g.at_once * of_image, g.slices > 1 ? bytes_of(g.slices * sums) : 0LL);
    return g;
}
/// Blocks that sum images, if these have features.
long long parts_of(const FilterSums& g, std::int64_t n) {
    return g.to.elements() == 0 ? 0 : std::min(divided_up(n, g.at_once), most_parts);
}

/// Calls `launch` with a constant of that value, which is below `end`.
template <int end, class Launch>
void with_constant(int value, Launch launch) {
    if (value == end - 1)
        launch(std::integral_constant<int, end - 1>());
    else if constexpr (end > 1)
        with_constant<end - 1>(value, launch);
}
/// The same with the filter's size and the number of the tile.
template <class Plan, class Launch>
void with_constants(const Plan& g, Launch launch) {
    with_constant<largest_filter>(g.filter - 1, [&](auto less) {
        with_constant<count_of_tiles>(
            g.which, [&](auto which) { launch(std::integral_constant<int, less() + 1>(), which); });
    });
}

void launch_correlation(const std::optional<Correlation>& g, const TensorView& from,
                        const TensorView& w, const float* bias, const TensorView& to,
                        const Launch& launch) {
    if (!g || to.elements() == 0) return;
    const long long rounds = divided_up(g->tasks, most_warps);
    const auto warps = g->shares > 1 ? g->tasks * g->shares : divided_up(g->tasks, rounds);
    with_constants(*g, [&](auto filter, auto which) {
        correlate<filter(), which()>
            <<<static_cast<unsigned>(std::min<long long>(to.size(0), most_blocks)),
               static_cast<unsigned>(32 * warps), static_cast<std::size_t>(g->bytes),
               launch.stream>>>(from.as<const float>(), w.as<const float>(), bias, to.as<float>(),
                                to.size(0), *g);
    });
}

void forward(const Forward& call) {
    launch_correlation(correlation(call.problem, false), call.x, call.w, call.b.as<const float>(),
                       call.y, call.launch);
}
void grad_input(const GradInput& call) {
    launch_correlation(correlation(call.problem, true), call.dy, call.w, nullptr, call.dx,
                       call.launch);
}
void grad_weight(const GradWeight& call) {
    const std::optional<FilterSums> g = filter_sums(call.problem);
    if (!g) return;
    const long long n = call.problem.n, parts = parts_of(*g, n);
    auto* const sums = static_cast<float*>(call.launch.workspace);
    const int warps = g->groups * g->warps_of_group;
    const int of_block = std::min(warps, most_warps_of_sums);
    const dim3 grid(static_cast<unsigned>(parts), blocks_of(warps, of_block));
    if (parts > 0)
        with_constants(*g, [&](auto filter, auto which) {
            sum_filter<filter(), which()>
                <<<grid, static_cast<unsigned>(32 * of_block), static_cast<std::size_t>(g->bytes),
                   call.launch.stream>>>(call.dy.as<const float>(), call.x.as<const float>(), sums,
                                         n, *g);
        });
    const dim3 block = block_of_parts(to_int(parts));
    add_parts<<<blocks_of(g->sums, to_int(block.x)), block, 0, call.launch.stream>>>(
        sums, to_int(parts), call.dw.as<float>(), g->sums);
}

void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<float>(kernel);
    kernel.spatial_axes(2, 2)
        .supports("asymmetric_padding")
        .where("groups", equals(1))
        .where("stride", equals(1))
        .where("dilation", equals(1))
        .where("filter", between(1, largest_filter))
        .where("filter_h", same_as("filter_w"))
        .aligned_to(16);
}
template <bool is_turned>
void declare_correlation(KernelDeclaration& kernel) {
    declare(kernel);
    kernel.only_if(
        "sizes up to 1024, images up to 2^24, and one that is read fits into 48 KiB with the "
        "filter",
        [](const Problem& problem) {
            return correlation(Parameters(problem), is_turned).has_value();
        });
}
void declare_grad_weight(KernelDeclaration& kernel) {
    declare(kernel);
    kernel.only_if(
        "sizes up to 1024, filters up to 2^20, and an image fits into 48 KiB with its features",
        [](const Problem& problem) { return filter_sums(Parameters(problem)).has_value(); });
    kernel.workspace([](const Problem& problem) -> std::int64_t {
        const Parameters p(problem);
        const std::optional<FilterSums> g = filter_sums(p);
        return g ? bytes_of(parts_of(*g, p.n) * g->sums) : 0;
    });
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "small_images", forward).with(declare_correlation<false>);
GRADVERIFY_KERNEL(GradInput, "small_images", grad_input).with(declare_correlation<true>);
GRADVERIFY_KERNEL(GradWeight, "small_images", grad_weight).with(declare_grad_weight);
