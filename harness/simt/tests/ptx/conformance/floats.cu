// SPDX-License-Identifier: Apache-2.0
// Instructions of floats, and comparisons, as tables of opcodes.
#include "harness/simt/tests/ptx/conformance/forms.hpp"

namespace conformance {
namespace {

// clang-format off
#define ROUNDED(ROUNDING, T, C) \
    FORMS2(C, C, C, "add." ROUNDING T, "sub." ROUNDING T, "mul." ROUNDING T, "div." ROUNDING T) \
    FORMS1(C, C, "sqrt." ROUNDING T, "rcp." ROUNDING T) \
    FORMS3(C, C, C, C, "fma." ROUNDING T)
#define FLOATS(T, C) \
    ROUNDED("rn.", T, C) ROUNDED("rz.", T, C) ROUNDED("rm.", T, C) ROUNDED("rp.", T, C) \
    FORMS1(C, C, "abs." T, "neg." T) FORMS2(C, C, C, "min." T, "max." T, "copysign." T)
FLOATS("f32", r)
FLOATS("f64", l)
FORMS1(r, r, "abs.ftz.f32", "neg.ftz.f32")
FORMS2(r, r, r, "add.ftz.f32", "add.sat.f32", "sub.rz.ftz.f32", "mul.ftz.f32", "mul.ftz.sat.f32", "mul.rp.ftz.f32", "div.rn.ftz.f32")
FORMS2(r, r, r, "min.ftz.f32", "max.NaN.f32", "min.NaN.f32", "max.xorsign.abs.f32", "min.NaN.xorsign.abs.f32")
FORMS3(r, r, r, r, "fma.rn.ftz.f32", "fma.rn.ftz.sat.f32")
FORM2_OF("fma.rn.ftz.f32 of a product", r, "fma.rn.ftz.f32 %0, %1, %2, 0f00000000;", r, a, r, b)

#define ROOTS(T) "rcp.approx." T, "sqrt.approx." T, "rsqrt.approx." T, "ex2.approx." T, "lg2.approx." T
FORMS1(r, r, ROOTS("f32"), ROOTS("ftz.f32"), "sin.approx.f32", "cos.approx.f32", "tanh.approx.f32")
FORMS2(r, r, r, "div.approx.f32", "div.full.f32", "div.approx.ftz.f32")
#define NARROW(C, T) \
    FORMS1(C, C, "tanh.approx." T, "abs." T, "neg." T) FORMS3(C, C, C, C, "fma.rn." T, "fma.rn.relu." T) \
    FORMS2(C, C, C, "min." T, "min.NaN." T, "min.NaN.xorsign.abs." T, "max." T, "max.NaN." T, "max.NaN.xorsign.abs." T)
#define HALVES(C, T) \
    NARROW(C, T) FORMS1(C, C, "ex2.approx." T) FORMS3(C, C, C, C, "fma.rn.sat." T) \
    FORMS2(C, C, C, "add." T, "add.ftz." T, "add.sat." T, "sub." T, "sub.ftz." T, "sub.sat." T, "mul." T, "mul.ftz." T, "mul.sat." T)
#define BFLOATS(C, T) \
    NARROW(C, T) FORMS1(C, C, "ex2.approx.ftz." T) FORMS2(C, C, C, "add.rn." T, "sub.rn." T, "mul.rn." T)
HALVES(h, "f16")
HALVES(r, "f16x2")
BFLOATS(h, "bf16")
BFLOATS(r, "bf16x2")

#define SETP(TYPE_OF_P, C) FORM2_OF("setp." TYPE_OF_P, r, "{ .reg .pred p; setp." TYPE_OF_P " p, %1, %2; selp.u32 %0, 1, 0, p; }", C, a, C, b)
#define COMPARED(CMP) \
    SETP(CMP ".s16", h) SETP(CMP ".s32", r) SETP(CMP ".s64", l) SETP(CMP ".f16", h) \
    SETP(CMP ".f32", r) SETP(CMP "u.f32", r) SETP(CMP ".f64", l) SETP(CMP "u.f64", l)
COMPARED("eq")
COMPARED("ne")
COMPARED("lt")
COMPARED("le")
COMPARED("gt")
COMPARED("ge")
#define COMPARED_UNSIGNED(CMP) SETP(CMP ".u16", h) SETP(CMP ".u32", r) SETP(CMP ".u64", l)
COMPARED_UNSIGNED("eq")
COMPARED_UNSIGNED("lt")
COMPARED_UNSIGNED("ge")
SETP("lo.u32", r)
SETP("ls.u32", r)
SETP("hi.u32", r)
SETP("hs.u32", r)
SETP("num.f32", r)
SETP("nan.f32", r)
SETP("lt.ftz.f32", r)
FORM3_OF("setp.lt.and.s32 p|q", r, "{ .reg .pred p, q, s; setp.ne.u32 s, %3, 0; setp.lt.and.s32 p|q, %1, %2, s; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }", r, r, r)
FORMS2(r, r, r, "set.lt.u32.s32", "set.ge.f32.f32", "set.eq.f32.u32")
FORMS3(r, r, r, r, "slct.u32.s32", "slct.f32.f32")
FORM1_OF("testp.subnormal.f32", r, "{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; }", r, a)
// clang-format on

}  // namespace
}  // namespace conformance
