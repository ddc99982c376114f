// SPDX-License-Identifier: Apache-2.0
// mma.sync in a shape of each type of factors, on small integers, whose sums are exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>

#include "harness/simt/tests/construct.hpp"

namespace {

// Numbers of a place in A and B: each type's own range.
__host__ __device__ int number_of(int row, int column, int least, int count) {
    return (row * 7 + column * 3 + row * column) % count + least;
}

/// `bits` of a number, and how many of them a register holds.
struct Encoding {
    int bits, least, count;
    unsigned (*encode)(int);
};

/// Registers of A (16 rows, or `rows`) and B, of which lane l holds those of rows and columns l
/// / 4.
struct Registers {
    std::vector<unsigned> a, b;
};
Registers registers_of(const Encoding& type, int k) {
    Registers all{std::vector<unsigned>(32 * 4), std::vector<unsigned>(32 * 2)};
    const int in_each = 32 / type.bits;
    for (int lane = 0; lane < 32; ++lane)
        for (int j = 0; j < in_each; ++j) {
            const int shift = type.bits * j % 32, member = lane % 4 * in_each + j;
            for (int r = 0; r < 16 * k / 32 / in_each; ++r)
                all.a[std::size_t(lane * 4 + r)] |=
                    type.encode(number_of(lane / 4 + r % 2 * 8, r / 2 * 4 * in_each + member,
                                          type.least, type.count))
                    << shift;
            for (int r = 0; r < 8 * k / 32 / in_each; ++r)
                all.b[std::size_t(lane * 2 + r)] |=
                    type.encode(
                        number_of(r * 4 * in_each + member, lane / 4 + 1, type.least, type.count))
                    << shift;
        }
    return all;
}

#define PRODUCT(NAME, FORM, A, B)                                                                  \
    __global__ void NAME(const unsigned* of_a, const unsigned* of_b, unsigned* d) {                \
        const unsigned *a = of_a + threadIdx.x * 4, *b = of_b + threadIdx.x * 2;                   \
        unsigned sum[4] = {0, 0, 0, 0};                                                            \
        asm volatile("mma.sync.aligned." FORM " {%0, %1, %2, %3}, " A ", " B ", {%0, %1, %2, %3};" \
                     : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])                      \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
        for (unsigned i = 0; i < 4; ++i)                                                           \
            d[(threadIdx.x / 4 + i / 2 * 8) * 8 + threadIdx.x % 4 * 2 + i % 2] = sum[i];           \
    }
