// SPDX-License-Identifier: Apache-2.0
// Inline PTX of warps, blocks and memory: shuffles, named barriers, shared addresses, atomics,
// matrices of mma.sync and ldmatrix, and asynchronous copies.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "harness/simt/tests/construct.hpp"

namespace {

__device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void shuffle_and_vote(unsigned* out) {
    const unsigned lane = threadIdx.x;
    unsigned* const own = out + lane * 8;
    asm volatile("shfl.sync.up.b32 %0, %1, 3, 0, 0xffffffff;" : "=r"(own[0]) : "r"(lane));
    asm volatile("shfl.sync.down.b32 %0, %1, 1, 0x1c03, -1;" : "=r"(own[1]) : "r"(lane));
    asm volatile("{ .reg .pred p; shfl.sync.idx.b32 %0|p, %2, 9, 0x1f, -1; selp.u32 %1, 1, 0, p; }"
                 : "=r"(own[2]), "=r"(own[3])
                 : "r"(lane * 2));
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 20; vote.sync.ballot.b32 %0, p, -1; }"
                 : "=r"(own[4])
                 : "r"(lane));
    asm volatile("redux.sync.max.s32 %0, %1, -1;" : "=r"(own[5]) : "r"(lane - 5u));
    asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(own[6]) : "r"(lane % 2));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(own[7]));
}
CONSTRUCT(ptx_warps) {
    Array<unsigned> out(32 * 8);
    shuffle_and_vote<<<1, 32>>>(out);
    report.equal("warp", out.host(), [](int i) -> unsigned {
        const unsigned lane = unsigned(i) / 8;
        const unsigned want[] = {lane < 3 ? lane : lane - 3,
                                 lane % 4 == 3 ? lane : lane + 1,
                                 18,
                                 1,
                                 0xffe00000u,
                                 26,
                                 lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau,
                                 (1u << lane) - 1u};
        return want[i % 8];
    });
}

/// Warps 0 and 1 produce for warps 2 and 3, and wait for none but them.
__global__ void hand_over(unsigned* out) {
    __shared__ unsigned value[64];
    const unsigned i = threadIdx.x;
    if (i < 64) {
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address(&value[i])), "r"(i * 3)
                     : "memory");
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        unsigned got;
        asm volatile("ld.shared.u32 %0, [%1+4];"
                     : "=r"(got)
                     : "r"(shared_address(&value[0]) + (i - 65) * 4));
        out[i - 64] = got;
    }
}
CONSTRUCT(ptx_named_barriers) {
    Array<unsigned> out(64);
    hand_over<<<2, 128>>>(out);
    report.equal("handed over", out.host(), [](int i) { return unsigned(i) * 3; });
}

/// Warp 2 ends without a word; what is left of the block meets.
__global__ void hand_over_without(unsigned* out) {
    __shared__ unsigned value[64];
    const unsigned i = threadIdx.x;
    if (i >= 64) return;
    value[i] = i * 3;
    asm volatile("bar.sync 1;" ::: "memory");
    out[i] = value[63 - i];
}
CONSTRUCT(ptx_named_barriers_of_the_block) {
    Array<unsigned> out(64);
    hand_over_without<<<2, 96>>>(out);
    report.equal("handed over", out.host(), [](int i) { return 3u * (63 - unsigned(i)); });
}

/// A label is of its scope; the branch to `out` leaves its own.
__global__ void branch_in_scopes(unsigned* out) {
    const unsigned i = threadIdx.x;
    unsigned got = 0;
    asm volatile(
        "{\n .reg .pred p;\n"
        "{ setp.gt.u32 p, %1, 3; @p bra DONE; add.u32 %0, %0, 1; DONE: add.u32 %0, %0, 10; }\n"
        "{ setp.gt.u32 p, %1, 5; @p bra DONE; add.u32 %0, %0, 100; DONE: add.u32 %0, %0, 1000; "
        "@!p bra OUT; }\n"
        "add.u32 %0, %0, 10000;\n"
        "OUT: add.u32 %0, %0, 100000; }"
        : "+r"(got)
        : "r"(i));
    out[i] = got;
}
CONSTRUCT(ptx_labels_of_scopes) {
    Array<unsigned> out(8);
    branch_in_scopes<<<1, 8>>>(out);
    report.equal("branches", out.host(),
                 [](int i) { return 101010u + (i > 3 ? 0u : 1u) + (i > 5 ? 10000u : 100u); });
}

