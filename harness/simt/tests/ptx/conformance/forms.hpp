// SPDX-License-Identifier: Apache-2.0
// A form of a PTX instruction, its registers, and what plain C++ says of it. Each device runs every
// form on the same operands; the test compares the bits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/simt/tests/ptx/conformance/oracle.hpp"

namespace conformance {

struct Operands {
    std::uint64_t a, b, c;
};
/// What a form's kernel must be compiled for; else it does nothing.
enum class Needs { any, sm_90, sm_90a };
struct Form {
    std::string text;    ///< `add.sat.s32`
    std::string inputs;  ///< constraints of its operands: `rr`
    int result_bits;
    std::vector<std::uint64_t> (*run)(const std::vector<Operands>& operands);
    std::uint64_t (*want)(Operands of);  ///< may be null
    bool is_digest = false;              ///< of all registers that it gives: equal, or wrong
    Needs needs = Needs::any;
    /// What plain C++ says of all operands at once, where lanes work together; may be null.
    std::vector<std::uint64_t> (*want_all)(const std::vector<Operands>& operands) = nullptr;
    /// What the instruction's operands are, where the oracle says what it gives; may be null.
    Arguments (*arguments)(std::uint64_t a, std::uint64_t b, std::uint64_t c) = nullptr;
};
/// By text.
const std::map<std::string, Form>& forms_of(const std::string& device);
/// Defined outside of the units.
bool add(const char* device, const Form& form);
/// `compiled_for` is known where there is a device.
bool add_device(const char* device, int (*count)(), Needs (*compiled_for)());

}  // namespace conformance

#ifdef __CUDACC__
#include "harness/simt/tests/device_array.hpp"

namespace conformance {
namespace {

using simt_test::Array;

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

__host__ __device__ inline u64 mixed(u64 x) {  // splitmix64's last step
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

template <class Instruction>
__global__ void apply_to_all(const Operands* operands, u64* results, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) results[i] = Instruction::apply(operands[i].a, operands[i].b, operands[i].c);
}

template <class Instruction>
std::vector<u64> run(const std::vector<Operands>& operands) {
    const int count = static_cast<int>(operands.size());
    const Array<Operands> in(operands);
    const Array<u64> out(count);
    apply_to_all<Instruction><<<(count + 127) / 128, 128>>>(in, out, count);
    return out.host();
}

// PTX for sm_90, and for sm_90a alone; the CPU device has both.
#if !defined(__NVCC__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PTX_90(...) asm volatile(__VA_ARGS__)
#else
#define PTX_90(...)
#endif
#if !defined(__NVCC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define PTX_90A(...) asm volatile(__VA_ARGS__)
#else
#define PTX_90A(...)
#endif
__global__ void ask_what_it_is_compiled_for(int* needs) {
    PTX_90("mov.b32 %0, 1;" : "=r"(*needs));
    PTX_90A("mov.b32 %0, 2;" : "=r"(*needs));
}
inline Needs compiled_for() {
    const Array<int> needs(1);
    ask_what_it_is_compiled_for<<<1, 1>>>(needs);
    return static_cast<Needs>(needs.host()[0]);
}
[[maybe_unused]] const bool is_known =
    add_device(GRADVERIFY_UNIT_DEVICE, &simt_test::device_count, &compiled_for);

/// The register of a constraint.
using reg_h = u16;
using reg_r = u32;
using reg_l = u64;

}  // namespace
}  // namespace conformance

