// SPDX-License-Identifier: Apache-2.0
// attention.backward/wgmma: bfloat16 on the tensor cores of sm_90a. A block has 128 keys, for dk
// and dv, or 128 queries, for dq: these stay in shared memory, and tiles of 64 of the others stream
// past them through a ring of stages, which a warp of its own has filled by tensor copies. Both
// ways are one kernel, with X and Y for the tensors that stay and U and W for those that stream:
//
//   keys stay     X = k, Y = v,  U = q, W = do:   dk = ds^T q / sqrt(d), dv = p^T do
//   queries stay  X = q, Y = do, U = k, W = v:    dq = ds k / sqrt(d)
//
// A warpgroup computes the weights p of its 64 rows, from X U^T, and their gradients ds, from
// Y W^T. Rounded to bfloat16, they are left factors of the products with W and U, without leaving
// its registers. No sum is split, so results are the same in each run.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/kernel.hpp"
#include "kernels/attention/shape.cuh"
#include "kernels/fast/attention/warp_matrices.cuh"
#include "kernels/fast/hopper.cuh"
#include "kernels/fast/tensor_maps.hpp"
#include "kernels/grids.cuh"
#include "reference/attention.hpp"

namespace {

using namespace gradverify;
using attention::Backward;
using attention::Shape;
using Element = __nv_bfloat16;

constexpr int rows = 64;    ///< of a tile, and of what a warpgroup has that stays
constexpr int groups = 2;   ///< warpgroups that multiply
constexpr int depth = 16;   ///< terms of the sum in one product
constexpr int across = 64;  ///< elements in a row of a box, 128 bytes
constexpr int box_bytes = rows * across * sizeof(Element);
constexpr int multiplying = 128 * groups, threads = multiplying + 128;
// The copying warp is of a warpgroup, which leaves registers to those that hold sums.
constexpr int copying_registers = 24, multiplying_registers = 240;  ///< of a thread
constexpr int bytes_of_queries = 2 * rows * sizeof(float);
constexpr CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
constexpr float log2_e = 1.44269504f;

/// The call's tensors as copies see them: boxes of 64 elements of 64 rows of a head.
struct Gradients {
    CUtensorMap q, k, v, grad_o, of_queries_map;
    Shape shape;
    const float* of_queries;  ///< for each head of each sample a row of each number
    long long pitch;          ///< of such a row
    Element *dq, *dk, *dv;
    float scale;
};
/// A query's lse times log2(e), and its sum of do times o: rows of `of_queries`.
enum OfQuery : int { lse_row, sum_row, rows_of_queries };

/// Shared memory, from a multiple of 1,024 bytes on: X and Y, the stages' U and W, then the numbers
/// of the queries that stream, then barriers.
template <int width_>
struct Memory {
    static constexpr int width = width_;  ///< of a head, at most
    static constexpr int tile_bytes = width / across * box_bytes;
    static constexpr int stages = 4;
    static constexpr int stages_at = 2 * groups * tile_bytes;
    static constexpr int of_queries_at = stages_at + stages * 2 * tile_bytes;
    static constexpr int barriers_at = of_queries_at + stages * bytes_of_queries;
    static constexpr int bytes = barriers_at + (2 * stages + 1) * sizeof(hopper::Barrier);

    unsigned char* first;

    __device__ unsigned char* x(int group) const { return first + group * tile_bytes; }
    __device__ unsigned char* y(int group) const { return x(groups + group); }
    __device__ unsigned char* u(int step) const {
        return first + stages_at + step % stages * 2 * tile_bytes;
    }
    __device__ unsigned char* w(int step) const { return u(step) + tile_bytes; }
    __device__ float* of_queries(int step) const {
        return reinterpret_cast<float*>(first + of_queries_at + step % stages * bytes_of_queries);
    }
    __device__ hopper::Barrier& stays() const {
        return *reinterpret_cast<hopper::Barrier*>(first + barriers_at);
    }
    __device__ hopper::Barrier& filled(int step) const { return (&stays())[1 + step % stages]; }
    __device__ hopper::Barrier& emptied(int step) const { return (&filled(step))[stages]; }

