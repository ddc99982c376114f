// SPDX-License-Identifier: Apache-2.0
// Built as C++17 and as C++20: functions of a user's that bear names of the C++ library's.
#if !defined(__NVCC__) || __cplusplus == 201703L  // which takes std::lerp for as good
#include <cmath>

#include "harness/simt/tests/launcher.hpp"

__device__ float lerp(float a, float b, float t) { return 100.0f * a + 10.0f * b + t; }
__device__ float clamp(float x, float low, float high) { return x + low + high; }
__device__ inline int midpoint(int a, int b) { return 3 * a + b; }

// CUDA's own functions are no templates, and win over those that a using directive brings.
namespace library {
template <class T, class U>
__device__ constexpr int max(const T&, const U&) {
    return -1;
}
}  // namespace library
namespace user {
using namespace library;
__device__ inline float larger(float a, float b) { return max(a, b); }
}  // namespace user

__global__ void call_them(float* out) {
    out[0] = lerp(1.0f, 2.0f, 3.0f);
    out[1] = clamp(1.0f, 2.0f, 3.0f);
    out[2] = static_cast<float>(midpoint(1, 2)) + user::larger(-2.0f, 0.0f);
    out[3] = static_cast<float>(__cplusplus / 100);
#if __cplusplus > 201703L
    out[3] += std::lerp(0.25f, 0.75f, 0.5f);
#else
    const char* requires_no_char8_t = u8"5";
    out[3] += static_cast<float>(*requires_no_char8_t - '5');
#endif
}
LAUNCHER(GRADVERIFY_SIMT_TEST_NAME) { call_them<<<1, 1>>>(call.data); }

// What C++20 makes ambiguous, or takes for a word of its own.
#if __cplusplus == 201703L
namespace of_17 {
using namespace std;
struct span {
    int size;
};
template <class T>
__host__ __device__ T lerp(T a, T b, T t) {
    return a + b + t;
}
__global__ void with_all_of_std(float* out) {
    const span three{3};
    const float constinit = 1.0f, consteval = of_17::lerp(1.0f, 2.0f, 3.0f);
    out[0] = constinit + consteval + static_cast<float>(three.size);
}
}  // namespace of_17
LAUNCHER(only_of_17) { of_17::with_all_of_std<<<1, 1>>>(call.data); }
#endif
#endif
