// SPDX-License-Identifier: Apache-2.0
// grid_sample.forward/naive: a thread for each element of the output.
// grid_sample.forward/pixels: a thread for each place of the grid, for all channels.
// grid_sample.backward/gather: a thread for each element of the image looks at every place, and one
// for each place adds up its gradient.
// grid_sample.backward/scatter: a block for 32 places, whose warps share the channels; each adds to
// the four pixels around its place.
#include "kernels/kernel.cuh"

namespace {

using gradverify::TensorView;

struct Forward : gradverify::Pass<"grid_sample", "forward"> {
    using Pass::Pass;
    TensorView input = tensor("input"), grid = tensor("grid"), y = tensor("y");
};
struct Backward : gradverify::Pass<"grid_sample", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), input = tensor("input"), grid = tensor("grid"),
               dinput = tensor("dinput"), dgrid = tensor("dgrid");
};

/// Where a coordinate lies in a row of pixels: between `first` and the next one, and how far this
/// moves with the coordinate.
struct Place {
    long long first;
    float share, slope;

    __device__ float weight_of(int corner) const { return corner ? share : 1.0f - share; }
    /// The gradient of the weight by the coordinate.
    __device__ float slope_of(int corner) const { return corner ? slope : -slope; }
};

/// Pixel 0 to 3 around a place of the grid.
struct Corner {
    bool is_inside;
    long long at;  ///< from the channel's first pixel
    float weight, by_x, by_y;
};

struct Shape {
    const float *input, *grid;
    long long samples, channels, height, width, places;  ///< places of one sample
    bool has_border, is_aligned;

    template <class Call>
    explicit Shape(const Call& call)
        : input(call.input.template as<const float>()),
          grid(call.grid.template as<const float>()),
          samples(call.size("n")),
          channels(call.size("c")),
          height(call.size("h")),
          width(call.size("w")),
          places(call.size("out_h") * call.size("out_w")),
          has_border(call.size("padding") == 1),
          is_aligned(call.size("align_corners") == 1) {}

    __device__ Place place_of(float at, long long pixels) const {
        const float last = static_cast<float>(pixels - 1);
        float place = is_aligned ? (at + 1.0f) / 2.0f * last
                                 : ((at + 1.0f) * static_cast<float>(pixels) - 1.0f) / 2.0f;
        float slope = (is_aligned ? last : static_cast<float>(pixels)) / 2.0f;
        if (has_border && (place <= 0.0f || place >= last)) {
            place = place <= 0.0f ? 0.0f : last;
            slope = 0.0f;
        }
        const float first = floorf(place);
        return {static_cast<long long>(first), place - first, slope};
    }
    /// The pixels around place `i` of all samples'.
    __device__ void corners_of(long long i, Corner (&corners)[4]) const {
        const Place across = place_of(grid[2 * i], width), down = place_of(grid[2 * i + 1], height);
        for (int k = 0; k < 4; ++k) {
            const long long row = down.first + k / 2, column = across.first + k % 2;
            corners[k] = {row >= 0 && row < height && column >= 0 && column < width,
                          row * width + column, down.weight_of(k / 2) * across.weight_of(k % 2),
                          down.weight_of(k / 2) * across.slope_of(k % 2),
                          down.slope_of(k / 2) * across.weight_of(k % 2)};
        }
    }
    /// The first pixel of a sample's channel.
    __device__ long long image_of(long long sample, long long channel) const {
        return (sample * channels + channel) * height * width;
    }
    /// A channel's element of y and dy at place `i` of all samples'.
    __device__ long long of_output(long long i, long long channel) const {
        return (i / places * channels + channel) * places + i % places;
    }
    __device__ float sample_at(const Corner (&corners)[4], const float* image) const {
        float sum = 0.0f;
        for (const Corner& corner : corners)
            if (corner.is_inside) sum += corner.weight * image[corner.at];
        return sum;
    }
};

__global__ void sample_elements(Shape shape, float* y, long long elements) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    const long long image = i / shape.places, sample = image / shape.channels;
    Corner corners[4];
    shape.corners_of(sample * shape.places + i % shape.places, corners);
    y[i] = shape.sample_at(corners, shape.input + shape.image_of(sample, image % shape.channels));
}

void naive(const Forward& call) {
    const long long elements = call.y.elements();
    if (elements == 0) return;
    sample_elements<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
        Shape(call), call.y.as<float>(), elements);
}

__global__ void sample_pixels(Shape shape, float* y) {
    const long long i = thread_in_grid();
    if (i >= shape.samples * shape.places) return;
    Corner corners[4];
    shape.corners_of(i, corners);
    for (long long c = 0; c < shape.channels; ++c)
        y[shape.of_output(i, c)] =
            shape.sample_at(corners, shape.input + shape.image_of(i / shape.places, c));
}