    /// `active`: the warpgroups that multiply.
    __device__ void begin_barriers(int active) const {
        if (threadIdx.x == 0) {
            stays().begin(1);
            for (int stage = 0; stage < stages; ++stage) {
                filled(stage).begin(1);
                emptied(stage).begin(active * 4);
            }
            hopper::publish_barriers();
        }
        __syncthreads();
    }
};

/// A block's work, by where it is in the grid. Steps are numbered from the block's first tile on.
template <class Memory, bool keys_stay>
class Block {
    static constexpr int width = Memory::width;
    using Products = hopper::SumsOf<rows>;
    using Result = hopper::SumsOf<width>;
    using Factor = hopper::Rows[rows / depth];

  public:
    /// By all threads of the block.
    __device__ Block(const Gradients& g, Memory memory)
        : g_(g),
          shape_(g.shape),
          memory_(memory),
          // The compiler then knows that a warp has one.
          group_(__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0)) {
        const auto staying = static_cast<int>(keys_stay ? shape_.keys : shape_.queries);
        const unsigned tiles = (staying + groups * rows - 1) / (groups * rows);
        const auto heads = static_cast<unsigned>(shape_.heads);
        // What takes longest comes first: where a query sees the keys before it, the first keys and
        // the last queries.
        const unsigned tile = keys_stay ? blockIdx.x % tiles : tiles - 1 - blockIdx.x % tiles;
        first_ = static_cast<int>(tile) * groups * rows;
        head_ = static_cast<int>(blockIdx.x / tiles % heads);
        sample_ = static_cast<int>(blockIdx.x / tiles / heads);
        const int last = min(first_ + groups * rows, staying) - 1;
        active_ = (last - first_) / rows + 1;
        const long long begin = keys_stay ? shape_.first_query_that_sees(first_) : 0;
        const long long end = keys_stay ? shape_.queries : shape_.keys_seen_by(last);
        first_tile_ = static_cast<int>(begin) / rows;
        steps_ = static_cast<int>((end + rows - 1) / rows) - first_tile_;
    }

    /// By one thread: has shared memory filled, a stage after the other.
    __device__ void copy() const {
        memory_.stays().arrive_and_expect(2 * active_ * Memory::tile_bytes);
        for (int group = 0; group < active_; ++group) {
            const int row = first_ + group * rows;
            copy_tile(memory_.x(group), keys_stay ? g_.k : g_.q, row, memory_.stays());
            copy_tile(memory_.y(group), keys_stay ? g_.v : g_.grad_o, row, memory_.stays());
        }
        for (int step = 0; step < steps_; ++step) {
            hopper::Barrier& filled = memory_.filled(step);
            const int row = row_of(step);
            memory_.emptied(step).wait(step / Memory::stages % 2 ^ 1);
            filled.arrive_and_expect(2 * Memory::tile_bytes + (keys_stay ? bytes_of_queries : 0));
            copy_tile(memory_.u(step), keys_stay ? g_.q : g_.k, row, filled);
            copy_tile(memory_.w(step), keys_stay ? g_.grad_o : g_.v, row, filled);
            if (keys_stay)
                hopper::load_tile(memory_.of_queries(step), g_.of_queries_map, row,
                                  static_cast<int>(row_of_queries(0)), filled);
        }
    }

    /// How many warpgroups have rows.
    __device__ int active() const { return active_; }
    /// By the warpgroups that multiply.
    __device__ void multiply() const {
        if (group_ >= active_) return;
        Result by_u{}, by_w{};
        float of_rows[2][rows_of_queries] = {};  // of the queries that stay
        if (!keys_stay) load_of_rows(of_rows);
        memory_.stays().wait(0);
        for (int step = 0; step < steps_; ++step) {
            Products weights, slopes;
            memory_.filled(step).wait(step / Memory::stages % 2);
            hopper::fence_sums();
            begin_rows(weights, memory_.x(group_), memory_.u(step));
            begin_rows(slopes, memory_.y(group_), memory_.w(step));
            hopper::wait_for_products_but<1>();
            Products shares;
            for_each(weights, [&](int i, int half, int column) {
                const float lse = of_query(step, of_rows, lse_row, half, column);
                shares.at[i] = fmaf(weights.at[i], g_.scale * log2_e, -lse);
            });
            if (is_partly_seen(step)) hide(step, shares);
            for (float& share : shares.at) share = power_of_2(share);
            Factor p, ds;
            if constexpr (keys_stay) {
                round(shares, p);
                hopper::fence_sums();
                begin_sums(by_w, p, memory_.w(step));
            }
            hopper::wait_for_products_but<keys_stay ? 1 : 0>();
            for_each(slopes, [&](int i, int half, int column) {
                shares.at[i] *= slopes.at[i] - of_query(step, of_rows, sum_row, half, column);
            });
            round(shares, ds);
            hopper::fence_sums();
            begin_sums(by_u, ds, memory_.u(step));
            hopper::wait_for_products_but<0>();
            release(step);
        }
        store(by_u, keys_stay ? g_.dk : g_.dq, g_.scale);
        if (keys_stay) store(by_w, g_.dv, 1.0f);
    }

