// SPDX-License-Identifier: Apache-2.0
// causal_conv1d/chunked: a block for 64 rows of a sequence and 32 channels, which finds its
// sequence by counting chunks. Lanes go along the channels; each thread walks over 8 rows with the
// last `width` elements in registers. Gradients of the weights are summed over a block first, and
// over all blocks by a second kernel. In float, or bfloat16 with sums in float.
#include <algorithm>
#include <type_traits>

#include "kernels/causal_conv1d/sequences.cuh"

namespace {

using namespace gradverify::causal_conv1d;

constexpr int lanes = 32, warps = 8, rows_of_thread = 8, rows_of_chunk = warps * rows_of_thread;

/// Each sequence may have a chunk that is not full.
long long most_chunks(long long total, long long sequences) {
    return total / rows_of_chunk + std::min(sequences, total);
}
long long channel_tiles(long long channels) { return divided_up(channels, lanes); }

/// The rows of a thread, within their sequence; none for a block that is not needed.
struct Rows {
    long long chunk, sequence, begin, end, channel;
};
template <class T>
__device__ Rows rows_of(const Inputs<T>& in) {
    const long long tiles = (in.channels + lanes - 1) / lanes, chunk = blockIdx.x / tiles;
    long long sequence = 0, behind = 0, left = chunk;
    for (; sequence < in.sequences; ++sequence) {
        const long long chunks = (in.length_of(sequence) + rows_of_chunk - 1) / rows_of_chunk;
        if (left < chunks) break;
        left -= chunks;
    }
    if (sequence < in.sequences) behind = in.length_of(sequence);
    const long long channel = blockIdx.x % tiles * lanes + threadIdx.x;
    const long long begin = left * rows_of_chunk + threadIdx.y * rows_of_thread;
    const long long end = begin + rows_of_thread;
    return {chunk, sequence, begin, channel < in.channels ? (end < behind ? end : behind) : 0,
            channel};
}

/// Calls `visit(t, window)` for rows `begin` to `end` of a thread's sequence.
template <int width, class T, class Visit>
__device__ void walk(const Inputs<T>& in, const Rows& rows, long long end, const Visit& visit) {
    float window[width];
    for (int i = 1; i < width; ++i)
        window[i] = in.history(rows.sequence, rows.channel, rows.begin + i - 1);
    for (long long t = rows.begin; t < end; ++t) {
        for (int i = 1; i < width; ++i) window[i - 1] = window[i];
        window[width - 1] = in.history(rows.sequence, rows.channel, t + width - 1);
        visit(t, window);
    }
}

/// A channel's weights.
template <int width>
struct Taps {
    float bias, of[width];