void pixels(const Forward& call) {
    const Shape shape(call);
    const long long places = shape.samples * shape.places;
    if (places == 0) return;
    sample_pixels<<<blocks_of(places, 128), 128, 0, call.launch.stream>>>(shape,
                                                                          call.y.as<float>());
}

__global__ void gather_dinput(Shape shape, const float* dy, float* dinput, long long elements) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    const long long pixels = shape.height * shape.width, image = i / pixels;
    const long long sample = image / shape.channels;
    float sum = 0.0f;
    for (long long place = 0; place < shape.places; ++place) {
        Corner corners[4];
        shape.corners_of(sample * shape.places + place, corners);
        for (const Corner& corner : corners)
            if (corner.is_inside && corner.at == i % pixels)
                sum += corner.weight * dy[image * shape.places + place];
    }
    dinput[i] = sum;
}

/// What a channel at place `i` adds to the place's gradient, by x and by y.
__device__ void add_dgrid(const Shape& shape, const Corner (&corners)[4], long long i,
                          long long channel, float dy, float (&dgrid)[2]) {
    const float* const image = shape.input + shape.image_of(i / shape.places, channel);
    for (const Corner& corner : corners) {
        if (!corner.is_inside) continue;
        dgrid[0] += dy * corner.by_x * image[corner.at];
        dgrid[1] += dy * corner.by_y * image[corner.at];
    }
}

__global__ void sum_dgrid(Shape shape, const float* dy, float* dgrid) {
    const long long i = thread_in_grid();
    if (i >= shape.samples * shape.places) return;
    Corner corners[4];
    shape.corners_of(i, corners);
    float sums[2] = {};
    for (long long c = 0; c < shape.channels; ++c)
        add_dgrid(shape, corners, i, c, dy[shape.of_output(i, c)], sums);
    dgrid[2 * i] = sums[0];
    dgrid[2 * i + 1] = sums[1];
}

void gather(const Backward& call) {
    const Shape shape(call);
    const long long elements = call.dinput.elements(), places = shape.samples * shape.places;
    if (elements == 0) return;
    const float* const dy = call.dy.as<const float>();
    gather_dinput<<<blocks_of(elements, 64), 64, 0, call.launch.stream>>>(
        shape, dy, call.dinput.as<float>(), elements);
    sum_dgrid<<<blocks_of(places, 64), 64, 0, call.launch.stream>>>(shape, dy,
                                                                    call.dgrid.as<float>());
}

constexpr int lanes = 32, warps = 8;

__global__ void scatter_places(Shape shape, const float* dy, float* dinput, float* dgrid) {
    __shared__ float share[warps][2][lanes];
    const long long i = blockIdx.x * static_cast<long long>(lanes) + threadIdx.x;
    const bool has_place = i < shape.samples * shape.places;
    float sums[2] = {};
    if (has_place) {
        Corner corners[4];
        shape.corners_of(i, corners);
        for (long long c = threadIdx.y; c < shape.channels; c += warps) {
            const float of_output = dy[shape.of_output(i, c)];
            add_dgrid(shape, corners, i, c, of_output, sums);
            float* const image = dinput + shape.image_of(i / shape.places, c);
            for (const Corner& corner : corners)
                if (corner.is_inside) atomicAdd(&image[corner.at], corner.weight * of_output);
        }
    }
    for (int axis = 0; axis < 2; ++axis) share[threadIdx.y][axis][threadIdx.x] = sums[axis];
    __syncthreads();
    if (threadIdx.y >= 2 || !has_place) return;
    float sum = 0.0f;
    for (const auto& of_warp : share) sum += of_warp[threadIdx.y][threadIdx.x];
    dgrid[2 * i + threadIdx.y] = sum;
}

void scatter(const Backward& call) {
    const Shape shape(call);
    const long long places = shape.samples * shape.places;
    if (places == 0) return;
    cudaMemsetAsync(call.dinput.as<float>(), 0, call.dinput.elements() * sizeof(float),
                    call.launch.stream);
    scatter_places<<<blocks_of(places, lanes), dim3(lanes, warps), 0, call.launch.stream>>>(
        shape, call.dy.as<const float>(), call.dinput.as<float>(), call.dgrid.as<float>());
}

void declare_scatter(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<float>(kernel);
    kernel.not_deterministic().costs({.barriers_per_thread = 1});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", naive).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Forward, "pixels", pixels).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Backward, "gather", gather).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Backward, "scatter", scatter).with(declare_scatter);
