// SPDX-License-Identifier: Apache-2.0
// Attention's gradients on tensor cores, in bfloat16. A block has 64 keys, for dk and dv, or 64
// queries, for dq: these stay in shared memory, and tiles of the others stream past them through
// stages that are filled asynchronously. Both ways are one kernel, with X and Y for the tensors
// that stay and U and W for those that stream:
//
//   keys stay     X = k, Y = v,  U = q, W = do:   dk = ds^T q / sqrt(d), dv = p^T do
//   queries stay  X = q, Y = do, U = k, W = v:    dq = ds k / sqrt(d)
//
// A warp computes the weights p of 16 rows that stay, from X U^T, and their gradients ds, from
// Y W^T, both rounded to bfloat16, and adds their products with W and U to sums in registers.
#pragma once

#include "harness/kernel.hpp"
#include "kernels/attention/shape.cuh"
#include "kernels/fast/attention/warp_matrices.cuh"
#include "kernels/grids.cuh"
#include "reference/attention.hpp"

namespace gradverify::attention {

using Element = __nv_bfloat16;

constexpr int warps = 4, threads = 32 * warps, rows_that_stay = 16 * warps;
constexpr int chunk = 8;  ///< elements that are copied at once

__host__ __device__ constexpr long long tiles_of(long long count, int rows) {
    return (count + rows - 1) / rows;
}

/// How tiles of heads of up to `head_width` elements come into shared memory and are read there.
template <int head_width, int rows = 32, int stage_count = 2>
struct Pipeline {
    static constexpr int width = head_width, rows_that_stream = rows, stages = stage_count;

    /// The place of a chunk in its row: eight rows' chunks of one column lie in different banks.
    __device__ static int swizzled(int row, int column) {
        constexpr int mask = width / chunk < 8 ? width / chunk - 1 : 7;
        return column ^ (row & mask);
    }
    __device__ static int swizzled_when_read(int row, int column) { return swizzled(row, column); }
    __device__ static int stage_of(long long step) { return static_cast<int>(step % stages); }

    __device__ static void commit() { warp::commit_copies(); }
    /// Waits until the next stage is filled, and that of the step before is read; fills the latter.
    template <class Fill>
    __device__ static void next(Fill fill) {
        warp::wait_for_copies_but<stages - 2>();
        __syncthreads();
        fill();
    }
};

/// A tensor's tile in shared memory.
template <class Pipeline>
struct Tile {
    Element* elements;

    __device__ Element* place(int row, int column) const {
        return elements + row * Pipeline::width + Pipeline::swizzled(row, column) * chunk;
    }
    __device__ const Element* read_at(int row, int column) const {
        return elements + row * Pipeline::width + Pipeline::swizzled_when_read(row, column) * chunk;
    }
    /// The row that this lane names of a factor of 16x16; or, if that is loaded transposed, of the
    /// right factors of two products.
    __device__ const Element* factors(int row, int element) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        return read_at(row + lane % 16, element / chunk + lane / 16);
    }
    /// The same of the right factors of two products with the transposed tile.
    __device__ const Element* transposed_factors(int row, int element) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        return read_at(row + lane % 8 + lane / 16 * 8, element / chunk + lane / 8 % 2);
    }
};

/// The rows of one head of one sample in a tensor.
struct Rows {
    const Element* first;
    long long count, stride;
    int width;
};

/// Begins to copy rows of a head into a tile; what lies beyond them is zero.
template <class Pipeline, int rows>
__device__ void copy_rows(const Tile<Pipeline>& tile, const Rows& from, long long first) {
    constexpr int chunks = Pipeline::width / chunk;
    for (int i = static_cast<int>(threadIdx.x); i < rows * chunks; i += threads) {
        const int row = i / chunks, column = i % chunks;
        const bool is_there = first + row < from.count && column * chunk < from.width;
        const long long offset = (first + row) * from.stride + column * chunk;
        warp::copy_16_bytes(tile.place(row, column), from.first + (is_there ? offset : 0),
                            is_there);
    }
}

