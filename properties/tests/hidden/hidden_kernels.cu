// SPDX-License-Identifier: Apache-2.0
// Kernels whose mistake hides: in memory that looks like numbers, in an input that is put back, in
// what a launcher keeps, in device memory that its host code reaches here, in launches from another
// thread, and in words that end in a tensor. Each is made for three operators, with a right twin.
// Also right ones that begin as many threads for any problem.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <future>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include "properties/tests/launches.cuh"

namespace {

using namespace gradverify;

enum class Which { strided, squared, turned };

/// What an element is computed from, beside x.
struct Way {
    int n, step;
    float factor;
    auto operator<=>(const Way&) const = default;
};

template <Which which>
struct Of;
template <>
struct Of<Which::strided> : Pass<"strided", "forward"> {
    using Pass::Pass;
    Way way() const { return {int(size("n")), int(size("step")), 0.0f}; }
};
template <>
struct Of<Which::squared> : Pass<"squared", "forward"> {
    using Pass::Pass;
    Way way() const { return {int(size("n")), 1, attribute("factor")}; }
};
template <>
struct Of<Which::turned> : Pass<"turned", "forward"> {
    using Pass::Pass;
    Way way() const { return {int(size("n")), int(size("step")), 0.0f}; }
};

template <Which which>
__device__ int place(int i, Way way) {
    if (which == Which::strided) return i * way.step;
    return which == Which::squared ? i : (i + way.step) % way.n;
}
template <Which which>
__device__ float value(float x, Way way) {
    if (which == Which::strided) return 3.0f * x;
    return which == Which::squared ? way.factor * x * x : x;
}
template <Which which>
__device__ void element(int i, const float* x, float* y, Way way) {
    y[i] = value<which>(x[place<which>(i, way)], way);
}
template <Which which>
void plain(const Of<which>& call, Way way) {
    launch_each<element<which>>(call.launch, way.n, call.tensor("x"), call.tensor("y"), way);
}

// ---- what memory held before

/// A number that no test for NaN, and none for a range, throws out.
__device__ float if_plausible(float old) { return fabsf(old) < 4.0f ? old : 0.0f; }

template <Which which>
__device__ void add_scratch(int i, const float* x, float* y, const float* scratch, Way way) {
    y[i] = value<which>(x[place<which>(i, way)], way) + if_plausible(scratch[i]);
}
template <Which which>
void with_scratch(const Of<which>& call, const float* scratch) {
    launch_blocks(call.launch,
                  for_each_below<add_scratch<which>, int, const float*, float*, const float*, Way>,
                  blocks_of(call.way().n, 64), 64, call.way().n, call.tensor("x"), call.tensor("y"),
                  scratch, call.way());
}

template <Which which>
void adds_to_output(const Of<which>& call) {
    with_scratch<which>(call, call.tensor("y").template as<float>());
}
/// Clears the workspace from this word on.
template <Which which, int from>
void adds_workspace(const Of<which>& call) {
    auto* const words = static_cast<float*>(call.launch.workspace);
    if (call.way().n > from)
        cudaMemsetAsync(words + from, 0, (call.way().n - from) * sizeof(float), call.launch.stream);
    with_scratch<which>(call, words);
}
template <Which which, bool is_cleared>
void adds_own_memory(const Of<which>& call) {
    float* own = nullptr;
    const std::size_t bytes = call.way().n * sizeof(float);
    cudaMallocAsync(&own, bytes, call.launch.stream);
    if (is_cleared) cudaMemsetAsync(own, 0, bytes, call.launch.stream);
    with_scratch<which>(call, own);
    cudaFreeAsync(own, call.launch.stream);
}
std::int64_t a_word_for_each(const Problem& p) { return 4 * p.scalar("n"); }
constexpr int no_word = 1 << 30;

// ---- an input that is put back

template <Which which, bool in_place>
__global__ void halve_and_double(const float* x, float* y, Way way) {
    for (int i = 0; i < way.n; ++i) {
        const int at = place<which>(i, way);
        const float held = x[at];
        float half = 0.5f * held;
        if (in_place) {
            const_cast<float*>(x)[at] = half;
            __syncthreads();  // or a compiler leaves both writes out
            half = x[at];
            const_cast<float*>(x)[at] = held;
        }
        y[i] = value<which>(2.0f * half, way);
    }
}
template <Which which, bool in_place>
void by_halves(const Of<which>& call) {
    launch_blocks(call.launch, halve_and_double<which, in_place>, 1, 1, call.tensor("x"),
                  call.tensor("y"), call.way());
}
/// Puts the first element aside, clears it, and brings it back.
template <Which which>
void clears_and_restores(const Of<which>& call) {
    auto* const first = const_cast<float*>(call.tensor("x").template as<const float>());
    const auto stream = call.launch.stream;
    float* aside = nullptr;
    cudaMallocAsync(&aside, sizeof(float), stream);
    cudaMemcpyAsync(aside, first, sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaMemsetAsync(first, 0, sizeof(float), stream);
    cudaMemcpyAsync(first, aside, sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaFreeAsync(aside, stream);
    plain<which>(call, call.way());
}

// ---- what a launcher keeps

/// Results by the problem and as many of the first elements.
template <Which which, int most_compared>
void keeps_results(const Of<which>& call) {
    static std::map<std::pair<Way, std::vector<float>>, std::vector<float>> kept;
    const auto stream = call.launch.stream;
    const TensorView x = call.tensor("x"), y = call.tensor("y");
    std::vector<float> first(
        static_cast<std::size_t>(x.elements() < most_compared ? x.elements() : most_compared));
    cudaMemcpyAsync(first.data(), x.template as<const float>(), first.size() * sizeof(float),
                    cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    const auto [at, is_new] = kept.try_emplace({call.way(), first}, y.elements());
    auto* const out = y.template as<float>();
    if (is_new) {
        plain<which>(call, call.way());
        cudaMemcpyAsync(at->second.data(), out, at->second.size() * sizeof(float),
                        cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
    } else {
        cudaMemcpyAsync(out, at->second.data(), at->second.size() * sizeof(float),
                        cudaMemcpyHostToDevice, stream);
    }
}

/// A plan for each size, whatever the other parameters are, or for all of them.
template <Which which, bool by_all>
void keeps_plans(const Of<which>& call) {
    static std::map<Way, Way> kept;
    const Way way = call.way();
    plain<which>(call, kept.try_emplace(by_all ? way : Way{way.n, 0, 0.0f}, way).first->second);
}

// ---- device memory on the host

/// Where a launcher sums all x, by whose sign it picks its kernel.
enum class Sums { in_place, after_memcpy, after_copy, of_managed, of_pinned };

template <Which which, Sums sums>
void asks_for_sum(const Of<which>& call) {
    const TensorView x = call.tensor("x");
    const auto* from = x.template as<const float>();
    const auto count = static_cast<std::size_t>(x.elements());
    const std::size_t bytes = count * sizeof(float);
    const auto stream = call.launch.stream;
    std::vector<float> host(count);
    float* own = host.data();
    if (sums == Sums::of_managed) cudaMallocManaged(&own, bytes);
    if (sums == Sums::of_pinned) cudaMallocHost(&own, bytes);
    if (sums == Sums::after_memcpy) {
        std::memcpy(own, from, bytes);
    } else if (sums != Sums::in_place) {
        cudaMemcpyAsync(own, from, bytes, cudaMemcpyDefault, stream);
        cudaStreamSynchronize(stream);
    }
    const float* const seen = sums == Sums::in_place ? from : own;
    const float sum = std::accumulate(seen, seen + count, 0.0f);
    if (sum > 0.0f)
        by_halves<which, false>(call);
    else
        plain<which>(call, call.way());
    if (sums == Sums::of_managed) cudaFree(own);
    if (sums == Sums::of_pinned) cudaFreeHost(own);
}
/// Picks its kernel by the first element.
template <Which which, bool is_copied>
void branches_on_first(const Of<which>& call) {
    const auto* const x = call.tensor("x").template as<const float>();
    float first = 0.0f;
    if (is_copied)
        cudaMemcpyAsync(&first, x, sizeof first, cudaMemcpyDeviceToHost, call.launch.stream);
    cudaStreamSynchronize(call.launch.stream);
    if (!is_copied) first = x[0];
    if (first > 0.0f)
        by_halves<which, false>(call);
    else
        plain<which>(call, call.way());
}
/// Puts one more element right behind the kernel.
template <Which which, bool is_copied>
void patches_output(const Of<which>& call) {
    plain<which>(call, call.way());
    auto* const y = call.tensor("y").template as<float>();
    float last = 0.0f, *const at = y + call.way().n - 1;
    if (is_copied)
        cudaMemcpyAsync(&last, at, sizeof last, cudaMemcpyDeviceToHost, call.launch.stream);
    cudaStreamSynchronize(call.launch.stream);
    if (is_copied)
        cudaMemcpyAsync(at, &last, sizeof last, cudaMemcpyHostToDevice, call.launch.stream);
    else
        *at = -(0.0f - *at);
}
/// Clears its scratch in a loop.
template <Which which, bool on_host>
void clears_scratch(const Of<which>& call) {
    float* own = nullptr;
    const std::size_t bytes = call.way().n * sizeof(float);
    cudaMalloc(&own, bytes);
    if (!on_host) cudaMemsetAsync(own, 0, bytes, call.launch.stream);
    for (int i = 0; on_host && i < call.way().n; ++i) own[i] = 0.0f;
    with_scratch<which>(call, own);
    cudaStreamSynchronize(call.launch.stream);
    cudaFree(own);
}

constexpr int many_threads = 65536;
template <Which which>
__global__ void stride_over_grid(const float* x, float* y, Way way) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < way.n; i += gridDim.x * blockDim.x)
        element<which>(i, x, y, way);
}
template <Which which>
void strides_over_grid(const Of<which>& call) {
    stride_over_grid<which><<<many_threads / 256, 256, 0, call.launch.stream>>>(
        call.tensor("x").template as<const float>(), call.tensor("y").template as<float>(),
        call.way());
}
constexpr LaunchCost of_many_threads{
    .threads = [](const Problem&) -> std::int64_t { return many_threads; }};

// ---- launches from another thread

enum class Turning { right, without_barrier, beyond_end, with_wrong_sign };

/// The elements of a block by way of shared memory, in reverse.
template <Which which, Turning turning>
__global__ void turn_in_blocks(const float* x, float* y, Way way) {
    __shared__ float held[64];
    const int first = blockIdx.x * 64, count = min(64, way.n - first), t = threadIdx.x;
    if (t < count) held[t] = x[place<which>(first + t, way)];
    if (turning != Turning::without_barrier) __syncthreads();
    const int back = count - 1 - t;
    const int to = first + back + (turning == Turning::beyond_end && t == 0 ? 1 << 10 : 0);
    if (t < count)
        y[to] =
            (turning == Turning::with_wrong_sign ? -1.0f : 1.0f) * value<which>(held[back], way);
}
/// From a thread that the launcher joins, or from two at once.
template <Which which, Turning turning, bool is_async>
void launches_elsewhere(const Of<which>& call) {
    const auto launch = [&call] {
        launch_blocks(call.launch, turn_in_blocks<which, turning>, blocks_of(call.way().n, 64), 64,
                      call.tensor("x"), call.tensor("y"), call.way());
    };
    if (!is_async) return std::thread(launch).join();
    const auto other = std::async(std::launch::async, launch);
    std::async(std::launch::async, launch).get();
    other.wait();
}

// ---- words of 32 bits, of which the first or the last may belong to the tensor by half

enum class Words { compared, stored, cleared };

/// The sum of 16 bits, as PyTorch forms it.
template <Which which, Words words>
__device__ void add_by_words(int i, const __half* x, __half* y, Way way) {
    const float term = value<which>(__half2float(x[place<which>(i, way)]), way);
    const auto at = reinterpret_cast<std::uintptr_t>(y + i);
    auto* const word = reinterpret_cast<unsigned*>(at - at % 4);
    const unsigned shift = at % 4 * 8;
    unsigned old = *word, assumed = 0;
    do {
        assumed = old;
        const float own = __half2float(__ushort_as_half(static_cast<unsigned short>(old >> shift)));
        const unsigned sum = __half_as_ushort(__float2half(own + term));
        const unsigned others = words == Words::cleared ? 0u : old & ~(0xffffu << shift);
        if (words == Words::stored) {
            *word = others | sum << shift;
            return;
        }
        old = atomicCAS(word, assumed, others | sum << shift);
    } while (old != assumed);
}
/// Two elements at once, though the second one may be missing.
template <Which which, bool is_pair>
__device__ void read_pair(int i, const __half* x, __half* y, Way way) {
    const auto at = reinterpret_cast<std::uintptr_t>(x + place<which>(i, way));
    const unsigned own = is_pair ? *reinterpret_cast<const unsigned*>(at - at % 4) >> at % 4 * 8
                                 : *reinterpret_cast<const unsigned short*>(at);
    y[i] = __float2half(
        value<which>(__half2float(__ushort_as_half(static_cast<unsigned short>(own))), way));
}
template <Which which, Words words>
void adds_by_words(const Of<which>& call) {
    const TensorView y = call.tensor("y");
    cudaMemsetAsync(y.data, 0, static_cast<std::size_t>(y.elements()) * 2, call.launch.stream);
    launch_each<add_by_words<which, words>>(call.launch, call.way().n, call.tensor("x"), y,
                                            call.way());
}
template <Which which, bool is_pair>
void reads_pairs(const Of<which>& call) {
    launch_each<read_pair<which, is_pair>>(call.launch, call.way().n, call.tensor("x"),
                                           call.tensor("y"), call.way());
}

}  // namespace

#define HIDDEN(WHICH, VARIANT, ...) GRADVERIFY_KERNEL(Of<Which::WHICH>, VARIANT, (__VA_ARGS__))
#define ELSEWHERE(WHICH, VARIANT, TURNING)                             \
    HIDDEN(WHICH, VARIANT "_from_thread",                              \
           launches_elsewhere<Which::WHICH, Turning::TURNING, false>); \
    HIDDEN(WHICH, VARIANT "_from_async", launches_elsewhere<Which::WHICH, Turning::TURNING, true>)
#define OF_HALVES(WHICH, VARIANT, ...) \
    HIDDEN(WHICH, VARIANT, __VA_ARGS__).storage(DType::f16).aligned_to(2)
#define HIDDEN_ALL(WHICH)                                                                          \
    OF_HALVES(WHICH, "adds_by_words", adds_by_words<Which::WHICH, Words::compared>);               \
    OF_HALVES(WHICH, "bug_stores_words", adds_by_words<Which::WHICH, Words::stored>);              \
    OF_HALVES(WHICH, "bug_clears_words", adds_by_words<Which::WHICH, Words::cleared>);             \
    OF_HALVES(WHICH, "reads_halves", reads_pairs<Which::WHICH, false>);                            \
    OF_HALVES(WHICH, "bug_reads_pairs", reads_pairs<Which::WHICH, true>);                          \
    ELSEWHERE(WHICH, "turns", right);                                                              \
    ELSEWHERE(WHICH, "bug_turns_early", without_barrier);                                          \
    ELSEWHERE(WHICH, "bug_turns_beyond", beyond_end);                                              \
    ELSEWHERE(WHICH, "bug_turns_sign", with_wrong_sign);                                           \
    HIDDEN(WHICH, "bug_plausible_output", adds_to_output<Which::WHICH>);                           \
    HIDDEN(WHICH, "bug_plausible_workspace", adds_workspace<Which::WHICH, no_word>)                \
        .workspace(a_word_for_each);                                                               \
    HIDDEN(WHICH, "bug_first_of_workspace", adds_workspace<Which::WHICH, 1>)                       \
        .workspace(a_word_for_each);                                                               \
    HIDDEN(WHICH, "clears_workspace", adds_workspace<Which::WHICH, 0>).workspace(a_word_for_each); \
    HIDDEN(WHICH, "bug_plausible_own_memory", adds_own_memory<Which::WHICH, false>);               \
    HIDDEN(WHICH, "clears_own_memory", adds_own_memory<Which::WHICH, true>);                       \
    HIDDEN(WHICH, "bug_restores_input", by_halves<Which::WHICH, true>);                            \
    HIDDEN(WHICH, "bug_clears_and_restores", clears_and_restores<Which::WHICH>);                   \
    HIDDEN(WHICH, "leaves_input", by_halves<Which::WHICH, false>);                                 \
    HIDDEN(WHICH, "bug_results_by_first", keeps_results<Which::WHICH, 2>);                         \
    HIDDEN(WHICH, "results_by_all", keeps_results<Which::WHICH, no_word>);                         \
    HIDDEN(WHICH, "bug_plans_by_size", keeps_plans<Which::WHICH, false>);                          \
    HIDDEN(WHICH, "plans_by_all", keeps_plans<Which::WHICH, true>);                                \
    HIDDEN(WHICH, "bug_sums_on_host", asks_for_sum<Which::WHICH, Sums::in_place>);                 \
    HIDDEN(WHICH, "bug_copies_on_host", asks_for_sum<Which::WHICH, Sums::after_memcpy>);           \
    HIDDEN(WHICH, "sums_a_copy", asks_for_sum<Which::WHICH, Sums::after_copy>);                    \
    HIDDEN(WHICH, "sums_managed_memory", asks_for_sum<Which::WHICH, Sums::of_managed>);            \
    HIDDEN(WHICH, "sums_pinned_memory", asks_for_sum<Which::WHICH, Sums::of_pinned>);              \
    HIDDEN(WHICH, "bug_branches_on_host", branches_on_first<Which::WHICH, false>);                 \
    HIDDEN(WHICH, "branches_on_a_copy", branches_on_first<Which::WHICH, true>);                    \
    HIDDEN(WHICH, "bug_patches_on_host", patches_output<Which::WHICH, false>);                     \
    HIDDEN(WHICH, "patches_by_copies", patches_output<Which::WHICH, true>);                        \
    HIDDEN(WHICH, "bug_clears_on_host", clears_scratch<Which::WHICH, true>);                       \
    HIDDEN(WHICH, "clears_on_device", clears_scratch<Which::WHICH, false>);                        \
    HIDDEN(WHICH, "many_threads", strides_over_grid<Which::WHICH>);                                \
    HIDDEN(WHICH, "many_threads_told", strides_over_grid<Which::WHICH>).costs(of_many_threads);    \
    HIDDEN(WHICH, "of_one_element", by_halves<Which::WHICH, false>).up_to_elements(1);             \
    HIDDEN(WHICH, "of_five_elements", by_halves<Which::WHICH, false>).up_to_elements(5)
HIDDEN_ALL(strided);
HIDDEN_ALL(squared);
HIDDEN_ALL(turned);
