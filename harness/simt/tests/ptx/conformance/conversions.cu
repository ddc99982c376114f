// SPDX-License-Identifier: Apache-2.0
// Conversions, moves and branches, as tables of opcodes.
#include "harness/simt/tests/ptx/conformance/forms.hpp"

namespace conformance {
namespace {

// clang-format off
#define FROM_16(TO) "cvt" TO ".u16", "cvt" TO ".s16"
#define FROM_32(TO) "cvt" TO ".u32", "cvt" TO ".s32"
#define FROM_64(TO) "cvt" TO ".u64", "cvt" TO ".s64"
#define FROM_8(TO) "cvt" TO ".u8", "cvt" TO ".s8"
FORMS1(r, h, FROM_16(".u8"), FROM_16(".sat.u8"), FROM_16(".s8"), FROM_16(".sat.s8"))
FORMS1(r, r, FROM_32(".u8"), FROM_32(".sat.u8"), FROM_32(".s8"), FROM_32(".sat.s8"))
FORMS1(r, l, FROM_64(".u8"), FROM_64(".sat.u8"), FROM_64(".s8"), FROM_64(".sat.s8"))
FORMS1(h, r, FROM_8(".u16"), FROM_32(".u16"), FROM_8(".s16"), FROM_32(".s16"), FROM_32(".sat.s16"))
FORMS1(h, l, FROM_64(".u16"), FROM_64(".s16"), FROM_64(".sat.s16"))
FORMS1(r, r, FROM_8(".u32"), "cvt.sat.u32.s8", FROM_8(".s32"))
FORMS1(r, h, FROM_16(".u32"), "cvt.sat.u32.s16", FROM_16(".s32"))
FORMS1(r, l, FROM_64(".u32"), FROM_64(".sat.u32"), FROM_64(".s32"), FROM_64(".sat.s32"))
FORMS1(l, r, FROM_8(".u64"), FROM_32(".u64"), FROM_8(".s64"), FROM_32(".s64"))
FORMS1(l, h, FROM_16(".u64"), FROM_16(".s64"))

#define EACH_ROUNDING(MORE, END) "cvt.rn" MORE "." END, "cvt.rz" MORE "." END, "cvt.rm" MORE "." END, "cvt.rp" MORE "." END
#define WITH_FLOAT(I, C, F, D) FORMS1(C, D, EACH_ROUNDING("i", I "." F)) FORMS1(D, C, EACH_ROUNDING("", F "." I))
#define WITH_FLOATS(I, C) WITH_FLOAT(I, C, "f16", h) WITH_FLOAT(I, C, "f32", r) WITH_FLOAT(I, C, "f64", l)
WITH_FLOATS("u16", h)
WITH_FLOATS("s16", h)
WITH_FLOATS("u32", r)
WITH_FLOATS("s32", r)
WITH_FLOATS("u64", l)
WITH_FLOATS("s64", l)
FORMS1(h, h, EACH_ROUNDING("i", "f16.f16"))
FORMS1(r, r, EACH_ROUNDING("i", "f32.f32"), "cvt.rzi.ftz.s32.f32", "cvt.sat.f32.f32")
FORMS1(l, l, EACH_ROUNDING("i", "f64.f64"))

FORMS1(r, h, "cvt.f32.f16", "cvt.ftz.f32.f16", "cvt.f32.bf16")
FORMS1(l, h, "cvt.f64.f16")
FORMS1(l, r, "cvt.f64.f32", "cvt.ftz.f64.f32")
FORMS1(r, l, EACH_ROUNDING("", "f32.f64"))
FORMS1(h, l, "cvt.rn.f16.f64", "cvt.rp.f16.f64")
FORMS1(h, r, "cvt.rn.ftz.f16.f32", "cvt.rm.f16.f32", "cvt.rn.sat.f16.f32")
#define NARROWED(T) \
    FORMS1(h, r, "cvt.rn." T ".f32", "cvt.rz." T ".f32", "cvt.rn.relu." T ".f32", "cvt.rz.relu." T ".f32") \
    FORMS2(r, r, r, "cvt.rn." T "x2.f32", "cvt.rz." T "x2.f32", "cvt.rn.relu." T "x2.f32", "cvt.rz.relu." T "x2.f32")
NARROWED("f16")
NARROWED("bf16")
FORMS1(r, r, "cvt.rna.tf32.f32", "cvt.rn.tf32.f32", "cvt.rz.tf32.f32", "cvt.rn.relu.tf32.f32")
#define EIGHT_BITS(T) \
    FORMS2(h, r, r, "cvt.rn.satfinite." T "x2.f32", "cvt.rn.satfinite.relu." T "x2.f32") \
    FORMS1(h, r, "cvt.rn.satfinite." T "x2.f16x2") FORMS1(r, h, "cvt.rn.f16x2." T "x2", "cvt.rn.relu.f16x2." T "x2")
EIGHT_BITS("e4m3")
EIGHT_BITS("e5m2")
FORMS2(r, r, r, "cvt.pack.sat.s16.s32", "cvt.pack.sat.u16.s32")
FORMS3(r, r, r, r, "cvt.pack.sat.u8.s32.b32", "cvt.pack.sat.s8.s32.b32")
FORM2_OF("mov.b64 {b32, b32}", l, "mov.b64 %0, {%1, %2};", r, a, r, b)
FORM2_OF("mov.b32 {b16, b16}", r, "mov.b32 %0, {%1, %2};", h, a, h, b)
FORM1_OF("mov {b16, b16}.b32", h, "{ .reg .b16 low; mov.b32 {low, %0}, %1; }", r, a)
FORM1_OF("bra", r, "{ .reg .pred p; .reg .u32 i; mov.u32 i, 0; mov.u32 %0, 0; NEXT%=: add.u32 %0, %0, %1; add.u32 i, i, 1; setp.lt.u32 p, i, 5; @p bra NEXT%=; }", r, a)
// clang-format on

}  // namespace
}  // namespace conformance
