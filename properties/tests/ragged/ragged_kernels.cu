// SPDX-License-Identifier: Apache-2.0
// Kernels of the operators of padded batches: right ones, and some that read padding, or leave in
// it what they must not. A thread serves a row.
#include "properties/tests/launches.cuh"

namespace {

using namespace gradverify;

using Forward = Pass<"running_sum", "forward">;
using GradX = Pass<"running_sum", "grad_x">;
struct Fused : Pass<"loss_with_gradient", "fused"> {
    using Pass::Pass;
    TensorView x = tensor("x"), target = tensor("target"), loss = tensor("loss"), dx = tensor("dx");
    float w = attribute("w");
};

/// What a kernel does behind the rows that are used.
enum class Behind { zeros, nothing, anything, reads };

template <Behind behind>
__device__ void fill(float* row, int first, int length) {
    for (int t = first; t < length && behind != Behind::nothing; ++t)
        row[t] = behind == Behind::anything ? static_cast<float>(t) : 0.0f;
}

template <Behind behind>
__device__ void add_up(int b, int length, const float* x, const int* lengths, float* y) {
    float sum = 0.0f;
    for (int t = 0; t < lengths[b]; ++t) y[b * length + t] = sum += x[b * length + t];
    fill<behind>(y + b * length, lengths[b], length);
}

/// The sum of what lies behind an element. `reads` takes padding for zeros.
template <Behind behind>
__device__ void add_up_gradient(int b, int length, const float* dy, const int* lengths, float* dx) {
    const int end = behind == Behind::reads ? length : lengths[b];
    float sum = 0.0f;
    for (int t = end - 1; t >= 0; --t) dx[b * length + t] = sum += dy[b * length + t];
    fill<behind>(dx + b * length, lengths[b], length);
}

template <int factor, bool is_half>
__device__ void fuse(int, int n, const float* x, const float* target, float* loss, float* dx,
                     float w) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        const float difference = x[i] - target[i];
        sum += w * difference * difference;
        dx[i] = static_cast<float>(factor) * w * difference;
    }
    *loss = is_half ? 0.5f * sum : sum;
}

template <Behind behind>
constexpr auto forward = launch_rows<Forward, add_up<behind>, "x", "lengths", "y">;
template <Behind behind>
constexpr auto grad_x = launch_rows<GradX, add_up_gradient<behind>, "dy", "lengths", "dx">;
template <int factor, bool is_half>
void fused(const Fused& call) {
    launch_each<fuse<factor, is_half>>(call.launch, 1, call.x.elements(), call.x, call.target,
                                       call.loss, call.dx, call.w);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "zeros", forward<Behind::zeros>);
GRADVERIFY_KERNEL(Forward, "leaves", forward<Behind::nothing>).leaves_padding("y");
GRADVERIFY_KERNEL(Forward, "any", forward<Behind::anything>).any_padding("y");
GRADVERIFY_KERNEL(Forward, "bug_unwritten", forward<Behind::nothing>);
GRADVERIFY_KERNEL(Forward, "bug_writes", forward<Behind::zeros>).leaves_padding("y");
GRADVERIFY_KERNEL(GradX, "zeros", grad_x<Behind::zeros>);
GRADVERIFY_KERNEL(GradX, "bug_reads", grad_x<Behind::reads>);
GRADVERIFY_KERNEL(GradX, "bug_anything", grad_x<Behind::anything>);
GRADVERIFY_KERNEL(Fused, "right", (fused<2, false>));
GRADVERIFY_KERNEL(Fused, "bug_gradient", (fused<1, false>));
GRADVERIFY_KERNEL(Fused, "bug_loss", (fused<2, true>));