/// Shared memory: the tiles that stay, then the stages.
template <class Pipeline>
struct Memory {
    static constexpr int rows = Pipeline::rows_that_stream;
    static constexpr int bytes_that_stay = rows_that_stay * Pipeline::width * sizeof(Element);
    static constexpr int bytes_that_stream = rows * Pipeline::width * sizeof(Element);
    static constexpr int bytes_of_stage = 2 * (bytes_that_stream + rows * sizeof(float));
    static constexpr int bytes = 2 * bytes_that_stay + Pipeline::stages * bytes_of_stage;

    unsigned char* first;

    __device__ Tile<Pipeline> x() const { return {reinterpret_cast<Element*>(first)}; }
    __device__ Tile<Pipeline> y() const {
        return {reinterpret_cast<Element*>(first + bytes_that_stay)};
    }
    __device__ unsigned char* stage(long long step) const {
        return first + 2 * bytes_that_stay + Pipeline::stage_of(step) * bytes_of_stage;
    }
    __device__ Tile<Pipeline> u(long long step) const {
        return {reinterpret_cast<Element*>(stage(step))};
    }
    __device__ Tile<Pipeline> w(long long step) const {
        return {reinterpret_cast<Element*>(stage(step) + bytes_that_stream)};
    }
    /// lse of the queries that stream, then their sums of do times o.
    __device__ float* of_queries(long long step) const {
        return reinterpret_cast<float*>(stage(step) + 2 * bytes_that_stream);
    }
};

/// Tensors of the backward pass; `of_output`, in lse's order, is the sum of do times o.
struct Gradients {
    Shape shape;
    const Element *q, *k, *v, *grad_o;
    const float *lse, *of_output;
    Element *dq, *dk, *dv;
    float scale;
};

/// A block's work, by where it is in the grid.
template <class Pipeline, bool keys_stay>
class Block {
    static constexpr int rows = Pipeline::rows_that_stream;
    using Products = warp::Sums[rows / 8];
    using Result = warp::Sums[Pipeline::width / 8];

  public:
    __device__ Block(const Gradients& g, unsigned char* memory)
        : g_(g), shape_(g.shape), memory_{memory} {
        const long long staying = keys_stay ? shape_.keys : shape_.queries;
        const long long tiles = tiles_of(staying, rows_that_stay);
        first_ = blockIdx.x % tiles * rows_that_stay;
        head_ = blockIdx.x / tiles % shape_.heads;
        sample_ = blockIdx.x / tiles / shape_.heads;
        const long long last = min(first_ + rows_that_stay, staying) - 1;
        const long long begin = keys_stay ? shape_.first_query_that_sees(first_) : 0;
        const long long end = keys_stay ? shape_.queries : shape_.keys_seen_by(last);
        first_step_ = begin / rows;
        end_step_ = tiles_of(end, rows);
        warp_has_rows_ = first_ + row_of_warp() <= last;
    }

    __device__ void run() {
        copy_rows<Pipeline, rows_that_stay>(memory_.x(), of(keys_stay ? g_.k : g_.q, keys_stay),
                                            first_);
        copy_rows<Pipeline, rows_that_stay>(memory_.y(),
                                            of(keys_stay ? g_.v : g_.grad_o, keys_stay), first_);
        for (int i = 0; i < Pipeline::stages - 1; ++i) fill(first_step_ + i);
        Result by_u = {}, by_w = {};
        for (long long step = first_step_; step < end_step_; ++step) {
            Pipeline::next([&] { fill(step + Pipeline::stages - 1); });
            if (warp_has_rows_) add(step, by_u, by_w);
        }
        if (!warp_has_rows_) return;
        store(by_u, keys_stay ? g_.dk : g_.dq, g_.scale);
        if (keys_stay) store(by_w, g_.dv, 1.0f);
    }

  private:
    __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
    __device__ static int row_of_warp() { return static_cast<int>(threadIdx.x) / 32 * 16; }

    __device__ long long offset(bool of_keys, long long row) const {
        const Position at{sample_, row, head_};
        return of_keys ? shape_.of_key(at) : shape_.of_query(at);
    }
    __device__ Rows of(const Element* tensor, bool of_keys) const {
        return {tensor + offset(of_keys, 0), of_keys ? shape_.keys : shape_.queries,
                shape_.heads * shape_.width, static_cast<int>(shape_.width)};
    }