  private:
    __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
    /// The first row that stays of the thread's two.
    __device__ int row() const {
        return first_ + group_ * rows + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane() / 4;
    }
    /// The first row that streams.
    __device__ int row_of(int step) const { return (first_tile_ + step) * rows; }
    __device__ long long row_of_queries(int which) const {
        return (sample_ * shape_.heads + head_) * rows_of_queries + which;
    }

    __device__ void copy_tile(unsigned char* to, const CUtensorMap& from, int row,
                              hopper::Barrier& filled) const {
        for (int box = 0; box < width / across; ++box)
            hopper::load_box(to + box * box_bytes, from, box * across, head_, row, sample_, filled);
    }
    __device__ void release(int step) const {
        __syncwarp();
        if (lane() == 0) memory_.emptied(step).arrive();
    }

    /// Calls `use(i, half, column)` for each of the thread's sums: its number, which of the rows it
    /// is of, and its column.
    template <int columns, class Use>
    __device__ static void for_each(const hopper::SumsOf<columns>&, Use use) {
#pragma unroll
        for (int i = 0; i < columns / 2; ++i) use(i, i / 2 % 2, i / 4 * 8 + lane() % 4 * 2 + i % 2);
    }

    /// Begins sums = A B^T, of tiles of rows.
    __device__ static void begin_rows(Products& sums, const unsigned char* a,
                                      const unsigned char* b) {
        const auto of_a = hopper::descriptor(a), of_b = hopper::descriptor(b);
#pragma unroll
        for (int k = 0; k < width; k += depth) {
            const int at = k / across * box_bytes + k % across * static_cast<int>(sizeof(Element));
            hopper::begin_product<Element, false, false>(sums, hopper::further(of_a, at),
                                                         hopper::further(of_b, at), k > 0);
        }
        hopper::commit_products();
    }
    /// Begins sums += A B, of a tile B.
    __device__ static void begin_sums(Result& sums, const Factor& a, const unsigned char* b) {
        constexpr int bytes = depth * across * sizeof(Element);
        const auto of_b = hopper::descriptor(b, box_bytes);
#pragma unroll
        for (int k = 0; k < rows / depth; ++k)
            hopper::begin_product<Element, true>(sums, a[k], hopper::further(of_b, k * bytes));
        hopper::commit_products();
    }

    /// Without exp2f's steps for subnormal results, which are zero here.
    __device__ static float power_of_2(float exponent) {
        float power;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
        return power;
    }
    __device__ static void round(const Products& sums, Factor& to) {
#pragma unroll
        for (int i = 0; i < rows / 4; ++i)
            to[i / 4].pair[i % 4] = warp::rounded(sums.at[2 * i], sums.at[2 * i + 1]);
    }

    __device__ void load_of_rows(float (&to)[2][rows_of_queries]) const {
        for (int half = 0; half < 2; ++half)
            for (int which = 0; which < rows_of_queries; ++which)
                if (row() + 8 * half < shape_.queries)
                    to[half][which] =
                        g_.of_queries[row_of_queries(which) * g_.pitch + row() + 8 * half];
    }
    __device__ float of_query(int step, const float (&of_rows)[2][rows_of_queries], int which,
                              int half, int column) const {
        return keys_stay ? memory_.of_queries(step)[which * rows + column] : of_rows[half][which];
    }

