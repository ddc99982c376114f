// SPDX-License-Identifier: Apache-2.0
// Which instructions there are at all (PTX ISA 9.0, 9.7), served by the CPU device or not: any
// other is misspelt.
#include <algorithm>
#include <cctype>
#include <string>

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

constexpr std::string_view instructions =
    "abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra "
    "brev brkpt brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta "
    "discard div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep "
    "istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov "
    "movmatrix mul mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp "
    "red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st "
    "stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap "
    "testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad "
    "vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma "
    "wmma xor";

/// `u23`: a number or a float of a width that no type has.
bool is_no_type(std::string_view part) {
    if (part.size() < 2 || !is_word_of("u s f", part.substr(0, 1))) return false;
    const std::string_view width = part.substr(1);
    return std::ranges::all_of(
               width, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }) &&
           !is_word_of(part[0] == 'f' ? "16 32 64" : "2 4 8 16 32 64", width);
}

}  // namespace

void check_opcode(const PtxStatement& statement) {
    if (!is_word_of(instructions, statement.parts[0]) ||
        std::any_of(statement.parts.begin() + 1, statement.parts.end(), is_no_type))
        throw PtxUnknown(statement.opcode);
}

}  // namespace gradverify::simt::rewrite
