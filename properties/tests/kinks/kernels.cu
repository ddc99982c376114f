// SPDX-License-Identifier: Apache-2.0
// Gradients of a ramp that differ at its kink. What is no derivative there is a bug; where the
// operator defines the gradient, so is every other value.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "properties/tests/kinks/operator.hpp"

namespace {

using namespace gradverify::kinks;

template <int tenths>
__global__ void slope(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0.0f ? dy[i] : x[i] < 0.0f ? 0.0f : dy[i] * (tenths / 10.0f);
}

/// The slope at zero, in tenths.
template <class GradX, int tenths>
void launch(const GradX& call) {
    const int n = static_cast<int>(call.dx.elements());
    slope<tenths><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(call.dy.template as<const float>(),
                                                                call.x.template as<const float>(),
                                                                call.dx.template as<float>(), n);
}

/// Where all three are alike the last gets it.
template <int factor>
__global__ void to_middle(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int low = x[3 * i] < x[3 * i + 1] ? 0 : 1, high = 1 - low;
    const float last = x[3 * i + 2];
    const int middle = last < x[3 * i + low] ? low : x[3 * i + high] < last ? high : 2;
    for (int j = 0; j < 3; ++j) dx[3 * i + j] = j == middle ? factor * dy[i] : 0.0f;
}

template <int factor>
void launch_median(const Median& call) {
    const int n = static_cast<int>(call.dy.elements());
    to_middle<factor><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dx.as<float>(), n);
}

__global__ void multiply(const float* x, const float* w, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * w[i];
}

void launch_masked(const Masked& call) {
    const int n = static_cast<int>(call.y.elements());
    multiply<<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.w.as<const float>(), call.y.as<float>(), n);
}

__global__ void divide(const float* a, const float* b, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] / b[i];
}

void launch_quotient(const Quotient& call) {
    const int n = static_cast<int>(call.y.elements());
    divide<<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.a.as<const float>(), call.b.as<const float>(), call.y.as<float>(), n);
}

template <int sign>
__global__ void divide_backward(const float* dy, const float* a, const float* b, float* da,
                                float* db, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    da[i] = dy[i] / b[i];
    db[i] = sign * dy[i] * a[i] / (b[i] * b[i]);
}

template <int sign>
void launch_quotient_backward(const QuotientBackward& call) {
    const int n = static_cast<int>(call.db.elements());
    divide_backward<sign><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.a.as<const float>(), call.b.as<const float>(),
        call.da.as<float>(), call.db.as<float>(), n);
}

template <bool is_saved>
__global__ void average(const float* x, const int* count, float* y, float* total, int n, int c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j < c && j < count[i]; ++j) sum += x[i * c + j];
    y[i] = sum / count[i];
    total[i] = is_saved ? sum : y[i];
}

template <bool is_saved>
void launch_mean_of_first(const MeanOfFirst& call) {
    const int n = static_cast<int>(call.y.elements()), c = static_cast<int>(call.x.size(1));
    average<is_saved><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.count.as<const int>(), call.y.as<float>(),
        call.total.as<float>(), n, c);
}

template <int more>
__global__ void largest(const float* x, const int* count, float* y, float* at, int n, int c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    for (int j = 1; j < c && j < count[i]; ++j)
        if (x[i * c + j] >= x[i * c + best]) best = j;
    y[i] = x[i * c + best];
    at[i] = static_cast<float>(best + more);
}

template <int more>
void launch_largest_of_first(const LargestOfFirst& call) {
    const int n = static_cast<int>(call.y.elements()), c = static_cast<int>(call.x.size(1));
    largest<more><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.count.as<const int>(), call.y.as<float>(),
        call.at.as<float>(), n, c);
}

enum class Of { themselves, sizes, squares };
enum class Tie { first, last, off_by_one };

template <Of of>
__device__ float function(float x) {
    return of == Of::sizes ? fabsf(x) : of == Of::squares ? x * x : x;
}

template <Of of, Tie tie>
__global__ void find_largest(const float* x, float* y, float* at, int n, int c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    for (int j = 1; j < c; ++j) {
        const float one = function<of>(x[i * c + j]), other = function<of>(x[i * c + best]);
        if (tie == Tie::last ? one >= other : one > other) best = j;
    }
    y[i] = function<of>(x[i * c + best]);
    at[i] = static_cast<float>(tie == Tie::off_by_one ? best + 1 : best);
}

template <class Call, Of of, Tie tie>
void launch_largest(const Call& call) {
    const int n = static_cast<int>(call.y.elements());
    find_largest<of, tie><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.x.template as<const float>(), call.y.template as<float>(),
        call.at.template as<float>(), n, static_cast<int>(call.x.size(1)));
}

/// The last of the largest is set aside, and the first of the others taken.
template <int more>
__global__ void find_second(const float* x, float* y, float* at, int n, int c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int first = 0, second = -1;
    for (int j = 1; j < c; ++j)
        if (x[i * c + j] >= x[i * c + first]) first = j;
    for (int j = 0; j < c; ++j)
        if (j != first && (second < 0 || x[i * c + j] > x[i * c + second])) second = j;
    y[i] = second < 0 ? 0.0f : x[i * c + second];
    at[i] = second < 0 ? 0.0f : static_cast<float>(second + more);
}

