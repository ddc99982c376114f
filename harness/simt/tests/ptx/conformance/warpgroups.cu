// SPDX-License-Identifier: Apache-2.0
// The products of a warpgroup: each type with 16 columns, both ways to give A and the transposes;
// each number of columns with halves. Factors are small, so that sums are exact in every order;
// they lie in shared memory without a swizzle.
#include <cuda_fp16.h>

#include "harness/simt/include/gradverify_simt/narrow_float.hpp"
#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/ptx/conformance/forms.hpp"

namespace conformance {
namespace {

constexpr u32 threads = 128, most_registers = 64;

// Of -1, 0, 1 each type has these bits; integers have all their values.
template <u32 bytes, u32 one, u32 minus_one>
struct Float {
    static constexpr u32 size = bytes;
    __host__ __device__ static int number(u64 random) { return static_cast<int>(random % 3) - 1; }
    __host__ __device__ static u32 bits(int number) {
        return number == 0 ? 0 : number > 0 ? one : minus_one;
    }
};
template <bool is_signed>
struct Integer {
    static constexpr u32 size = 1;
    __host__ __device__ static int number(u64 random) {
        return is_signed ? static_cast<int>(random % 256) - 128 : static_cast<int>(random % 256);
    }
    __host__ __device__ static u32 bits(int number) { return static_cast<u32>(number) & 0xff; }
};
using of_f16 = Float<2, 0x3c00, 0xbc00>;
using of_bf16 = Float<2, 0x3f80, 0xbf80>;
using of_tf32 = Float<4, 0x3f800000, 0xbf800000>;
using of_e4m3 = Float<1, 0x38, 0xb8>;
using of_e5m2 = Float<1, 0x3c, 0xbc>;
using of_s8 = Integer<true>;
using of_u8 = Integer<false>;
/// Sums of one type: how many a register holds, and their bits.
struct sums_f32 {
    static constexpr u32 in_register = 1;
    __host__ __device__ static u32 bits(int number) {
        const float value = static_cast<float>(number);
        u32 bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
};
struct sums_s32 {
    static constexpr u32 in_register = 1;
    __host__ __device__ static u32 bits(int number) { return static_cast<u32>(number); }
};
struct sums_f16 {
    static constexpr u32 in_register = 2;
    __host__ __device__ static u32 bits(int number) {
        return __half_as_ushort(__int2half_rn(number));
    }
};

/// Element (row, k) of A or (column, k) of B in the block; `which` is 0 or 1.
template <class T>
__host__ __device__ int element(u64 block, u64 which, u64 row, u64 k) {
    return T::number(mixed(block * 1000003 + which * 500009 + row * 64 + k) >> 20);
}
/// Before the product.
__host__ __device__ inline int sum_before(u64 block, u64 row, u64 column) {
    return static_cast<int>(mixed(block + row * 4096 + column) % 17) - 8;
}
/// Where it lies: 8 rows of 16 bytes after one another; transposed, 8 of k with 8 rows each.
template <class T, bool is_transposed>
__host__ __device__ u32 byte_of(u32 row, u32 k, u32 rows) {
    if (is_transposed) return row / 8 * 128 + k / 8 * (rows * 16) + k % 8 * 16 + row % 8 * 2;
    return row / 8 * 128 + k * T::size / 16 * (rows * 16) + row % 8 * 16 + k * T::size % 16;
}
/// Of a thread's register: its row, and the column of the first sum in it.
struct At {
    u32 row, column;
};
__host__ __device__ inline At at_register(u32 thread, u32 r, u32 in_register) {
    const u32 pair = in_register == 2 ? r : r / 2, lane = thread % 32;
    return {thread / 32 * 16 + lane / 4 + pair % 2 * 8,
            pair / 2 * 8 + lane % 4 * 2 + (in_register == 2 ? 0 : r % 2)};
}

template <class T, bool is_transposed>
__device__ void put(unsigned char* to, u64 block, u64 which, u32 rows) {
    constexpr u32 depth = 32 / T::size;
    for (u32 i = threadIdx.x; i < rows * depth; i += threads) {
        const u32 row = i / depth, k = i % depth, bits = T::bits(element<T>(block, which, row, k));
        memcpy(to + byte_of<T, is_transposed>(row, k, rows), &bits, T::size);
    }
}
/// From 8 rows to the next is the stride, from 16 bytes of k to the next, or 8 of k, the leading
/// dimension.
__device__ inline u64 descriptor(const unsigned char* matrix, u32 rows) {
    const u64 leading = rows * 16, stride = 128;
    return (shared_address(matrix) & 0x3ffffu) >> 4 | leading >> 4 << 16 | stride >> 4 << 32;
}

/// `Form::apply(d, a, descriptor of A, descriptor of B, adds)`; adds or not by the block's number.
template <class Form>
__global__ __launch_bounds__(threads, 1) void apply_to_warpgroups(u64* results, u32 count) {
    using A = typename Form::A;
    using B = typename Form::B;
    using D = typename Form::D;
    constexpr u32 n = Form::n, registers = n / 2 / D::in_register;
    __shared__ __align__(1024) unsigned char a[64 * 32], b[n * 32];
    put<A, Form::a_is_transposed>(a, blockIdx.x, 0, 64);
    put<B, Form::b_is_transposed>(b, blockIdx.x, 1, n);
    u32 d[most_registers], of_a[4];
    for (u32 r = 0; r < registers; ++r) {
        const At at = at_register(threadIdx.x, r, D::in_register);
        d[r] = D::bits(sum_before(blockIdx.x, at.row, at.column));
        if (D::in_register == 2)
            d[r] |= D::bits(sum_before(blockIdx.x, at.row, at.column + 1)) << 16;
    }
    for (u32 r = 0; r < 4; ++r) {
        constexpr u32 in_each = 4 / A::size;
        of_a[r] = 0;
        const u32 lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4 + r % 2 * 8;
        for (u32 i = 0; i < in_each; ++i)
            of_a[r] |= A::bits(element<A>(blockIdx.x, 0, row, (r / 2 * 4 + lane % 4) * in_each + i))
                       << (8 * A::size * i % 32);
    }
    PTX_90A("fence.proxy.async.shared::cta;" :: : "memory");
    __syncthreads();
    PTX_90A("wgmma.fence.sync.aligned;" :: : "memory");
    Form::apply(d, of_a, descriptor(a, 64), descriptor(b, n), blockIdx.x % 2);
    PTX_90A("wgmma.commit_group.sync.aligned;" :: : "memory");
    PTX_90A("wgmma.wait_group.sync.aligned 0;" :: : "memory");
    u64 all = 0;
    for (u32 r = 0; r < registers; ++r) all = mixed(all * 3 + d[r]);
    if (blockIdx.x * threads + threadIdx.x < count)
        results[blockIdx.x * threads + threadIdx.x] = all;
}

std::vector<u64> run_threads(u32 count, void (*kernel)(u64*, u32)) {
    const Array<u64> out(static_cast<int>(count));
    kernel<<<(count + threads - 1) / threads, threads>>>(out, count);
    return out.host();
}
template <class Form>
std::vector<u64> run_warpgroups(const std::vector<Operands>& operands) {
    return run_threads(static_cast<u32>(operands.size()), &apply_to_warpgroups<Form>);
}

template <class Form>
int product(u64 block, u32 row, u32 column) {
    using A = typename Form::A;
    using B = typename Form::B;
    int sum = 0;
    for (u32 k = 0; k < 32 / A::size; ++k)
        sum += element<A>(block, 0, row, k) * element<B>(block, 1, column, k);
    return sum * Form::sign + (block % 2 == 1 ? sum_before(block, row, column) : 0);
}
template <class Form>
std::vector<u64> want_of_warpgroups(const std::vector<Operands>& operands) {
    using D = typename Form::D;
    std::vector<u64> want;
    for (u32 i = 0; i < operands.size(); ++i) {
        u64 all = 0;
        for (u32 r = 0; r < Form::n / 2 / D::in_register; ++r) {
            const At at = at_register(i % threads, r, D::in_register);
            u32 bits = D::bits(product<Form>(i / threads, at.row, at.column));
            if (D::in_register == 2)
                bits |= D::bits(product<Form>(i / threads, at.row, at.column + 1)) << 16;
            all = mixed(all * 3 + bits);
        }
        want.push_back(all);
    }
    return want;
}

// clang-format off
#define WGMMA_FORM(...) WGMMA_NUMBERED(__COUNTER__, __VA_ARGS__)
#define WGMMA_NUMBERED(N, TEXT, WHAT, COLUMNS, TD, TA, TB, TRANSPOSES_A, TRANSPOSES_B, SIGN, ...) \
    struct FORM_NAME(Form, N) { \
        using A = TA; using B = TB; using D = TD; \
        static constexpr u32 n = COLUMNS; \
        static constexpr bool a_is_transposed = TRANSPOSES_A, b_is_transposed = TRANSPOSES_B; \
        static constexpr int sign = SIGN; \
        static __device__ void apply([[maybe_unused]] u32* d, [[maybe_unused]] const u32* r, [[maybe_unused]] u64 a, [[maybe_unused]] u64 b, [[maybe_unused]] int adds) { \
            PTX_90A("{.reg .pred p; setp.ne.b32 p, %64, 0; " __VA_ARGS__, "l"(a), "l"(b), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])); \
        } \
    }; \
    [[maybe_unused]] const bool FORM_NAME(is_added_, N) = ::conformance::add( \
        GRADVERIFY_UNIT_DEVICE, {TEXT WHAT, "lll", 64, &run_warpgroups<FORM_NAME(Form, N)>, nullptr, true, \
                                 ::conformance::Needs::sm_90a, &want_of_warpgroups<FORM_NAME(Form, N)>});
// Each statement has all operands: D's registers, `adds`, the descriptors, and A's registers.
#define D_AND_ADDS \
    "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), \
    "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), \
    "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), \
    "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), \
    "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), \
    "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), \
    "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), \
    "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63]) : "r"(adds)