    template <class T>
    __device__ Taps(const Inputs<T>& in, long long channel)
        : bias(static_cast<float>(in.bias[channel])) {
        for (int i = 0; i < width; ++i) of[i] = in.tap(channel, i);
    }
    __device__ float sum(const float (&window)[width]) const {
        float total = bias;
        for (int i = 0; i < width; ++i) total += of[i] * window[i];
        return total;
    }
};

template <class T, int width>
__global__ void convolve_chunks(Inputs<T> in, T* y) {
    const Rows rows = rows_of(in);
    if (rows.begin >= rows.end) return;
    const Taps<width> taps(in, rows.channel);
    const long long first = in.offsets[rows.sequence];
    walk<width>(in, rows, rows.end, [&](long long t, const float(&window)[width]) {
        y[(first + t) * in.channels + rows.channel] =
            static_cast<T>(activated(taps.sum(window), in.has_silu));
    });
}

/// Calls `launch` with the width as a constant.
template <class Launch>
void with_width(int width, const Launch& launch) {
    if (width == 2) launch(std::integral_constant<int, 2>());
    if (width == 3) launch(std::integral_constant<int, 3>());
    if (width == 4) launch(std::integral_constant<int, 4>());
}

template <class T>
void forward(const Forward& call) {
    const Inputs<T> in(call);
    const cudaStream_t stream = call.launch.stream;
    const long long blocks = most_chunks(in.total, in.sequences) * channel_tiles(in.channels);
    if (blocks > 0)
        with_width(in.width, [&](auto width) {
            convolve_chunks<T, width()>
                <<<static_cast<unsigned>(blocks), dim3(lanes, warps), 0, stream>>>(in,
                                                                                   call.y.as<T>());
        });
    write_final_states<<<blocks_of(in.state_elements(), 128), 128, 0, stream>>>(
        in, call.final_states.as<T>());
}

/// Sums of a block's threads, for each of its channels: the gradients of the weights, then that of
/// the bias.
///
/// **Shapes** sums `chunks, width + 1, channels`.
template <int width>
__device__ void add_up(const float (&of_thread)[width + 1], const Rows& rows, long long channels,
                       float* sums) {
    __shared__ float share[width + 1][warps][lanes];
    for (int i = 0; i <= width; ++i) share[i][threadIdx.y][threadIdx.x] = of_thread[i];
    __syncthreads();
    if (threadIdx.y > width || rows.channel >= channels) return;
    float sum = 0.0f;
    for (int warp = 0; warp < warps; ++warp) sum += share[threadIdx.y][warp][threadIdx.x];
    sums[(rows.chunk * (width + 1) + threadIdx.y) * channels + rows.channel] = sum;
}

/// A row's output is seen by itself and by the width - 1 rows before it, so a thread looks at as
/// many rows behind its own.
template <class T, int width>
__global__ void differentiate_chunks(Inputs<T> in, Cotangents<T> cotangents, T* dx, float* sums) {
    const Rows rows = rows_of(in);
    float of_weights[width + 1] = {};
    if (rows.begin < rows.end) {
        const Taps<width> taps(in, rows.channel);
        const long long first = in.offsets[rows.sequence];
        const long long length = in.length_of(rows.sequence);
        float gradients[width] = {};  // by the sums of rows t - width + 1 to t
        const auto step = [&](long long t, float gradient) {
            for (int i = 1; i < width; ++i) gradients[i - 1] = gradients[i];
            gradients[width - 1] = gradient;
            const long long row = t - width + 1;
            if (row < rows.begin) return;
            float sum = cotangents.by_final_state(in, rows.sequence, rows.channel, t);
            for (int i = 0; i < width; ++i) sum += taps.of[width - 1 - i] * gradients[i];
            dx[(first + row) * in.channels + rows.channel] = static_cast<T>(sum);
        };
        const long long end = rows.end + width - 1;
        const long long inside = end < length ? end : length;
        walk<width>(in, rows, inside, [&](long long t, const float(&window)[width]) {
            const float dy =
                static_cast<float>(cotangents.dy[(first + t) * in.channels + rows.channel]);
            const float gradient = dy * slope_at(taps.sum(window), in.has_silu);
            for (int i = 0; i < width && t < rows.end; ++i) of_weights[i] += gradient * window[i];
            if (t < rows.end) of_weights[width] += gradient;
            step(t, gradient);
        });
        for (long long t = inside; t < end; ++t) step(t, 0.0f);
    }
    add_up<width>(of_weights, rows, in.channels, sums);
}

/// A warp for each element of dweight and dbias: lane l adds up chunks l, l + 32, ...
template <class T>
__global__ void sum_chunks(const float* sums, long long chunks, long long channels, int width,
                           T* dweight, T* dbias) {
    const long long element = blockIdx.x * static_cast<long long>(warps) + threadIdx.y;
    if (element >= channels * (width + 1)) return;
    const long long channel = element / (width + 1);
    const int i = static_cast<int>(element % (width + 1));
    float sum = 0.0f;
    for (long long chunk = threadIdx.x; chunk < chunks; chunk += lanes)
        sum += sums[(chunk * (width + 1) + i) * channels + channel];
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x == 0)
        (i < width ? dweight[channel * width + i] : dbias[channel]) = static_cast<T>(sum);
}

std::int64_t bytes_of_sums(const gradverify::Problem& p) {
    return most_chunks(p.scalar("total"), p.scalar("seqs")) * (p.scalar("width") + 1) *
           p.scalar("channels") * static_cast<std::int64_t>(sizeof(float));
}

template <class T>
void backward(const Backward& call) {
    const Inputs<T> in(call);
    const Cotangents<T> cotangents(call);
    const cudaStream_t stream = call.launch.stream;
    auto* const sums = static_cast<float*>(call.launch.workspace);
    const long long chunks = most_chunks(in.total, in.sequences);
    const long long blocks = chunks * channel_tiles(in.channels);
    if (blocks > 0)
        with_width(in.width, [&](auto width) {
            differentiate_chunks<T, width()>
                <<<static_cast<unsigned>(blocks), dim3(lanes, warps), 0, stream>>>(
                    in, cotangents, call.dx.as<T>(), sums);
        });
    sum_chunks<<<blocks_of(in.channels * (in.width + 1), warps), dim3(lanes, warps), 0, stream>>>(
        sums, chunks, in.channels, in.width, call.dweight.as<T>(), call.dbias.as<T>());
    write_dinitial_states<<<blocks_of(in.state_elements(), 128), 128, 0, stream>>>(
        in, cotangents, call.dinitial_states.as<T>());
}

std::int64_t threads_of_chunks(const gradverify::Problem& p) {
    return most_chunks(p.scalar("total"), p.scalar("seqs")) * channel_tiles(p.scalar("channels")) *
           lanes * warps;
}
template <class T>
void declare_forward(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.costs({.threads = threads_of_chunks});
}
template <class T>
void declare_backward(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.workspace(bytes_of_sums).costs({.barriers_per_thread = 1, .threads = threads_of_chunks});
}

}  // namespace

GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "chunked", forward, declare_forward);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Backward, "chunked", backward, declare_backward);