    /// Begins to fill a step's stage. There is a group for each step, were it empty.
    __device__ void fill(long long step) const {
        if (step < end_step_) {
            const Element* const u = keys_stay ? g_.q : g_.k;
            const Element* const w = keys_stay ? g_.grad_o : g_.v;
            copy_rows<Pipeline, rows>(memory_.u(step), of(u, !keys_stay), step * rows);
            copy_rows<Pipeline, rows>(memory_.w(step), of(w, !keys_stay), step * rows);
            if (keys_stay) copy_of_queries(step);
        }
        Pipeline::commit();
    }
    __device__ void copy_of_queries(long long step) const {
        for (int i = static_cast<int>(threadIdx.x); i < 2 * rows; i += threads) {
            const long long query = step * rows + i % rows;
            const bool is_there = query < shape_.queries;
            const float* const from = i < rows ? g_.lse : g_.of_output;
            warp::copy_4_bytes(memory_.of_queries(step) + i,
                               from + shape_.of_sum({sample_, is_there ? query : 0, head_}),
                               is_there);
        }
    }

    /// Adds a step's products to the sums.
    __device__ void add(long long step, Result& by_u, Result& by_w) const {
        Products weights = {}, slopes = {};
        multiply_rows(step, weights, slopes);
#pragma unroll
        for (int i = 0; i < rows / 8; ++i)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                set_weight(step, i * 8 + lane() % 4 * 2 + e % 2, e / 2 * 8, weights[i].at[e],
                           slopes[i].at[e]);
#pragma unroll
        for (int k = 0; k < rows; k += 16) {
            const auto p = warp::rounded(weights[k / 8], weights[k / 8 + 1]);
            const auto ds = warp::rounded(slopes[k / 8], slopes[k / 8 + 1]);
            add_products(memory_.u(step), k, ds, by_u);
            if (keys_stay) add_products(memory_.w(step), k, p, by_w);
        }
    }

    /// Of each row that stays with each that streams: X U^T and Y W^T.
    __device__ void multiply_rows(long long step, Products& xu, Products& yw) const {
#pragma unroll
        for (int k = 0; k < Pipeline::width; k += 16) {
            if (k >= shape_.width) break;
            const auto x = warp::load(memory_.x().factors(row_of_warp(), k));
            const auto y = warp::load(memory_.y().factors(row_of_warp(), k));
#pragma unroll
            for (int n = 0; n < rows; n += 16) {
                const auto u = warp::load(memory_.u(step).transposed_factors(n, k));
                const auto w = warp::load(memory_.w(step).transposed_factors(n, k));
                for (int half = 0; half < 2; ++half) {
                    const int at = n / 8 + half;
                    warp::add_product(xu[at], x, u.pair[2 * half], u.pair[2 * half + 1]);
                    warp::add_product(yw[at], y, w.pair[2 * half], w.pair[2 * half + 1]);
                }
            }
        }
    }

    /// Makes a weight and its gradient from the products of two rows; the first is this thread's.
    __device__ void set_weight(long long step, int column, int row, float& weight,
                               float& slope) const {
        const long long stays = first_ + row_of_warp() + lane() / 4 + row;
        const long long streams = step * rows + column;
        const long long query = keys_stay ? streams : stays, key = keys_stay ? stays : streams;
        const bool is_seen = query < shape_.queries && key < shape_.keys_seen_by(query);
        float lse = 0.0f, of_output = 0.0f;
        if (keys_stay) {
            lse = memory_.of_queries(step)[column];
            of_output = memory_.of_queries(step)[rows + column];
        } else if (is_seen) {
            const long long at = shape_.of_sum({sample_, query, head_});
            lse = g_.lse[at], of_output = g_.of_output[at];
        }
        weight = is_seen ? expf(weight * g_.scale - lse) : 0.0f;
        slope = weight * (slope - of_output);
    }

    __device__ void add_products(const Tile<Pipeline>& tile, int k, const warp::Matrices& factor,
                                 Result& sums) const {
#pragma unroll
        for (int n = 0; n < Pipeline::width; n += 16) {
            if (n >= shape_.width) break;
            const auto right = warp::load_transposed(tile.factors(k, n));
            warp::add_product(sums[n / 8], factor, right.pair[0], right.pair[1]);
            warp::add_product(sums[n / 8 + 1], factor, right.pair[2], right.pair[3]);
        }
    }

