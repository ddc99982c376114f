// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of filters whose blocks are cut again, and of filters with an axis for groups. Linked
// into the tests only; blocked_layouts_test.cpp says which property must kill each, and at which
// problem.
#include <utility>

#include "kernels/conv/blocked.cuh"
#include "kernels/relayout/blocked.cuh"
#include "reference/conv.hpp"
#include "reference/relayout.hpp"

namespace {

using namespace gradverify;

// A filter in 8i16o2i is read as one in 16i16o: blocks of the same size, but whole.
void inner_cut_ignored(const conv::Forward& call) {
    TensorView w = call.w;
    w.blocks[0] = {.size = 16, .stride = 1};
    w.blocks[1] = {.size = 16, .stride = 16};
    conv::launch_blocked_to_features<float>(call.problem, call.x, w, call.b, call.y, call.launch);
}

// One that is to lie as 8i16o2i is written as 2i16o8i.
void halves_exchanged(const conv::GradWeight& call) {
    TensorView dw = call.dw;
    dw.blocks[0].stride = 8;
    dw.blocks[1] = {.size = 16, .stride = 128, .inner_size = 8, .inner_stride = 1};
    conv::launch_blocked_to_filter<float>(call.problem, call.dy, call.x, dw, call.launch);
}

// The neighbours of a pair of channels are looked for where the next pair is, and the other way
// round.
void strides_exchanged(const conv::GradInput& call) {
    TensorView w = call.w;
    std::swap(w.blocks[1].stride, w.blocks[1].inner_stride);
    conv::launch_blocked_to_image<float>(call.problem, call.dy, w, call.dx, call.launch);
}

/// As if the blocks ran on through the output channels of all groups.
TensorView without_groups(const TensorView& of) {
    TensorView view = of;
    --view.rank;
    for (std::size_t axis = 0; axis + 1 < view.sizes.size(); ++axis) {
        view.sizes[axis] = of.sizes[axis + 1];
        view.strides[axis] = of.strides[axis + 1];
        view.blocks[axis] = of.blocks[axis + 1];
    }
    view.sizes[0] *= of.size(0);
    return view;
}

void groups_ignored(const conv::Forward& call) {
    conv::launch_blocked_to_features<float>(call.problem, call.x, without_groups(call.w), call.b,
                                            call.y, call.launch);
}

// Behind a group's last channel the next group's is thought to lie, which another thread copies:
// only behind the last group are there zeros.
__global__ void copy_with_last_tail(Blocked<float> from, float* to, Places places) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    BlockedIndex at;
    if (i >= places.elements) return;
    if (places.index_of(i, at))
        to[i] = from.at(at.first, at.second, at.position);
    else if (at.first >= places.groups * places.first || at.second >= places.second)
        to[i] = 0.0f;
}

void tail_of_group_left(const relayout_filter::Forward& call) {
    const Places all = places(call.y, call.problem().rank());
    copy_with_last_tail<<<static_cast<unsigned>((all.elements + 255) / 256), 256, 0,
                          call.launch.stream>>>(blocked<float>(call.x), call.y.as<float>(), all);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_inner_cut_ignored", inner_cut_ignored)
    .with(conv::declare_blocked<float>)
    .layout("w", "OIhw8i16o2i");
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_halves_exchanged", halves_exchanged)
    .with(conv::declare_blocked<float>)
    .layout("w", "OIhw8i16o2i");
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_strides_exchanged", strides_exchanged)
    .with(conv::declare_blocked<float>)
    .layout("w", "OIhw8i16o2i");
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_groups_ignored", groups_ignored)
    .with(conv::declare_blocked<float>)
    .layout("w", "gOIhw16i16o");
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "bug_tail_of_group_left",
                  tail_of_group_left)
    .spatial_axes(1, 3)
    .aligned_to(sizeof(float))
    .layout("y", "gOIhw16i16o");
