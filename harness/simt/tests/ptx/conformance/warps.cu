// SPDX-License-Identifier: Apache-2.0
// What a warp's lanes do together, on each lane's own operands: shuffles, votes, matches,
// reductions and the products of mma.sync, of small integers, whose sums are exact in every order.
#include "harness/simt/tests/ptx/conformance/blocks.hpp"

namespace conformance {
namespace {

/// Any bits: integers of 8, 4 and 1 bits, and their sums.
struct any_bits {
    static __host__ __device__ u32 draw(u64 x) { return u32(x); }
};
/// The bits of -1, 0 and 1 in a float of so many bits.
template <int bits, u32 one>
struct small_float {
    static __host__ __device__ u32 draw(u64 x) {
        u32 all = 0;
        for (int at = 0; at < 32; at += bits, x >>= 2) {
            const u32 sign = (x & 1) != 0 ? u32(1) << (bits - 1) : 0;
            if ((x & 3) != 0) all |= (one | sign) << at;
        }
        return all;
    }
};
using of_s8 = any_bits;
using of_u8 = any_bits;
using of_s4 = any_bits;
using of_u4 = any_bits;
using of_b1 = any_bits;
using of_s32 = any_bits;
using of_f16 = small_float<16, 0x3c00>;
using of_bf16 = small_float<16, 0x3f80>;
using of_f32 = small_float<32, 0x3f800000>;
using of_tf32 = of_f32;
using of_e4m3 = small_float<8, 0x38>;
using of_e5m2 = small_float<8, 0x3c>;

template <class Type, int count>
__host__ __device__ void fill(u32 (&registers)[count], u64 x) {
    for (int i = 0; i < count; ++i) registers[i] = Type::draw(mixed(x + u64(i) * 0x9e3779b9u));
}
template <int count>
__host__ __device__ void fill(double (&registers)[count], u64 x) {
    for (int i = 0; i < count; ++i) registers[i] = int(mixed(x + u64(i)) % 9) - 4;
}
template <class T, int count>
__host__ __device__ u64 digest(const T (&registers)[count]) {
    u64 all = 0;
    for (int i = 0; i < count; ++i)
        all = mixed(all * 3 + (sizeof(T) == 8 ? u64(s64(registers[i])) : u64(registers[i])));
    return all;
}

template <class T, int count>
std::vector<u64> bits_of(const T (&registers)[count]) {
    std::vector<u64> bits(count);
    for (int i = 0; i < count; ++i) std::memcpy(&bits[i], &registers[i], sizeof(T));
    return bits;
}
template <class Form>
std::vector<u64> want_of_products(const std::vector<Operands>& operands) {
    std::vector<u64> want;
    for (std::size_t warp = 0; warp < operands.size(); warp += 32) {
        Fragments d, a, b;
        for (std::size_t i = warp; i < warp + 32; ++i) {
            const auto all = Form::filled(operands[i].a, operands[i].b, operands[i].c);
            d.push_back(bits_of(all.d)), a.push_back(bits_of(all.a)), b.push_back(bits_of(all.b));
        }
        for (const std::vector<u64>& bits : product_of(Form::text, a, b, d)) {
            typename Form::Registers all;
            for (std::size_t i = 0; i < bits.size(); ++i)
                std::memcpy(&all.d[i], &bits[i], sizeof all.d[i]);
            want.push_back(digest(all.d));
        }
    }
    return want;
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
#define MMA_OF(...) MMA_NUMBERED(__COUNTER__, __VA_ARGS__)
#define MMA_NUMBERED(N, TEXT, R, CONSTRAINT, ND, NA, NB, FILL_D, FILL_A, FILL_B)             \
    struct FORM_NAME(Form, N) {                                                              \
        static constexpr const char* text = "mma.sync.aligned." TEXT;                        \
        struct Registers {                                                                   \
            R d[ND], a[NA], b[NB];                                                           \
        };                                                                                   \
        static __host__ __device__ Registers filled(u64 of_a, u64 of_b, u64 of_c) {          \
            Registers all;                                                                   \
            FILL_A(all.a, of_a);                                                             \
            FILL_B(all.b, of_b);                                                             \
            FILL_D(all.d, of_c);                                                             \
            return all;                                                                      \
        }                                                                                    \
        static __device__ u64 apply(u64 of_a, u64 of_b, u64 of_c) {                          \
            Registers all = filled(of_a, of_b, of_c);                                        \
            R(&d)[ND] = all.d, (&a)[NA] = all.a, (&b)[NB] = all.b;                           \
            asm volatile("mma.sync.aligned." TEXT " " REGISTERS_##ND##_##NA##_##NB           \
                         : OUT_##ND(CONSTRAINT)                                              \
                         : IN_##NA(CONSTRAINT, a), IN_##NB(CONSTRAINT, b));                  \
            return digest(d);                                                                \
        }                                                                                    \
    };                                                                                       \
    ADD_FORM(N, FORM_NAME(Form, N)::text, "lll", 64, &run<FORM_NAME(Form, N)>, nullptr, any, \
             &want_of_products<FORM_NAME(Form, N)>)
// Sums D, factors A and B. A row has types in brackets for one shape and its numbers of registers.
#define MMA(TYPES, ...) FORM_CALL(MMA_OF_TYPES, __VA_ARGS__, "", "", FORM_TYPE TYPES)
#define MMA_SATURATED(TYPES, ...) \
    FORM_CALL(MMA_OF_TYPES, __VA_ARGS__, "satfinite.", "", FORM_TYPE TYPES)
#define MMA_OF_BITS(HOW, ...) MMA_OF_TYPES(__VA_ARGS__, "", HOW ".popc", s32, b1, b1)
#define MMA_OF_TYPES(SHAPE, ND, NA, NB, BEFORE, END, D, A, B)                          \
    MMA_OF(SHAPE ".row.col." BEFORE #D "." #A "." #B "." #D END, u32, "r", ND, NA, NB, \
           fill<of_##D>, fill<of_##A>, fill<of_##B>)
#define MMA_OF_DOUBLES(SHAPE, ND, NA, NB) \
    MMA_OF(SHAPE ".row.col.f64.f64.f64.f64", double, "d", ND, NA, NB, fill, fill, fill)

// clang-format off
EACH(MMA, ("m16n8k4", 4, 2, 1), (f32, tf32, tf32))
EACH(MMA, ("m16n8k8", 4, 2, 1), (f32, f16, f16), (f32, bf16, bf16))
EACH(MMA, ("m16n8k8", 4, 4, 2), (f32, tf32, tf32))
EACH(MMA, ("m16n8k16", 4, 4, 2), (f32, f16, f16), (f32, bf16, bf16))
EACH(MMA, ("m16n8k8", 2, 2, 1), (f16, f16, f16))
EACH(MMA, ("m16n8k16", 2, 4, 2), (f16, f16, f16))
EACH(MMA, ("m16n8k16", 4, 2, 1), (f32, e4m3, e5m2), (s32, s8, s8), (s32, u8, s8))
EACH(MMA, ("m16n8k16", 2, 2, 1), (f16, e5m2, e4m3))
EACH(MMA, ("m16n8k32", 4, 4, 2), (f32, e4m3, e4m3), (f32, e4m3, e5m2), (f32, e5m2, e4m3), (f32, e5m2, e5m2), (s32, s8, s8), (s32, s8, u8), (s32, u8, s8), (s32, u8, u8))
EACH(MMA, ("m16n8k32", 2, 4, 2), (f16, e4m3, e5m2))
EACH(MMA, ("m8n8k16", 2, 1, 1), (s32, s8, s8), (s32, u8, u8))
EACH(MMA, ("m8n8k32", 2, 1, 1), (s32, s4, s4), (s32, u4, s4))
EACH(MMA, ("m16n8k32", 4, 2, 1), (s32, s4, u4), (s32, u4, u4))
EACH(MMA, ("m16n8k64", 4, 4, 2), (s32, s4, s4))
MMA_SATURATED((s32, s8, u8), "m8n8k16", 2, 1, 1)
MMA_SATURATED((s32, u8, u8), "m16n8k16", 4, 2, 1)
EACH(MMA_SATURATED, ("m16n8k32", 4, 4, 2), (s32, s8, s8), (s32, u8, u8))
MMA_SATURATED((s32, u4, u4), "m16n8k64", 4, 4, 2)
EACH(MMA_OF_BITS, ("m8n8k128", 2, 1, 1), ".and", ".xor")
EACH(MMA_OF_BITS, ("m16n8k128", 4, 2, 1), ".and", ".xor")
EACH(MMA_OF_BITS, ("m16n8k256", 4, 4, 2), ".and", ".xor")
MMA_OF_DOUBLES("m8n8k4", 2, 1, 1)
MMA_OF_DOUBLES("m16n8k4", 4, 2, 1)
MMA_OF_DOUBLES("m16n8k8", 4, 4, 2)
MMA_OF_DOUBLES("m16n8k16", 4, 8, 4)

// The last operands of a shuffle are numbers in the text.
#define SHFL(MODE, B, C) SHFL_OF(MODE ".b32", B, C, "shfl.sync." MODE ".b32 %0, %1, %2, " #C ", -1;")
#define SHFL_OF(TEXT, B, C, ASM_TEXT) FORM_OF("shfl.sync." TEXT, r, "rr", ASM_TEXT, (reg_r(a), reg_r(B), C), "r"(reg_r(a)), "r"(reg_r(B)))
#define SHFL_WITH_P(MODE, C) \
    SHFL_OF(MODE ".b32 d|p", b, C, "{ .reg .pred p; shfl.sync." MODE ".b32 %0|p, %1, %2, " #C ", -1; @!p add.u32 %0, %0, 77; }")
SHFL("up", 5, 0)
SHFL("down", 3, 0x1f)
SHFL("bfly", b, 0x1f)
SHFL("idx", b, 0x1f)
SHFL_OF("idx.b32 within 8 lanes", b, 0x1807, "shfl.sync.idx.b32 %0, %1, %2, 0x1807, -1;")
SHFL_WITH_P("up", 0x1803)
SHFL_WITH_P("down", 0x100f)
SHFL_WITH_P("bfly", 0x1003)
#define VOTE(MODE, SETP, IS_TRUE) \
    FORM_OF("vote.sync." MODE ".pred", r, "r", "{ .reg .pred p; setp." SETP "; vote.sync." MODE ".pred p, p, -1; selp.u32 %0, 1, 0, p; }", (IS_TRUE), "r"(reg_r(a)))
VOTE("all", "ne.u32 p, %1, 0", reg_r(a) != 0)
VOTE("any", "eq.u32 p, %1, 5", reg_r(a) == 5)
VOTE("uni", "eq.u32 p, %1, 5", reg_r(a) == 5)
FORM_OF("vote.sync.ballot.b32", r, "r", "{ .reg .pred p; setp.gt.u32 p, %1, 99; vote.sync.ballot.b32 %0, p, -1; }", (reg_r(a) > 99), "r"(reg_r(a)))
#define TOGETHER(TEXT, C, X) FORM1_OF(TEXT, r, TEXT " %0, %1, -1;", C, X)
TOGETHER("match.any.sync.b32", r, a % 8)
TOGETHER("match.any.sync.b64", l, a << 33)
FORM1_OF("match.all.sync.b32 d|p", r, "{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; @p add.u32 %0, %0, 5; }", r, a >> 31)
EACH(TOGETHER, (r, a), "redux.sync.add.u32", "redux.sync.add.s32", "redux.sync.min.u32", "redux.sync.min.s32",
     "redux.sync.max.u32", "redux.sync.max.s32", "redux.sync.xor.b32")
TOGETHER("redux.sync.and.b32", r, a | b)
TOGETHER("redux.sync.or.b32", r, a & b & c)
FORMS1(r, r, "movmatrix.sync.aligned.m8n8.trans.b16")
FORM1_OF("elect.sync", r, "{ .reg .pred p; .reg .b32 l; elect.sync l|p, -1; selp.u32 %0, %1, l, p; }", r, a)
FORM1_OF("mov.u32 %lanemask_lt", r, "{ .reg .b32 m; mov.u32 m, %%lanemask_lt; xor.b32 %0, %1, m; }", r, a)
FORM1_OF("activemask.b32", r, "{ .reg .b32 m; activemask.b32 m; xor.b32 %0, %1, m; }", r, a)
// clang-format on

}  // namespace
}  // namespace conformance
