// SPDX-License-Identifier: Apache-2.0
// Instructions of a warp in inline PTX: matrices of bfloat16 from shared memory, their products,
// and asynchronous copies into shared memory (PTX ISA, 9.7.14.5 and 9.7.9.25).
#pragma once

#include <cstring>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace gradverify::warp {

/// Four 8x8 matrices: of each, a lane has two neighbours of row lane / 4.
struct Matrices {
    unsigned pair[4];
};

__device__ inline unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/// Lane 8 m + r names row r of matrix m, 16 bytes.
__device__ inline Matrices load(const void* row) {
    Matrices m;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.pair[0]), "=r"(m.pair[1]), "=r"(m.pair[2]), "=r"(m.pair[3])
                 : "r"(shared_address(row))
                 : "memory");
    return m;
}
/// The same, with each matrix transposed.
__device__ inline Matrices load_transposed(const void* row) {
    Matrices m;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.pair[0]), "=r"(m.pair[1]), "=r"(m.pair[2]), "=r"(m.pair[3])
                 : "r"(shared_address(row))
                 : "memory");
    return m;
}

/// 16x8 sums: a lane has two neighbours of row lane / 4, and two of the row 8 below.
struct Sums {
    float at[4];
};

/// Adds the product of a, 16x16, and a 16x8 matrix whose upper and lower halves are given, each by
/// columns.
__device__ inline void add_product(Sums& sums, const Matrices& a, unsigned upper, unsigned lower) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums.at[0]), "+f"(sums.at[1]), "+f"(sums.at[2]), "+f"(sums.at[3])
        : "r"(a.pair[0]), "r"(a.pair[1]), "r"(a.pair[2]), "r"(a.pair[3]), "r"(upper), "r"(lower));
}

__device__ inline unsigned rounded(float first, float second) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    unsigned bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}
/// The sums of 16 columns, rounded to factors of 16x16.
__device__ inline Matrices rounded(const Sums& left, const Sums& right) {
    return {{rounded(left.at[0], left.at[1]), rounded(left.at[2], left.at[3]),
             rounded(right.at[0], right.at[1]), rounded(right.at[2], right.at[3])}};
}

/// Begins to copy 16 bytes, or zeros where there are none.
__device__ inline void copy_16_bytes(void* to, const void* from, bool is_there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(is_there ? 16 : 0)
                 : "memory");
}
__device__ inline void copy_4_bytes(void* to, const void* from, bool is_there) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(is_there ? 4 : 0)
                 : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits for this thread's groups of copies, but for the last ones that it committed.
template <int groups>
__device__ void wait_for_copies_but() {
    asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory");
}

}  // namespace gradverify::warp
