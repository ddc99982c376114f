// SPDX-License-Identifier: Apache-2.0
#include <cuComplex.h>

#include "harness/kernel.hpp"
#include "harness/pass.hpp"

struct Forward : gradverify::Pass<"complex_matvec", "forward"> {
    using Pass::Pass;
    TensorView a = tensor("a"), x = tensor("x"), y = tensor("y");
};
struct Backward : gradverify::Pass<"complex_matvec", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), a = tensor("a"), x = tensor("x");
    TensorView da = tensor("da"), dx = tensor("dx");
};

__global__ void multiply(const cuFloatComplex* a, const cuFloatComplex* x, cuFloatComplex* y,
                         int rows, int columns) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    cuFloatComplex sum = make_cuFloatComplex(0.0f, 0.0f);
    for (int j = 0; j < columns; ++j) sum = cuCfmaf(a[i * columns + j], x[j], sum);
    y[i] = sum;
}

// dx = the conjugate transpose of A, times dy; dA = dy times the conjugate of x, transposed.
__global__ void multiply_back(const cuFloatComplex* dy, const cuFloatComplex* a,
                              const cuFloatComplex* x, cuFloatComplex* da, cuFloatComplex* dx,
                              int rows, int columns) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    cuFloatComplex sum = make_cuFloatComplex(0.0f, 0.0f);
    for (int i = 0; i < rows; ++i) {
        sum = cuCfmaf(cuConjf(a[i * columns + j]), dy[i], sum);
        da[i * columns + j] = cuCmulf(dy[i], cuConjf(x[j]));
    }
    dx[j] = sum;
}

static void forward(const Forward& call) {
    const int rows = static_cast<int>(call.a.size(0)), columns = static_cast<int>(call.a.size(1));
    multiply<<<(rows + 127) / 128, 128, 0, call.launch.stream>>>(
        call.a.as_pairs<const cuFloatComplex>(), call.x.as_pairs<const cuFloatComplex>(),
        call.y.as_pairs<cuFloatComplex>(), rows, columns);
}
static void backward(const Backward& call) {
    const int rows = static_cast<int>(call.a.size(0)), columns = static_cast<int>(call.a.size(1));
    multiply_back<<<(columns + 127) / 128, 128, 0, call.launch.stream>>>(
        call.dy.as_pairs<const cuFloatComplex>(), call.a.as_pairs<const cuFloatComplex>(),
        call.x.as_pairs<const cuFloatComplex>(), call.da.as_pairs<cuFloatComplex>(),
        call.dx.as_pairs<cuFloatComplex>(), rows, columns);
}
GRADVERIFY_KERNEL(Forward, "naive", forward);
GRADVERIFY_KERNEL(Backward, "naive", backward);
