// SPDX-License-Identifier: Apache-2.0
// A switch between threads that wait at one place ends in a return: calls and returns stay paired,
// so the processor predicts them. A switch to another place ends in a jump, predicted by itself.
#include "harness/simt/execute/stack_switch.hpp"

#include <cstdint>
#include <cstring>

// clang-format off
#define GRADVERIFY_SIMT_FUNCTION(NAME, BODY)                                                       \
    asm(".pushsection .text\n.p2align 4\n.globl " NAME "\n.hidden " NAME "\n.type " NAME           \
        ", %function\n" NAME ":\n.cfi_startproc\n" BODY ".cfi_endproc\n.size " NAME ", . - " NAME  \
        "\n.popsection\n")

#if defined(__x86_64__)
#define GRADVERIFY_SIMT_SAVE(REGISTER) \
    "push %" REGISTER "\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %" REGISTER ", 0\n"
#define GRADVERIFY_SIMT_RESTORE(REGISTER) \
    "pop %" REGISTER "\n.cfi_adjust_cfa_offset -8\n.cfi_restore %" REGISTER "\n"
#define GRADVERIFY_SIMT_SWITCH                                                                     \
    GRADVERIFY_SIMT_SAVE("rbp")                                                                    \
    GRADVERIFY_SIMT_SAVE("rbx")                                                                    \
    GRADVERIFY_SIMT_SAVE("r12")                                                                    \
    GRADVERIFY_SIMT_SAVE("r13")                                                                    \
    GRADVERIFY_SIMT_SAVE("r14")                                                                    \
    GRADVERIFY_SIMT_SAVE("r15")                                                                    \
    "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"                                                           \
    GRADVERIFY_SIMT_RESTORE("r15")                                                                 \
    GRADVERIFY_SIMT_RESTORE("r14")                                                                 \
    GRADVERIFY_SIMT_RESTORE("r13")                                                                 \
    GRADVERIFY_SIMT_RESTORE("r12")                                                                 \
    GRADVERIFY_SIMT_RESTORE("rbx")                                                                 \
    GRADVERIFY_SIMT_RESTORE("rbp")
GRADVERIFY_SIMT_FUNCTION("gradverify_simt_switch_stack", GRADVERIFY_SIMT_SWITCH "ret\n");
GRADVERIFY_SIMT_FUNCTION("gradverify_simt_switch_stack_elsewhere", GRADVERIFY_SIMT_SWITCH
                         "mov %edx, %eax\n"
                         "pop %rcx\n.cfi_adjust_cfa_offset -8\n.cfi_register %rip, %rcx\n"
                         "jmp *%rcx\n");
#elif defined(__aarch64__)
#define GRADVERIFY_SIMT_SWITCH                                                                     \
    "stp x29, x30, [sp, -160]!\n"                                                                  \
    ".cfi_def_cfa_offset 160\n.cfi_offset x29, -160\n.cfi_offset x30, -152\n"                      \
    "stp x19, x20, [sp, 16]\n"                                                                     \
    "stp x21, x22, [sp, 32]\n"                                                                     \
    "stp x23, x24, [sp, 48]\n"                                                                     \
    "stp x25, x26, [sp, 64]\n"                                                                     \
    "stp x27, x28, [sp, 80]\n"                                                                     \
    "stp d8, d9, [sp, 96]\n"                                                                       \
    "stp d10, d11, [sp, 112]\n"                                                                    \
    "stp d12, d13, [sp, 128]\n"                                                                    \
    "stp d14, d15, [sp, 144]\n"                                                                    \
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"                                                       \
    "ldp x19, x20, [sp, 16]\n"                                                                     \
    "ldp x21, x22, [sp, 32]\n"                                                                     \
    "ldp x23, x24, [sp, 48]\n"                                                                     \
    "ldp x25, x26, [sp, 64]\n"                                                                     \
    "ldp x27, x28, [sp, 80]\n"                                                                     \
    "ldp d8, d9, [sp, 96]\n"                                                                       \
    "ldp d10, d11, [sp, 112]\n"                                                                    \
    "ldp d12, d13, [sp, 128]\n"                                                                    \
    "ldp d14, d15, [sp, 144]\n"                                                                    \
    "ldp x29, x30, [sp], 160\n"                                                                    \
    ".cfi_def_cfa_offset 0\n.cfi_restore x29\n.cfi_restore x30\n"
GRADVERIFY_SIMT_FUNCTION("gradverify_simt_switch_stack", GRADVERIFY_SIMT_SWITCH "ret\n");
// Both end in returns: a jump through a register would need a landing pad where those are enforced.
GRADVERIFY_SIMT_FUNCTION("gradverify_simt_switch_stack_elsewhere",
                         GRADVERIFY_SIMT_SWITCH "mov w0, w2\nret\n");
// x16 may branch to the start of any function where landing pads are enforced.
GRADVERIFY_SIMT_FUNCTION("gradverify_simt_begin_stack",
                         ".cfi_undefined x30\nmov x16, x19\nmov x30, xzr\nbr x16\n");
extern "C" void gradverify_simt_begin_stack();
#else
#error "the CPU device runs on x86-64 and aarch64"
#endif
// clang-format on

namespace gradverify::simt {

// The frame that a switch would have left. All registers are zero: a debugger ends its walk there.
StoppedAt prepare_stack(char* top, void (*main)()) {
    top -= reinterpret_cast<std::uintptr_t>(top) % 16;
#if defined(__x86_64__)
    // Six registers, where to return to, and the null return address of `main` itself.
    constexpr std::size_t words = 8, main_at = 6;
#else
    constexpr std::size_t words = 20, main_at = 2;
#endif
    std::uintptr_t frame[words] = {};
    frame[main_at] = reinterpret_cast<std::uintptr_t>(main);
#if defined(__aarch64__)
    frame[1] = reinterpret_cast<std::uintptr_t>(&gradverify_simt_begin_stack);
#endif
    char* stopped_at = top - sizeof frame;
    std::memcpy(stopped_at, frame, sizeof frame);
    return stopped_at;
}

}  // namespace gradverify::simt
