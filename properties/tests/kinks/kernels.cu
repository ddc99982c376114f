// SPDX-License-Identifier: Apache-2.0
// Gradients of a ramp that differ at its kink. What is no derivative there is a bug; where the
// operator defines the gradient, so is every other value. A thread serves a row of each tensor.
#include "harness/pass.hpp"
#include "properties/tests/launches.cuh"

namespace {

using gradverify::FixedText;

template <FixedText operator_text>
using Forward = gradverify::Pass<operator_text, "forward">;
template <FixedText operator_text>
using GradX = gradverify::Pass<operator_text, "grad_x">;
using QuotientBackward = gradverify::Pass<"quotient", "backward">;

/// A thread for each row; the function gets its number, the row length of the first tensor, and the
/// tensors.
template <class Call, auto function, FixedText first, FixedText... others>
void rows(const Call& call) {
    const gradverify::TensorView tensor = call.tensor(first.text);
    launch_each<function>(call.launch, tensor.size(0), tensor.elements() / tensor.size(0), tensor,
                          call.tensor(others.text)...);
}

/// The slope at zero is given in tenths.
template <int tenths>
__device__ void slope(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = x[i] > 0.0f ? dy[i] : x[i] < 0.0f ? 0.0f : dy[i] * (tenths / 10.0f);
}

/// At zero it reads what it is to write.
__device__ void slope_and_old(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = (x[i] > 0.0f ? dy[i] : 0.0f) + (x[i] == 0.0f ? 0.0f * dx[i] : 0.0f);
}

__device__ void copy(int i, int, const float* dy, const float*, float* dx) { dx[i] = dy[i]; }

/// Rounds what it divides by three down.
__device__ void gather(int from, int n, const float* dy, float* dx) {
    dx[from] = 0.0f;
    for (int i = 0; i < n; ++i)
        if (min(static_cast<int>(i * 0.33333f), 2) == from) dx[from] += dy[i];
}
void rounded_down(const GradX<"spread">& call) {
    const gradverify::TensorView dy = call.tensor("dy");
    launch_each<gather>(call.launch, 3, dy.size(0), dy, call.tensor("dx"));
}

/// Where all three are alike the last gets it.
template <int factor>
__device__ void to_middle(int i, int, const float* dy, const float* x, float* dx) {
    const int low = x[3 * i] < x[3 * i + 1] ? 0 : 1, high = 1 - low;
    const float last = x[3 * i + 2];
    const int middle = last < x[3 * i + low] ? low : x[3 * i + high] < last ? high : 2;
    for (int j = 0; j < 3; ++j) dx[3 * i + j] = j == middle ? factor * dy[i] : 0.0f;
}

__device__ void multiply(int i, int, const float* x, const float* w, float* y) {
    y[i] = x[i] * w[i];
}

__device__ void divide(int i, int, const float* a, const float* b, float* y) { y[i] = a[i] / b[i]; }

template <int sign>
__device__ void divide_backward(int i, int, const float* dy, const float* a, const float* b,
                                float* da, float* db) {
    da[i] = dy[i] / b[i];
    db[i] = sign * dy[i] * a[i] / (b[i] * b[i]);
}

template <bool is_saved>
__device__ void average(int i, int c, const float* x, float* y, float* total, const int* count) {
    float sum = 0.0f;
    for (int j = 0; j < c && j < count[i]; ++j) sum += x[i * c + j];
    y[i] = sum / count[i];
    total[i] = is_saved ? sum : y[i];
}

enum class Of { themselves, sizes, squares };
enum class Tie { first, last, off_by_one };

template <Of of>
__device__ float function(float x) {
    return of == Of::sizes ? fabsf(x) : of == Of::squares ? x * x : x;
}

/// The largest of the first numbers of a row, as many as `count` says, if it is there.
template <Of of, Tie tie>
__device__ void find_largest(int i, int c, const float* x, float* y, float* at, const int* count) {
    int best = 0;
    for (int j = 1; j < c && (!count || j < count[i]); ++j) {
        const float one = function<of>(x[i * c + j]), other = function<of>(x[i * c + best]);
        if (tie == Tie::last ? one >= other : one > other) best = j;
    }
    y[i] = function<of>(x[i * c + best]);
    at[i] = static_cast<float>(tie == Tie::off_by_one ? best + 1 : best);
}

template <Of of, Tie tie>
__device__ void largest(int i, int c, const float* x, float* y, float* at) {
    find_largest<of, tie>(i, c, x, y, at, nullptr);
}

template <Tie tie>
__device__ void largest_of_first(int i, int c, const float* x, float* y, float* at,
                                 const int* count) {
    find_largest<Of::themselves, tie>(i, c, x, y, at, count);
}

/// The last of the largest is set aside, and the first of the others taken.
template <int more>
__device__ void second_largest(int i, int c, const float* x, float* y, float* at) {
    int first = 0, second = -1;
    for (int j = 1; j < c; ++j)
        if (x[i * c + j] >= x[i * c + first]) first = j;
    for (int j = 0; j < c; ++j)
        if (j != first && (second < 0 || x[i * c + j] > x[i * c + second])) second = j;
    y[i] = second < 0 ? 0.0f : x[i * c + second];
    at[i] = second < 0 ? 0.0f : static_cast<float>(second + more);
}

}  // namespace

