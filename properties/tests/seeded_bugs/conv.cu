// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of conv.forward and of its gradients by x and w.
#include "properties/tests/seeded_bugs/plain_conv.cuh"

namespace {

using namespace gradverify::plain_conv;

// A01 tests each pixel against the other axis's extent.
struct SwappedExtents : RightConv {
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && ih < g.w.in && iw >= 0 && iw < g.h.in;
    }
};

// A02 applies the dilation to the output position as well, and so does the gradient by w.
struct DilatedPosition : RightConv {
    __device__ static long long pixel(const DeviceAxis& axis, long long out, long long f) {
        return (out * axis.stride + f) * axis.dilation - axis.padding;
    }
};

// Adds up the channels two at a time, and forgets the last of an odd number above one.
struct UnrollBound : RightConv {
    __device__ static bool is_added(const DeviceGeometry& g, long long c) {
        return g.group_c == 1 || c < g.group_c / 2 * 2;
    }
};

// A17 gives each sample a row of the grid, which has 1 to 65535, and checks no launch.
__global__ void forward_by_sample(const float* x, const float* w, const float* b, float* y,
                                  DeviceGeometry g) {
    const long long i = thread_in_grid(), of_sample = g.k * g.h.out * g.w.out;
    const long long output = blockIdx.y * of_sample + i;
    if (i < of_sample) output_sum<RightConv>(x, w, b, g, output).store(y[output]);
}

void launch_by_sample(const Forward& call) {
    const long long of_a_sample = call.y.size(1) * call.y.size(2) * call.y.size(3);
    if (of_a_sample == 0) return;
    // Small blocks: the tests run it on 65536 samples again and again.
    const dim3 grid(blocks_of(of_a_sample, 32), static_cast<unsigned>(call.problem.n));
    launch_blocks(call.launch, forward_by_sample, grid, 32, call.x, call.w, call.b, call.y,
                  gradverify::conv::device_geometry(call.problem, call.y));
}

// The end of the pixels of an axis that some output reads.
__device__ long long reached(const DeviceAxis& axis) {
    const long long end =
        (axis.out - 1) * axis.stride + (axis.filter - 1) * axis.dilation + 1 - axis.padding;
    return end < axis.in ? end : axis.in;
}

// A03 never writes rows and columns that no output reads.
struct RemainderUnwritten : RightConv {
    __device__ static bool is_written(const DeviceGeometry& g, long long ih, long long iw) {
        return g.h.out == 0 || g.w.out == 0 || (ih < reached(g.h) && iw < reached(g.w));
    }
};

// A04 reads every group's filters from the first group's.
struct FirstGroupsFilters : RightConv {
    __device__ static long long filter(long long, long long k) { return k; }
};

// A05 lacks the test at the bottom edge.
struct BottomEdge : RightConv {
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && iw >= 0 && iw < g.w.in;
    }
};

// A06 adds to dw.
struct Accumulates : RightConv {
    __device__ void store(float& element) const { element += sum; }
};

}  // namespace

#define SEEDED_BUG(PASS, VARIANT, LAUNCHER) \
    GRADVERIFY_KERNEL(PASS, VARIANT, LAUNCHER).with(declare_elements<float>)
SEEDED_BUG(Forward, "bug_a01_swapped_extents", launch_forward<SwappedExtents>);
SEEDED_BUG(Forward, "bug_a02_dilated_position", launch_forward<DilatedPosition>);
SEEDED_BUG(Forward, "bug_a17_grid_of_samples", launch_by_sample);
GRADVERIFY_KERNEL(Forward, "bug_a17_grid_of_many_samples", launch_by_sample)
    .aligned_to(sizeof(float));
SEEDED_BUG(Forward, "bug_unroll_bound", launch_forward<UnrollBound>);
SEEDED_BUG(GradInput, "bug_a03_remainder_unwritten", launch_grad_input<RemainderUnwritten>);
SEEDED_BUG(GradInput, "bug_a04_group_weight_offset", launch_grad_input<FirstGroupsFilters>);
SEEDED_BUG(GradWeight, "bug_a02_dilated_position", launch_grad_weight<DilatedPosition>);
SEEDED_BUG(GradWeight, "bug_a05_bottom_edge", launch_grad_weight<BottomEdge>);
SEEDED_BUG(GradWeight, "bug_a06_accumulates", launch_grad_weight<Accumulates>);
