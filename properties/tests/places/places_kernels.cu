// SPDX-License-Identifier: Apache-2.0
// Kernels of the operators whose numbers become places: right ones, and some that take another
// place, or other random bits. A thread serves an element of the result.
#include <curand_kernel.h>

#include "properties/tests/launches.cuh"

namespace {

using namespace gradverify;

using Sampled = Pass<"sampled", "forward">;
using SampledBackward = Pass<"sampled", "backward">;
using Nearest = Pass<"nearest", "forward">;
using NearestGrad = Pass<"nearest", "grad_image">;
struct Dropout : Pass<"dropout", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), seed = tensor("seed"), offset = tensor("offset");
    TensorView y = tensor("y"), words = tensor("words");
    float keep = attribute("keep");
};
struct DropoutGrad : Pass<"dropout", "grad_x"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), seed = tensor("seed"), offset = tensor("offset");
    TensorView dx = tensor("dx");
    float keep = attribute("keep");
};

/// `from_above` is right as well, where a place lies on a pixel.
enum class Step { down, from_above, nearest };

template <Step step>
__device__ float stepped(float place) {
    if (step == Step::from_above) return ceilf(place) - 1.0f;
    return step == Step::down ? floorf(place) : rintf(place);
}
__device__ float place_of(float at, int width) {
    return ((at + 1.0f) * static_cast<float>(width) - 1.0f) / 2.0f;
}
__device__ float pixel(const float* image, int width, int place) {
    return place >= 0 && place < width ? image[place] : 0.0f;
}

template <Step step>
__device__ void sample(int i, const float* image, int width, const float* at, float* y) {
    const float place = place_of(at[i], width), left = stepped<step>(place), share = place - left;
    const int first = static_cast<int>(left);
    y[i] = pixel(image, width, first) * (1.0f - share) + pixel(image, width, first + 1) * share;
}

/// First the gradients by places, then those by pixels.
template <Step step>
__device__ void sample_backward(int i, int n, int width, const float* dy, const float* image,
                                const float* at, float* grad_image, float* grad_at) {
    if (i < n) {
        const int first = static_cast<int>(stepped<step>(place_of(at[i], width)));
        grad_at[i] = dy[i] * (pixel(image, width, first + 1) - pixel(image, width, first)) *
                     static_cast<float>(width) * 0.5f;
        return;
    }
    const int column = i - n;
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) {
        const float place = place_of(at[j], width), left = floorf(place), share = place - left;
        if (static_cast<int>(left) == column) sum += dy[j] * (1.0f - share);
        if (static_cast<int>(left) + 1 == column) sum += dy[j] * share;
    }
    grad_image[column] = sum;
}

template <Step step>
__device__ void take(int i, const float* image, int width, const float* at, float* y) {
    y[i] = pixel(image, width, static_cast<int>(stepped<step>(place_of(at[i], width))));
}

template <Step step>
__device__ void add_taken(int column, int n, int width, const float* dy, const float* at,
                          float* grad_image) {
    float sum = 0.0f;
    for (int j = 0; j < n; ++j)
        if (static_cast<int>(stepped<step>(place_of(at[j], width))) == column) sum += dy[j];
    grad_image[column] = sum;
}

enum class Bits { right, seed_of_32_bits, next_offset };

template <Bits bits>
__device__ curandStatePhilox4_32_10_t state_of(int i, const std::int64_t* seed,
                                               const std::int64_t* offset) {
    curandStatePhilox4_32_10_t state;
    const auto seen = static_cast<unsigned long long>(*seed);
    curand_init(bits == Bits::seed_of_32_bits ? seen & 0xffffffffu : seen,
                static_cast<unsigned long long>(i),
                static_cast<unsigned long long>(*offset + (bits == Bits::next_offset ? 4 : 0)),
                &state);
    return state;
}
__device__ float dropped(curandStatePhilox4_32_10_t state, float x, float keep) {
    return curand_uniform(&state) <= keep ? x / keep : 0.0f;
}

template <Bits bits>
__device__ void drop(int i, const float* x, const std::int64_t* seed, const std::int64_t* offset,
                     float* y, std::int64_t* words, float keep) {
    curandStatePhilox4_32_10_t state = state_of<bits>(i, seed, offset);
    y[i] = dropped(state, x[i], keep);
    const uint4 random = curand4(&state);
    const unsigned all[] = {random.x, random.y, random.z, random.w};
    for (int word = 0; word < 4; ++word) words[4 * i + word] = all[word];
}
template <Bits bits>
__device__ void drop_gradient(int i, const float* dy, const std::int64_t* seed,
                              const std::int64_t* offset, float* dx, float keep) {
    dx[i] = dropped(state_of<bits>(i, seed, offset), dy[i], keep);
}

template <class Call, auto function>
void launch_sample(const Call& call) {
    const auto image = call.tensor("image"), at = call.tensor("at"), y = call.tensor("y");
    launch_each<function>(call.launch, y.elements(), image, image.elements(), at, y);
}
template <Step step>
void launch_sample_backward(const SampledBackward& call) {
    const auto image = call.tensor("image"), at = call.tensor("at");
    const long long n = at.elements(), width = image.elements();
    launch_each<sample_backward<step>>(call.launch, n + width, n, width, call.tensor("dy"), image,
                                       at, call.tensor("dimage"), call.tensor("dat"));
}
template <Step step>
void launch_add_taken(const NearestGrad& call) {
    const auto at = call.tensor("at"), grad_image = call.tensor("dimage");
    const long long width = grad_image.elements();
    launch_each<add_taken<step>>(call.launch, width, at.elements(), width, call.tensor("dy"), at,
                                 grad_image);
}
template <Bits bits>
void launch_drop(const Dropout& call) {
    launch_each<drop<bits>>(call.launch, call.x.elements(), call.x, call.seed, call.offset, call.y,
                            call.words, call.keep);
}
template <Bits bits>
void launch_drop_gradient(const DropoutGrad& call) {
    launch_each<drop_gradient<bits>>(call.launch, call.dy.elements(), call.dy, call.seed,
                                     call.offset, call.dx, call.keep);
}

}  // namespace

GRADVERIFY_KERNEL(Sampled, "right", (launch_sample<Sampled, sample<Step::down>>));
GRADVERIFY_KERNEL(Sampled, "from_above", (launch_sample<Sampled, sample<Step::from_above>>));
GRADVERIFY_KERNEL(Sampled, "bug_round", (launch_sample<Sampled, sample<Step::nearest>>));
GRADVERIFY_KERNEL(SampledBackward, "right", launch_sample_backward<Step::down>);
GRADVERIFY_KERNEL(SampledBackward, "bug_round", launch_sample_backward<Step::nearest>);
GRADVERIFY_KERNEL(Nearest, "right", (launch_sample<Nearest, take<Step::nearest>>));
GRADVERIFY_KERNEL(Nearest, "bug_floor", (launch_sample<Nearest, take<Step::down>>));
GRADVERIFY_KERNEL(NearestGrad, "right", launch_add_taken<Step::nearest>);
GRADVERIFY_KERNEL(NearestGrad, "bug_floor", launch_add_taken<Step::down>);
GRADVERIFY_KERNEL(Dropout, "right", launch_drop<Bits::right>);
GRADVERIFY_KERNEL(Dropout, "bug_seed_of_32_bits", launch_drop<Bits::seed_of_32_bits>);
GRADVERIFY_KERNEL(DropoutGrad, "right", launch_drop_gradient<Bits::right>);
GRADVERIFY_KERNEL(DropoutGrad, "bug_next_offset", launch_drop_gradient<Bits::next_offset>);
