// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of convolutions of complex numbers: conjugates, signs, parts. Linked into the tests
// only; complex_conv_bugs_test.cpp says which property must kill each, and at which problem.
#include "kernels/complex_conv/direct.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::complex_conv;

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
// The conjugate of the other factor, dy, so that the whole is conjugated.
struct OtherConjugated {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        ConjugateProduct().add(sum, b, a);
    }
};

__global__ void real_part_alone(Pairs<const float2> dy, float2* db, DirectGeometry g) {
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
    real_part_alone<<<gradverify::conv::direct_blocks(channels, 64), 64, 0, call.launch.stream>>>(
        pairs<const float2>(call.dy), call.db.as_pairs<float2>(),
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
    add_plane<<<gradverify::conv::direct_blocks(call.db.size(0), 64), 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as_pairs<float2>(),
        direct_geometry(call.problem, call.dy, call.dy), call.dy.elements() / 2);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_square_of_i_is_one", launch_forward<float2, SquareOfIIsOne>)
    .with(declare_direct<Forward, float2>);
GRADVERIFY_KERNEL(Forward, "bug_cross_products_subtracted",
                  launch_forward<float2, CrossProductsSubtracted>)
    .with(declare_direct<Forward, float2>);
GRADVERIFY_KERNEL(GradInput, "bug_not_conjugated", launch_grad_input<GradInput, float2, Product>)
    .with(declare_direct<GradInput, float2>);
GRADVERIFY_KERNEL(GradWeight, "bug_not_conjugated", launch_grad_weight<GradWeight, float2, Product>)
    .with(declare_direct<GradWeight, float2>);
GRADVERIFY_KERNEL(GradWeight, "bug_other_conjugated",
                  launch_grad_weight<GradWeight, float2, OtherConjugated>)
    .with(declare_direct<GradWeight, float2>);
GRADVERIFY_KERNEL(GradBias, "bug_real_part_alone", launch_real_part_alone)
    .spatial_axes(1, 3)
    .with_empty_problems();
GRADVERIFY_KERNEL(GradBias, "bug_planes", launch_planes).spatial_axes(1, 3).with_empty_problems();
