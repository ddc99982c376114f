// SPDX-License-Identifier: Apache-2.0
// Mistakes whose reports the docs show: a sum that reads past the end, a launcher that ends its
// process, one that puts half of its work on another stream, a sum without atomics, and an index
// that overflows.
#include <cstdio>
#include <cstdlib>

#include "harness/kernel.hpp"
#include "reference/conv.hpp"

using gradverify::conv::GradBias;

__global__ void sum_channel(const float* dy, float* db, int n, int k, int pixels) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= k) return;
    float sum = 0.0f;
    for (int i = 0; i <= n * pixels; ++i) sum += dy[(i / pixels * k + c) * pixels + i % pixels];
    db[c] = sum;
}
__global__ void set_to_zero(float* db, int k) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < k) db[c] = 0.0f;
}
__global__ void add_channel(const float* dy, float* db, int n, int k, int pixels) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= k) return;
    for (int i = 0; i < n * pixels; ++i) db[c] += dy[(i / pixels * k + c) * pixels + i % pixels];
}
__global__ void add_pixel(const float* dy, float* db, int n, int k, int pixels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * k * pixels) db[i / pixels % k] += dy[i];
}

__global__ void write_at_square(float* db, int side) { db[side * side] = 0.0f; }

static int pixels_of(const GradBias& call) {
    return static_cast<int>(call.dy.size(2) * call.dy.size(3));
}
static void read_past_the_end(const GradBias& call) {
    const int n = static_cast<int>(call.problem.n), k = static_cast<int>(call.problem.k);
    sum_channel<<<(k + 255) / 256, 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), n, k, pixels_of(call));
}
static void end_the_process(const GradBias&) {
    std::fprintf(stderr, "out of memory\n");
    std::exit(EXIT_FAILURE);
}
static void use_two_streams(const GradBias& call) {
    const int n = static_cast<int>(call.problem.n), k = static_cast<int>(call.problem.k);
    set_to_zero<<<(k + 255) / 256, 256>>>(call.db.as<float>(), k);
    add_channel<<<(k + 255) / 256, 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), n, k, pixels_of(call));
}
static void add_without_atomics(const GradBias& call) {
    const int n = static_cast<int>(call.problem.n), k = static_cast<int>(call.problem.k);
    const int elements = static_cast<int>(call.dy.elements());
    set_to_zero<<<(k + 255) / 256, 256, 0, call.launch.stream>>>(call.db.as<float>(), k);
    add_pixel<<<(elements + 255) / 256, 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), n, k, pixels_of(call));
}
static void overflow(const GradBias& call) {
    write_at_square<<<1, 1, 0, call.launch.stream>>>(call.db.as<float>(), 46341);
}
GRADVERIFY_KERNEL(GradBias, "reads_past_the_end", read_past_the_end).aligned_to(sizeof(float));
GRADVERIFY_KERNEL(GradBias, "example", end_the_process);
GRADVERIFY_KERNEL(GradBias, "two_streams", use_two_streams);
GRADVERIFY_KERNEL(GradBias, "no_atomics", add_without_atomics);
GRADVERIFY_KERNEL(GradBias, "overflows", overflow);
