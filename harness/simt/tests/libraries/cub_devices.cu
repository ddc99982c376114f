// SPDX-License-Identifier: Apache-2.0
// CUB's algorithms for the whole device, each called twice: for the size of its storage, and to
// run.
#include <algorithm>
#include <numeric>

#include <cub/cub.cuh>
#include <cuda/std/functional>

#include "harness/simt/tests/construct.hpp"

namespace {

constexpr int count = 100;

/// Values that repeat, of both signs, in no order.
std::vector<int> unsorted() {
    return table(count, [](int i) { return (i * 37) % 23 - 11; });
}

template <class Call>
void twice(Call call) {
    std::size_t bytes = 0;
    CHECK_CUDA(call(nullptr, bytes));
    void* memory = nullptr;
    CHECK_CUDA(cudaMalloc(&memory, bytes));
    CHECK_CUDA(call(memory, bytes));
    CHECK_CUDA(cudaFree(memory));
}

#define TWICE(ALGORITHM, ...) \
    twice([&](void* m, std::size_t& b) { return cub::ALGORITHM(m, b, __VA_ARGS__); })

struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct LargerMagnitude {
    __host__ __device__ int operator()(int a, int b) const { return a * a < b * b ? b : a; }
};
struct Larger {
    __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct Below {
    __host__ __device__ bool operator()(int a, int b) const { return a < b; }
};

}  // namespace

CONSTRUCT(cub_device_reduce) {
    const std::vector<int> values = unsorted();
    const Array<int> in(values);
    Array<int> out(4);
    Array<cub::KeyValuePair<int, int>> arg(1);
    TWICE(DeviceReduce::Sum, in + 0, out + 0, count);
    TWICE(DeviceReduce::Max, in + 0, out + 1, count);
    TWICE(DeviceReduce::Min, in + 0, out + 2, count);
    TWICE(DeviceReduce::Reduce, in + 0, out + 3, count, LargerMagnitude(), 0);
    report.equal("out", out.host(),
                 {std::accumulate(values.begin(), values.end(), 0), 11, -11,
                  std::accumulate(values.begin(), values.end(), 0, LargerMagnitude())});
}
CONSTRUCT(cub_device_scan) {
    const std::vector<int> values = unsorted();
    const Array<int> in(values);
    Array<int> inclusive(count), exclusive(count), largest(count);
    TWICE(DeviceScan::InclusiveSum, in + 0, inclusive + 0, count);
    TWICE(DeviceScan::ExclusiveSum, in + 0, exclusive + 0, count);
    TWICE(DeviceScan::ExclusiveScan, in + 0, largest + 0, Larger(), -5, count);
    std::vector<int> want(count);
    std::partial_sum(values.begin(), values.end(), want.begin());
    report.equal("inclusive", inclusive.host(), want);
    report.equal("exclusive", exclusive.host(), [&](int i) { return want[i] - values[i]; });
    report.equal("largest", largest.host(), [&](int i) {
        return std::max(-5, i == 0 ? -5 : *std::max_element(values.begin(), values.begin() + i));
    });
}
// Counts of flags: a sum of bytes is an int.
CONSTRUCT(cub_device_sums_of_flags) {
    constexpr int flags = 1000;
    const Array<unsigned char> in(std::vector<unsigned char>(flags, 1));
    Array<int> sum(1), before(flags), with(flags), from_ten(flags);
    TWICE(DeviceReduce::Sum, in + 0, sum + 0, flags);
    TWICE(DeviceScan::ExclusiveSum, in + 0, before + 0, flags);
    TWICE(DeviceScan::InclusiveSum, in + 0, with + 0, flags);
    TWICE(DeviceScan::ExclusiveScan, in + 0, from_ten + 0, cuda::std::plus<>(), 10, flags);
    report.equal("sum", sum.host(), [](int) { return flags; });
    report.equal("exclusive", before.host(), [](int i) { return i; });
    report.equal("inclusive", with.host(), [](int i) { return i + 1; });
    report.equal("from ten", from_ten.host(), [](int i) { return i + 10; });
}

CONSTRUCT(cub_device_radix_sort) {
    const std::vector<int> values = unsorted();
    const std::vector<float> floats = as<float>(values);
    const Array<int> in(values), places(table(count, [](int i) { return i; }));
    const Array<float> float_in(floats);
    Array<int> keys(count), order(count), low(count);
    Array<float> down(count), other(count);
    TWICE(DeviceRadixSort::SortPairs, in + 0, keys + 0, places + 0, order + 0, count);
    TWICE(DeviceRadixSort::SortKeysDescending, float_in + 0, down + 0, count);
    // The two lowest bits alone, of what is sorted by the others.
    TWICE(DeviceRadixSort::SortKeys, keys + 0, low + 0, count, 0, 2);
    std::vector<int> want = table(count, [](int i) { return i; });
    std::stable_sort(want.begin(), want.end(), [&](int a, int b) { return values[a] < values[b]; });
    report.equal("order", order.host(), want);
    report.equal("keys", keys.host(), [&](int i) { return values[want[i]]; });
    std::vector<int> bits = keys.host();
    std::stable_sort(bits.begin(), bits.end(), [](int a, int b) { return (a & 3) < (b & 3); });
    report.equal("two bits", low.host(), bits);
    std::vector<float> falling = floats;
    std::sort(falling.rbegin(), falling.rend());
    report.equal("descending", down.host(), falling);
    cub::DoubleBuffer<float> buffer(down + 0, other + 0);
    TWICE(DeviceRadixSort::SortKeys, buffer, count);
    std::vector<float> rising(count);
    CHECK_CUDA(
        cudaMemcpy(rising.data(), buffer.Current(), count * sizeof(float), cudaMemcpyDefault));
    report.equal("double buffer", rising, std::vector<float>(falling.rbegin(), falling.rend()));
}
CONSTRUCT(cub_device_select_and_segments) {
    const std::vector<int> values = unsorted();
    const Array<int> in(values), offsets(std::vector<int>{0, 10, 10, count});
    Array<int> odd(count), runs(count), selected(2), sums(3), sorted(values);
    TWICE(DeviceSelect::If, in + 0, odd + 0, selected + 0, count, IsOdd());
    TWICE(DeviceMergeSort::StableSortKeys, sorted + 0, count, Below());
    TWICE(DeviceSelect::Unique, sorted + 0, runs + 0, selected + 1, count);
    TWICE(DeviceSegmentedReduce::Sum, in + 0, sums + 0, 3, offsets + 0, offsets + 1);
    std::vector<int> want;
    std::copy_if(values.begin(), values.end(), std::back_inserter(want), IsOdd());
    const std::vector<int> counts = selected.host();
    report.equal("selected", counts, {int(want.size()), 23});
    std::vector<int> got = odd.host();
    got.resize(want.size());
    report.equal("odd", got, want);
    got = runs.host();
    got.resize(23);
    report.equal("unique", got, [](int i) { return i - 11; });
    report.equal("sums", sums.host(),
                 {std::accumulate(values.begin(), values.begin() + 10, 0), 0,
                  std::accumulate(values.begin() + 10, values.end(), 0)});
}