__global__ void access_memory(const unsigned* in, unsigned* out, float* sums) {
    const unsigned i = threadIdx.x;
    unsigned a, b, c, d;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(in + 4 * i));
    asm volatile("st.global.cs.v2.u32 [%0+8], {%1, %2};" ::"l"(out + 4 * i), "r"(a), "r"(b)
                 : "memory");
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(out + 4 * i), "r"(c) : "memory");
    asm volatile(
        "{ .reg .u64 p; cvta.to.global.u64 p, %0; st.global.u32 [p+4], %1; }" ::"l"(out + 4 * i),
        "r"(d)
        : "memory");
    short narrow;
    asm volatile("ld.global.s8 %0, [%1];" : "=h"(narrow) : "l"(in + 1));
    asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(sums), "f"(float(int(i) + narrow))
                 : "memory");
    asm volatile("{ .reg .b32 old; atom.global.add.noftz.f16x2 old, [%0], %1; }" ::"l"(sums + 1),
                 "r"(0x3c004000u)
                 : "memory");
}
CONSTRUCT(ptx_memory) {
    const auto in = table(128, [](int i) { return i == 1 ? 0xfeu : unsigned(i); });
    Array<unsigned> from(in), out(128);
    Array<float> sums(2);
    access_memory<<<1, 32>>>(from, out, sums);
    report.equal("stored", out.host(),
                 [&](int i) { return in[std::size_t(i / 4 * 4 + (i % 4 + 2) % 4)]; });
    const std::vector<float> got = sums.host();
    report.equal("sum", std::vector<float>{got[0]}, {496.0f - 64.0f});
    unsigned halves;
    std::memcpy(&halves, &got[1], 4);
    report.equal("halves", std::vector<unsigned>{halves}, {0x50005400u});
}

