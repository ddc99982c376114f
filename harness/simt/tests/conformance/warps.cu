// SPDX-License-Identifier: Apache-2.0
// What a warp's lanes do together, on each lane's own operands: shuffles, votes, matches,
// reductions and the products of mma.sync, of small integers, whose sums are exact in every order.
#include "harness/simt/tests/conformance/forms.hpp"

namespace conformance {
namespace {

/// Any bits: integers of 8, 4 and 1 bits, and their sums.
struct any_bits {
    static __device__ u32 draw(u64 x) { return u32(x); }
};
/// The bits of -1, 0 and 1 in a float of so many bits.
template <int bits, u32 one>
struct small_float {
    static __device__ u32 draw(u64 x) {
        u32 all = 0;
        for (int at = 0; at < 32; at += bits, x >>= 2) {
            const u32 sign = (x & 1) != 0 ? u32(1) << (bits - 1) : 0;
            if ((x & 3) != 0) all |= (one | sign) << at;
        }
        return all;
    }
};
using s8 = any_bits;
using u8_ = any_bits;
using s4 = any_bits;
using u4 = any_bits;
using b1 = any_bits;
using i32 = any_bits;
using f16 = small_float<16, 0x3c00>;
using bf16 = small_float<16, 0x3f80>;
using f32 = small_float<32, 0x3f800000>;
using tf32 = f32;
using e4m3 = small_float<8, 0x38>;
using e5m2 = small_float<8, 0x3c>;

template <class Type, int count>
__device__ void fill(u32 (&registers)[count], u64 x) {
    for (int i = 0; i < count; ++i) registers[i] = Type::draw(mixed(x + u64(i) * 0x9e3779b9u));
}
template <int count>
__device__ void fill(double (&registers)[count], u64 x) {
    for (int i = 0; i < count; ++i) registers[i] = int(mixed(x + u64(i)) % 9) - 4;
}
template <class T, int count>
__device__ u64 digest(const T (&registers)[count]) {
    u64 all = 0;
    for (int i = 0; i < count; ++i)
        all = mixed(all * 3 + (sizeof(T) == 8 ? u64(s64(registers[i])) : u64(registers[i])));
    return all;
}

// D, A and B have so many registers; C is D before.
#define REGISTERS_4_4_2 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define REGISTERS_4_2_1 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
#define REGISTERS_2_4_2 "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
#define REGISTERS_2_2_1 "{%0,%1}, {%2,%3}, {%4}, {%0,%1};"
#define REGISTERS_2_1_1 "{%0,%1}, {%2}, {%3}, {%0,%1};"
#define REGISTERS_4_8_4 \
    "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
#define OUT_2(C) "+" C(d[0]), "+" C(d[1])
#define OUT_4(C) OUT_2(C), "+" C(d[2]), "+" C(d[3])
#define IN_1(C, X) C(X[0])
#define IN_2(C, X) C(X[0]), C(X[1])
#define IN_4(C, X) IN_2(C, X), C(X[2]), C(X[3])
#define IN_8(C, X) IN_4(C, X), C(X[4]), C(X[5]), C(X[6]), C(X[7])
#define MMA_OF(TEXT, R, CONSTRAINT, ND, NA, NB, FILL_D, FILL_A, FILL_B)              \
    struct FORM_NAME(Form, __LINE__) {                                               \
        static __device__ u64 apply(u64 of_a, u64 of_b, u64 of_c) {                  \
            R d[ND], a[NA], b[NB];                                                   \
            FILL_A(a, of_a);                                                         \
            FILL_B(b, of_b);                                                         \
            FILL_D(d, of_c);                                                         \
            asm volatile("mma.sync.aligned." TEXT " " REGISTERS_##ND##_##NA##_##NB   \
                         : OUT_##ND(CONSTRAINT)                                      \
                         : IN_##NA(CONSTRAINT, a), IN_##NB(CONSTRAINT, b));          \
            return digest(d);                                                        \
        }                                                                            \
    };                                                                               \
    [[maybe_unused]] const bool FORM_NAME(is_added_, __LINE__) = ::conformance::add( \
        GRADVERIFY_UNIT_DEVICE,                                                      \
        {"mma.sync.aligned." TEXT, "lll", 64, &run<FORM_NAME(Form, __LINE__)>, nullptr, true});
#define MMA(TEXT, ND, NA, NB, D, A, B) MMA_OF(TEXT, u32, "r", ND, NA, NB, fill<D>, fill<A>, fill<B>)
#define MMA_OF_DOUBLES(SHAPE, ND, NA, NB) \
    MMA_OF(SHAPE ".row.col.f64.f64.f64.f64", double, "d", ND, NA, NB, fill, fill, fill)

// clang-format off
MMA("m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, f32, f16, f16)
MMA("m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, f32, f16, f16)
MMA("m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, f16, f16, f16)
MMA("m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, f16, f16, f16)
MMA("m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, f32, bf16, bf16)
MMA("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, f32, bf16, bf16)
MMA("m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, f32, tf32, tf32)
MMA("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, f32, tf32, tf32)
MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, f32, e4m3, e4m3)
MMA("m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, f32, e4m3, e5m2)
MMA("m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 4, 2, f32, e5m2, e4m3)
MMA("m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 4, 2, f32, e5m2, e5m2)
MMA("m16n8k16.row.col.f32.e4m3.e5m2.f32", 4, 2, 1, f32, e4m3, e5m2)
MMA("m16n8k32.row.col.f16.e4m3.e5m2.f16", 2, 4, 2, f16, e4m3, e5m2)
MMA("m16n8k16.row.col.f16.e5m2.e4m3.f16", 2, 2, 1, f16, e5m2, e4m3)
MMA("m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1, i32, s8, s8)
MMA("m8n8k16.row.col.s32.u8.u8.s32", 2, 1, 1, i32, u8_, u8_)
MMA("m8n8k16.row.col.satfinite.s32.s8.u8.s32", 2, 1, 1, i32, s8, u8_)
MMA("m16n8k16.row.col.s32.s8.s8.s32", 4, 2, 1, i32, s8, s8)
MMA("m16n8k16.row.col.s32.u8.s8.s32", 4, 2, 1, i32, u8_, s8)
MMA("m16n8k16.row.col.satfinite.s32.u8.u8.s32", 4, 2, 1, i32, u8_, u8_)
MMA("m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, i32, s8, s8)
MMA("m16n8k32.row.col.s32.s8.u8.s32", 4, 4, 2, i32, s8, u8_)
MMA("m16n8k32.row.col.s32.u8.u8.s32", 4, 4, 2, i32, u8_, u8_)
MMA("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 4, 2, i32, s8, s8)
MMA("m8n8k32.row.col.s32.s4.s4.s32", 2, 1, 1, i32, s4, s4)
MMA("m8n8k32.row.col.s32.u4.s4.s32", 2, 1, 1, i32, u4, s4)
MMA("m16n8k32.row.col.s32.s4.u4.s32", 4, 2, 1, i32, s4, u4)
MMA("m16n8k64.row.col.s32.s4.s4.s32", 4, 4, 2, i32, s4, s4)
MMA("m16n8k64.row.col.satfinite.s32.u4.u4.s32", 4, 4, 2, i32, u4, u4)
MMA("m8n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 1, i32, b1, b1)
MMA("m16n8k128.row.col.s32.b1.b1.s32.and.popc", 4, 2, 1, i32, b1, b1)
MMA("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, i32, b1, b1)
MMA_OF_DOUBLES("m8n8k4", 2, 1, 1)
MMA_OF_DOUBLES("m16n8k4", 4, 2, 1)
MMA_OF_DOUBLES("m16n8k8", 4, 4, 2)
MMA_OF_DOUBLES("m16n8k16", 4, 8, 4)

FORM("shfl.sync.up.b32", r, "rr", "shfl.sync.up.b32 %0, %1, %2, 0, -1;", nullptr, "r"(reg_r(a)), "r"(reg_r(5)))
FORM("shfl.sync.down.b32", r, "rr", "shfl.sync.down.b32 %0, %1, %2, 0x1f, -1;", nullptr, "r"(reg_r(a)), "r"(reg_r(3)))
FORM("shfl.sync.bfly.b32", r, "rr", "shfl.sync.bfly.b32 %0, %1, %2, 0x1f, -1;", nullptr, "r"(reg_r(a)), "r"(reg_r(b)))
FORM("shfl.sync.idx.b32", r, "rr", "shfl.sync.idx.b32 %0, %1, %2, 0x1f, -1;", nullptr, "r"(reg_r(a)), "r"(reg_r(b)))
FORM("shfl.sync.idx.b32 within 8 lanes", r, "rr", "shfl.sync.idx.b32 %0, %1, %2, 0x1807, -1;", nullptr, "r"(reg_r(a)), "r"(reg_r(b)))
FORM("shfl.sync.up.b32 d|p", r, "rr", "{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, %2, 0x1803, -1; @!p add.u32 %0, %0, 77; }", nullptr, "r"(reg_r(a)), "r"(reg_r(b)))
FORM("shfl.sync.down.b32 d|p", r, "rr", "{ .reg .pred p; shfl.sync.down.b32 %0|p, %1, %2, 0x100f, -1; @!p add.u32 %0, %0, 77; }", nullptr, "r"(reg_r(a)), "r"(reg_r(b)))
FORM("shfl.sync.bfly.b32 d|p", r, "rr", "{ .reg .pred p; shfl.sync.bfly.b32 %0|p, %1, %2, 0x1003, -1; @!p add.u32 %0, %0, 77; }", nullptr, "r"(reg_r(a)), "r"(reg_r(b)))
FORM("vote.sync.all.pred", r, "r", "{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.all.pred p, p, -1; selp.u32 %0, 1, 0, p; }", nullptr, "r"(reg_r(a)))
FORM("vote.sync.any.pred", r, "r", "{ .reg .pred p; setp.eq.u32 p, %1, 5; vote.sync.any.pred p, p, -1; selp.u32 %0, 1, 0, p; }", nullptr, "r"(reg_r(a)))
FORM("vote.sync.uni.pred", r, "r", "{ .reg .pred p; setp.eq.u32 p, %1, 5; vote.sync.uni.pred p, p, -1; selp.u32 %0, 1, 0, p; }", nullptr, "r"(reg_r(a)))
FORM("vote.sync.ballot.b32", r, "r", "{ .reg .pred p; setp.gt.u32 p, %1, 99; vote.sync.ballot.b32 %0, p, -1; }", nullptr, "r"(reg_r(a)))
FORM("match.any.sync.b32", r, "r", "match.any.sync.b32 %0, %1, -1;", nullptr, "r"(reg_r(a % 8)))
FORM("match.any.sync.b64", r, "l", "match.any.sync.b64 %0, %1, -1;", nullptr, "l"(reg_l(a << 33)))
FORM("match.all.sync.b32 d|p", r, "r", "{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; @p add.u32 %0, %0, 5; }", nullptr, "r"(reg_r(a >> 31)))
FORM("redux.sync.add.u32", r, "r", "redux.sync.add.u32 %0, %1, -1;", nullptr, "r"(reg_r(a)))
FORM("redux.sync.add.s32", r, "r", "redux.sync.add.s32 %0, %1, -1;", nullptr, "r"(reg_r(a)))
FORM("redux.sync.min.u32", r, "r", "redux.sync.min.u32 %0, %1, -1;", nullptr, "r"(reg_r(a)))
FORM("redux.sync.min.s32", r, "r", "redux.sync.min.s32 %0, %1, -1;", nullptr, "r"(reg_r(a)))
FORM("redux.sync.max.u32", r, "r", "redux.sync.max.u32 %0, %1, -1;", nullptr, "r"(reg_r(a)))
FORM("redux.sync.max.s32", r, "r", "redux.sync.max.s32 %0, %1, -1;", nullptr, "r"(reg_r(a)))
FORM("redux.sync.and.b32", r, "r", "redux.sync.and.b32 %0, %1, -1;", nullptr, "r"(reg_r(a | b)))
FORM("redux.sync.or.b32", r, "r", "redux.sync.or.b32 %0, %1, -1;", nullptr, "r"(reg_r(a & b & c)))
FORM("redux.sync.xor.b32", r, "r", "redux.sync.xor.b32 %0, %1, -1;", nullptr, "r"(reg_r(a)))
FORM("movmatrix.sync.aligned.m8n8.trans.b16", r, "r", "movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;", nullptr, "r"(reg_r(a)))
FORM("elect.sync", r, "r", "{ .reg .pred p; .reg .b32 l; elect.sync l|p, -1; selp.u32 %0, %1, l, p; }", nullptr, "r"(reg_r(a)))
FORM("activemask.b32", r, "r", "{ .reg .b32 m; activemask.b32 m; xor.b32 %0, %1, m; }", nullptr, "r"(reg_r(a)))
// clang-format on

}  // namespace
}  // namespace conformance
