// SPDX-License-Identifier: Apache-2.0
// rope.{forward,grad_x}/naive: a thread for each element of the result.
// rope.{forward,grad_x}/tokens: a block for each token turns the pairs of all heads in vectors of
// 16 bytes, in place or not; in float, in bfloat16, and in bfloat16 with a table in float.
#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

using gradverify::TensorView;

struct Forward : gradverify::Pass<"rope", "forward"> {
    using Pass::Pass;
    TensorView from = tensor("x"), to = tensor("y");
    static constexpr float sign = 1.0f;
};
/// The gradient is turned back.
struct GradX : gradverify::Pass<"rope", "grad_x"> {
    using Pass::Pass;
    TensorView from = tensor("dy"), to = tensor("dx");
    static constexpr float sign = -1.0f;
};

struct Shape {
    long long tokens, length, heads, dim, pairs, offset;

    template <class Pass>
    explicit Shape(const Pass& call)
        : tokens(call.size("batch") * call.size("length")),
          length(call.size("length")),
          heads(call.size("heads")),
          dim(call.size("dim")),
          pairs(call.size("pairs")),
          offset(call.size("offset")) {}

    /// Where the table's row for a token begins.
    __device__ long long angles_of(long long token) const {
        return (offset + token % length) * pairs;
    }
};

__global__ void turn_each(Shape shape, const float* from, const float* cosines, const float* sines,
                          float* to, long long elements, bool is_interleaved, float sign) {
    const long long at = thread_in_grid(), d = at % shape.dim;
    if (at >= elements) return;
    if (d >= 2 * shape.pairs) {
        to[at] = from[at];
        return;
    }
    const bool is_first = is_interleaved ? d % 2 == 0 : d < shape.pairs;
    const long long pair = is_interleaved ? d / 2 : d % shape.pairs;
    const long long distance = is_interleaved ? 1 : shape.pairs;
    const long long angle = shape.angles_of(at / shape.dim / shape.heads) + pair;
    const float other = is_first ? -from[at + distance] : from[at - distance];
    to[at] = from[at] * cosines[angle] + other * (sign * sines[angle]);
}

template <class Pass>
void naive(const Pass& call) {
    const long long elements = call.to.elements();
    if (elements == 0) return;
    turn_each<<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        Shape(call), call.from.template as<const float>(),
        call.tensor("cos").template as<const float>(),
        call.tensor("sin").template as<const float>(), call.to.template as<float>(), elements,
        call.size("interleaved") == 1, Pass::sign);
}

/// Several pairs of a row from the pair `first` on.
template <bool is_interleaved, int count, class T>
class Pairs {
  public:
    __device__ Pairs(long long first, long long pairs)
        : at_(is_interleaved ? 2 * first : first),
          behind_(is_interleaved ? at_ + count : first + pairs) {}

    __device__ void load(const T* row) {
        packs_[0] = pack_at<count>(row + at_);
        packs_[1] = pack_at<count>(row + behind_);
    }
    __device__ void store(T* row) const {
        pack_at<count>(row + at_) = packs_[0];
        pack_at<count>(row + behind_) = packs_[1];
    }
    __device__ void turn(int pair, float cosine, float sine) {
        T &first = element(is_interleaved ? 2 * pair : pair),
          &second = element(is_interleaved ? 2 * pair + 1 : count + pair);
        const float one = static_cast<float>(first), other = static_cast<float>(second);
        first = static_cast<T>(one * cosine - other * sine);
        second = static_cast<T>(one * sine + other * cosine);
    }

  private:
    __device__ T& element(int i) { return packs_[i / count].at[i % count]; }

    long long at_, behind_;
    Pack<T, count> packs_[2];
};

template <bool is_interleaved, int count, class T, class Table>
__global__ void turn_tokens(Shape shape, const T* from, const Table* cosines, const Table* sines,
                            T* to, float sign) {
    const long long items = shape.heads * shape.pairs / count, turned = 2 * shape.pairs;
    const long long rest = shape.dim - turned;
    for (long long token = blockIdx.x; token < shape.tokens; token += gridDim.x) {
        const long long at = token * shape.heads * shape.dim;
        for (long long item = threadIdx.x; item < items; item += blockDim.x) {
            const long long i = item * count, pair = i % shape.pairs;
            const long long row = at + i / shape.pairs * shape.dim;
            const auto cosine = pack_at<count>(cosines + shape.angles_of(token) + pair);
            const auto sine = pack_at<count>(sines + shape.angles_of(token) + pair);
            Pairs<is_interleaved, count, T> pairs(pair, shape.pairs);
            pairs.load(from + row);
            for (int k = 0; k < count; ++k)
                pairs.turn(k, static_cast<float>(cosine.at[k]),
                           sign * static_cast<float>(sine.at[k]));
            pairs.store(to + row);
        }
        if (from == to) continue;
        for (long long i = threadIdx.x; i < shape.heads * rest; i += blockDim.x) {
            const long long element = at + i / rest * shape.dim + turned + i % rest;
            to[element] = from[element];
        }
    }
}

template <class T, class Table, class Pass>
void by_tokens(const Pass& call) {
    const Shape shape(call);
    if (shape.tokens == 0) return;
    constexpr int full = elements_of_pack<T>;
    const bool is_interleaved = call.size("interleaved") == 1;
    const auto kernel = shape.pairs % full == 0 && shape.dim % full == 0
                            ? is_interleaved ? turn_tokens<true, full, T, Table>
                                             : turn_tokens<false, full, T, Table>
                        : is_interleaved ? turn_tokens<true, 1, T, Table>
                                         : turn_tokens<false, 1, T, Table>;
    kernel<<<blocks_of_rows(shape.tokens), call.launch.block_size, 0, call.launch.stream>>>(
        shape, call.from.template as<const T>(), call.tensor("cos").template as<const Table>(),
        call.tensor("sin").template as<const Table>(), call.to.template as<T>(), Pass::sign);
}

std::int64_t threads_of_tokens(const gradverify::Problem& problem) {
    return 128 * problem.scalar("batch") * problem.scalar("length");
}

template <class T, class Table>
void declare_tokens(gradverify::KernelDeclaration& kernel) {
    constexpr gradverify::DType table = gradverify::DTypeOf<Table>::value;
    declare_elements_on_stream<T>(kernel);
    kernel.blocks_of({128, 32})
        .aligned_to(16)
        .storage("cos", table)
        .storage("sin", table)
        .costs({.threads = threads_of_tokens});
}

}  // namespace

#define ROPE_BY_TOKENS(NAME, ...)                                     \
    GRADVERIFY_KERNEL(Forward, NAME, by_tokens<__VA_ARGS__, Forward>) \
        .with(declare_tokens<__VA_ARGS__>)                            \
        .in_place("y", "x");                                          \
    GRADVERIFY_KERNEL(GradX, NAME, by_tokens<__VA_ARGS__, GradX>)     \
        .with(declare_tokens<__VA_ARGS__>)                            \
        .in_place("dx", "dy")

GRADVERIFY_KERNEL(Forward, "naive", naive<Forward>).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(GradX, "naive", naive<GradX>).with(declare_elements_on_stream<float>);
ROPE_BY_TOKENS("tokens", float, float);
ROPE_BY_TOKENS("tokens_bf16", __nv_bfloat16, __nv_bfloat16);
ROPE_BY_TOKENS("tokens_bf16_table_f32", __nv_bfloat16, float);