#define FULL "{%4, %5, %6, %7}", "{%8, %9}"
#define HALF "{%4, %5}", "{%8}"
#define PRODUCT_OF(NAME, FORM, REGISTERS) PRODUCT(NAME, FORM, REGISTERS)
PRODUCT_OF(of_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", FULL)
PRODUCT_OF(of_bf16_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", HALF)
PRODUCT_OF(of_f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", HALF)
PRODUCT_OF(of_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", FULL)
PRODUCT_OF(of_tf32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", HALF)
PRODUCT_OF(of_s4, "m16n8k64.row.col.s32.s4.s4.s32", FULL)
PRODUCT_OF(of_u4_k32, "m16n8k32.row.col.s32.u4.u4.s32", HALF)
PRODUCT_OF(of_u8, "m16n8k32.row.col.satfinite.s32.u8.u8.s32", FULL)
PRODUCT_OF(of_and, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", FULL)
PRODUCT_OF(of_xor, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", HALF)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
PRODUCT_OF(of_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", FULL)
PRODUCT_OF(of_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", FULL)
#else
PRODUCT_OF(of_e4m3, "m16n8k16.row.col.f32.f16.f16.f32", FULL)
PRODUCT_OF(of_e5m2, "m16n8k16.row.col.f32.f16.f16.f32", FULL)
#endif

using Kernel = void (*)(const unsigned*, const unsigned*, unsigned*);
struct Product {
    const char* name;
    Kernel kernel;
    Encoding type;
    int k;
    bool is_float;
    bool has_xor = false;
};

unsigned as_number(int value) { return unsigned(value); }
unsigned as_nibble(int value) { return unsigned(value) & 0xfu; }
unsigned as_float(int value) { return std::bit_cast<unsigned>(float(value)); }
unsigned as_bf16(int value) { return as_float(value) >> 16; }
unsigned as_f16(int value) {
    const __half half(static_cast<float>(value));
    return std::bit_cast<unsigned short>(half);
}
/// 0, 1, 2 and 4 as 8-bit floats of these exponent biases.
unsigned as_e4m3(int value) { return value == 0 ? 0u : 0x38u + unsigned(value - 1) * 8u; }
unsigned as_e5m2(int value) { return value == 0 ? 0u : 0x3cu + unsigned(value - 1) * 4u; }
int worth_of_eight_bits(int value) { return value == 0 ? 0 : 1 << (value - 1); }

CONSTRUCT(ptx_products_of_every_type) {
    const Product products[] = {
        {"bf16", &of_bf16, {16, -4, 9, &as_bf16}, 16, true},
        {"bf16 k8", &of_bf16_k8, {16, -4, 9, &as_bf16}, 8, true},
        {"f16 k8", &of_f16_k8, {16, -4, 9, &as_f16}, 8, true},
        {"tf32", &of_tf32, {32, -9, 19, &as_float}, 8, true},
        {"tf32 k4", &of_tf32_k4, {32, -9, 19, &as_float}, 4, true},
        {"s4", &of_s4, {4, -8, 16, &as_nibble}, 64, false},
        {"u4", &of_u4_k32, {4, 0, 16, &as_nibble}, 32, false},
        {"u8", &of_u8, {8, 0, 256, &as_number}, 32, false},
        {"and", &of_and, {1, 0, 2, &as_number}, 256, false},
        {"xor", &of_xor, {1, 0, 2, &as_number}, 128, false, true},
        {"e4m3", &of_e4m3, {8, 0, 4, &as_e4m3}, 32, true},
        {"e5m2", &of_e5m2, {8, 0, 4, &as_e5m2}, 32, true},
    };
    for (const Product& product : products) {
        const Registers registers = registers_of(product.type, product.k);
        Array<unsigned> a(registers.a), b(registers.b), d(128);
        product.kernel<<<1, 32>>>(a, b, d);
        report.equal(product.name, d.host(), [&](int i) {
            int sum = 0;
            for (int k = 0; k < product.k; ++k) {
                const Encoding& type = product.type;
                int x = number_of(i / 8, k, type.least, type.count);
                int y = number_of(k, i % 8 + 1, type.least, type.count);
                if (type.bits == 8 && product.is_float) {
                    x = worth_of_eight_bits(x);
                    y = worth_of_eight_bits(y);
                }
                sum += product.has_xor ? x ^ y : x * y;
            }
            return product.is_float ? std::bit_cast<unsigned>(float(sum)) : unsigned(sum);
        });
    }
}

/// m8n8k4 of doubles: one number of A and of B in each lane.
__global__ void multiply_doubles(double* d) {
    const int lane = int(threadIdx.x), group = lane / 4, member = lane % 4;
    double sum[2] = {0.5, 0.25};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sum[0]), "+d"(sum[1])
                 : "d"(double(number_of(group, member, -9, 19))),
                   "d"(double(number_of(member, group + 1, -9, 19))));
    d[group * 8 + member * 2] = sum[0];
    d[group * 8 + member * 2 + 1] = sum[1];
}
CONSTRUCT(ptx_products_of_doubles) {
    Array<double> d(64);
    multiply_doubles<<<1, 32>>>(d);
    report.equal("f64", d.host(), [](int i) {
        double sum = i % 2 == 0 ? 0.5 : 0.25;
        for (int k = 0; k < 4; ++k)
            sum += number_of(i / 8, k, -9, 19) * number_of(k, i % 8 + 1, -9, 19);
        return sum;
    });
}

}  // namespace