template <int more>
void launch_second(const SecondLargest& call) {
    const int n = static_cast<int>(call.y.elements());
    find_second<more><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.y.as<float>(), call.at.as<float>(), n,
        static_cast<int>(call.x.size(1)));
}

/// Of a positive number its own; at zero it reads what it is to write.
__global__ void slope_and_old(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = (x[i] > 0.0f ? dy[i] : 0.0f) + (x[i] == 0.0f ? 0.0f * dx[i] : 0.0f);
}

template <class GradX>
void launch_slope_and_old(const GradX& call) {
    const int n = static_cast<int>(call.dx.elements());
    slope_and_old<<<(n + 63) / 64, 64, 0, call.launch.stream>>>(call.dy.template as<const float>(),
                                                                call.x.template as<const float>(),
                                                                call.dx.template as<float>(), n);
}

__global__ void copy(const float* dy, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = dy[i];
}

void launch_copy(const Torn& call) {
    const int n = static_cast<int>(call.dx.elements());
    copy<<<(n + 63) / 64, 64, 0, call.launch.stream>>>(call.dy.as<const float>(),
                                                       call.dx.as<float>(), n);
}

/// Rounds what it divides by three down.
__global__ void gather(const float* dy, float* dx, int n) {
    const int from = threadIdx.x;
    dx[from] = 0.0f;
    for (int i = 0; i < n; ++i)
        if (min(static_cast<int>(i * 0.33333f), 2) == from) dx[from] += dy[i];
}

void launch_gather(const Spread& call) {
    const int n = static_cast<int>(call.dy.elements());
    gather<<<1, 3, 0, call.launch.stream>>>(call.dy.as<const float>(), call.dx.as<float>(), n);
}

}  // namespace

GRADVERIFY_KERNEL(LargestOfFirst, "last", launch_largest_of_first<0>);
GRADVERIFY_KERNEL(LargestOfFirst, "bug_off_by_one", launch_largest_of_first<1>);
GRADVERIFY_KERNEL(MeanOfFirst, "naive", launch_mean_of_first<true>);
GRADVERIFY_KERNEL(MeanOfFirst, "bug_saves_mean", launch_mean_of_first<false>);
GRADVERIFY_KERNEL(Torn, "copy", launch_copy);
GRADVERIFY_KERNEL(Spread, "rounded_down", launch_gather);
#define LARGEST(CALL, VARIANT, OF, TIE) \
    GRADVERIFY_KERNEL(CALL, VARIANT, (launch_largest<CALL, Of::OF, Tie::TIE>))
LARGEST(Largest, "first", themselves, first);
LARGEST(Largest, "last", themselves, last);
LARGEST(Largest, "bug_off_by_one", themselves, off_by_one);
LARGEST(LargestPiecewise, "first", themselves, first);
LARGEST(LargestPiecewise, "last", themselves, last);
LARGEST(LargestPiecewise, "bug_off_by_one", themselves, off_by_one);
LARGEST(LargestSize, "last", sizes, last);
LARGEST(LargestSize, "bug_off_by_one", sizes, off_by_one);
LARGEST(LargestSquare, "last", squares, last);
LARGEST(LargestSquare, "bug_off_by_one", squares, off_by_one);
GRADVERIFY_KERNEL(SecondLargest, "last_set_aside", launch_second<0>);
GRADVERIFY_KERNEL(SecondLargest, "bug_off_by_one", launch_second<1>);
GRADVERIFY_KERNEL(ByMax, "bug_reads_old_at_zero", launch_slope_and_old<ByMax>);
GRADVERIFY_KERNEL(ByBranch, "bug_reads_old_at_zero", launch_slope_and_old<ByBranch>);
GRADVERIFY_KERNEL(Quotient, "plain", launch_quotient);
GRADVERIFY_KERNEL(QuotientBackward, "plain", launch_quotient_backward<-1>);
GRADVERIFY_KERNEL(QuotientBackward, "bug_sign", launch_quotient_backward<1>);
GRADVERIFY_KERNEL(Masked, "plain", launch_masked);
GRADVERIFY_KERNEL(Median, "by_branches", launch_median<1>);
GRADVERIFY_KERNEL(Median, "bug_twice", launch_median<2>);
GRADVERIFY_KERNEL(Forgetful, "bug_no_fault_of_its_own", (launch<Forgetful, 0>));
GRADVERIFY_KERNEL(SlightlyForgetful, "bug_no_fault_of_its_own", (launch<SlightlyForgetful, 0>));
GRADVERIFY_KERNEL(ByMax, "zero", (launch<ByMax, 0>));
GRADVERIFY_KERNEL(ByMax, "half", (launch<ByMax, 5>));
GRADVERIFY_KERNEL(ByMax, "one", (launch<ByMax, 10>));
GRADVERIFY_KERNEL(ByMax, "bug_two", (launch<ByMax, 20>));
GRADVERIFY_KERNEL(ByBranch, "bug_two", (launch<ByBranch, 20>));
GRADVERIFY_KERNEL(ByDefinition, "zero", (launch<ByDefinition, 0>));
GRADVERIFY_KERNEL(ByDefinition, "bug_one", (launch<ByDefinition, 10>));
GRADVERIFY_KERNEL(RightByHand, "zero", (launch<RightByHand, 0>));
GRADVERIFY_KERNEL(WrongByHand, "bug_no_fault_of_its_own", (launch<WrongByHand, 0>));
