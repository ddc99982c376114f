// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/tensor_core: dx as products of matrices on tensor cores, pixels by input channels
// over taps and output channels. Pixels of one residue modulo the stride are reached by the same
// taps, so that each residue is a product of its own: none multiplies the zeros between what a
// stride reads.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/conv/tensor_core.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::declare_tensor_core;
using gradverify::conv::declare_tensor_core_nhwc;

/// Along one axis, the pixels of a residue and the taps that reach them.
struct Phase {
    int first_pixel, pixels;  ///< from pixel to pixel: the stride
    int first_tap = 0, taps = 0, tap_step;
    conv::WindowAxis window{};  ///< what a pixel of the phase reads of dy
};

/// A tap t reaches pixel i from feature (i + padding - t * dilation) / stride, where that is whole.
Phase phase_of(const conv::WindowAxis& axis, int image, int filter, int features, int residue) {
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

    Phases(const conv::TensorCoreGeometry& g, int axis) {
        const conv::WindowAxis& window = g.axes[axis];
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
__global__ void clear(conv::Layout<T> dx, conv::Positions pixels, long long channels) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < pixels.count * channels; i += step) {
        const conv::Positions::At at = pixels.at(i / channels);
        dx.data[dx.offset(at.n, at.of) + i % channels * dx.channel] = T(0.0f);
    }
}

/// From one pixel, or tap, of a phase to the next.
template <class T>
void thin(conv::Layout<T>& layout, int axis, int first, int step) {
    layout.data += first * layout.axes.of[axis];
    layout.axes.of[axis] *= step;
}

template <class T>
void launch_phase(const conv::GradInput& call, const conv::TensorCoreGeometry& g,
                  const Phase* const (&phases)[3]) {
    conv::Positions pixels{call.problem.n, {}};
    conv::Taps taps{static_cast<int>(g.group_features), {}, g.group_features};
    conv::Window<T, true> dy{conv::layout_of<const T>(call.dy),
                             {},
                             {},
                             {},
                             conv::has_chunks<T>(call.dy, g.group_features)};
    auto w = conv::layout_of<const T>(call.w);
    auto dx = conv::layout_of<T>(call.dx);
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
    const conv::ByChannel<T, conv::Taps> filter{w, taps, g.group_image,
                                                g.group_features * call.w.stride(0),
                                                conv::has_chunks<T>(call.w, g.group_image)};
    const conv::ToPixels<T> to{dx, pixels, nullptr, g.group_image,
                               conv::has_chunks<T>(call.dx, g.group_image)};
    conv::with_tile(call.launch.block_size, [&](auto shape) {
        using Shape = decltype(shape);
        tensor_core::launch_tiles<Shape>(
            dy, filter, to,
            tensor_core::tile_grid<Shape, T>(pixels.count, g.group_image, taps.count, g.groups, 1),
            call.launch.stream);
    });
}

template <class T>
void launch(const conv::GradInput& call) {
    const conv::TensorCoreGeometry g(call.problem, call.dx, call.dy);
    const Phases phases[3] = {{g, 0}, {g, 1}, {g, 2}};
    const long long elements = call.dx.elements();
    if (elements > 0 && !(phases[0].all && phases[1].all && phases[2].all)) {
        const long long blocks = (elements - 1) / call.launch.block_size + 1;
        const conv::Positions pixels{elements / call.problem.c, g.image};
        clear<<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), call.launch.block_size, 0,
                call.launch.stream>>>(conv::layout_of<T>(call.dx), pixels, call.problem.c);
    }
    for (const Phase& depth : phases[0].reached)
        for (const Phase& height : phases[1].reached)
            for (const Phase& width : phases[2].reached)
                launch_phase<T>(call, g, {&depth, &height, &width});
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_f16", launch<__half>)
    .with(declare_tensor_core<__half>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_bf16", launch<__nv_bfloat16>)
    .with(declare_tensor_core<__nv_bfloat16>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_tf32", launch<float>)
    .with(declare_tensor_core<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_f16_nhwc", launch<__half>)
    .with(declare_tensor_core_nhwc<__half>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_bf16_nhwc", launch<__nv_bfloat16>)
    .with(declare_tensor_core_nhwc<__nv_bfloat16>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_tf32_nhwc", launch<float>)
    .with(declare_tensor_core_nhwc<float>);