    /// The number of keys before the last one that the first query sees.
    __device__ int ahead() const { return static_cast<int>(shape_.keys - shape_.queries); }
    /// Whether a key of this step's is hidden from a query of the block's, or the other way round.
    __device__ bool is_partly_seen(int step) const {
        if (keys_stay)
            return shape_.is_causal && first_ + groups * rows - 1 > row_of(step) + ahead();
        return row_of(step) + rows > shape_.keys ||
               (shape_.is_causal && row_of(step) + rows - 1 > first_ + ahead());
    }
    /// Weights of keys that a query does not see are zero.
    __device__ void hide(int step, Products& exponents) const {
        int bound[2];  // the first column that is seen, or the first that is not
        for (int half = 0; half < 2; ++half) {
            const int stays = row() + 8 * half;
            const auto keys = static_cast<int>(shape_.keys);
            const int end = shape_.is_causal ? stays + ahead() + 1 : keys;
            bound[half] = (keys_stay ? stays - ahead() : end) - row_of(step);
        }
        for_each(exponents, [&](int i, int half, int column) {
            if ((column < bound[half]) == keys_stay) exponents.at[i] = -INFINITY;
        });
    }

    __device__ void store(const Result& sums, Element* to, float scale) const {
        for (int half = 0; half < 2; ++half) {
            const attention::Position at{sample_, row() + 8 * half, head_};
            if (at.row >= (keys_stay ? shape_.keys : shape_.queries)) continue;
            Element* const first = to + (keys_stay ? shape_.of_key(at) : shape_.of_query(at));
#pragma unroll
            for (int pair = 0; pair < width / 8; ++pair) {
                const int column = pair * 8 + lane() % 4 * 2;
                const float* const two = sums.at + pair * 4 + half * 2;
                if (column < shape_.width)
                    *reinterpret_cast<unsigned*>(first + column) =
                        warp::rounded(scale * two[0], scale * two[1]);
            }
        }
    }

    const Gradients& g_;
    const Shape& shape_;
    Memory memory_;
    int group_, first_, active_, head_, sample_, first_tile_, steps_;
};

/// **Grid** a block for each tile of each head of each sample; `threads`.
template <class Memory, bool keys_stay>
__global__ void __launch_bounds__(threads, 1)
    gradients_in_tiles(const __grid_constant__ Gradients g) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const Memory memory{shared};
    const Block<Memory, keys_stay> block(g, memory);
    memory.begin_barriers(block.active());
    if (threadIdx.x >= multiplying) {
        hopper::keep_registers<copying_registers>();
        if (threadIdx.x == multiplying) block.copy();
    } else {
        hopper::take_registers<multiplying_registers>();
        block.multiply();
    }
}

constexpr int lanes_of_query = 8, chunk = 8;  ///< threads, and elements that one reads at once

/// What products with a query need. One beyond the last gets an lse with which all weights are
/// zero.
/// **Grid** `lanes_of_query` threads for each of the rows' places, whole blocks.
__global__ void prepare_queries(Shape shape, const Element* grad_o, const Element* o,
                                const float* lse, float* of_queries, long long pitch) {
    const long long index = thread_in_grid() / lanes_of_query, row = index % pitch;
    const long long sample = index / pitch / shape.heads, head = index / pitch % shape.heads;
    const bool is_there = row < shape.queries;
    const attention::Position at{sample, row, head};
    const int lane = static_cast<int>(threadIdx.x) % lanes_of_query;
    float sum = 0.0f;
    for (int c = lane * chunk; is_there && c < shape.width; c += lanes_of_query * chunk) {
        alignas(16) Element of_grad[chunk], of_o[chunk];
        const long long first = shape.of_query(at) + c;
        *reinterpret_cast<uint4*>(of_grad) = *reinterpret_cast<const uint4*>(grad_o + first);
        *reinterpret_cast<uint4*>(of_o) = *reinterpret_cast<const uint4*>(o + first);
#pragma unroll
        for (int i = 0; i < chunk; ++i)
            sum += static_cast<float>(of_grad[i]) * static_cast<float>(of_o[i]);
    }
#pragma unroll
    for (int apart = lanes_of_query / 2; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (lane != 0) return;
    float* const to = of_queries + (sample * shape.heads + head) * rows_of_queries * pitch + row;
    to[lse_row * pitch] = is_there ? lse[shape.of_sum(at)] * log2_e : INFINITY;
    to[sum_row * pitch] = sum;
}

long long pitch_of(long long queries) { return divided_up(queries, rows) * rows; }

/// Heads of rows: elements, heads, rows, samples.
CUtensorMap map_of(const TensorView& view) {
    return tensor_maps::in_boxes<Element, 4>(
        {view.as<const Element>(), {view.size(3), view.size(2), view.size(1), view.size(0)}},
        {across, 1, rows, 1}, swizzle);
}

template <class Memory, bool keys_stay>
void launch_tiles(const Gradients& g, cudaStream_t stream) {
    const auto kernel = gradients_in_tiles<Memory, keys_stay>;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Memory::bytes) !=
        cudaSuccess)
        throw std::runtime_error("no block has as much shared memory");
    const long long tiles = divided_up(keys_stay ? g.shape.keys : g.shape.queries, groups * rows);
    const auto blocks = static_cast<unsigned>(g.shape.samples * g.shape.heads * tiles);
    kernel<<<blocks, threads, Memory::bytes, stream>>>(g);
}

