// SPDX-License-Identifier: Apache-2.0
// Tensors in the form that the products of wgmma.cuh take: channels last, a multiple of 8, each
// element in pieces. An image of few channels is folded (space to depth): pixels that a step of the
// window goes over become channels, and so do the taps along a row, as windows may overlap in
// memory. A filter of 7x7 with stride 2 on 3 channels then is one of 4x1 with stride 1 on 64.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/fast/conv/parts.cuh"
#include "kernels/fast/conv/wgmma_launch.cuh"

namespace gradverify::conv::wgmma {

constexpr int chunk = 8;  ///< channels that are written at once

/// An image or a filter, and what it becomes: `rows` by `columns` places, each of which has the
/// channels of `down` by `right` pixels, and zeros up to `padded`.
struct Fold {
    int channels, height, width;
    int down, right, above, before;  ///< pixels of a place; padding that becomes pixels
    int rows, columns, padded;

    static Fold of(std::int64_t channels, std::int64_t height, std::int64_t width, int down = 1,
                   int right = 1) {
        const auto to_int = [](std::int64_t number) { return static_cast<int>(number); };
        return {.channels = to_int(channels),
                .height = to_int(height),
                .width = to_int(width),
                .down = down,
                .right = right,
                .above = 0,
                .before = 0,
                .rows = divided_up_to_int(height, down),
                .columns = divided_up_to_int(width, right),
                .padded = divided_up_to_int(channels * down * right, chunk) * chunk};
    }

    __host__ __device__ int places() const { return rows * columns; }

    static constexpr int outside = 1 << 30;  ///< beyond any image
    struct Pixel {
        int channel, y, x;
    };
    /// What a place's channel is; beyond the image's it is a zero.
    __device__ Pixel pixel(int row, int column, int channel) const {
        Pixel at{channel, row * down - above, column * right - before};
        if (channel >= channels) {
            const int i = channel / channels;
            at.channel = channel % channels;
            at.y += i / right, at.x += i % right;
            if (i >= down * right) at.y = outside;
        }
        return at;
    }
    __device__ bool has(int y, int x) const {
        const bool has_row = static_cast<unsigned>(y) < static_cast<unsigned>(height);
        const bool has_column = static_cast<unsigned>(x) < static_cast<unsigned>(width);
        return has_row & has_column;  // without a branch
    }
    /// The offset of a pixel's first channel in the places of its image, or -1 where it is in none.
    __device__ long long offset(int y, int x) const {
        const int row = (y + above) / down, column = (x + before) / right;
        if (row >= rows || column >= columns) return -1;
        const int i = (y + above) % down * right + (x + before) % right;
        return (static_cast<long long>(row) * columns + column) * padded + i * channels;
    }
};

/// The number, or the largest bfloat16 where it is beyond that, so that the nearest bfloat16 of a
/// finite number is finite. Any number for NaN, of which the rest is NaN.
__device__ inline float within_bf16(float number) {
    constexpr float greatest = 3.3895314e38f;
    return fminf(fmaxf(number, -greatest), greatest);
}
/// What pieces leave of numbers: something that is not finite of those that are not.
__device__ inline float2 rest_of(float2 numbers, __nv_bfloat162 pieces) {
    const float2 taken = __bfloat1622float2(pieces);
    return make_float2(numbers.x - taken.x, numbers.y - taken.y);
}

/// `pieces` times eight numbers, which add up to eight, the greatest first; 16 bytes are stored at
/// once.
template <class T, int pieces>
struct ChunkInPieces {
    static constexpr int stores = chunk * sizeof(T) / sizeof(uint4);
    uint4 of[pieces][stores];

