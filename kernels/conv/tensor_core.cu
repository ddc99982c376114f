// SPDX-License-Identifier: Apache-2.0
// conv/tensor_core: the three products of a convolution on tensor cores.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/conv/tensor_core.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

// y: pixels by output channels over taps and input channels.
template <class T>
void forward(const Forward& call) {
    const ForwardProduct<T> of(call);
    with_tile(call.launch.block_size, [&](auto shape) {
        using Shape = decltype(shape);
        tensor_core::launch_tiles<Shape>(of.pixels, of.filter, of.y, of.template tiles<Shape>(),
                                         call.launch.stream);
    });
}

// dx: pixels by input channels over taps and output channels. Pixels of one residue modulo the
// stride are reached by the same taps: each residue is a product of its own, without zeros.

/// Along one axis, the pixels of a residue and the taps that reach them.
struct Phase {
    int first_pixel, pixels;  ///< from pixel to pixel: the stride
    int first_tap = 0, taps = 0, tap_step;
    WindowAxis window{};  ///< what a pixel of the phase reads of dy
};

/// A tap t reaches pixel i from feature (i + padding - t * dilation) / stride, where that is whole.
Phase phase_of(const WindowAxis& axis, int image, int filter, int features, int residue) {
    const int common = std::gcd(axis.stride, axis.dilation);
    Phase phase{.first_pixel = residue,
                .pixels = (image - residue - 1) / axis.stride + 1,
                .tap_step = axis.stride / common};
    const long long first = residue + static_cast<long long>(axis.padding);
    for (long long tap = 0; tap < phase.tap_step && tap < filter; ++tap) {
        const long long feature = first - tap * axis.dilation;
        if (feature % axis.stride != 0) continue;
        phase.first_tap = static_cast<int>(tap);
        phase.taps = (filter - phase.first_tap - 1) / phase.tap_step + 1;
        phase.window = {features, 1, -(axis.dilation / common),
                        static_cast<int>(-(feature / axis.stride))};
        break;
    }
    return phase;
}

/// The phases of an axis that any tap reaches; `all` says whether there are no others.
struct Phases {
    std::vector<Phase> reached;
    bool all;

    Phases(const TensorCoreGeometry& g, int axis) {
        const WindowAxis& window = g.axes[axis];
        const int count = std::min(window.stride, g.image.of[axis]);
        for (int residue = 0; residue < count; ++residue) {
            const Phase phase =
                phase_of(window, g.image.of[axis], g.filter.of[axis], g.features.of[axis], residue);
            if (phase.taps > 0) reached.push_back(phase);
        }
        all = static_cast<int>(reached.size()) == count;
    }
};

template <class T>
__global__ void clear(Strided<T> dx, Positions pixels, long long channels) {
    for (long long i = thread_in_grid(); i < pixels.count * channels; i += threads_in_grid()) {
        const Positions::At at = pixels.at(i / channels);
        dx.data[dx.offset(at.n, at.of) + i % channels * dx.channel] = T(0.0f);
    }
}

/// From one pixel, or tap, of a phase to the next.
template <class T>
void thin(Strided<T>& layout, int axis, int first, int step) {
    layout.data += first * layout.axes[axis];
    layout.axes[axis] *= step;
}

template <class T>
void launch_phase(const GradInput& call, const TensorCoreGeometry& g,
                  const Phase* const (&phases)[3]) {
    Positions pixels{call.problem.n, {}};
    Taps taps{static_cast<int>(g.group_features), {}, g.group_features};
    Window<T, true> dy{
        strided<const T>(call.dy), {}, {}, {}, has_chunks<T>(call.dy, g.group_features)};
    auto w = strided<const T>(call.w);
    auto dx = strided<T>(call.dx);
    for (int axis = 0; axis < 3; ++axis) {
        const Phase& phase = *phases[axis];
        pixels.size.of[axis] = phase.pixels;
        pixels.count *= phase.pixels;
        taps.filter.of[axis] = phase.taps;
        taps.count *= phase.taps;
        dy.axes[axis] = phase.window;
        thin(w, axis, phase.first_tap, phase.tap_step);
        thin(dx, axis, phase.first_pixel, g.axes[axis].stride);
    }
    dy.positions = pixels;
    dy.taps = taps;
    const ByChannel<T, Taps> filter{w, taps, g.group_image, g.group_features * call.w.stride(0),
                                    has_chunks<T>(call.w, g.group_image)};
    const ToPixels<T> to{dx, pixels, nullptr, g.group_image, has_chunks<T>(call.dx, g.group_image)};
    with_tile(call.launch.block_size, [&](auto shape) {
        using Shape = decltype(shape);
        tensor_core::launch_tiles<Shape>(
            dy, filter, to,
            tensor_core::tile_grid<Shape, T>(pixels.count, g.group_image, taps.count, g.groups, 1),
            call.launch.stream);
    });
}

