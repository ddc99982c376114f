// SPDX-License-Identifier: Apache-2.0
// Integers that overflow. overflow_test.cpp knows the lines that are marked with a name.
#include <cuda_runtime.h>

#include <climits>
#include <cstdlib>

#include "harness/simt/tests/launcher.hpp"

/// As caffe's col2im has it: the products overflow, the sum comes right.
__global__ void wrap_back(float* data, int large) {
    const int offset = 3 + large * large;  // line: wrap_back
    data[offset - large * large] = 1;
}
LAUNCHER(wrap_back) { wrap_back<<<1, 1>>>(call.data, 46341); }

__global__ void index_by_overflow(float* data, int large) {
    data[0] = 1;
    const int index = large * large;  // line: out_of_bounds
    data[index] = 1;
}
LAUNCHER(out_of_bounds) { index_by_overflow<<<1, 1>>>(call.data, 46341); }

/// What a compiler may fold where it takes an overflow for impossible.
__global__ void fold(int* results, int most, int least) {
    int steps = 0;
    for (int i = most - 2; i + 1 > i && steps < 9; ++i) ++steps;
    results[0] = steps;
    results[1] = most + 10 > 20;
    const int side = most >> 15;
    results[2] = side * side >= 0;
    results[3] = most + 1 < INT_MAX ? most + 1 : INT_MAX;
    results[4] = -least < 0;
    results[5] = abs(least);
    results[6] = static_cast<int>((static_cast<long long>(most + 1) - most) >> 31);
    results[7] = most * 2 / 2;
    results[8] = static_cast<int>(LLONG_MAX / most * most + most * 4LL > 0);
    int up = most;
    results[9] = ++up;
    int down = least;
    results[10] = --down;
}
LAUNCHER(fold) { fold<<<1, 1>>>(reinterpret_cast<int*>(call.data), INT_MAX, INT_MIN); }

/// `call.count` says which.
__global__ void operate(int* results, int which, int most, int least, long long long_most) {
    if (which == 0) results[0] = most + 5;           // line: sum
    if (which == 1) results[0] = least - 1;          // line: difference
    if (which == 2) results[0] = most * 3;           // line: product
    if (which == 3) results[0] = -least;             // line: negation
    if (which == 4) results[0] = long_most * 3 < 0;  // line: long_product
}
LAUNCHER(operate) {
    operate<<<1, 1>>>(reinterpret_cast<int*>(call.data), call.count, INT_MAX, INT_MIN, LLONG_MAX);
}

LAUNCHER(on_the_host) {
    const int more = call.count + 5;  // line: on_the_host
    reinterpret_cast<int*>(call.data)[0] = more;
}

/// A hash that overflows at every step.
__global__ void hash(int* results, int steps) {
    int state = 1;
    for (int i = 0; i < steps; ++i) state = state * 1103515245 + 12345;  // line: hash
    results[0] = state;
}
LAUNCHER(hash) { hash<<<1, 1>>>(reinterpret_cast<int*>(call.data), call.count); }

__global__ void unsigned_and_atomic(int* results) {
    results[0] = INT_MAX;
    atomicAdd(results, 1);
    results[1] = __dp4a(0x01010101, 0x01010101, INT_MAX);
    results[2] = static_cast<int>(UINT_MAX + threadIdx.x + 3u);
}
LAUNCHER(unsigned_and_atomic) { unsigned_and_atomic<<<1, 1>>>(reinterpret_cast<int*>(call.data)); }
