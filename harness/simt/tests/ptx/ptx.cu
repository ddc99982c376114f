// SPDX-License-Identifier: Apache-2.0
// Inline PTX of blocks and memory: named barriers, labels, shared addresses, loads, stores and
// atomics. The conformance test has what lanes do together, matrices and asynchronous copies.
#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/construct.hpp"

namespace {

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

}  // namespace
