// SPDX-License-Identifier: Apache-2.0
// Integer, logic and shift instructions, as tables of opcodes.
#include "harness/simt/tests/ptx/conformance/forms.hpp"

namespace conformance {
namespace {

// clang-format off
#define INTEGERS(W, C) \
    FORMS1(C, C, "abs.s" W, "neg.s" W, "not.b" W, "cnot.b" W) \
    FORMS2(C, C, C, "add.u" W, "sub.s" W, "mul.lo.u" W, "mul.hi.u" W, "mul.hi.s" W, "div.u" W, "rem.u" W, "div.s" W, "rem.s" W) \
    FORMS2(C, C, C, "min.u" W, "min.s" W, "max.u" W, "max.s" W, "and.b" W, "or.b" W, "xor.b" W) \
    FORMS2(C, C, r, "shl.b" W, "shr.u" W, "shr.s" W) FORMS3(C, C, C, C, "mad.lo.s" W, "sad.u" W, "sad.s" W)
INTEGERS("16", h)
INTEGERS("32", r)
INTEGERS("64", l)
#define WIDENED(W, D, C) \
    FORMS2(D, C, C, "mul.wide.u" W, "mul.wide.s" W) FORMS3(D, C, C, D, "mad.wide.u" W, "mad.wide.s" W) FORMS3(C, C, C, C, "mad.hi.s" W)
WIDENED("16", r, h)
WIDENED("32", l, r)
FORMS2(r, r, r, "add.sat.s32", "sub.sat.s32", "mul24.lo.u32", "mul24.hi.s32")
FORMS3(r, r, r, r, "mad.hi.sat.s32", "mad24.lo.s32", "dp4a.u32.u32", "dp4a.s32.u32", "dp4a.s32.s32")
#define BITS(W, C) \
    FORMS1(r, C, "popc.b" W, "clz.b" W, "bfind.u" W, "bfind.s" W, "bfind.shiftamt.s" W) FORMS1(C, C, "brev.b" W) \
    FORMS3(C, C, r, r, "bfe.u" W, "bfe.s" W) \
    FORM_OF("bfi.b" W, C, #C "rr", "bfi.b" W " %0, %1, %2, %3, %4;", (FORM_NAME(reg_, C)(a), FORM_NAME(reg_, C)(~a * 3), reg_r(b), reg_r(c)), \
            #C(FORM_NAME(reg_, C)(a)), #C(FORM_NAME(reg_, C)(~a * 3)), "r"(reg_r(b)), "r"(reg_r(c)))
BITS("32", r)
BITS("64", l)
FORMS3(r, r, r, r, "shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "shf.r.wrap.b32")
FORMS3(r, r, r, r, "prmt.b32", "prmt.b32.f4e", "prmt.b32.b4e", "prmt.b32.rc8", "prmt.b32.ecl", "prmt.b32.ecr", "prmt.b32.rc16")
#define LOP3(TABLE) FORM3_OF("lop3.b32 " TABLE, r, "lop3.b32 %0, %1, %2, %3, " TABLE ";", r, r, r)
LOP3("150")
LOP3("232")
LOP3("27")
// clang-format on

}  // namespace
}  // namespace conformance
