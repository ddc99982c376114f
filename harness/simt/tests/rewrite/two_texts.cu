// SPDX-License-Identifier: Apache-2.0
// What __CUDA_ARCH__ decides, as in nvcc's two passes: a kernel has the device's text, a host
// function the host's, a function of both has both.
#include <algorithm>
#include <vector>

#include "harness/simt/tests/construct.hpp"

#ifdef __CUDA_ARCH__
#define SIDE 1
#define BOTH_BY_MACRO __device__
constexpr int only_in_device_code = 30;
#else
#define SIDE 2
#define BOTH_BY_MACRO
static int only_in_host_code() { return 40; }
#endif

namespace two_texts {

__host__ __device__ int side() {
#ifdef __CUDA_ARCH__
    return 1;
#else
    return std::max(2, 0);
#endif
}
__host__ __device__ constexpr int constexpr_side(int x) {
#ifdef __CUDA_ARCH__
    return x + 1;
#else
    return x + 2;
#endif
}
constexpr int at_compile_time = constexpr_side(10);

BOTH_BY_MACRO inline int by_macro() { return SIDE; }

template <class T>
struct Sides {
    T first;
    __host__ __device__ explicit Sides(T x) : first{x} {
#ifndef __CUDA_ARCH__
        first += T(20);
#else
        first += T(10);
#endif
    }
    __device__ T of_device() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        return first + T(only_in_device_code);
#else
        return T(-1);
#endif
    }
    T of_host() const {
#ifdef __CUDA_ARCH__
        return T(-1);
#else
        return first + T(only_in_host_code());
#endif
    }
    __host__ __device__ bool operator==(const Sides& other) const {
#ifdef __CUDA_ARCH__
        return first == other.first;
#else
        return other.first == first;
#endif
    }
};

#ifdef __CUDA_ARCH__
__device__ inline int defined_twice(int x) { return x * 3; }
#else
inline int defined_twice(int) { return -1; }
#endif

// The architecture that the file is built for.
__global__ void of_device(int* out) {
#ifdef __CUDA_ARCH__
    out[0] = __CUDA_ARCH__;
#endif
    out[1] = side();
    out[2] = constexpr_side(static_cast<int>(threadIdx.x));
    out[3] = by_macro();
    out[4] = Sides<int>(1).of_device();
    out[5] = defined_twice(7);
    out[6] = Sides<int>(3) == Sides<int>(3);
#ifdef __CUDA_ARCH__
    out[7] = 70;
#endif
}

}  // namespace two_texts

CONSTRUCT(device_code_has_an_architecture) {
    Array<int> out(8);
    two_texts::of_device<<<1, 1>>>(out);
    const std::vector<int> got = out.host();
    report.holds("__CUDA_ARCH__ >= 700", got[0] >= 700);
    report.equal("device", std::vector<int>(got.begin() + 1, got.end()), {1, 1, 1, 41, 21, 1, 70});
}
CONSTRUCT(host_code_has_none) {
    const std::vector<int> got{two_texts::side(), two_texts::constexpr_side(0),
                               two_texts::at_compile_time, two_texts::by_macro(),
                               two_texts::Sides<int>(1).of_host()};
    report.equal("host", got, {2, 2, 12, 2, 61});
#ifdef __CUDA_ARCH__
    report.holds("no architecture", false);
#endif
}

template <class F>
__global__ void call_lambda(F function, int* out) {
    out[0] = function(1);
}
#ifdef __CUDA_ARCH__
#define IN_LAMBDA 1
#else
#define IN_LAMBDA 2
#endif
CONSTRUCT(lambdas_of_a_host_function_are_device_code) {
    Array<int> out(2);
    const int ten = 10;
    call_lambda<<<1, 1>>>([=] __device__(int x) { return ten * (x + IN_LAMBDA); }, out + 0);
    const auto of_both = [=] __host__ __device__(int x) { return ten * (x + IN_LAMBDA); };
    call_lambda<<<1, 1>>>(of_both, out + 1);
    report.equal("device", out.host(), {20, 20});
    report.equal("host", std::vector<int>{of_both(1), IN_LAMBDA}, {30, 2});
}
