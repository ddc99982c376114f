// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of convolutions of complex numbers: conjugates, signs, parts. Linked into the tests
// only; complex_conv_bugs_test.cpp says which property must kill each, and at which problem.
#include "kernels/complex_conv/direct.cuh"
#include "reference/complex_conv.hpp"
#include "reference/complex_conv_transpose.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::complex_conv;
using conv::direct_geometry;
using conv::DirectGeometry;
using conv::split;
using conv::Strided;
using conv::strided;

// i * i = 1.
struct SquareOfIIsOne {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        sum.x += a.x * b.x + a.y * b.y;
        sum.y += a.x * b.y + a.y * b.x;
    }
};
// The real part is right, and so is its sum where all numbers are real.
struct CrossProductsSubtracted {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        sum.x += a.x * b.x - a.y * b.y;
        sum.y += a.x * b.y - a.y * b.x;
    }
};
__global__ void real_part_alone(Strided<const float2> dy, float2* db, DirectGeometry g) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= g.features) return;
    db[k] = {};
    for (long long o = 0; o < g.n * g.axes[0].features * g.axes[1].features * g.axes[2].features;
         ++o) {
        long long out[3];
        const long long n =
            split(o, g.axes[0].features, g.axes[1].features, g.axes[2].features, out);
        db[k].x += dy.at(n, k, out).x;
    }
}

void launch_real_part_alone(const GradBias& call) {
    const long long channels = call.db.size(0);
    real_part_alone<<<conv::direct_blocks(channels, 64), 64, 0, call.launch.stream>>>(
        strided<const float2>(call.dy), call.db.as_pairs<float2>(),
        direct_geometry(call.problem, call.dy, call.dy));
}

/// All real parts of the tensor, then all imaginary ones, as they lie in planar formats.
__global__ void add_plane(const float* dy, float2* db, DirectGeometry g, long long elements) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= g.features) return;
    const long long pixels = g.axes[0].features * g.axes[1].features * g.axes[2].features;
    float2 sum{};
    for (long long n = 0; n < g.n; ++n)
        for (long long o = 0; o < pixels; ++o) {
            sum.x += dy[(n * g.features + k) * pixels + o];
            sum.y += dy[elements + (n * g.features + k) * pixels + o];
        }
    db[k] = sum;
}

void launch_planes(const GradBias& call) {
    add_plane<<<conv::direct_blocks(call.db.size(0), 64), 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as_pairs<float2>(),
        direct_geometry(call.problem, call.dy, call.dy), call.dy.elements() / 2);
}

template <class Multiply>
void launch_forward(const Forward& call) {
    conv::launch_to_features<float2, float2, float2, Multiply>(call.problem, call.x, call.w,
                                                               &call.b, call.y, call.launch);
}
template <class Multiply>
void launch_grad_input(const GradInput& call) {
    conv::launch_to_image<float2, float2, float2, Multiply>(call.problem, call.dy, call.w, nullptr,
                                                            call.dx, call.launch);
}
template <class Multiply>
void launch_grad_weight(const GradWeight& call) {
    conv::launch_to_filter<float2, float2, float2, Multiply>(call.problem, call.dy, call.x, call.dw,
                                                             call.launch);
}

// conv.grad_input's conjugate, in the forward pass that walks like it.
void conjugated_filter(const complex_conv_transpose::Forward& call) {
    conv::launch_to_image<float2, float2, float2, ConjugateProduct>(call.problem, call.x, call.w,
                                                                    &call.b, call.y, call.launch);
}
// The image and the features have changed their roles, and the conjugate has not.
void conjugated_dy(const complex_conv_transpose::GradWeight& call) {
    conv::launch_to_filter<float2, float2, float2, ConjugateProduct>(call.problem, call.x, call.dy,
                                                                     call.dw, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_square_of_i_is_one", launch_forward<SquareOfIIsOne>)
    .with(declare_direct_product<float2>);
GRADVERIFY_KERNEL(Forward, "bug_cross_products_subtracted", launch_forward<CrossProductsSubtracted>)
    .with(declare_direct_product<float2>);
GRADVERIFY_KERNEL(GradInput, "bug_not_conjugated", launch_grad_input<Product>)
    .with(declare_direct_product<float2>);
GRADVERIFY_KERNEL(GradWeight, "bug_not_conjugated", launch_grad_weight<Product>)
    .with(declare_direct_product<float2>);
// The conjugate of the other factor, dy, so that the whole is conjugated.
GRADVERIFY_KERNEL(GradWeight, "bug_other_conjugated", launch_grad_weight<ProductOfConjugate>)
    .with(declare_direct_product<float2>);
GRADVERIFY_KERNEL(GradBias, "bug_real_part_alone", launch_real_part_alone)
    .spatial_axes(1, 3)
    .with_empty_problems();
GRADVERIFY_KERNEL(GradBias, "bug_planes", launch_planes).spatial_axes(1, 3).with_empty_problems();
GRADVERIFY_KERNEL(complex_conv_transpose::Forward, "bug_filter_conjugated", conjugated_filter)
    .with(declare_direct_transposed<float2>);
GRADVERIFY_KERNEL(complex_conv_transpose::GradWeight, "bug_dy_conjugated", conjugated_dy)
    .with(declare_direct_transposed<float2>);