template <int width>
void launch_gradients(const Backward& call) {
    const Shape shape(call);
    const long long pitch = pitch_of(shape.queries), heads = shape.samples * shape.heads;
    auto* const of_queries = static_cast<float*>(call.launch.workspace);
    const auto stream = call.launch.stream;
    constexpr int block = 256;
    prepare_queries<<<blocks_of(heads * pitch * lanes_of_query, block), block, 0, stream>>>(
        shape, call.grad_o.as<const Element>(), call.o.as<const Element>(),
        call.lse.as<const float>(), of_queries, pitch);
    const Gradients g{
        map_of(call.q),
        map_of(call.k),
        map_of(call.v),
        map_of(call.grad_o),
        tensor_maps::in_boxes<float, 2>({of_queries, {pitch, rows_of_queries * heads}},
                                        {rows, rows_of_queries}, CU_TENSOR_MAP_SWIZZLE_NONE),
        shape,
        of_queries,
        pitch,
        call.dq.as<Element>(),
        call.dk.as<Element>(),
        call.dv.as<Element>(),
        shape.scale()};
    launch_tiles<Memory<width>, true>(g, stream);
    launch_tiles<Memory<width>, false>(g, stream);
}

[[maybe_unused]] void backward(const Backward& call) {
    if (call.d <= 64)
        launch_gradients<64>(call);
    else
        launch_gradients<128>(call);
}

std::int64_t bytes_of_queries_in_all(const Problem& problem) {
    return problem.scalar("b") * problem.scalar("h") * pitch_of(problem.scalar("sq")) *
           rows_of_queries * static_cast<std::int64_t>(sizeof(float));
}

/// A block for each tile of keys, and for each of queries.
std::int64_t threads_of_tiles(const Problem& problem) {
    const std::int64_t tiles = divided_up(problem.scalar("sq"), groups * rows) +
                               divided_up(problem.scalar("sk"), groups * rows);
    return problem.scalar("b") * problem.scalar("h") * tiles * threads;
}

/// Coordinates are ints.
bool is_in_reach(const Problem& problem) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    const auto sizes = {problem.scalar("b"), problem.scalar("h"), problem.scalar("sq"),
                        problem.scalar("sk")};
    return std::ranges::min(sizes) > 0 && std::ranges::max(sizes) < most;
}

/// The weights and their gradients are rounded before tensor cores multiply them.
[[maybe_unused]] void declare(KernelDeclaration& kernel) {
    kernel.storage(DType::bf16)
        .on_tensor_cores()
        .contiguous()
        .rounds("p", DType::bf16)
        .rounds("ds", DType::bf16)
        .where("d", multiple_of(8))
        .where("d", between(8, 128))
        .only_if("no tensor is empty, and sizes are less than 2^30", is_in_reach)
        .aligned_to(16)
        .workspace(bytes_of_queries_in_all)
        .costs({.barriers_per_thread = 2, .threads = threads_of_tiles})
        .on_given_stream();
}

}  // namespace

// nvcc builds it where it builds for sm_90a (kernels/CMakeLists.txt).
#if !defined(__NVCC__) || defined(GRADVERIFY_SM_90A)
GRADVERIFY_KERNEL(Backward, "wgmma", backward).with(declare);
#endif
