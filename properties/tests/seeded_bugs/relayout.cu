// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of kernels that copy a tensor into another layout.
#include "kernels/relayout/naive.cuh"
#include "properties/tests/launches.cuh"
#include "reference/relayout.hpp"

namespace {

using namespace gradverify;

constexpr int side = 4;

// A tile's rows are masked, but not its columns.
__global__ void copy_tiles_without_tail(const float* from, float* to, int channels, int pixels) {
    __shared__ float cells[side][side + 1];
    const int column = threadIdx.x, row = threadIdx.y;
    const int first_pixel = blockIdx.x * side, first_channel = blockIdx.y * side;
    const long long image = static_cast<long long>(blockIdx.z) * channels * pixels;
    const bool is_read = first_pixel + column < pixels && first_channel + row < channels;
    cells[row][column] =
        is_read ? from[image + (first_channel + row) * pixels + first_pixel + column] : 0.0f;
    __syncthreads();
    if (first_pixel + row < pixels)
        to[image + (first_pixel + row) * channels + first_channel + column] = cells[column][row];
}

void tail_of_tile(const relayout::Forward& call) {
    const int channels = static_cast<int>(call.x.size(1));
    const int pixels = static_cast<int>(call.x.elements() / call.x.size(0) / channels);
    const dim3 grid((pixels + side - 1) / side, (channels + side - 1) / side,
                    static_cast<unsigned>(call.x.size(0)));
    launch_blocks(call.launch, copy_tiles_without_tail, grid, dim3(side, side), call.x, call.y,
                  channels, pixels);
}

// The last two axes change places.
void swapped_axes(const relayout::GradInput& call) {
    TensorView dx = call.dx;
    const auto last = static_cast<std::size_t>(dx.rank - 1);
    if (dx.rank > 3) {
        dx.strides[last] = call.dx.stride(dx.rank - 1) * dx.size(dx.rank - 2);
        dx.strides[last - 1] = call.dx.stride(dx.rank - 1);
    }
    relayout::launch_naive<float>(call.dy, dx, call.launch);
}

void declare(KernelDeclaration& kernel) {
    kernel.spatial_axes(1, 3).blocks_of({64}).aligned_to(sizeof(float));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relayout::Forward, "bug_tail_of_tile", tail_of_tile)
    .with(declare)
    .layout("y", "nhwc");
GRADVERIFY_KERNEL(gradverify::relayout::GradInput, "bug_swapped_axes", swapped_axes)
    .with(declare)
    .layout("dy", "nhwc");
