// SPDX-License-Identifier: Apache-2.0
// A18: offsets and counts that overflow, of 32 bits, and of 16 for machines without a GPU.
#include <cstdint>
#include <limits>

#include "properties/tests/launches.cuh"
#include "properties/tests/seeded_bugs/plain_conv.cuh"
#include "reference/relu.hpp"

namespace {

using namespace gradverify::plain_conv;

// In a narrower type offsets wrap around.
template <class Offset>
__device__ long long narrowed(long long offset) {
    return static_cast<Offset>(offset);
}

template <class Offset>
__device__ void rectify(long long i, const float* x, float* y) {
    const long long at = narrowed<Offset>(i);
    y[at] = x[at] <= 0.0f ? 0.0f : x[at];
}

template <class Offset>
void launch_relu(const gradverify::relu::Forward& call) {
    launch_each<rectify<Offset>>(call.launch, call.n, call.x, call.y);
}

// A count that wraps around is negative, or zero.
template <class Count>
void launch_relu_of_narrow_count(const gradverify::relu::Forward& call) {
    const auto count = static_cast<Count>(call.n);
    if (count > 0) launch_each<rectify<long long>>(call.launch, count, call.x, call.y);
}

__device__ void rectify_below(long long i, long long n, const float* x, float* y) {
    if (i < n) rectify<long long>(i, x, y);
}

// Whole steps: the number of elements, rounded up to them, wraps around below the kernel's limit.
template <class Count>
void launch_relu_in_steps(const gradverify::relu::Forward& call, long long step) {
    const auto rounded_up = static_cast<Count>(call.n + step - 1);
    const long long steps = rounded_up / step;
    if (steps > 0) launch_each<rectify_below>(call.launch, steps * step, call.n, call.x, call.y);
}
template <class Count>
void launch_relu_in_short_steps(const gradverify::relu::Forward& call) {
    launch_relu_in_steps<Count>(call, 256);
}
template <class Count>
void launch_relu_in_long_steps(const gradverify::relu::Forward& call) {
    launch_relu_in_steps<Count>(call, std::numeric_limits<Count>::max() / 2 + 1);
}

template <class Offset>
struct NarrowOffset : RightConv {
    __device__ static long long offset(long long element) { return narrowed<Offset>(element); }
};

}  // namespace

#define RELU(VARIANT, LAUNCHER) GRADVERIFY_KERNEL(gradverify::relu::Forward, VARIANT, LAUNCHER)
RELU("bug_a18_offset_32", launch_relu<std::int32_t>);
RELU("bug_a18_offset_16", launch_relu<std::int16_t>);
RELU("bug_a18_unsigned_offset_32", launch_relu<std::uint32_t>);
RELU("bug_a18_unsigned_offset_16", launch_relu<std::uint16_t>);
RELU("bug_a18_count_32", launch_relu_of_narrow_count<std::int32_t>);
RELU("bug_a18_count_16", launch_relu_of_narrow_count<std::int16_t>);

RELU("bug_a18_short_steps_32", launch_relu_in_short_steps<std::int32_t>).up_to_elements(INT32_MAX);
RELU("bug_a18_short_steps_16", launch_relu_in_short_steps<std::int16_t>).up_to_elements(INT16_MAX);
RELU("bug_a18_long_steps_32", launch_relu_in_long_steps<std::int32_t>).up_to_elements(INT32_MAX);
RELU("bug_a18_long_steps_16", launch_relu_in_long_steps<std::int16_t>).up_to_elements(INT16_MAX);
RELU("right_up_to_16_bits", launch_relu<std::int16_t>).up_to_elements(INT16_MAX);

#define CONV(PASS, LAUNCHER)                                                            \
    GRADVERIFY_KERNEL(PASS, "bug_a18_offset_32", LAUNCHER<NarrowOffset<std::int32_t>>); \
    GRADVERIFY_KERNEL(PASS, "bug_a18_offset_16", LAUNCHER<NarrowOffset<std::int16_t>>); \
    GRADVERIFY_KERNEL(PASS, "right_offset_64", LAUNCHER<RightConv>)
CONV(Forward, launch_forward);
CONV(GradInput, launch_grad_input);
CONV(GradWeight, launch_grad_weight);