    __device__ explicit ChunkInPieces(const T (&numbers)[chunk])
    requires(pieces == 1)
    {
        memcpy(of, numbers, sizeof of);
    }
    __device__ explicit ChunkInPieces(const float (&numbers)[chunk])
    requires(pieces == 3)
    {
        __nv_bfloat162 split[pieces][chunk / 2];
#pragma unroll
        for (int i = 0; i < chunk / 2; ++i) {
            const float2 two = make_float2(numbers[2 * i], numbers[2 * i + 1]);
            split[0][i] = __floats2bfloat162_rn(within_bf16(two.x), within_bf16(two.y));
            const float2 rest = rest_of(two, split[0][i]);
            split[1][i] = __float22bfloat162_rn(rest);
            split[2][i] = __float22bfloat162_rn(rest_of(rest, split[1][i]));
        }
        memcpy(of, split, sizeof of);
    }
};

/// What a block of `fold` moves at once: some channels of some places, both powers of two. A thread
/// reads `each` numbers of a place and writes the pieces of as many channels, side by side.
struct FoldTile {
    static constexpr int threads = 256, each = chunk, all = threads * each, most_channels = 64;
    int channels, places;

    explicit FoldTile(const Fold& of) : channels(chunk) {
        while (channels < of.padded && channels < most_channels) channels *= 2;
        places = all / channels;
    }
};

/// Where a place's channel is read: the offset, row and column from the place's first pixel on; the
/// row is Fold::outside where there is none.
struct alignas(16) Source {
    long long offset;
    int y, x;
};

/// **Grid** x: tiles of places, y: of channels; both loop; FoldTile::threads. `to`: `outer`, rows,
/// columns, padded channels, a place and a piece so far from the next. Tiles are read channel by
/// channel, and written place by place.
template <class T, int pieces, class From>
__global__ void __launch_bounds__(FoldTile::threads, 6)
    fold(Strided<const From> from, Fold of, int outer, T* to, long long place_stride,
         long long piece_stride, FoldTile tile) {
    __shared__ From numbers[FoldTile::all + FoldTile::most_channels];  // by channel, and one more
    __shared__ Source sources[FoldTile::most_channels];
    const int thread = static_cast<int>(threadIdx.x), pitch = tile.places + 1;
    const int all_places = outer * of.places();
    const int place = thread % tile.places, first_read = thread / tile.places;
    const int apart = FoldTile::threads / tile.places;  // channels that a thread reads
    const int chunks = tile.channels / chunk, place_written = thread / chunks;
    const int channel_written = thread % chunks * chunk;
    const auto from_block = [](unsigned block, int size) {
        return static_cast<long long>(block) * size;
    };
    for (long long c = from_block(blockIdx.y, tile.channels); c < of.padded;
         c += from_block(gridDim.y, tile.channels)) {
        const int first_channel = static_cast<int>(c);
        if (thread < tile.channels) {
            const Fold::Pixel at = of.pixel(0, 0, first_channel + thread);
            sources[thread] = {at.channel * from.channel + at.y * from.row + at.x * from.pixel,
                               at.y, at.x};
        }
        for (long long i = from_block(blockIdx.x, tile.places); i < all_places;
             i += from_block(gridDim.x, tile.places)) {
            __syncthreads();  // sources were written, numbers read
            const int first = static_cast<int>(i), here = first + place;
            const int rows_before = here / of.columns, x = (here % of.columns) * of.right;
            const int image = rows_before / of.rows, y = rows_before % of.rows * of.down;
            const From* const pixel =
                from.first + image * from.outer + y * from.row + x * from.pixel;
            const bool is_there = here < all_places;
            From read[FoldTile::each];
#pragma unroll
            for (int j = 0; j < FoldTile::each; ++j) {
                const Source source = sources[first_read + j * apart];
                const bool has = is_there & of.has(source.y + y, source.x + x);
                read[j] = has ? pixel[source.offset] : From(0.0f);
            }
#pragma unroll
            for (int j = 0; j < FoldTile::each; ++j)
                numbers[(first_read + j * apart) * pitch + place] = read[j];
            __syncthreads();
            if (first + place_written >= all_places || first_channel + channel_written >= of.padded)
                continue;
            From side_by_side[chunk];
#pragma unroll
            for (int j = 0; j < chunk; ++j)
                side_by_side[j] = numbers[(channel_written + j) * pitch + place_written];
            const ChunkInPieces<T, pieces> split(side_by_side);
            T* const there = to + static_cast<long long>(first + place_written) * place_stride +
                             first_channel + channel_written;
#pragma unroll
            for (int piece = 0; piece < pieces; ++piece)
#pragma unroll
                for (int j = 0; j < split.stores; ++j)
                    reinterpret_cast<uint4*>(there + piece * piece_stride)[j] = split.of[piece][j];
        }
    }
}

/// The image whose places are given. **Grid** a block for each row of all images, and loops.
template <class T>
__global__ void unfold(const T* places, Fold of, int outer, Strided<T> to) {
    const long long rows = static_cast<long long>(outer) * of.height;
    for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
        const int y = static_cast<int>(row % of.height), image = static_cast<int>(row / of.height);
        const T* const from = places + static_cast<long long>(image) * of.places() * of.padded;
        for (int x = static_cast<int>(threadIdx.x); x < of.width;
             x += static_cast<int>(blockDim.x)) {
            const long long offset = of.offset(y, x);
            for (int c = 0; c < of.channels; ++c)
                to.at(image, c, y, x) = offset < 0 ? T(0.0f) : from[offset + c];
        }
    }
}