#define FROM_SHARED(TEXT, SUMS, END) TEXT " {" SUMS "}, %65, %66, p" END ";}" : D_AND_ADDS
#define FROM_REGISTERS(TEXT, SUMS, END) TEXT " {" SUMS "}, {%67, %68, %69, %70}, %66, p" END ";}" : D_AND_ADDS
// The registers of sums in the text: fewer than ten, or TENS_t and u more, MORE_u(t).
#define SUMS_4 "%0, %1, %2, %3"
#define SUMS_8 SUMS_4 ", %4, %5, %6, %7"
#define MORE_2(T) ", %" #T "0, %" #T "1"
#define MORE_4(T) MORE_2(T) ", %" #T "2, %" #T "3"
#define MORE_6(T) MORE_4(T) ", %" #T "4, %" #T "5"
#define MORE_8(T) MORE_6(T) ", %" #T "6, %" #T "7"
#define TEN(T) MORE_8(T) ", %" #T "8, %" #T "9"
#define TENS_1 SUMS_8 ", %8, %9"
#define TENS_2 TENS_1 TEN(1)
#define TENS_3 TENS_2 TEN(2)
#define TENS_4 TENS_3 TEN(3)
#define TENS_5 TENS_4 TEN(4)
#define TENS_6 TENS_5 TEN(5)
#define OPCODE(SHAPE, D, A, B) "wgmma.mma_async.sync.aligned." SHAPE "." D "." A "." B
// Types, with A in shared memory and in registers. SUMS registers hold the sums.
#define BOTH_WAYS(SHAPE, SUMS, SATURATES, D, A, B, END, END_OF_REGISTERS) \
    WGMMA_FORM(OPCODE(SHAPE, SATURATES #D, #A, #B), "", 16, sums_##D, of_##A, of_##B, false, false, 1, FROM_SHARED(OPCODE(SHAPE, SATURATES #D, #A, #B), SUMS_##SUMS, END)) \
    WGMMA_FORM(OPCODE(SHAPE, SATURATES #D, #A, #B), " a in registers", 16, sums_##D, of_##A, of_##B, false, false, 1, FROM_REGISTERS(OPCODE(SHAPE, SATURATES #D, #A, #B), SUMS_##SUMS, END_OF_REGISTERS))
#define OF_16_BITS(SUMS, D, A) BOTH_WAYS("m64n16k16", SUMS, "", D, A, A, ", 1, 1, 0, 0", ", 1, 1, 0")
#define OF_8_BITS(A, B) \
    BOTH_WAYS("m64n16k32", 8, "", f32, A, B, ", 1, 1", ", 1, 1") BOTH_WAYS("m64n16k32", 4, "", f16, A, B, ", 1, 1", ", 1, 1")
#define OF_INTEGERS(A, B) BOTH_WAYS("m64n16k32", 8, "", s32, A, B, "", "") BOTH_WAYS("m64n16k32", 8, "satfinite.", s32, A, B, "", "")
OF_16_BITS(8, f32, f16)
OF_16_BITS(4, f16, f16)
OF_16_BITS(8, f32, bf16)
BOTH_WAYS("m64n16k8", 8, "", f32, tf32, tf32, ", 1, 1", ", 1, 1")
OF_8_BITS(e4m3, e4m3)
OF_8_BITS(e4m3, e5m2)
OF_8_BITS(e5m2, e4m3)
OF_8_BITS(e5m2, e5m2)
OF_INTEGERS(s8, s8)
OF_INTEGERS(s8, u8)
OF_INTEGERS(u8, s8)
OF_INTEGERS(u8, u8)
// Signs of A and B and their transposes are the last operands.
#define OF_HALVES(SUMS, D, A, X, Y, SIGN, END) \
    WGMMA_FORM(OPCODE("m64n16k16", #D, #A, #A), END, 16, sums_##D, of_##A, of_##A, X, Y, SIGN, FROM_SHARED(OPCODE("m64n16k16", #D, #A, #A), SUMS_##SUMS, END))
#define TRANSPOSED(A) \
    OF_HALVES(8, f32, A, true, false, 1, ", 1, 1, 1, 0") OF_HALVES(8, f32, A, false, true, 1, ", 1, 1, 0, 1") OF_HALVES(8, f32, A, true, true, 1, ", 1, 1, 1, 1")
TRANSPOSED(f16)
TRANSPOSED(bf16)
OF_HALVES(4, f16, f16, true, true, 1, ", 1, 1, 1, 1")
OF_HALVES(8, f32, f16, false, false, -1, ", -1, 1, 0, 0")
OF_HALVES(8, f32, f16, false, false, -1, ", 1, -1, 0, 0")
OF_HALVES(8, f32, f16, false, false, 1, ", -1, -1, 0, 0")
#define GROUP(TEXT, ...) \
    WGMMA_FORM(TEXT, "", 16, sums_f32, of_bf16, of_bf16, false, false, 1, FROM_SHARED(OPCODE("m64n16k16", "f32", "bf16", "bf16"), SUMS_8, ", 1, 1, 0, 0"))
EACH(GROUP, (), "wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned")
// Each number of columns, four of which a register holds the sums of.
#define COLUMNS(N, SUMS) \
    WGMMA_FORM(OPCODE("m64n" #N "k16", "f16", "f16", "f16"), "", N, sums_f16, of_f16, of_f16, false, false, 1, FROM_SHARED(OPCODE("m64n" #N "k16", "f16", "f16", "f16"), SUMS, ", 1, 1, 0, 0"))
#define COLUMNS_OF_TEN(T, N0, N2, N4, N6, N8) \
    COLUMNS(N0, TENS_##T) COLUMNS(N2, TENS_##T MORE_2(T)) COLUMNS(N4, TENS_##T MORE_4(T)) COLUMNS(N6, TENS_##T MORE_6(T)) COLUMNS(N8, TENS_##T MORE_8(T))
COLUMNS(8, "%0, %1")
COLUMNS(24, SUMS_4 ", %4, %5")
COLUMNS(32, SUMS_8)
COLUMNS_OF_TEN(1, 40, 48, 56, 64, 72)
COLUMNS_OF_TEN(2, 80, 88, 96, 104, 112)
COLUMNS_OF_TEN(3, 120, 128, 136, 144, 152)
COLUMNS_OF_TEN(4, 160, 168, 176, 184, 192)
COLUMNS_OF_TEN(5, 200, 208, 216, 224, 232)
COLUMNS(240, TENS_6)
COLUMNS(248, TENS_6 MORE_2(6))
COLUMNS(256, TENS_6 MORE_4(6))

/// Registers are handed back and taken again.
template <class Form>
__global__ __launch_bounds__(threads, 1) void change_registers(u64* results, u32 count) {
    const u32 i = blockIdx.x * threads + threadIdx.x;
    Form::apply();
    if (i < count) results[i] = mixed(i);
}
template <class Form>
std::vector<u64> run_registers(const std::vector<Operands>& operands) {
    return run_threads(static_cast<u32>(operands.size()), &change_registers<Form>);
}
std::vector<u64> want_of_registers(const std::vector<Operands>& operands) {
    std::vector<u64> want;
    for (u64 i = 0; i < operands.size(); ++i) want.push_back(mixed(i));
    return want;
}
#define REGISTERS(TEXT, ...) \
    struct FORM_NAME(Registers, __LINE__) { \
        static __device__ void apply() { PTX_90A(__VA_ARGS__ ::: "memory"); } \
    }; \
    [[maybe_unused]] const bool FORM_NAME(registers_are_added_, __LINE__) = ::conformance::add( \
        GRADVERIFY_UNIT_DEVICE, {TEXT, "lll", 64, &run_registers<FORM_NAME(Registers, __LINE__)>, nullptr, true, \
                                 ::conformance::Needs::sm_90a, &want_of_registers});
REGISTERS("setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32 40;")
REGISTERS("setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 40;")
// clang-format on

}  // namespace
}  // namespace conformance