    __device__ void store(const Result& sums, Element* output, float scale) const {
        for (int half = 0; half < 2; ++half) {
            const long long row = first_ + row_of_warp() + lane() / 4 + 8 * half;
            if (row >= (keys_stay ? shape_.keys : shape_.queries)) continue;
            Element* const at = output + offset(keys_stay, row);
#pragma unroll
            for (int i = 0; i < Pipeline::width / 8; ++i)
                if (i * 8 < shape_.width)
                    *reinterpret_cast<unsigned*>(at + i * 8 + lane() % 4 * 2) = warp::rounded(
                        scale * sums[i].at[2 * half], scale * sums[i].at[2 * half + 1]);
        }
    }

    const Gradients& g_;
    const Shape& shape_;
    Memory<Pipeline> memory_;
    long long first_, head_, sample_, first_step_, end_step_;
    bool warp_has_rows_;
};

template <class Pipeline, bool keys_stay>
__global__ void __launch_bounds__(threads) gradients_in_tiles(const Gradients g) {
    extern __shared__ __align__(16) unsigned char memory[];
    Block<Pipeline, keys_stay>(g, memory).run();
}

/// A thread for each query: the sum of do times o.
static __global__ void sums_of_output(const Shape shape, const Element* grad_o, const Element* o,
                                      float* sums) {
    const long long index = thread_in_grid();
    if (index >= shape.query_rows()) return;
    const Position at = shape.query_at(index);
    const long long first = shape.of_query(at);
    float sum = 0.0f;
    for (long long c = first; c < first + shape.width; ++c)
        sum += static_cast<float>(grad_o[c]) * static_cast<float>(o[c]);
    sums[shape.of_sum(at)] = sum;
}

/// Bytes of the workspace that holds a number for each query.
inline std::int64_t float_for_each_query(const Problem& problem) {
    return problem.scalar("b") * problem.scalar("h") * problem.scalar("sq") *
           static_cast<std::int64_t>(sizeof(float));
}

/// A block for each tile of keys, and for each of queries.
inline std::int64_t threads_of_tiles(const Problem& problem) {
    const std::int64_t tiles = tiles_of(problem.scalar("sq"), rows_that_stay) +
                               tiles_of(problem.scalar("sk"), rows_that_stay);
    return problem.scalar("b") * problem.scalar("h") * tiles * threads;
}

/// The weights and their gradients are rounded before tensor cores multiply them.
inline void declare_tiles(KernelDeclaration& kernel) {
    kernel.storage(DType::bf16)
        .on_tensor_cores()
        .contiguous()
        .rounds("p", DType::bf16)
        .rounds("ds", DType::bf16)
        .where("d", multiple_of(8))
        .aligned_to(16)
        .workspace(float_for_each_query)
        .on_given_stream()
        .with_empty_problems()
        .costs({.barriers_per_thread = 2, .threads = threads_of_tiles});
}

template <class Pipeline, bool keys_stay>
void launch_tiles(const Gradients& g, cudaStream_t stream) {
    constexpr int bytes = Memory<Pipeline>::bytes;
    const auto kernel = gradients_in_tiles<Pipeline, keys_stay>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const long long tiles = tiles_of(keys_stay ? g.shape.keys : g.shape.queries, rows_that_stay);
    const auto blocks = static_cast<unsigned>(g.shape.samples * g.shape.heads * tiles);
    kernel<<<blocks, threads, bytes, stream>>>(g);
}

template <class Pipeline>
void launch_gradients(const Backward& call) {
    const Shape shape(call);
    if (shape.query_rows() == 0) return;
    auto* const of_output = static_cast<float*>(call.launch.workspace);
    const auto stream = call.launch.stream;
    const auto* const grad_o = call.grad_o.as<const Element>();
    sums_of_output<<<blocks_of(shape.query_rows(), 128), 128, 0, stream>>>(
        shape, grad_o, call.o.as<const Element>(), of_output);
    const Gradients g{shape,
                      call.q.as<const Element>(),
                      call.k.as<const Element>(),
                      call.v.as<const Element>(),
                      grad_o,
                      call.lse.as<const float>(),
                      of_output,
                      call.dq.as<Element>(),
                      call.dk.as<Element>(),
                      call.dv.as<Element>(),
                      shape.scale()};
    launch_tiles<Pipeline, true>(g, stream);
    launch_tiles<Pipeline, false>(g, stream);
}

}  // namespace gradverify::attention
