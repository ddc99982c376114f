// SPDX-License-Identifier: Apache-2.0
// A form of a PTX instruction, its registers, and what plain C++ says of it. Each device runs every
// form on the same operands; the test compares the bits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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
};
/// By text.
const std::map<std::string, Form>& forms_of(const std::string& device);
/// Defined outside of the units.
bool add(const char* device, const Form& form);
/// `compiled_for` is known where there is a device.
bool add_device(const char* device, int (*count)(), Needs (*compiled_for)());

}  // namespace conformance

#ifdef __CUDACC__
#include <cuda_runtime.h>

#include <stdexcept>

namespace conformance {
namespace {

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

inline void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <class Instruction>
__global__ void apply_to_all(const Operands* operands, u64* results, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) results[i] = Instruction::apply(operands[i].a, operands[i].b, operands[i].c);
}

template <class Instruction>
std::vector<u64> run(const std::vector<Operands>& operands) {
    Operands* in = nullptr;
    u64* out = nullptr;
    const int count = static_cast<int>(operands.size());
    std::vector<u64> results(operands.size());
    check(cudaMalloc(&in, operands.size() * sizeof(Operands)));
    check(cudaMalloc(&out, operands.size() * sizeof(u64)));
    check(cudaMemcpy(in, operands.data(), operands.size() * sizeof(Operands),
                     cudaMemcpyHostToDevice));
    apply_to_all<Instruction><<<(count + 127) / 128, 128>>>(in, out, count);
    check(cudaGetLastError());
    check(cudaMemcpy(results.data(), out, operands.size() * sizeof(u64), cudaMemcpyDeviceToHost));
    check(cudaFree(in));
    check(cudaFree(out));
    return results;
}

inline int device_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
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
    int* in_memory = nullptr;
    int needs = 0;
    check(cudaMalloc(&in_memory, sizeof needs));
    check(cudaMemset(in_memory, 0, sizeof needs));
    ask_what_it_is_compiled_for<<<1, 1>>>(in_memory);
    check(cudaMemcpy(&needs, in_memory, sizeof needs, cudaMemcpyDeviceToHost));
    check(cudaFree(in_memory));
    return static_cast<Needs>(needs);
}
[[maybe_unused]] const bool is_known =
    add_device(GRADVERIFY_UNIT_DEVICE, &device_count, &compiled_for);

/// The register of a constraint.
using reg_h = u16;
using reg_r = u32;
using reg_l = u64;

}  // namespace
}  // namespace conformance

#define FORM_PASTE(A, B) A##B
#define FORM_NAME(A, B) FORM_PASTE(A, B)
// One form a line. The last argument is what plain C++ says of a, b and c, or nullptr.
#define FORM(TEXT, D, INPUTS, ASM_TEXT, WANT, ...)                                   \
    struct FORM_NAME(Form, __LINE__) {                                               \
        static __device__ u64 apply(u64 of_a, u64 of_b, u64 of_c) {                  \
            [[maybe_unused]] const auto a = of_a, b = of_b, c = of_c;                \
            FORM_NAME(reg_, D) d;                                                    \
            asm(ASM_TEXT : "=" #D(d) : __VA_ARGS__);                                 \
            return d;                                                                \
        }                                                                            \
    };                                                                               \
    [[maybe_unused]] const bool FORM_NAME(is_added_, __LINE__) = ::conformance::add( \
        GRADVERIFY_UNIT_DEVICE, {TEXT, INPUTS, int(8 * sizeof(FORM_NAME(reg_, D))),  \
                                 &run<FORM_NAME(Form, __LINE__)>, WANT});
// Without a comma outside of brackets, as it is an argument of FORM.
#define WANT(...)                             \
    [](Operands of) -> u64 {                  \
        [[maybe_unused]] const u64 a = of.a;  \
        [[maybe_unused]] const u64 b = of.b;  \
        [[maybe_unused]] const u64 c = of.c;  \
        return static_cast<u64>(__VA_ARGS__); \
    }
#define FORM1(TEXT, D, A, W) FORM(TEXT, D, #A, TEXT " %0, %1;", W, #A(FORM_NAME(reg_, A)(a)))
#define FORM2(TEXT, D, A, B, W)                                             \
    FORM(TEXT, D, #A #B, TEXT " %0, %1, %2;", W, #A(FORM_NAME(reg_, A)(a)), \
         #B(FORM_NAME(reg_, B)(b)))
#define FORM3(TEXT, D, A, B, C, W)                                                 \
    FORM(TEXT, D, #A #B #C, TEXT " %0, %1, %2, %3;", W, #A(FORM_NAME(reg_, A)(a)), \
         #B(FORM_NAME(reg_, B)(b)), #C(FORM_NAME(reg_, C)(c)))
#endif
