// SPDX-License-Identifier: Apache-2.0
// wgmma of each type of factors and in each layout of shared memory, on small integers, whose sums
// are exact. The layouts are written here as the PTX ISA (9.7.15.5.1) draws them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>

#include "harness/simt/tests/construct.hpp"

// Compiled for sm_90a alone, and by the CPU device.
#if !defined(__NVCC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA(...) asm volatile(__VA_ARGS__)
#else
#define WGMMA(...)
#endif

namespace {

constexpr int n = 64, matrix_bytes = 8192;

/// How a matrix lies in shared memory.
struct Layout {
    int swizzle;  ///< 0: none; 1, 2, 3: 128, 64 and 32 bytes, as a descriptor says
    bool is_transposed;
    unsigned leading, stride, start;  ///< bytes
    __host__ __device__ int chunks() const { return swizzle == 0 ? 1 : 16 >> swizzle; }
    __device__ unsigned long long descriptor(const char* matrix) const {
        const auto at = unsigned(__cvta_generic_to_shared(matrix)) + start;
        using Bits = unsigned long long;
        return Bits((at & 0x3ffffu) >> 4) | Bits(leading >> 4) << 16 | Bits(stride >> 4) << 32 |
               Bits(swizzle) << 62;
    }
    /// The byte of element (row, k), of `size` bytes.
    int place_of(int row, int k, int size) const {
        const int in_chunk = 16 / size, wide = in_chunk * chunks();
        int at = 0;
        if (swizzle == 0 && is_transposed)
            at = row / 8 * int(stride) + k / 8 * int(leading) + k % 8 * 16 + row % 8 * size;
        else if (swizzle == 0)
            at = row / 8 * int(stride) + k / in_chunk * int(leading) + row % 8 * 16 +
                 k % in_chunk * size;
        else if (is_transposed)
            at = row / wide * int(leading) + k / 8 * int(stride) + k % 8 * chunks() * 16 +
                 row % wide * size;
        else
            at = row / 8 * int(stride) + row % 8 * chunks() * 16 + k * size;
        at += int(start);
        return at ^ (at / 128 % chunks()) << 4;
    }
};
// Rows of a whole pattern, of which the product takes the last 32 bytes.
constexpr Layout row_layouts[] = {{0, false, 1024, 128, 0},
                                  {1, false, 0, 1024, 96},
                                  {2, false, 0, 512, 32},
                                  {3, false, 0, 256, 0}};
constexpr Layout column_layouts[] = {{0, true, 128, 256, 0},
                                     {1, true, 2048, 1024, 0},
                                     {2, true, 1024, 512, 0},
                                     {3, true, 512, 256, 0}};

struct Problem {
    const char *a, *b;  ///< as they lie in shared memory
    const unsigned* a_registers;
    unsigned* d;  ///< 64 rows of n, or n / 2 pairs of f16
    Layout of_a, of_b;
    bool adds;
};

/// Where a thread's register `i` of the accumulator lies in `d`.
__device__ int place_of_register(int i, bool is_half) {
    const int lane = threadIdx.x % 32, pair = is_half ? i : i / 2;
    const int row = threadIdx.x / 32 * 16 + lane / 4 + pair % 2 * 8;
    const int column = pair / 2 * 8 + lane % 4 * 2;
    return is_half ? (row * n + column) / 2 : row * n + column + i % 2;
}

template <class Product>
__global__ void multiply(Problem problem) {
    __shared__ __align__(1024) char a[matrix_bytes], b[matrix_bytes];
    for (int i = threadIdx.x; i < matrix_bytes; i += blockDim.x) {
        a[i] = problem.a[i];
        b[i] = problem.b[i];
    }
    WGMMA("fence.proxy.async.shared::cta;" :: : "memory");
    __syncthreads();
    unsigned sum[Product::registers];
    for (int i = 0; i < Product::registers; ++i)
        sum[i] = problem.d[place_of_register(i, Product::is_half)];
    WGMMA("wgmma.fence.sync.aligned;" :: : "memory");
    Product::apply(sum, problem.a_registers + threadIdx.x * 4, problem.of_a.descriptor(a),
                   problem.of_b.descriptor(b), problem.adds);
    WGMMA("wgmma.commit_group.sync.aligned;" :: : "memory");
    WGMMA("wgmma.wait_group.sync.aligned 0;" :: : "memory");
    for (int i = 0; i < Product::registers; ++i)
        problem.d[place_of_register(i, Product::is_half)] = sum[i];
}
__global__ void ask_for_wgmma(int* has) { WGMMA("mov.u32 %0, 1;" : "=r"(*has)); }

#define R8(I)                                                                                   \
    "+r"(d[I]), "+r"(d[I + 1]), "+r"(d[I + 2]), "+r"(d[I + 3]), "+r"(d[I + 4]), "+r"(d[I + 5]), \
        "+r"(d[I + 6]), "+r"(d[I + 7])
#define SUM16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
#define SUM32                                                                                \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
#define PRODUCT(NAME, COUNT, FORM, ...)                                                    \
    struct NAME {                                                                          \
        static constexpr int registers = COUNT;                                            \
        static constexpr bool is_half = COUNT == 16;                                       \
        static __device__ void apply(unsigned* d, const unsigned* r, unsigned long long a, \
                                     unsigned long long b, int adds) {                     \
            WGMMA("{.reg .pred p; setp.ne.b32 p, " __VA_ARGS__);                           \
        }                                                                                  \
    };
#define FROM_SHARED(NAME, FORM, END)                                                       \
    PRODUCT(NAME, 32, FORM,                                                                \
            "%34, 0; wgmma.mma_async.sync.aligned.m64n64" FORM " " SUM32 "%32, %33, p" END \
            ";}" : R8(0),                                                                  \
            R8(8), R8(16), R8(24) : "l"(a), "l"(b), "r"(adds))
#define HALF_FROM_SHARED(NAME, FORM, END)                                                  \
    PRODUCT(NAME, 16, FORM,                                                                \
            "%18, 0; wgmma.mma_async.sync.aligned.m64n64" FORM " " SUM16 "%16, %17, p" END \
            ";}" : R8(0),                                                                  \
            R8(8) : "l"(a), "l"(b), "r"(adds))
#define FROM_REGISTERS(NAME, FORM, END)                                  \
    PRODUCT(NAME, 32, FORM,                                              \
            "%37, 0; wgmma.mma_async.sync.aligned.m64n64" FORM " " SUM32 \
            "{%32, %33, %34, %35}, %36, p" END ";}" : R8(0),             \
            R8(8), R8(16), R8(24) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(adds))

FROM_SHARED(F16, "k16.f32.f16.f16", ", 1, 1, 0, 0")
FROM_SHARED(F16NegativeA, "k16.f32.f16.f16", ", -1, 1, 0, 0")
FROM_SHARED(F16Columns, "k16.f32.f16.f16", ", 1, 1, 1, 1")
FROM_SHARED(F16ColumnsOfA, "k16.f32.f16.f16", ", 1, -1, 1, 0")
FROM_SHARED(F16ColumnsOfB, "k16.f32.f16.f16", ", 1, 1, 0, 1")
FROM_SHARED(Bf16, "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
FROM_SHARED(Tf32, "k8.f32.tf32.tf32", ", 1, 1")
FROM_SHARED(E4m3, "k32.f32.e4m3.e4m3", ", 1, 1")
FROM_SHARED(E5m2, "k32.f32.e5m2.e5m2", ", 1, 1")
FROM_SHARED(S8, "k32.s32.s8.s8", "")
FROM_SHARED(U8, "k32.s32.u8.u8", "")
HALF_FROM_SHARED(F16Half, "k16.f16.f16.f16", ", 1, 1, 0, 0")
HALF_FROM_SHARED(E4m3Half, "k32.f16.e4m3.e4m3", ", 1, 1")
FROM_REGISTERS(F16Registers, "k16.f32.f16.f16", ", 1, 1, 0")
FROM_REGISTERS(F16RegistersColumnsOfB, "k16.f32.f16.f16", ", 1, 1, 1")
FROM_REGISTERS(Tf32Registers, "k8.f32.tf32.tf32", ", 1, 1")
FROM_REGISTERS(E5m2Registers, "k32.f32.e5m2.e5m2", ", 1, 1")
FROM_REGISTERS(S8Registers, "k32.s32.s8.s8", "")

unsigned as_number(int value) { return unsigned(value) & 0xffu; }
unsigned as_float(int value) { return std::bit_cast<unsigned>(float(value)); }
unsigned as_bf16(int value) { return as_float(value) >> 16; }
unsigned as_f16(int value) {
    const __half half(static_cast<float>(value));
    return std::bit_cast<unsigned short>(half);
}
/// The powers of two, -1 and 0 as 8-bit floats of these exponent biases.
unsigned as_small_float(int value, int one, int mantissa_bits) {
    if (value == 0) return 0;
    const int exponent = std::bit_width(unsigned(value < 0 ? -value : value)) - 1;
    return unsigned(one + (exponent << mantissa_bits)) | (value < 0 ? 0x80u : 0u);
}
unsigned as_e4m3(int value) { return as_small_float(value, 0x38, 3); }
unsigned as_e5m2(int value) { return as_small_float(value, 0x3c, 2); }

struct Encoding {
    int bytes, least, count;
    unsigned (*encode)(int);
    bool has_small_floats = false;
    int number(int row, int k) const {
        const int value = (row * 7 + k * 3 + row * k) % count + least;
        if (!has_small_floats) return value;
        return value == 0 ? 0 : value == 1 ? -1 : 1 << (value - 2);
    }
};
constexpr Encoding f16{2, -4, 9, &as_f16}, bf16{2, -4, 9, &as_bf16}, tf32{4, -9, 19, &as_float},
    s8{1, -128, 256, &as_number}, u8{1, 0, 256, &as_number}, e4m3{1, 0, 5, &as_e4m3, true},
    e5m2{1, 0, 5, &as_e5m2, true};

std::vector<char> image_of(const Encoding& type, const Layout& layout, int first_row) {
    std::vector<char> image(matrix_bytes);
    for (int row = 0; row < n; ++row)
        for (int k = 0; k < 32 / type.bytes; ++k) {
            const unsigned bits = type.encode(type.number(row + first_row, k));
            std::memcpy(&image[std::size_t(layout.place_of(row, k, type.bytes))], &bits,
                        std::size_t(type.bytes));
        }
    return image;
}
/// Each thread's four registers of A.
std::vector<unsigned> registers_of(const Encoding& type) {
    const int in_each = 4 / type.bytes;
    return table(128 * 4, [&](int i) {
        const int thread = i / 4, lane = thread % 32, r = i % 4;
        unsigned bits = 0;
        for (int j = 0; j < in_each; ++j)
            bits |= type.encode(type.number(thread / 32 * 16 + lane / 4 + r % 2 * 8,
                                            (r / 2 * 4 + lane % 4) * in_each + j))
                    << 8 * type.bytes * j;
        return bits;
    });
}

bool has_wgmma() {
    Array<int> has(1);
    ask_for_wgmma<<<1, 1>>>(has);
    return has.host()[0] != 0;
}

template <class Product>
void check(construct::Report& report, const std::string& name, const Encoding& type,
           const Layout& of_a, const Layout& of_b, int sign = 1) {
    const bool is_float = type.encode != &as_number;
    const auto first = [](int i) { return i % 5 - 2; };
    for (const bool adds : {false, true}) {
        const Array<char> a(image_of(type, of_a, 0)), b(image_of(type, of_b, 1));
        const Array<unsigned> registers(registers_of(type));
        const Array<unsigned> d(table(n * n / (Product::is_half ? 2 : 1), [&](int i) {
            if (Product::is_half) return as_f16(first(2 * i)) | as_f16(first(2 * i + 1)) << 16;
            return is_float ? as_float(first(i)) : unsigned(first(i));
        }));
        multiply<Product><<<1, 128>>>({a, b, registers, d, of_a, of_b, adds});
        const auto want = [&](int i) {
            int sum = adds ? first(i) : 0;
            for (int k = 0; k < 32 / type.bytes; ++k)
                sum += sign * type.number(i / n, k) * type.number(i % n + 1, k);
            return sum;
        };
        report.equal(name, d.host(), [&](int i) {
            if (Product::is_half) return as_f16(want(2 * i)) | as_f16(want(2 * i + 1)) << 16;
            return is_float ? as_float(want(i)) : unsigned(want(i));
        });
    }
}

CONSTRUCT(ptx_warpgroups_of_every_type) {
    if (!has_wgmma()) return report.holds("compiled for another architecture", true);
    const Layout& rows = row_layouts[1];
    check<F16>(report, "f16", f16, rows, rows);
    check<F16NegativeA>(report, "f16 of -A", f16, rows, rows, -1);
    check<Bf16>(report, "bf16", bf16, rows, rows);
    check<Tf32>(report, "tf32", tf32, rows, rows);
    check<E4m3>(report, "e4m3", e4m3, rows, rows);
    check<E5m2>(report, "e5m2", e5m2, rows, rows);
    check<S8>(report, "s8", s8, rows, rows);
    check<U8>(report, "u8", u8, rows, rows);
    check<F16Half>(report, "f16 into f16", f16, rows, rows);
    check<E4m3Half>(report, "e4m3 into f16", e4m3, rows, rows);
    check<F16Registers>(report, "f16 of registers", f16, rows, rows);
    check<F16RegistersColumnsOfB>(report, "f16 of registers, columns", f16, rows,
                                  column_layouts[1]);
    check<Tf32Registers>(report, "tf32 of registers", tf32, rows, rows);
    check<E5m2Registers>(report, "e5m2 of registers", e5m2, rows, rows);
    check<S8Registers>(report, "s8 of registers", s8, rows, rows);
}
CONSTRUCT(ptx_warpgroups_of_every_layout) {
    if (!has_wgmma()) return report.holds("compiled for another architecture", true);
    for (std::size_t i = 0; i < 4; ++i) {
        const std::string name = "layout " + std::to_string(i);
        const Layout &rows = row_layouts[i], &other_rows = row_layouts[3 - i];
        const Layout &columns = column_layouts[i], &other_columns = column_layouts[(i + 1) % 4];
        check<F16>(report, name + " of rows", f16, rows, other_rows);
        check<F16Columns>(report, name + " of columns", f16, columns, other_columns);
        check<F16ColumnsOfA>(report, name + " of A's columns", f16, columns, rows, -1);
        check<F16ColumnsOfB>(report, name + " of B's columns", f16, rows, columns);
        check<Tf32>(report, name + " of tf32", tf32, rows, other_rows);
        check<S8>(report, name + " of s8", s8, other_rows, rows);
    }
}

}  // namespace
