// SPDX-License-Identifier: Apache-2.0
// maxpool.forward/window_2x2: windows of 2x2 side by side. A thread computes two neighbouring
// outputs from two float4 where rows are aligned so, else one.
// maxpool.grad_input/window_2x2: a thread writes all pixels of a window, two at a time where rows
// are aligned so. A last row or column without a window has threads of its own.
#include "kernels/kernel.cuh"
#include "kernels/pool_geometry.cuh"
#include "reference/maxpool.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::maxpool;

struct Largest {
    float value;
    int at;

    // The first of equal ones, and the last NaN.
    __device__ void take(float pixel, int pixel_at) {
        if (!(pixel > value || pixel != pixel)) return;
        value = pixel;
        at = pixel_at;
    }
};

__device__ Largest largest_of(float2 above, float2 below, int at, int width) {
    Largest largest{above.x, at};
    largest.take(above.y, at + 1);
    largest.take(below.x, at + width);
    largest.take(below.y, at + width + 1);
    return largest;
}

struct Images {
    long long planes;
    int out_h, out_w, in_h, in_w;

    template <class Call>
    Images(const Call& call, const TensorView& y)
        : planes(call.n * call.c),
          out_h(static_cast<int>(y.size(2))),
          out_w(static_cast<int>(y.size(3))),
          in_h(static_cast<int>(call.h.in)),
          in_w(static_cast<int>(call.w.in)) {}

    __host__ __device__ long long outputs() const { return planes * out_h * out_w; }
    /// The position in the plane of the first pixel of a window; rows are counted over all planes.
    __device__ int position(long long row, int column) const {
        return static_cast<int>(row % out_h) * 2 * in_w + 2 * column;
    }
    __device__ long long plane(long long row) const {
        return row / out_h * (static_cast<long long>(in_h) * in_w);
    }
    /// Blocks of 2x2 pixels, those cut off by the edge included.
    __host__ __device__ int rows() const { return (in_h + 1) / 2; }
    __host__ __device__ int columns() const { return (in_w + 1) / 2; }
    __host__ __device__ long long blocks() const { return planes * rows() * columns(); }
};

__global__ void one_each(const float* x, float* y, int* index, Images g) {
    const long long i = thread_in_grid();
    if (i >= g.outputs()) return;
    const long long row = i / g.out_w;
    const int at = g.position(row, static_cast<int>(i % g.out_w));
    const float *const above = x + g.plane(row) + at, *const below = above + g.in_w;
    const Largest largest =
        largest_of(make_float2(above[0], above[1]), make_float2(below[0], below[1]), at, g.in_w);
    y[i] = largest.value;
    index[i] = largest.at;
}

__global__ void two_each(const float* x, float* y, int* index, Images g) {
    const long long pair = thread_in_grid();
    const long long i = 2 * pair;
    if (i >= g.outputs()) return;
    const long long row = i / g.out_w;
    const int at = g.position(row, static_cast<int>(i % g.out_w));
    const float* const from = x + g.plane(row) + at;
    const float4 above = *reinterpret_cast<const float4*>(from);
    const float4 below = *reinterpret_cast<const float4*>(from + g.in_w);
    const Largest left =
        largest_of(make_float2(above.x, above.y), make_float2(below.x, below.y), at, g.in_w);
    const Largest right =
        largest_of(make_float2(above.z, above.w), make_float2(below.z, below.w), at + 2, g.in_w);
    y[i] = left.value;
    y[i + 1] = right.value;
    index[i] = left.at;
    index[i + 1] = right.at;
}

void forward(const Forward& call) {
    const Images g(call, call.y);
    const long long outputs = g.outputs();
    if (outputs == 0) return;
    const auto* x = call.x.as<const float>();
    auto* const y = call.y.as<float>();
    auto* const index = call.index.as<std::int32_t>();
    if (g.in_w % 4 == 0 && reinterpret_cast<std::uintptr_t>(x) % sizeof(float4) == 0)
        two_each<<<blocks_of(outputs / 2, 256), 256, 0, call.launch.stream>>>(x, y, index, g);
    else
        one_each<<<blocks_of(outputs, 256), 256, 0, call.launch.stream>>>(x, y, index, g);
}

template <bool in_pairs>
__global__ void spread(const float* dy, const int* index, float* dx, Images g) {
    const long long i = thread_in_grid();
    if (i >= g.blocks()) return;
    const int column = static_cast<int>(i % g.columns());
    const int row = static_cast<int>(i / g.columns() % g.rows());
    const long long plane = i / g.columns() / g.rows();
    float cotangent = 0.0f;
    int taken = -1;
    if (row < g.out_h && column < g.out_w) {
        const long long output = (plane * g.out_h + row) * g.out_w + column;
        cotangent = dy[output];
        taken = index[output];
    }
    float* const to = dx + plane * g.in_h * g.in_w;
    const auto value = [&](int position) { return position == taken ? cotangent : 0.0f; };
    for (int h = 2 * row; h < 2 * row + 2 && h < g.in_h; ++h) {
        const int left = h * g.in_w + 2 * column;
        if (in_pairs) {
            *reinterpret_cast<float2*>(to + left) = make_float2(value(left), value(left + 1));
            continue;
        }
        to[left] = value(left);
        if (2 * column + 1 < g.in_w) to[left + 1] = value(left + 1);
    }
}

void grad_input(const GradInput& call) {
    const Images g(call, call.dy);
    if (g.blocks() == 0) return;
    const auto* dy = call.dy.as<const float>();
    const auto* index = call.index.as<const std::int32_t>();
    auto* const dx = call.dx.as<float>();
    const unsigned blocks = blocks_of(g.blocks(), 256);
    if (g.in_w % 2 == 0 && reinterpret_cast<std::uintptr_t>(dx) % sizeof(float2) == 0)
        spread<true><<<blocks, 256, 0, call.launch.stream>>>(dy, index, dx, g);
    else
        spread<false><<<blocks, 256, 0, call.launch.stream>>>(dy, index, dx, g);
}

void declare(KernelDeclaration& kernel) {
    declare_elements<float>(kernel);
    kernel.where("window", equals(2))
        .where("stride", equals(2))
        .where("dilation", equals(1))
        .where("padding", equals(0));
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "window_2x2", forward).with(declare);
GRADVERIFY_KERNEL(GradInput, "window_2x2", grad_input).with(declare);