/// The filter's gradient, from sums of launch_sums_of_filter. **Grid** x: a column of
/// block_of_parts for each sum of a feature; y: features; both loop.
template <class T>
__global__ void add_parts(const float* sums, int parts, Fold of, int features, Strided<T> dw) {
    const int in_feature = of.places() * of.padded;
    const long long in_part = static_cast<long long>(features) * in_feature;
    for (int feature = static_cast<int>(blockIdx.y); feature < features;
         feature += static_cast<int>(gridDim.y)) {
        const float* const first = sums + static_cast<long long>(feature) * in_feature;
        for (int block = static_cast<int>(blockIdx.x * blockDim.x); block < in_feature;
             block += static_cast<int>(threads_in_grid())) {
            const int i = block + static_cast<int>(threadIdx.x);
            const float sum = sum_of_parts(i < in_feature ? first + i : nullptr, parts, in_part);
            if (i >= in_feature || threadIdx.y > 0) continue;
            const int place = i / of.padded;
            const Fold::Pixel at = of.pixel(place / of.columns, place % of.columns, i % of.padded);
            if (of.has(at.y, at.x)) dw.at(feature, at.channel, at.y, at.x) = T(sum);
        }
    }
}

// ---- on the host

/// Any tensor, as `fold` says it: a tensor of each piece, or, when `joined`, the pieces of a place
/// side by side.
template <class T, int pieces, class From>
void launch_fold(const Strided<const From>& from, const Fold& of, std::int64_t outer, T* to,
                 cudaStream_t stream, bool joined = false) {
    const FoldTile tile(of);
    const dim3 grid(blocks_of_loop(outer * of.places(), tile.places),
                    static_cast<unsigned>(std::min(divided_up(of.padded, tile.channels), 65535LL)));
    fold<T, pieces><<<grid, FoldTile::threads, 0, stream>>>(
        from, of, static_cast<int>(outer), to, of.padded * (joined ? pieces : 1),
        of.padded * (joined ? 1 : outer * of.places()), tile);
}

constexpr int most_channels_folded = 16;  ///< of an image that is folded

/// A call's tensors as they become, and the problems that their products are.
struct Folds {
    Fold image, filter, features;
    int taps;  ///< along a row that become channels
    bool few;  ///< channels, so that the image is folded
    Parameters windows, places;