/// sum = a b + c of 16 x 16 and 16 x 8 halves, by ldmatrix and mma.
__global__ void multiply(const __half* a, const __half* b, float* sum) {
    __shared__ __align__(16) __half of_a[16 * 16], of_b[16 * 8];
    const int lane = int(threadIdx.x);
    for (int i = lane; i < 256; i += 32) of_a[i] = a[i];
    for (int i = lane; i < 128; i += 32) of_b[i] = b[i];
    __syncthreads();
    unsigned r[4], s[2];
    float d[4] = {1, 1, 1, 1};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(&of_a[lane % 16 * 16 + lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(s[0]), "=r"(s[1])
                 : "r"(shared_address(&of_b[lane % 16 * 8])));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(s[0]), "r"(s[1]));
    for (int i = 0; i < 4; ++i) sum[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
CONSTRUCT(ptx_matrices) {
    const auto a = table(256, [](int i) { return __half(float((i * 7 + i / 16) % 11 - 5)); });
    const auto b = table(128, [](int i) { return __half(float((i * 5 + i / 8) % 9 - 4)); });
    Array<__half> of_a(a), of_b(b);
    Array<float> sum(128);
    multiply<<<1, 32>>>(of_a, of_b, sum);
    report.equal("mma", sum.host(), [&](int i) {
        float want = 1.0f;
        for (int k = 0; k < 16; ++k)
            want += float(a[std::size_t(i / 8 * 16 + k)]) * float(b[std::size_t(k * 8 + i % 8)]);
        return want;
    });
}

/// Factors of 1, 4, 8 and 32 bits: their registers hold numbers that depend on the lane.
#define MMA_OF_INTEGERS(NAME, SHAPE, TYPES, A, B)                                              \
    __device__ void NAME(const unsigned* a, const unsigned* b, unsigned* d) {                  \
        asm volatile("mma.sync.aligned." SHAPE ".row.col" TYPES " {%0, %1, %2, %3}, " A ", " B \
                     ", {%0, %1, %2, %3};"                                                     \
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                          \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));      \
    }
MMA_OF_INTEGERS(mma_s8, "m16n8k32", ".s32.s8.s8.s32", "{%4, %5, %6, %7}", "{%8, %9}")
MMA_OF_INTEGERS(mma_u8_s8, "m16n8k32", ".s32.u8.s8.s32", "{%4, %5, %6, %7}", "{%8, %9}")
MMA_OF_INTEGERS(mma_s8_k16, "m16n8k16", ".s32.s8.s8.s32", "{%4, %5}", "{%8}")

__global__ void multiply_bytes(int form, unsigned* out) {
    const unsigned lane = threadIdx.x;
    unsigned a[4], b[2], d[4];
    // The bytes of A are its places' hashes, and so are those of B.
    const auto byte = [](unsigned row, unsigned column) {
        return (row * 37 + column * 11) & 0xffu;
    };
    const unsigned group = lane / 4, member = lane % 4;
    for (unsigned r = 0; r < 4; ++r) {
        a[r] = d[r] = 0;
        for (unsigned j = 0; j < 4; ++j)
            a[r] |= byte(group + r % 2 * 8, r / 2 * 16 + member * 4 + j) << 8 * j;
    }
    for (unsigned r = 0; r < 2; ++r) {
        b[r] = 0;
        for (unsigned j = 0; j < 4; ++j) b[r] |= byte(r * 16 + member * 4 + j + 3, group) << 8 * j;
    }
    if (form == 0) mma_s8(a, b, d);
    if (form == 1) mma_u8_s8(a, b, d);
    if (form == 2) mma_s8_k16(a, b, d);
    for (unsigned i = 0; i < 4; ++i) out[(group + i / 2 * 8) * 8 + member * 2 + i % 2] = d[i];
}
CONSTRUCT(ptx_products_of_bytes) {
    for (int form = 0; form < 3; ++form) {
        Array<unsigned> out(128);
        multiply_bytes<<<1, 32>>>(form, out);
        report.equal("bytes", out.host(), [&](int i) {
            int sum = 0;
            for (int k = 0; k < (form == 2 ? 16 : 32); ++k) {
                const int a = (i / 8 * 37 + k * 11) & 0xff;
                const auto b = static_cast<signed char>((k + 3) * 37 + i % 8 * 11);
                sum += (form == 1 ? a : static_cast<signed char>(a)) * b;
            }
            return unsigned(sum);
        });
    }
}

/// Sums of rows by two stages of copies; the third operand cuts the last row.
__global__ void sum_rows(const float* in, float* out, int rows, int last) {
    __shared__ __align__(16) float stage[2][128];
    const int i = int(threadIdx.x);
    const auto fetch = [&](int row) {
        if (row < rows)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                             shared_address(&stage[row % 2][4 * i])),
                         "l"(in + row * 128 + 4 * i), "r"(row + 1 < rows ? 16 : last)
                         : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float sum = 0;
    fetch(0);
    for (int row = 0; row < rows; ++row) {
        fetch(row + 1);
        asm volatile("cp.async.wait_group %0;" ::"n"(1) : "memory");
        __syncthreads();
        sum += stage[row % 2][127 - i] + stage[row % 2][i];
        __syncthreads();
    }
    out[i] = sum;
}
CONSTRUCT(ptx_asynchronous_copies) {
    const auto in = table(128 * 5, [](int i) { return float(i % 17 + i / 128); });
    Array<float> from(in), out(32);
    sum_rows<<<3, 32>>>(from, out, 5, 4);
    report.equal("rows", out.host(), [&](int i) {
        float sum = 0;
        for (int row = 0; row < 4; ++row)
            sum += in[std::size_t(row * 128 + 127 - i)] + in[std::size_t(row * 128 + i)];
        // Of each 16 bytes of the last row 4 are copied.
        if (i % 4 == 0) sum += in[std::size_t(4 * 128 + i)];
        return i % 4 == 3 ? sum + in[std::size_t(4 * 128 + 127 - i)] : sum;
    });
}

}  // namespace
