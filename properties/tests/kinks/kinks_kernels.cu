// SPDX-License-Identifier: Apache-2.0
// Gradients that differ at a kink. A value that is no derivative there is a bug; where the operator
// defines the gradient, so is any other value. A thread serves a row of each tensor.
#include "properties/tests/launches.cuh"

namespace {

using gradverify::launch_each;
using gradverify::launch_rows;
using gradverify::Pass;

using Masked = Pass<"masked", "forward">;
using Quotient = Pass<"quotient", "forward">;
using QuotientBackward = Pass<"quotient", "backward">;

/// `at` is where in its row of x each number of y was found.
using Largest = Pass<"largest", "forward">;
using LargestPiecewise = Pass<"largest_piecewise", "forward">;
using LargestSize = Pass<"largest_size", "forward">;
using SecondLargest = Pass<"second_largest", "forward">;

using Median = Pass<"median", "grad_x">;
using Forgetful = Pass<"ramp_forgetful", "grad_x">;
using ByMax = Pass<"ramp_by_max", "grad_x">;
using ByBranch = Pass<"ramp_by_branch", "grad_x">;
using ByDefinition = Pass<"ramp_by_definition", "grad_x">;
using WrongByHand = Pass<"ramp_wrong_by_hand", "grad_x">;
using RightByHand = Pass<"ramp_right_by_hand", "grad_x">;
using SizeByHand = Pass<"size_by_hand", "grad_x">;
using AmaxDerived = Pass<"amax_derived", "grad_x">;
using AmaxByHand = Pass<"amax_by_hand", "grad_x">;
using TopByHand = Pass<"top_by_hand", "grad_x">;
using ScatterAmax = Pass<"scatter_amax", "backward">;

/// The slope at zero is given in tenths.
template <int tenths>
__device__ void slope(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = x[i] > 0.0f ? dy[i] : x[i] < 0.0f ? 0.0f : dy[i] * (tenths / 10.0f);
}

template <int tenths>
__device__ void sign(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = x[i] > 0.0f ? dy[i] : x[i] < 0.0f ? -dy[i] : dy[i] * (tenths / 10.0f);
}

/// Into how many shares a gradient is cut for numbers that are equal.
template <int at_most>
__device__ float shares(int equal) {
    return static_cast<float>(equal < at_most ? equal : at_most);
}

template <int at_most>
__device__ void to_largest(int i, int c, const float* x, const float* dy, const float* y,
                           float* dx) {
    int equal = 0;
    for (int j = 0; j < c; ++j) equal += x[i * c + j] == y[i];
    for (int j = 0; j < c; ++j)
        dx[i * c + j] = x[i * c + j] == y[i] ? dy[i] / shares<at_most>(equal) : 0.0f;
}

/// A thread serves a column of x's rows.
template <int at_most>
__device__ void to_largest_of_column(long long column, int rows, int k, int inner, const float* dy,
                                     const float* x, const float* src, const int* index,
                                     const float* y, float* dx, float* dsrc) {
    const long long outer = column / inner, i = column % inner;
    for (int r = 0; r < rows; ++r) {
        const long long at = (outer * rows + r) * inner + i;
        int equal = x[at] == y[at];
        for (int s = 0; s < k; ++s) {
            const long long from = (outer * k + s) * inner + i;
            equal += index[from] == r && src[from] == y[at];
        }
        const float share = dy[at] / shares<at_most>(equal);
        dx[at] = x[at] == y[at] ? share : 0.0f;
        for (int s = 0; s < k; ++s) {
            const long long from = (outer * k + s) * inner + i;
            if (index[from] == r) dsrc[from] = src[from] == y[at] ? share : 0.0f;
        }
    }
}

enum class Equal { in_order, to_first, shared };

/// A thread serves a number: its place is behind all that are larger, and the equal ones before it.
template <Equal equal>
__device__ void to_place(int at, int c, int k, const float* dy, const float* x, float* dx) {
    const int i = at / c, j = at % c;
    int larger = 0, before = 0, behind = 0;
    for (int other = 0; other < c; ++other) {
        larger += x[i * c + other] > x[at];
        before += other < j && x[i * c + other] == x[at];
        behind += other > j && x[i * c + other] == x[at];
    }
    const int first = equal == Equal::in_order ? larger + before : larger;
    const int count = equal == Equal::in_order ? 1 : before + 1 + behind;
    float sum = 0.0f;
    for (int place = first; place < first + count && place < k; ++place) sum += dy[i * k + place];
    dx[at] = equal == Equal::shared                    ? sum / static_cast<float>(count)
             : equal == Equal::in_order || before == 0 ? sum
                                                       : 0.0f;
}

template <int at_most>
void scatter_amax(const ScatterAmax& call) {
    const gradverify::TensorView x = call.tensor("x"), src = call.tensor("src");
    launch_each<to_largest_of_column<at_most>>(
        call.launch, x.size(0) * x.size(2), static_cast<int>(x.size(1)),
        static_cast<int>(src.size(1)), static_cast<int>(x.size(2)), call.tensor("dy"), x, src,
        call.tensor("index"), call.tensor("y"), call.tensor("dx"), call.tensor("dsrc"));
}
template <Equal equal>
void top(const TopByHand& call) {
    const gradverify::TensorView x = call.tensor("x"), dy = call.tensor("dy");
    launch_each<to_place<equal>>(call.launch, x.elements(), static_cast<int>(x.size(1)),
                                 static_cast<int>(dy.size(1)), dy, x, call.tensor("dx"));
}

/// At zero it reads what it should only write.
__device__ void slope_and_old(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = (x[i] > 0.0f ? dy[i] : 0.0f) + (x[i] == 0.0f ? 0.0f * dx[i] : 0.0f);
}

/// The last of three equal numbers is taken.
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

enum class Of { themselves, sizes };
enum class Tie { first, last, off_by_one };

template <Of of>
__device__ float function(float x) {
    return of == Of::sizes ? fabsf(x) : x;
}

/// The largest of a row's numbers.
template <Of of, Tie tie>
__device__ void largest(int i, int c, const float* x, float* y, float* at) {
    int best = 0;
    for (int j = 1; j < c; ++j) {
        const float one = function<of>(x[i * c + j]), other = function<of>(x[i * c + best]);
        if (tie == Tie::last ? one >= other : one > other) best = j;
    }
    y[i] = function<of>(x[i * c + best]);
    at[i] = static_cast<float>(tie == Tie::off_by_one ? best + 1 : best);
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

#define GRADIENT(CALL, VARIANT, ...) \
    GRADVERIFY_KERNEL(CALL, VARIANT, (launch_rows<CALL, __VA_ARGS__, "dy", "x", "dx">))
GRADIENT(Median, "by_branches", to_middle<1>);
GRADIENT(Median, "bug_twice", to_middle<2>);
GRADIENT(Forgetful, "bug_no_fault_of_its_own", slope<0>);
GRADIENT(ByMax, "zero", slope<0>);
GRADIENT(ByMax, "half", slope<5>);
GRADIENT(ByMax, "one", slope<10>);
GRADIENT(ByMax, "bug_two", slope<20>);
GRADIENT(ByMax, "bug_reads_old_at_zero", slope_and_old);
GRADIENT(ByBranch, "bug_two", slope<20>);
GRADIENT(ByBranch, "bug_reads_old_at_zero", slope_and_old);
GRADIENT(ByDefinition, "zero", slope<0>);
GRADIENT(ByDefinition, "bug_one", slope<10>);
GRADIENT(RightByHand, "zero", slope<0>);
GRADIENT(RightByHand, "bug_one", slope<10>);
GRADIENT(SizeByHand, "zero", sign<0>);
GRADIENT(SizeByHand, "bug_one", sign<10>);
GRADIENT(WrongByHand, "bug_no_fault_of_its_own", slope<0>);

GRADVERIFY_KERNEL(Masked, "plain", (launch_rows<Masked, multiply, "x", "w", "y">));
GRADVERIFY_KERNEL(Quotient, "plain", (launch_rows<Quotient, divide, "a", "b", "y">));
#define QUOTIENT_BACKWARD(VARIANT, SIGN) \
    GRADVERIFY_KERNEL(                   \
        QuotientBackward, VARIANT,       \
        (launch_rows<QuotientBackward, divide_backward<SIGN>, "dy", "a", "b", "da", "db">))
QUOTIENT_BACKWARD("plain", -1);
QUOTIENT_BACKWARD("bug_sign", 1);

#define AMAX(CALL, VARIANT, AT_MOST) \
    GRADVERIFY_KERNEL(CALL, VARIANT, (launch_rows<CALL, to_largest<AT_MOST>, "x", "dy", "y", "dx">))
AMAX(AmaxByHand, "equal_shares", 1 << 30);
AMAX(AmaxByHand, "bug_full_shares", 1);
AMAX(AmaxByHand, "bug_256_shares", 256);
AMAX(AmaxDerived, "equal_shares", 1 << 30);
AMAX(AmaxDerived, "bug_full_shares", 1);
AMAX(AmaxDerived, "bug_256_shares", 256);

GRADVERIFY_KERNEL(ScatterAmax, "equal_shares", scatter_amax<1 << 30>);
GRADVERIFY_KERNEL(ScatterAmax, "bug_halves", scatter_amax<2>);
GRADVERIFY_KERNEL(TopByHand, "in_order", top<Equal::in_order>);
GRADVERIFY_KERNEL(TopByHand, "bug_to_first", top<Equal::to_first>);
GRADVERIFY_KERNEL(TopByHand, "bug_shared", top<Equal::shared>);

#define PLACE(CALL, VARIANT, ...) \
    GRADVERIFY_KERNEL(CALL, VARIANT, (launch_rows<CALL, __VA_ARGS__, "x", "y", "at">))
PLACE(Largest, "first", largest<Of::themselves, Tie::first>);
PLACE(Largest, "last", largest<Of::themselves, Tie::last>);
PLACE(Largest, "bug_off_by_one", largest<Of::themselves, Tie::off_by_one>);
PLACE(LargestPiecewise, "last", largest<Of::themselves, Tie::last>);
PLACE(LargestPiecewise, "bug_off_by_one", largest<Of::themselves, Tie::off_by_one>);
PLACE(LargestSize, "last", largest<Of::sizes, Tie::last>);
PLACE(LargestSize, "bug_off_by_one", largest<Of::sizes, Tie::off_by_one>);
PLACE(SecondLargest, "last_set_aside", second_largest<0>);
PLACE(SecondLargest, "bug_off_by_one", second_largest<1>);
