// SPDX-License-Identifier: Apache-2.0
// Built twice into one executable, in all variants, with GRADVERIFY_SIMT_TEST_FACTOR 1 and 10: both
// have functions, inline variables, statics and templates of the same names.
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "harness/simt/tests/launcher.hpp"

inline int calls_before = 0;

inline int count_call() {
    static int calls = 0;
    return calls += GRADVERIFY_SIMT_TEST_FACTOR;
}

inline float factor() { return GRADVERIFY_SIMT_TEST_FACTOR; }

template <class T>
struct Scaled {
    static T value;
};
template <class T>
T Scaled<T>::value = GRADVERIFY_SIMT_TEST_FACTOR;

template <class T>
__global__ void fill(T* data, T value) {
    data[threadIdx.x] = value;
}

void global_function(const simt_test::Call& call) {
    calls_before += GRADVERIFY_SIMT_TEST_FACTOR;
    fill<<<1, call.count>>>(call.data, factor() + float(count_call()) + 100 * Scaled<float>::value +
                                           1000.0f * calls_before);
}

struct UnitError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
LAUNCHER(GRADVERIFY_SIMT_TEST_NAME) {
    if (call.count == 0) throw UnitError("unit " + std::to_string(GRADVERIFY_SIMT_TEST_FACTOR));
    global_function(call);
}
