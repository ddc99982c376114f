// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of tensor cores: factors of fewer digits than declared.
#include "kernels/element.cuh"
#include "properties/tests/launches.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;

// Fully connected, with factors cut as tensor cores cut them, or more.
struct ToTf32 {
    __device__ static float of(float value) {
        return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    }
};
struct ToBfloat16 {
    __device__ static float of(float value) { return __bfloat162float(__float2bfloat16(value)); }
};
template <class Cut>
__device__ void connect(long long i, const float* x, const float* w, const float* b, float* y,
                        long long c, long long k, long long terms) {
    float sum = b[i % k];
    for (long long j = 0; j < terms; ++j)
        sum += Cut::of(x[i / k * c + j]) * Cut::of(w[i % k * c + j]);
    y[i] = sum;
}
template <class Cut, int dropped>
void launch_connect(const fc::Forward& call) {
    launch_each<connect<Cut>>(call.launch, call.n * call.k, call.x, call.w, call.b, call.y, call.c,
                              call.k, call.c > 1 ? call.c - dropped : call.c);
}
template <class Cut>
__device__ void correlate(long long i, const float* dy, const float* x, float* dw, long long n,
                          long long c, long long k) {
    float sum = 0.0f;
    for (long long j = 0; j < n; ++j) sum += Cut::of(dy[j * k + i / c]) * Cut::of(x[j * c + i % c]);
    dw[i] = sum;
}
template <class Cut>
void launch_correlate(const fc::GradWeight& call) {
    launch_each<correlate<Cut>>(call.launch, call.k * call.c, call.dy, call.x, call.dw, call.n,
                                call.c, call.k);
}

}  // namespace

GRADVERIFY_KERNEL(fc::Forward, "right_tf32", launch_connect<ToTf32, 0>).on_tensor_cores();
GRADVERIFY_KERNEL(fc::Forward, "bug_undeclared_tf32", launch_connect<ToTf32, 0>);
GRADVERIFY_KERNEL(fc::Forward, "bug_tf32_drops_a_term", launch_connect<ToTf32, 1>)
    .on_tensor_cores();
GRADVERIFY_KERNEL(fc::Forward, "bug_tf32_by_bfloat16", launch_connect<ToBfloat16, 0>)
    .on_tensor_cores();
GRADVERIFY_KERNEL(fc::GradWeight, "right_tf32", launch_correlate<ToTf32>).on_tensor_cores();
GRADVERIFY_KERNEL(fc::GradWeight, "bug_undeclared_tf32", launch_correlate<ToTf32>);
GRADVERIFY_KERNEL(fc::GradWeight, "bug_tf32_by_bfloat16", launch_correlate<ToBfloat16>)
    .on_tensor_cores();