#define FORM_PASTE(A, B) A##B
#define FORM_NAME(A, B) FORM_PASTE(A, B)
// The oracle says what TEXT gives for the operands in brackets; a, b and c are the drawn numbers.
#define FORM_OF(...) FORM_NUMBERED(__COUNTER__, __VA_ARGS__)
#define FORM_NUMBERED(N, TEXT, D, INPUTS, ASM_TEXT, ARGUMENTS, ...)                                \
    struct FORM_NAME(Numbered, N) {                                                                \
        static __device__ u64 apply([[maybe_unused]] u64 a, [[maybe_unused]] u64 b,                \
                                    [[maybe_unused]] u64 c) {                                      \
            FORM_NAME(reg_, D) d;                                                                  \
            asm(ASM_TEXT : "=" #D(d) : __VA_ARGS__);                                               \
            return d;                                                                              \
        }                                                                                          \
        static Arguments arguments([[maybe_unused]] u64 a, [[maybe_unused]] u64 b,                 \
                                   [[maybe_unused]] u64 c) {                                       \
            return {FORM_TYPE ARGUMENTS};                                                          \
        }                                                                                          \
    };                                                                                             \
    [[maybe_unused]] const bool FORM_NAME(is_added_numbered_, N) = ::conformance::add(             \
        GRADVERIFY_UNIT_DEVICE,                                                                    \
        {TEXT, INPUTS, int(8 * sizeof(FORM_NAME(reg_, D))), &run<FORM_NAME(Numbered, N)>, nullptr, \
         false, ::conformance::Needs::any, nullptr, &FORM_NAME(Numbered, N)::arguments});
#define FORM_TYPE(...) __VA_ARGS__
#define FORM_CALL(M, ...) M(__VA_ARGS__)
// Without a comma outside of brackets, as it is an argument of a form.
#define WANT(...)                             \
    [](Operands of) -> u64 {                  \
        [[maybe_unused]] const u64 a = of.a;  \
        [[maybe_unused]] const u64 b = of.b;  \
        [[maybe_unused]] const u64 c = of.c;  \
        return static_cast<u64>(__VA_ARGS__); \
    }
// Operands are X and Y in registers of kinds A and B.
#define FORM1_OF(TEXT, D, ASM_TEXT, A, X) \
    FORM_OF(TEXT, D, #A, ASM_TEXT, (FORM_NAME(reg_, A)(X)), #A(FORM_NAME(reg_, A)(X)))
#define FORM2_OF(TEXT, D, ASM_TEXT, A, X, B, Y)                                       \
    FORM_OF(TEXT, D, #A #B, ASM_TEXT, (FORM_NAME(reg_, A)(X), FORM_NAME(reg_, B)(Y)), \
            #A(FORM_NAME(reg_, A)(X)), #B(FORM_NAME(reg_, B)(Y)))
#define FORM3_OF(TEXT, D, ASM_TEXT, A, B, C)                                       \
    FORM_OF(TEXT, D, #A #B #C, ASM_TEXT,                                           \
            (FORM_NAME(reg_, A)(a), FORM_NAME(reg_, B)(b), FORM_NAME(reg_, C)(c)), \
            #A(FORM_NAME(reg_, A)(a)), #B(FORM_NAME(reg_, B)(b)), #C(FORM_NAME(reg_, C)(c)))
// Rows of a table: registers' kinds, and opcodes that have them.
#define FORMS1(D, A, ...) EACH(EACH1, (D, A), __VA_ARGS__)
#define FORMS2(D, A, B, ...) EACH(EACH2, (D, A, B), __VA_ARGS__)
#define FORMS3(D, A, B, C, ...) EACH(EACH3, (D, A, B, C), __VA_ARGS__)
#define EACH1(TEXT, D, A) FORM1_OF(TEXT, D, TEXT " %0, %1;", A, a)
#define EACH2(TEXT, D, A, B) FORM2_OF(TEXT, D, TEXT " %0, %1, %2;", A, a, B, b)
#define EACH3(TEXT, D, A, B, C) FORM3_OF(TEXT, D, TEXT " %0, %1, %2, %3;", A, B, C)
// EACH(M, (X, Y), A, B): M(A, X, Y) M(B, X, Y).
#define EACH(M, MORE, ...) EACH_4(EACH_4(EACH_4(EACH_STEP(M, MORE, __VA_ARGS__))))
#define EACH_4(...) EACH_0(EACH_0(EACH_0(EACH_0(__VA_ARGS__))))
#define EACH_0(...) __VA_ARGS__
#define EACH_STEP(M, MORE, A, ...) \
    EACH_CALL(M, A, FORM_TYPE MORE) __VA_OPT__(EACH_AGAIN EACH_NONE(M, MORE, __VA_ARGS__))
#define EACH_CALL(M, ...) M(__VA_ARGS__)
#define EACH_AGAIN() EACH_STEP
#define EACH_NONE ()
#endif
