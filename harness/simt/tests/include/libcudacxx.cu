// SPDX-License-Identifier: Apache-2.0
// libcu++: atomics, barriers, pipelines with asynchronous copies, and the standard library's parts.
#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include "harness/simt/tests/construct.hpp"

namespace {

using Block = cuda::atomic_ref<int, cuda::thread_scope_block>;
using Device = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void atomics(int* out, float* sum) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
    __shared__ int low, high;
    if (threadIdx.x == 0) {
        count.store(0, cuda::memory_order_relaxed);
        low = 1000, high = -1;
    }
    __syncthreads();
    const int i = static_cast<int>(threadIdx.x);
    count.fetch_add(2, cuda::memory_order_relaxed);
    Block(low).fetch_min(i + 5);
    Block(high).fetch_max(i);
    cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
    int expected = i;
    Device(out[4]).compare_exchange_strong(expected, i + 1);
    ++Device(out[5]);
    Device(out[6]) |= 1 << (i % 8);
    __syncthreads();
    if (i == 0) {
        out[0] = count.load();
        out[1] = low;
        out[2] = high;
        out[3] = count.exchange(7) + count--;
    }
}

/// A value is handed on by a release and an acquire.
__global__ void hand_on(int* out) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
    __shared__ int value;
    if (threadIdx.x == 0) flag.store(0);
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 42;
        flag.store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 32) {
        while (flag.load(cuda::memory_order_acquire) == 0) {
        }
        out[0] = value;
    } else if (threadIdx.x == 64) {
        flag.wait(0, cuda::memory_order_acquire);
        out[1] = value + 1;
    }
}

constexpr int threads = 64, rounds = 5;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

/// Each round reads what a thread of the other warp wrote in the one before.
__global__ void rounds_by_barrier(int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ int values[2][threads];
    const int i = static_cast<int>(threadIdx.x);
    if (i == 0) init(&barrier, threads);
    values[0][i] = i;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        values[(round + 1) % 2][i] = values[round % 2][(i + 33) % threads] + 1;
        if (round % 2 == 0) {
            barrier.arrive_and_wait();
        } else {
            BlockBarrier::arrival_token token = barrier.arrive();
            barrier.wait(std::move(token));
        }
    }
    out[i] = values[rounds % 2][i];
}
/// Half of the threads leave, the others go on.
__global__ void leave_early(int* out) {
    __shared__ BlockBarrier barrier;
    if (threadIdx.x == 0) init(&barrier, threads);
    __syncthreads();
    if (threadIdx.x % 2 == 1) return barrier.arrive_and_drop();
    barrier.arrive_and_wait();
    barrier.arrive_and_wait();
    out[threadIdx.x / 2] = 1;
}

__global__ void copies_by_barrier(const int* from, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ alignas(16) int values[threads];
    const auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, threads);
    block.sync();
    cuda::memcpy_async(block, values, from, cuda::aligned_size_t<16>(sizeof values), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = values[threads - 1 - threadIdx.x];
}

/// One thread asks for all, and the barrier waits for the bytes.
__global__ void copies_by_transactions(const int* from, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ alignas(128) int values[threads];
    if (threadIdx.x == 0) {
        init(&barrier, threads);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    BlockBarrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(values, from, cuda::aligned_size_t<16>(sizeof values),
                                      barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof values);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    const int value = values[threads - 1 - threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = value;
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
    if (threadIdx.x != 0) return;
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, values,
                             sizeof values);
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>{});
}

constexpr int stages = 2, tiles = 5;
__global__ void copies_by_pipeline(const int* from, int* out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ alignas(16) int values[stages][threads];
    const auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int done = 0, begun = 0; done < tiles; ++done) {
        for (; begun < tiles && begun < done + stages; ++begun) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, values[begun % stages], from + begun * threads,
                               sizeof values[0], pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += values[done % stages][threads - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}
__global__ void copies_of_one_thread(const int* from, int* out) {
    __shared__ int values[threads];
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(values + threadIdx.x, from + threadIdx.x, sizeof(int), pipeline);
    pipeline.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipeline);
    out[threadIdx.x] = 2 * values[threadIdx.x];
    pipeline.consumer_release();
}

__global__ void standard_library(float* out) {
    cuda::std::array<float, 3> values{1, 2, 3};
    const auto pair = cuda::std::make_tuple(4.0f, values[2]);
    const cuda::std::complex<float> z(1, 2);
    static_assert(cuda::std::is_same_v<cuda::std::remove_cv_t<const int>, int>);
    out[0] = cuda::std::get<0>(pair) + cuda::std::get<1>(pair);
    out[1] = (z * z).imag();
    out[2] = static_cast<float>(cuda::std::numeric_limits<unsigned char>::max());
    out[3] = static_cast<float>(cuda::std::tuple_size<decltype(pair)>::value);
    cuda::std::swap(values[0], values[1]);
    out[4] = values[0];
}

}  // namespace

CONSTRUCT(libcudacxx_atomics) {
    Array<int> out(7);
    Array<float> sum(1);
    atomics<<<1, 64>>>(out, sum);
    std::vector<int> got = out.host();
    report.holds("compare_exchange", got[4] >= 1 && got[4] <= 64);
    got[4] = 0;
    report.equal("out", got, {128, 5, 63, 135, 0, 64, 255});
    report.equal("sum", sum.host(), {32});
    Array<int> handed(2);
    hand_on<<<1, 96>>>(handed);
    report.equal("handed on", handed.host(), {42, 43});
}
CONSTRUCT(libcudacxx_barriers) {
    Array<int> out(threads), half(threads / 2);
    rounds_by_barrier<<<1, threads>>>(out);
    report.equal("rounds", out.host(), [](int i) { return (i + 33 * rounds) % threads + rounds; });
    leave_early<<<1, threads>>>(half);
    report.equal("half", half.host(), [](int) { return 1; });
}
CONSTRUCT(libcudacxx_asynchronous_copies) {
    Array<int> from(table(tiles * threads, [](int i) { return i; })), out(threads);
    copies_by_barrier<<<1, threads>>>(from, out);
    report.equal("barrier", out.host(), [](int i) { return threads - 1 - i; });
    copies_by_transactions<<<1, threads>>>(from, out);
    report.equal("transactions", out.host(), [](int i) { return threads - 1 - i; });
    copies_by_pipeline<<<1, threads>>>(from, out);
    report.equal("pipeline", out.host(), [](int i) {
        return tiles * (threads - 1 - i) + threads * (tiles * (tiles - 1) / 2);
    });
    copies_of_one_thread<<<1, threads>>>(from, out);
    report.equal("thread", out.host(), [](int i) { return 2 * i; });
}
CONSTRUCT(libcudacxx_standard_library) {
    Array<float> out(5);
    standard_library<<<1, 1>>>(out);
    report.equal("out", out.host(), {7, 4, 255, 2, 2});
}
