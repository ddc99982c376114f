// SPDX-License-Identifier: Apache-2.0
// The products of a warpgroup (PTX ISA, 9.7.15). The library (ptx/wgmma.cpp) forms one
// as early as it may, or as late as its wait allows, by the schedule; it holds on to the addresses
// of the variables that stand for registers until then.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/mma.hpp"

namespace gradverify::simt::ptx {

struct WgmmaForm {
    int n, k;
    MatrixElement a, b, d;
    bool saturates;
    bool a_in_registers;
    int sign_of_a, sign_of_b;
    int transposes_a,
        transposes_b;  ///< in shared memory, rows of A and columns of B are contiguous
    bool operator==(const WgmmaForm& x) const {
        return n == x.n && k == x.k && a == x.a && b == x.b && d == x.d &&
               saturates == x.saturates && a_in_registers == x.a_in_registers &&
               sign_of_a == x.sign_of_a && sign_of_b == x.sign_of_b &&
               transposes_a == x.transposes_a && transposes_b == x.transposes_b;
    }
};
/// A register of A: its bits, and the user's variable, if that lives on.
struct MatrixRegister {
    std::uint32_t bits;
    const void* place;
};
/// One thread's part in an instruction that its warpgroup executes together.
struct WarpgroupCall {
    enum class Kind { fence, product, commit, wait };
    Kind kind;
    const char* file;
    int line;
    const WgmmaForm* form;
    void* const* sums;  ///< the variables of the accumulator
    const MatrixRegister* a;
    std::uint64_t descriptor_a, descriptor_b;
    bool adds;        ///< to what the accumulator holds
    unsigned groups;  ///< that a wait leaves
    const void* pc;   ///< of the user's line
};
extern "C" {
void gradverify_simt_warpgroup(WarpgroupCall& call);
}

/// The address of a variable that stands for a 32-bit register.
template <class T>
inline void* place_of_register(T& variable) {
    static_assert(sizeof(T) == 4, "wgmma: a register of 32 bits is needed");
    return const_cast<std::remove_cv_t<T>*>(&variable);
}
/// The same for an operand that is only read; null for a value, or for a variable that may be a
/// function's own copy of one.
template <class Declared, class T>
inline const void* place_if_lvalue(const T& variable) {
    return std::is_lvalue_reference_v<Declared> ? &variable : nullptr;
}

/// 9.7.15.5.2 wgmma.mma_async.
template <std::size_t sums>
GRADVERIFY_SIMT_ACCESS void wgmma(const WgmmaForm& form, void* const (&d)[sums],
                                  const MatrixRegister (&a)[4], std::uint64_t descriptor_a,
                                  std::uint64_t descriptor_b, bool adds, GRADVERIFY_SIMT_PLACE) {
    WarpgroupCall call{WarpgroupCall::Kind::product,
                       file,
                       line,
                       &form,
                       d,
                       a,
                       descriptor_a,
                       descriptor_b,
                       adds,
                       0,
                       nullptr};
    gradverify_simt_warpgroup(call);
}
GRADVERIFY_SIMT_ACCESS void warpgroup_call(WarpgroupCall::Kind kind, unsigned groups,
                                           const char* file, int line) {
    WarpgroupCall call{kind, file, line, nullptr, nullptr, nullptr, 0, 0, false, groups, nullptr};
    gradverify_simt_warpgroup(call);
}
/// 9.7.15.7.1 wgmma.fence, 9.7.15.7.2 wgmma.commit_group and 9.7.15.7.3 wgmma.wait_group.
GRADVERIFY_SIMT_ACCESS void wgmma_fence(GRADVERIFY_SIMT_PLACE) {
    warpgroup_call(WarpgroupCall::Kind::fence, 0, file, line);
}
GRADVERIFY_SIMT_ACCESS void wgmma_commit(GRADVERIFY_SIMT_PLACE) {
    warpgroup_call(WarpgroupCall::Kind::commit, 0, file, line);
}
GRADVERIFY_SIMT_ACCESS void wgmma_wait(std::uint32_t groups, GRADVERIFY_SIMT_PLACE) {
    warpgroup_call(WarpgroupCall::Kind::wait, groups, file, line);
}

/// 9.7.19.5 setmaxnreg.
template <int registers>
inline void setmaxnreg() {
    static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                  "setmaxnreg: the number of registers is a multiple of 8 from 24 to 256");
}

}  // namespace gradverify::simt::ptx