    static bool has_few(const Parameters& p) {
        return p.w().dilation == 1 && p.h().dilation == 1 && p.c <= most_channels_folded &&
               p.c * p.w().stride * p.h().stride <= 64;
    }
    /// Of a problem of reads_windows_of_image or of _features.
    explicit Folds(const Parameters& p) : few(has_few(p)), windows(p), places(p) {
        const int down = few ? to_int(p.h().stride) : 1, right = few ? to_int(p.w().stride) : 1;
        const int height = forward_axis(p.h()).pixels, width = forward_axis(p.w()).pixels;
        filter = Fold::of(p.c, p.h().filter, p.w().filter, down, right);
        image = Fold::of(p.c, p.h().in, p.w().in, down, right);
        features = Fold::of(p.k, height, width, 1, 1);
        taps = few ? filter.columns : 1;
        windows.c = taps * image.padded;
        if (!few) return;
        image.above = to_int(p.h().padding_left), image.before = to_int(p.w().padding_left);
        image.rows = height + filter.rows - 1, image.columns = width + filter.columns - 1;
        places.c = image.padded;
        places.axes[0] = {.in = image.rows, .filter = filter.rows};
        places.axes[1] = {.in = image.columns, .filter = filter.columns};
        windows.axes[0] = places.axes[0];
        windows.axes[1] = {.in = width, .filter = 1};
    }

  private:
    static int to_int(std::int64_t number) { return static_cast<int>(number); }
};

/// A tensor that was folded.
template <class T, class Pieces>
struct Folded {
    Fold fold;
    long long outer;
    T* first;

    static long long elements(const Fold& of, long long outer) {
        return outer * of.places() * of.padded;
    }
    /// Windows of so many places along a row. Where they overlap, a stride is less than the axis in
    /// it is long, which the driver's documents do not foresee and its checks allow.
    Images<T, Pieces> windows(int taps) const {
        Images<T, Pieces> all;
        const long long place = fold.padded, row = place * fold.columns;
        for (int piece = 0; piece < Pieces::count; ++piece)
            all[static_cast<std::size_t>(piece)] = {
                first + piece * elements(fold, outer),
                {taps * place, fold.columns - taps + 1, fold.rows, outer},
                {0, taps == fold.columns ? 0 : place, row, row * fold.rows}};
        return all;
    }
};

/// A filter whose features lie one after the other, as taps, channels, features; the latter are a
/// multiple of 8.
template <class T>
Images<T, Pieces<1>> transposed(const Images<T, Pieces<1>>& w, T* to, cudaStream_t stream) {
    const auto [c, width, height, k] = w[0].sizes;
    const long long taps = width * height, tap = c * k;
    launch_fold<T, 1>(Strided<const T>{w[0].data, c, c * taps, 0, 1}, Fold::of(k, 1, c), taps, to,
                      stream);
    return {{{to, {k, width, height, c}, {0, tap, tap * width, k}}}};
}

/// Images whose places are given.
template <class T>
void launch_unfold(const T* places, const Fold& of, std::int64_t outer, const Strided<T>& to,
                   cudaStream_t stream) {
    const int threads = std::min(divided_up_to_int(of.width, 32) * 32, 256);
    unfold<<<blocks_of_loop(outer * of.height, 1), threads, 0, stream>>>(
        places, of, static_cast<int>(outer), to);
}

template <class T>
void launch_add_parts(const float* sums, int parts, const Fold& filter, const TensorView& dw,
                      cudaStream_t stream) {
    const auto features = static_cast<int>(dw.size(0));
    const dim3 block = block_of_parts(parts);
    const dim3 grid(blocks_of_loop(filter.places() * filter.padded, static_cast<int>(block.x)),
                    static_cast<unsigned>(std::min(features, 65535)));
    add_parts<<<grid, block, 0, stream>>>(sums, parts, filter, features, Strided<T>::of(dw));
}

/// Hands out parts of a workspace; of none, it counts the bytes.
class Space {
  public:
    explicit Space(void* first = nullptr) : first_(static_cast<unsigned char*>(first)) {}
    std::int64_t bytes() const { return bytes_; }

    template <class T>
    T* take(std::int64_t elements) {
        auto* const taken = first_ == nullptr ? nullptr : reinterpret_cast<T*>(first_ + bytes_);
        bytes_ += divided_up(elements * static_cast<std::int64_t>(sizeof(T)), 256) * 256;
        return taken;
    }

  private:
    unsigned char* first_;
    std::int64_t bytes_ = 0;
};

}  // namespace gradverify::conv::wgmma
