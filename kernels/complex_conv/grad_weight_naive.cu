// SPDX-License-Identifier: Apache-2.0
// complex_conv.grad_weight/naive: a thread for each weight, on cuComplex.h's numbers. One problem
// class: two dimensions, no groups, no padding, stride and dilation 1.
#include <cuComplex.h>

#include <cstdint>

#include "harness/kernel.hpp"
#include "reference/complex_conv.hpp"

namespace {

struct Shape {
    int n, c, k, in_h, in_w, out_h, out_w, filter_h, filter_w;
};

__global__ void correlate(const cuFloatComplex* dy, const cuFloatComplex* x, cuFloatComplex* dw,
                          Shape s) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.k * s.c * s.filter_h * s.filter_w) return;
    const int fw = i % s.filter_w, fh = i / s.filter_w % s.filter_h;
    const int c = i / (s.filter_w * s.filter_h) % s.c, k = i / (s.filter_w * s.filter_h * s.c);
    cuFloatComplex sum = make_cuFloatComplex(0.0f, 0.0f);
    for (int n = 0; n < s.n; ++n)
        for (int oh = 0; oh < s.out_h; ++oh)
            for (int ow = 0; ow < s.out_w; ++ow) {
                const int y_at = ((n * s.k + k) * s.out_h + oh) * s.out_w + ow;
                const int x_at = ((n * s.c + c) * s.in_h + oh + fh) * s.in_w + ow + fw;
                sum = cuCfmaf(dy[y_at], cuConjf(x[x_at]), sum);
            }
    dw[i] = sum;
}

void launch(const gradverify::complex_conv::GradWeight& call) {
    const auto size = [](const gradverify::TensorView& tensor, int axis) {
        return static_cast<int>(tensor.size(axis));
    };
    const Shape shape{.n = size(call.x, 0),
                      .c = size(call.x, 1),
                      .k = size(call.dw, 0),
                      .in_h = size(call.x, 2),
                      .in_w = size(call.x, 3),
                      .out_h = size(call.dy, 2),
                      .out_w = size(call.dy, 3),
                      .filter_h = size(call.dw, 2),
                      .filter_w = size(call.dw, 3)};
    const int weights = static_cast<int>(call.dw.elements() / 2);
    correlate<<<(weights + 127) / 128, 128, 0, call.launch.stream>>>(
        call.dy.as_pairs<const cuFloatComplex>(), call.x.as_pairs<const cuFloatComplex>(),
        call.dw.as_pairs<cuFloatComplex>(), shape);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::complex_conv::GradWeight, "naive", launch)
    .where("groups", gradverify::equals(1))
    .where("stride", gradverify::equals(1))
    .where("dilation", gradverify::equals(1))
    .where("padding", gradverify::equals(0))
    .aligned_to(sizeof(cuFloatComplex))
    .up_to_elements(INT32_MAX)
    .with_empty_problems();
