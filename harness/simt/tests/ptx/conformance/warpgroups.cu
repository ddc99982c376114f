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

constexpr u32 threads = 128;

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
using f16 = Float<2, 0x3c00, 0xbc00>;
using bf16 = Float<2, 0x3f80, 0xbf80>;
using tf32 = Float<4, 0x3f800000, 0xbf800000>;
using e4m3 = Float<1, 0x38, 0xb8>;
using e5m2 = Float<1, 0x3c, 0xbc>;
using s8 = Integer<true>;
using u8_ = Integer<false>;
/// Sums of one type: how many a register holds, and their bits.
struct f32_sums {
    static constexpr u32 in_register = 1;
    __host__ __device__ static u32 bits(int number) {
        const float value = static_cast<float>(number);
        u32 bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
};
struct s32_sums {
    static constexpr u32 in_register = 1;
    __host__ __device__ static u32 bits(int number) { return static_cast<u32>(number); }
};
struct f16_sums {
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
    u32 d[registers], of_a[4];
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
    u64* out = nullptr;
    std::vector<u64> results(count);
    check(cudaMalloc(&out, count * sizeof(u64)));
    kernel<<<(count + threads - 1) / threads, threads>>>(out, count);
    check(cudaGetLastError());
    check(cudaMemcpy(results.data(), out, count * sizeof(u64), cudaMemcpyDeviceToHost));
    check(cudaFree(out));
    return results;
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
#define WGMMA_FORM(TEXT, WHAT, N, TD, TA, TB, TRANSPOSES_A, TRANSPOSES_B, SIGN, ...) \
    struct FORM_NAME(Form, __LINE__) { \
        using A = TA; using B = TB; using D = TD; \
        static constexpr u32 n = N; \
        static constexpr bool a_is_transposed = TRANSPOSES_A, b_is_transposed = TRANSPOSES_B; \
        static constexpr int sign = SIGN; \
        static __device__ void apply([[maybe_unused]] u32* d, [[maybe_unused]] const u32* r, [[maybe_unused]] u64 a, [[maybe_unused]] u64 b, [[maybe_unused]] int adds) { \
            PTX_90A("{.reg .pred p; setp.ne.b32 p, " __VA_ARGS__); \
        } \
    }; \
    [[maybe_unused]] const bool FORM_NAME(is_added_, __LINE__) = ::conformance::add( \
        GRADVERIFY_UNIT_DEVICE, {TEXT WHAT, "lll", 64, &run_warpgroups<FORM_NAME(Form, __LINE__)>, nullptr, true, \
                                 ::conformance::Needs::sm_90a, &want_of_warpgroups<FORM_NAME(Form, __LINE__)>});
#define D4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define D8 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
// D has so many registers; A is in shared memory or in registers.
#define FROM_SHARED_8(TEXT, END) "%10, 0; " TEXT " " SUMS_8 ", %8, %9, p" END ";}" : D8 : "l"(a), "l"(b), "r"(adds)
#define FROM_SHARED_4(TEXT, END) "%6, 0; " TEXT " " SUMS_4 ", %4, %5, p" END ";}" : D4 : "l"(a), "l"(b), "r"(adds)
#define FROM_REGISTERS_8(TEXT, END) "%13, 0; " TEXT " " SUMS_8 ", {%8, %9, %10, %11}, %12, p" END ";}" : D8 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(adds)
#define FROM_REGISTERS_4(TEXT, END) "%9, 0; " TEXT " " SUMS_4 ", {%4, %5, %6, %7}, %8, p" END ";}" : D4 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(adds)
#define SUMS_8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define SUMS_4 "{%0, %1, %2, %3}"
#define OPCODE(SHAPE, D, A, B) "wgmma.mma_async.sync.aligned." SHAPE "." D "." A "." B
#define OF_TYPES(COUNT, SHAPE, D, TD, A, TA, B, TB, END) \
    WGMMA_FORM(OPCODE(SHAPE, D, A, B), "", 16, TD, TA, TB, false, false, 1, FROM_SHARED_##COUNT(OPCODE(SHAPE, D, A, B), END))
#define OF_REGISTERS(COUNT, SHAPE, D, TD, A, TA, B, TB, END) \
    WGMMA_FORM(OPCODE(SHAPE, D, A, B), " a in registers", 16, TD, TA, TB, false, false, 1, FROM_REGISTERS_##COUNT(OPCODE(SHAPE, D, A, B), END))
#define TRANSPOSED(COUNT, SHAPE, D, TD, A, TA, X, Y, END) \
    WGMMA_FORM(OPCODE(SHAPE, D, A, A), END, 16, TD, TA, TA, X, Y, 1, FROM_SHARED_##COUNT(OPCODE(SHAPE, D, A, A), END))
#define SIGNED(SIGN, END) \
    WGMMA_FORM(OPCODE("m64n16k16", "f32", "f16", "f16"), END, 16, f32_sums, f16, f16, false, false, SIGN, FROM_SHARED_8(OPCODE("m64n16k16", "f32", "f16", "f16"), END))
OF_TYPES(8, "m64n16k16", "f32", f32_sums, "f16", f16, "f16", f16, ", 1, 1, 0, 0")
OF_REGISTERS(8, "m64n16k16", "f32", f32_sums, "f16", f16, "f16", f16, ", 1, 1, 0")
OF_TYPES(4, "m64n16k16", "f16", f16_sums, "f16", f16, "f16", f16, ", 1, 1, 0, 0")
OF_REGISTERS(4, "m64n16k16", "f16", f16_sums, "f16", f16, "f16", f16, ", 1, 1, 0")
OF_TYPES(8, "m64n16k16", "f32", f32_sums, "bf16", bf16, "bf16", bf16, ", 1, 1, 0, 0")
OF_REGISTERS(8, "m64n16k16", "f32", f32_sums, "bf16", bf16, "bf16", bf16, ", 1, 1, 0")
OF_TYPES(8, "m64n16k8", "f32", f32_sums, "tf32", tf32, "tf32", tf32, ", 1, 1")
OF_REGISTERS(8, "m64n16k8", "f32", f32_sums, "tf32", tf32, "tf32", tf32, ", 1, 1")
OF_TYPES(8, "m64n16k32", "f32", f32_sums, "e4m3", e4m3, "e4m3", e4m3, ", 1, 1")
OF_REGISTERS(8, "m64n16k32", "f32", f32_sums, "e4m3", e4m3, "e4m3", e4m3, ", 1, 1")
OF_TYPES(4, "m64n16k32", "f16", f16_sums, "e4m3", e4m3, "e4m3", e4m3, ", 1, 1")
OF_REGISTERS(4, "m64n16k32", "f16", f16_sums, "e4m3", e4m3, "e4m3", e4m3, ", 1, 1")
OF_TYPES(8, "m64n16k32", "f32", f32_sums, "e4m3", e4m3, "e5m2", e5m2, ", 1, 1")
OF_REGISTERS(8, "m64n16k32", "f32", f32_sums, "e4m3", e4m3, "e5m2", e5m2, ", 1, 1")
OF_TYPES(4, "m64n16k32", "f16", f16_sums, "e4m3", e4m3, "e5m2", e5m2, ", 1, 1")
OF_REGISTERS(4, "m64n16k32", "f16", f16_sums, "e4m3", e4m3, "e5m2", e5m2, ", 1, 1")
OF_TYPES(8, "m64n16k32", "f32", f32_sums, "e5m2", e5m2, "e4m3", e4m3, ", 1, 1")
OF_REGISTERS(8, "m64n16k32", "f32", f32_sums, "e5m2", e5m2, "e4m3", e4m3, ", 1, 1")
OF_TYPES(4, "m64n16k32", "f16", f16_sums, "e5m2", e5m2, "e4m3", e4m3, ", 1, 1")
OF_REGISTERS(4, "m64n16k32", "f16", f16_sums, "e5m2", e5m2, "e4m3", e4m3, ", 1, 1")
OF_TYPES(8, "m64n16k32", "f32", f32_sums, "e5m2", e5m2, "e5m2", e5m2, ", 1, 1")
OF_REGISTERS(8, "m64n16k32", "f32", f32_sums, "e5m2", e5m2, "e5m2", e5m2, ", 1, 1")
OF_TYPES(4, "m64n16k32", "f16", f16_sums, "e5m2", e5m2, "e5m2", e5m2, ", 1, 1")
OF_REGISTERS(4, "m64n16k32", "f16", f16_sums, "e5m2", e5m2, "e5m2", e5m2, ", 1, 1")
OF_TYPES(8, "m64n16k32", "s32", s32_sums, "s8", s8, "s8", s8, "")
OF_REGISTERS(8, "m64n16k32", "s32", s32_sums, "s8", s8, "s8", s8, "")
OF_TYPES(8, "m64n16k32", "satfinite.s32", s32_sums, "s8", s8, "s8", s8, "")
OF_REGISTERS(8, "m64n16k32", "satfinite.s32", s32_sums, "s8", s8, "s8", s8, "")
OF_TYPES(8, "m64n16k32", "s32", s32_sums, "s8", s8, "u8", u8_, "")
OF_REGISTERS(8, "m64n16k32", "s32", s32_sums, "s8", s8, "u8", u8_, "")
OF_TYPES(8, "m64n16k32", "satfinite.s32", s32_sums, "s8", s8, "u8", u8_, "")
OF_REGISTERS(8, "m64n16k32", "satfinite.s32", s32_sums, "s8", s8, "u8", u8_, "")
OF_TYPES(8, "m64n16k32", "s32", s32_sums, "u8", u8_, "s8", s8, "")
OF_REGISTERS(8, "m64n16k32", "s32", s32_sums, "u8", u8_, "s8", s8, "")
OF_TYPES(8, "m64n16k32", "satfinite.s32", s32_sums, "u8", u8_, "s8", s8, "")
OF_REGISTERS(8, "m64n16k32", "satfinite.s32", s32_sums, "u8", u8_, "s8", s8, "")
OF_TYPES(8, "m64n16k32", "s32", s32_sums, "u8", u8_, "u8", u8_, "")
OF_REGISTERS(8, "m64n16k32", "s32", s32_sums, "u8", u8_, "u8", u8_, "")
OF_TYPES(8, "m64n16k32", "satfinite.s32", s32_sums, "u8", u8_, "u8", u8_, "")
OF_REGISTERS(8, "m64n16k32", "satfinite.s32", s32_sums, "u8", u8_, "u8", u8_, "")
// Transposes and signs are the last operands.
TRANSPOSED(8, "m64n16k16", "f32", f32_sums, "f16", f16, true, false, ", 1, 1, 1, 0")
TRANSPOSED(8, "m64n16k16", "f32", f32_sums, "f16", f16, false, true, ", 1, 1, 0, 1")
TRANSPOSED(8, "m64n16k16", "f32", f32_sums, "f16", f16, true, true, ", 1, 1, 1, 1")
TRANSPOSED(8, "m64n16k16", "f32", f32_sums, "bf16", bf16, true, false, ", 1, 1, 1, 0")
TRANSPOSED(8, "m64n16k16", "f32", f32_sums, "bf16", bf16, false, true, ", 1, 1, 0, 1")
TRANSPOSED(8, "m64n16k16", "f32", f32_sums, "bf16", bf16, true, true, ", 1, 1, 1, 1")
TRANSPOSED(4, "m64n16k16", "f16", f16_sums, "f16", f16, true, true, ", 1, 1, 1, 1")
SIGNED(-1, ", -1, 1, 0, 0")
SIGNED(-1, ", 1, -1, 0, 0")
SIGNED(1, ", -1, -1, 0, 0")
#define GROUP(TEXT) \
    WGMMA_FORM(TEXT, "", 16, f32_sums, bf16, bf16, false, false, 1, FROM_SHARED_8(OPCODE("m64n16k16", "f32", "bf16", "bf16"), ", 1, 1, 0, 0"))
GROUP("wgmma.fence.sync.aligned")
GROUP("wgmma.commit_group.sync.aligned")
GROUP("wgmma.wait_group.sync.aligned")
// Each number of columns: registers of D, where A, B and `adds` stand, and D.
#define COLUMNS(N, SUMS, A, B, ADDS, ...) \
    WGMMA_FORM(OPCODE("m64n" #N "k16", "f16", "f16", "f16"), "", N, f16_sums, f16, f16, false, false, 1, \
               ADDS ", 0; " OPCODE("m64n" #N "k16", "f16", "f16", "f16") " {" SUMS "}, " A ", " B ", p, 1, 1, 0, 0;}" : __VA_ARGS__ : "l"(a), "l"(b), "r"(adds))
COLUMNS(8, "%0, %1", "%2", "%3", "%4", "+r"(d[0]), "+r"(d[1]))
COLUMNS(24, "%0, %1, %2, %3, %4, %5", "%6", "%7", "%8", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]))
COLUMNS(32, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9", "%10", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]))
COLUMNS(40, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9", "%10", "%11", "%12", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]))
COLUMNS(48, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11", "%12", "%13", "%14", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]))
COLUMNS(56, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13", "%14", "%15", "%16", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]))
COLUMNS(64, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15", "%16", "%17", "%18", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]))
COLUMNS(72, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17", "%18", "%19", "%20", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]))
COLUMNS(80, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19", "%20", "%21", "%22", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]))
COLUMNS(88, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21", "%22", "%23", "%24", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]))
COLUMNS(96, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23", "%24", "%25", "%26", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]))
COLUMNS(104, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25", "%26", "%27", "%28", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]))
COLUMNS(112, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27", "%28", "%29", "%30", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]))
COLUMNS(120, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29", "%30", "%31", "%32", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]))
COLUMNS(128, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31", "%32", "%33", "%34", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]))
COLUMNS(136, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33", "%34", "%35", "%36", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]))
COLUMNS(144, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35", "%36", "%37", "%38", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]))
COLUMNS(152, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37", "%38", "%39", "%40", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]))
COLUMNS(160, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39", "%40", "%41", "%42", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]))
COLUMNS(168, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41", "%42", "%43", "%44", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]))
COLUMNS(176, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43", "%44", "%45", "%46", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]))
COLUMNS(184, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45", "%46", "%47", "%48", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]))
COLUMNS(192, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47", "%48", "%49", "%50", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]))
COLUMNS(200, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49", "%50", "%51", "%52", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]))
COLUMNS(208, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51", "%52", "%53", "%54", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]))
COLUMNS(216, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53", "%54", "%55", "%56", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]))
COLUMNS(224, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55", "%56", "%57", "%58", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]))
COLUMNS(232, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57", "%58", "%59", "%60", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]), "+r"(d[57]))
COLUMNS(240, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59", "%60", "%61", "%62", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]))
COLUMNS(248, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61", "%62", "%63", "%64", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]))
COLUMNS(256, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63", "%64", "%65", "%66", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63]))

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
    struct FORM_NAME(Form, __LINE__) { \
        static __device__ void apply() { PTX_90A(__VA_ARGS__ ::: "memory"); } \
    }; \
    [[maybe_unused]] const bool FORM_NAME(is_added_, __LINE__) = ::conformance::add( \
        GRADVERIFY_UNIT_DEVICE, {TEXT, "lll", 64, &run_registers<FORM_NAME(Form, __LINE__)>, nullptr, true, \
                                 ::conformance::Needs::sm_90a, &want_of_registers});
REGISTERS("setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32 40;")
REGISTERS("setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 40;")
// clang-format on

}  // namespace
}  // namespace conformance