template <class T>
void grad_input(const GradInput& call) {
    const TensorCoreGeometry g(call.problem, call.dx, call.dy);
    const Phases phases[3] = {{g, 0}, {g, 1}, {g, 2}};
    const long long elements = call.dx.elements();
    if (elements > 0 && !(phases[0].all && phases[1].all && phases[2].all)) {
        const Positions pixels{elements / call.problem.c, g.image};
        const int threads = call.launch.block_size;
        clear<<<blocks_of_loop(elements, threads), threads, 0, call.launch.stream>>>(
            strided<T>(call.dx), pixels, call.problem.c);
    }
    for (const Phase& depth : phases[0].reached)
        for (const Phase& height : phases[1].reached)
            for (const Phase& width : phases[2].reached)
                launch_phase<T>(call, g, {&depth, &height, &width});
}

// dw: output channels by taps and input channels over pixels. There are many pixels, so they are
// split: each part leaves its sums in the workspace, and a second kernel adds them in one order.

/// The number of parts: enough for two blocks on each multiprocessor, each some steps long.
long long splits_of(const Parameters& p) {
    constexpr long long blocks = 264, steps_at_least = 4, step_pixels = 32;
    long long taps = p.c / p.groups, pixels = p.n;
    for (const Axis& axis : p.spatial()) {
        taps *= axis.filter;
        pixels *= positions_along(axis);
    }
    const long long tiles = p.groups * divided_up(p.k / p.groups, tensor_core::LargeTile::m) *
                            divided_up(taps, tensor_core::LargeTile::n);
    const long long most =
        pixels < 4096 ? divided_up(pixels, step_pixels) : pixels / (step_pixels * steps_at_least);
    const long long wanted = divided_up(blocks, std::max(tiles, 1LL));
    return std::max(std::min(wanted, most), 1LL);
}

std::int64_t workspace_bytes(const Problem& problem) {
    const Parameters p(problem);
    long long elements = p.k * (p.c / p.groups);
    for (const Axis& axis : p.spatial()) elements *= axis.filter;
    return splits_of(p) * elements * static_cast<long long>(sizeof(float));
}

template <class T>
void grad_weight(const GradWeight& call) {
    const TensorCoreGeometry g(call.problem, call.x, call.dy);
    const long long splits = splits_of(call.problem);
    with_tile(call.launch.block_size,
              [&](auto shape) { launch_partial_sums<T, decltype(shape)>(call, g, splits); });
    const long long elements = call.dw.elements();
    const int threads = call.launch.block_size;
    add_partial_sums<T><<<blocks_of_loop(elements, threads), threads, 0, call.launch.stream>>>(
        static_cast<const float*>(call.launch.workspace), strided<T>(call.dw),
        g.taps(g.group_image), elements, splits);
}

template <class T>
void declare(KernelDeclaration& kernel) {
    declare_tensor_core<T>(kernel);
    kernel.workspace(workspace_bytes);
}
template <class T>
void declare_nhwc(KernelDeclaration& kernel) {
    declare_tensor_core_nhwc<T>(kernel);
    kernel.workspace(workspace_bytes);
}

}  // namespace

/// A kernel for each type that tensor cores multiply.
#define GRADVERIFY_TENSOR_CORE(PASS, LAYOUT, LAUNCH, DECLARE)                                \
    GRADVERIFY_KERNEL(PASS, "tensor_core_f16" LAYOUT, LAUNCH<__half>).with(DECLARE<__half>); \
    GRADVERIFY_KERNEL(PASS, "tensor_core_bf16" LAYOUT, LAUNCH<__nv_bfloat16>)                \
        .with(DECLARE<__nv_bfloat16>);                                                       \
    GRADVERIFY_KERNEL(PASS, "tensor_core_tf32" LAYOUT, LAUNCH<float>).with(DECLARE<float>)

GRADVERIFY_TENSOR_CORE(Forward, "", forward, declare_tensor_core);
GRADVERIFY_TENSOR_CORE(Forward, "_nhwc", forward, declare_tensor_core_nhwc);
GRADVERIFY_TENSOR_CORE(GradInput, "", grad_input, declare_tensor_core);
GRADVERIFY_TENSOR_CORE(GradInput, "_nhwc", grad_input, declare_tensor_core_nhwc);
GRADVERIFY_TENSOR_CORE(GradWeight, "", grad_weight, declare);
GRADVERIFY_TENSOR_CORE(GradWeight, "_nhwc", grad_weight, declare_nhwc);
