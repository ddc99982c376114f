// SPDX-License-Identifier: Apache-2.0
// Thrust: algorithms on device vectors, on raw pointers with a policy, on iterators that compute,
// and on the host.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>

#include "harness/simt/tests/construct.hpp"

namespace {

constexpr int count = 100;

std::vector<int> unsorted() {
    return table(count, [](int i) { return (i * 37) % 23 - 11; });
}
template <class T>
std::vector<T> host(const thrust::device_vector<T>& values) {
    std::vector<T> copied(values.size());
    thrust::copy(values.begin(), values.end(), copied.begin());
    return copied;
}

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Product {
    template <class Pair>
    __host__ __device__ int operator()(const Pair& pair) const {
        return thrust::get<0>(pair) * thrust::get<1>(pair);
    }
};
struct Double {
    __host__ __device__ void operator()(int& x) const { x *= 2; }
};
/// Which side ran it.
struct Side {
    __host__ __device__ int operator()(int) const {
#ifdef __CUDA_ARCH__
        return 1;
#else
        return 2;
#endif
    }
};

}  // namespace

CONSTRUCT(thrust_sorts) {
    const std::vector<int> values = unsorted();
    thrust::device_vector<int> keys(values), order(count), falling(values);
    thrust::sequence(order.begin(), order.end());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin());
    int* const raw = thrust::raw_pointer_cast(falling.data());
    cudaStream_t stream;
    CHECK_CUDA(cudaStreamCreate(&stream));
    thrust::sort(thrust::cuda::par.on(stream), raw, raw + count, thrust::greater<int>());
    CHECK_CUDA(cudaStreamDestroy(stream));
    std::vector<int> want = table(count, [](int i) { return i; });
    std::stable_sort(want.begin(), want.end(), [&](int a, int b) { return values[a] < values[b]; });
    report.equal("order", host(order), want);
    report.equal("keys", host(keys), [&](int i) { return values[want[i]]; });
    std::vector<int> down = values;
    std::sort(down.rbegin(), down.rend());
    report.equal("falling", host(falling), down);
    const auto end = thrust::unique(keys.begin(), keys.end());
    report.equal("unique", std::vector<int>{int(end - keys.begin())}, {23});
}
CONSTRUCT(thrust_reduces_and_scans) {
    const std::vector<int> values = unsorted();
    const thrust::device_vector<int> in = values;
    const Array<int> array(values);
    const int sum = std::accumulate(values.begin(), values.end(), 0);
    int squares = 0;
    for (const int x : values) squares += x * x;
    const thrust::counting_iterator<int> naturals(1);
    report.equal(
        "reduced",
        std::vector<int>{
            thrust::reduce(in.begin(), in.end()),
            thrust::reduce(thrust::device, array + 0, array + count, 5),
            thrust::reduce(in.begin(), in.end(), -100, thrust::maximum<int>()),
            thrust::transform_reduce(in.begin(), in.end(), Square(), 0, thrust::plus<int>()),
            thrust::reduce(naturals, naturals + count),
            int(thrust::count(in.begin(), in.end(), 11)),
            int(thrust::count_if(in.begin(), in.end(), IsOdd())),
            int(thrust::max_element(in.begin(), in.end()) - in.begin())},
        {sum, sum + 5, 11, squares, count * (count + 1) / 2,
         int(std::count(values.begin(), values.end(), 11)),
         int(std::count_if(values.begin(), values.end(), IsOdd())),
         int(std::max_element(values.begin(), values.end()) - values.begin())});
    thrust::device_vector<int> inclusive(count), exclusive(count);
    thrust::inclusive_scan(in.begin(), in.end(), inclusive.begin());
    thrust::exclusive_scan(in.begin(), in.end(), exclusive.begin(), 7);
    std::vector<int> want(count);
    std::partial_sum(values.begin(), values.end(), want.begin());
    report.equal("inclusive", host(inclusive), want);
    report.equal("exclusive", host(exclusive), [&](int i) { return 7 + want[i] - values[i]; });
}
CONSTRUCT(thrust_transforms) {
    const std::vector<int> values = unsorted();
    const thrust::device_vector<int> in = values;
    thrust::device_vector<int> out(count), kept(count, -1), filled(count);
    const auto pairs = thrust::make_zip_iterator(
        thrust::make_tuple(in.begin(), thrust::counting_iterator<int>(0)));
    thrust::transform(pairs, pairs + count, out.begin(), Product());
    thrust::for_each(out.begin(), out.end(), Double());
    report.equal("zipped", host(out), [&](int i) { return 2 * i * values[i]; });
    const auto end = thrust::copy_if(in.begin(), in.end(), kept.begin(), IsOdd());
    std::vector<int> want;
    std::copy_if(values.begin(), values.end(), std::back_inserter(want), IsOdd());
    std::vector<int> got = host(kept);
    got.resize(end - kept.begin());
    report.equal("kept", got, want);
    const auto squares = thrust::make_transform_iterator(in.begin(), Square());
    thrust::copy(squares, squares + count, out.begin());
    report.equal("squares", host(out), [&](int i) { return values[i] * values[i]; });
    thrust::device_vector<int> backwards(count);
    thrust::sequence(backwards.begin(), backwards.end(), count - 1, -1);
    thrust::gather(backwards.begin(), backwards.end(), in.begin(), out.begin());
    report.equal("gathered", host(out), [&](int i) { return values[count - 1 - i]; });
    const auto permuted = thrust::make_permutation_iterator(in.begin(), backwards.begin());
    report.equal("permuted", std::vector<int>{int(*(permuted + 3))}, {values[count - 4]});
    thrust::fill(filled.begin(), filled.end(), 9);
    thrust::transform(thrust::constant_iterator<int>(3), thrust::constant_iterator<int>(3, 10),
                      filled.begin(), filled.begin(), thrust::minus<int>());
    report.equal("filled", host(filled), [](int i) { return i < 10 ? -6 : 9; });
}
CONSTRUCT(thrust_runs_where_the_data_is) {
    thrust::device_vector<int> on_device(4);
    thrust::host_vector<int> on_host(4);
    thrust::transform(on_device.begin(), on_device.end(), on_device.begin(), Side());
    thrust::transform(on_host.begin(), on_host.end(), on_host.begin(), Side());
    report.equal("device", host(on_device), {1, 1, 1, 1});
    report.equal("host", std::vector<int>(on_host.begin(), on_host.end()), {2, 2, 2, 2});
    on_host[2] = 5;
    on_device = on_host;
    on_device.push_back(6);
    on_device[0] = 3;
    report.equal("copied", host(on_device), {3, 2, 5, 2, 6});
}