#define ROWS(PASS, VARIANT, ...) GRADVERIFY_KERNEL(PASS, VARIANT, (rows<PASS, __VA_ARGS__>))
#define GRADIENT(OPERATOR, VARIANT, ...) \
    ROWS(GradX<OPERATOR>, VARIANT, __VA_ARGS__, "dy", "x", "dx")
GRADIENT("torn", "copy", copy);
GRADVERIFY_KERNEL(GradX<"spread">, "rounded_down", rounded_down);
GRADIENT("median", "by_branches", to_middle<1>);
GRADIENT("median", "bug_twice", to_middle<2>);
GRADIENT("ramp_forgetful", "bug_no_fault_of_its_own", slope<0>);
GRADIENT("ramp_slightly_forgetful", "bug_no_fault_of_its_own", slope<0>);
GRADIENT("ramp_by_max", "zero", slope<0>);
GRADIENT("ramp_by_max", "half", slope<5>);
GRADIENT("ramp_by_max", "one", slope<10>);
GRADIENT("ramp_by_max", "bug_two", slope<20>);
GRADIENT("ramp_by_max", "bug_reads_old_at_zero", slope_and_old);
GRADIENT("ramp_by_branch", "bug_two", slope<20>);
GRADIENT("ramp_by_branch", "bug_reads_old_at_zero", slope_and_old);
GRADIENT("ramp_by_definition", "zero", slope<0>);
GRADIENT("ramp_by_definition", "bug_one", slope<10>);
GRADIENT("ramp_right_by_hand", "zero", slope<0>);
GRADIENT("ramp_wrong_by_hand", "bug_no_fault_of_its_own", slope<0>);

ROWS(Forward<"masked">, "plain", multiply, "x", "w", "y");
ROWS(Forward<"quotient">, "plain", divide, "a", "b", "y");
ROWS(QuotientBackward, "plain", divide_backward<-1>, "dy", "a", "b", "da", "db");
ROWS(QuotientBackward, "bug_sign", divide_backward<1>, "dy", "a", "b", "da", "db");

#define OF_FIRST(OPERATOR, VARIANT, SAVED, ...) \
    ROWS(Forward<OPERATOR>, VARIANT, __VA_ARGS__, "x", "y", SAVED, "count")
OF_FIRST("mean_of_first", "naive", "total", average<true>);
OF_FIRST("mean_of_first", "bug_saves_mean", "total", average<false>);
OF_FIRST("largest_of_first", "last", "at", largest_of_first<Tie::last>);
OF_FIRST("largest_of_first", "bug_off_by_one", "at", largest_of_first<Tie::off_by_one>);

#define PLACE(OPERATOR, VARIANT, ...) ROWS(Forward<OPERATOR>, VARIANT, __VA_ARGS__, "x", "y", "at")
PLACE("largest", "first", largest<Of::themselves, Tie::first>);
PLACE("largest", "last", largest<Of::themselves, Tie::last>);
PLACE("largest", "bug_off_by_one", largest<Of::themselves, Tie::off_by_one>);
PLACE("largest_piecewise", "last", largest<Of::themselves, Tie::last>);
PLACE("largest_piecewise", "bug_off_by_one", largest<Of::themselves, Tie::off_by_one>);
PLACE("largest_size", "last", largest<Of::sizes, Tie::last>);
PLACE("largest_size", "bug_off_by_one", largest<Of::sizes, Tie::off_by_one>);
PLACE("largest_square", "last", largest<Of::squares, Tie::last>);
PLACE("largest_square", "bug_off_by_one", largest<Of::squares, Tie::off_by_one>);
PLACE("second_largest", "last_set_aside", second_largest<0>);
PLACE("second_largest", "bug_off_by_one", second_largest<1>);
