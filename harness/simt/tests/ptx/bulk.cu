// SPDX-License-Identifier: Apache-2.0
// The asynchronous proxy of sm_90: mbarriers and bulk copies.
#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/construct.hpp"

namespace {

/// Warp 0 hands rows to warp 1 by two stages; each has a barrier for full and one for empty.
__global__ void hand_over(const int* in, int* out, int rows) {
    __shared__ std::uint64_t full[2], empty[2];
    __shared__ int stage[2][32];
    const int lane = int(threadIdx.x % 32);
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) init(&full[i], 32), init(&empty[i], 32);
    }
    __syncthreads();
    for (int row = 0; row < rows; ++row) {
        const int at = row % 2;
        const unsigned parity = unsigned(row / 2 % 2);
        if (threadIdx.x < 32) {
            wait(&empty[at], parity ^ 1);
            stage[at][lane] = in[row * 32 + lane];
            arrive(&full[at]);
        } else {
            wait(&full[at], parity);
            out[row * 32 + lane] = stage[at][31 - lane];
            arrive(&empty[at]);
        }
    }
}
CONSTRUCT(ptx_mbarriers) {
    const auto in = table(7 * 32, [](int i) { return i * 3; });
    Array<int> from(in), out(7 * 32);
    hand_over<<<2, 64>>>(from, out, 7);
    report.equal("rows", out.host(),
                 [&](int i) { return in[std::size_t(i / 32 * 32 + 31 - i % 32)]; });
}

/// Waits by an arrival's state, arrivals of several, and half of the threads drop out.
__global__ void drop_out(const int* in, int* out) {
    __shared__ std::uint64_t mbarrier;
    __shared__ int values[64];
    const unsigned at = shared_address(&mbarrier), i = threadIdx.x;
    std::uint64_t state = 0;
    const auto arrive_for = [&](unsigned count) {
        asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
                     : "=l"(state)
                     : "r"(at), "r"(count)
                     : "memory");
    };
    if (i == 0) {
        init(&mbarrier, 66);
        asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;"
                     : "=l"(state)
                     : "r"(at)
                     : "memory");
    }
    __syncthreads();
    values[i] = in[i];
    arrive_for(1);
    for (unsigned seen = 0; seen == 0;)
        asm volatile(
            "{ .reg .pred p; mbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%1], %2; "
            "selp.u32 %0, 1, 0, p; }"
            : "=r"(seen)
            : "r"(at), "l"(state)
            : "memory");
    out[i] = values[63 - i];
    if (i % 2 == 1) {
        asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(at) : "memory");
        return;
    }
    arrive_for(i == 0 ? 3 : 1);
    wait(&mbarrier, 1);
    values[i] = 2 * in[i];
    // Of the 66 arrivals 32 are gone.
    arrive_for(i == 0 ? 3 : 1);
    wait(&mbarrier, 0);
    out[i] += values[62 - i];
}
CONSTRUCT(ptx_states_of_mbarriers) {
    const auto in = table(64, [](int i) { return i * i; });
    Array<int> from(in), out(64);
    drop_out<<<1, 64>>>(from, out);
    report.equal("out", out.host(), [&](int i) {
        return in[std::size_t(63 - i)] + (i % 2 == 0 ? 2 * in[std::size_t(62 - i)] : 0);
    });
}

/// The bytes of a block are doubled in shared memory; a bulk copy brings them, another takes them.
__global__ void double_by_bulk(const int* in, int* out, int* sums) {
    __shared__ std::uint64_t mbarrier;
    __shared__ alignas(128) int values[64];
    const int i = int(threadIdx.x);
    const int* const from = in + 64 * blockIdx.x;
    if (i == 0) {
        init(&mbarrier, 1);
    }
    __syncthreads();
    if (i == 0) {
        arrive_expecting(&mbarrier, sizeof values);
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(shared_address(values)),
            "l"(from), "n"(sizeof values), "r"(shared_address(&mbarrier))
            : "memory");
    }
    wait(&mbarrier, 0);
    values[i] *= 2;
    fence_proxy();
    __syncthreads();
    if (i == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                         out + 64 * blockIdx.x),
                     "r"(shared_address(values)), "r"(unsigned(sizeof values))
                     : "memory");
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(
                sums),
            "r"(shared_address(values)), "r"(unsigned(sizeof values))
            : "memory");
        commit();
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
CONSTRUCT(ptx_bulk_copies) {
    const auto in = table(3 * 64, [](int i) { return i * 5 - 100; });
    Array<int> from(in), out(3 * 64), sums(64);
    double_by_bulk<<<3, 64>>>(from, out, sums);
    report.equal("doubled", out.host(), [&](int i) { return 2 * in[std::size_t(i)]; });
    report.equal("sums", sums.host(), [&](int i) {
        return 2 * (in[std::size_t(i)] + in[std::size_t(64 + i)] + in[std::size_t(128 + i)]);
    });
}

/// What is copied by cp.async arrives at an mbarrier.
__global__ void arrive_by_copies(const float* in, float* out) {
    __shared__ std::uint64_t mbarrier;
    __shared__ float values[64];
    const int i = int(threadIdx.x);
    if (i == 0) init(&mbarrier, 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(values + i)),
                 "l"(in + i)
                 : "memory");
    asm volatile(
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&mbarrier))
        : "memory");
    wait(&mbarrier, 0);
    out[i] = values[63 - i];
}
CONSTRUCT(ptx_copies_that_arrive) {
    Array<float> from(numbers(64)), out(64);
    arrive_by_copies<<<1, 64>>>(from, out);
    report.equal("out", out.host(), [](int i) { return float(63 - i); });
}

}  // namespace
