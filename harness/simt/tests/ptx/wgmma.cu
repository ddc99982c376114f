// SPDX-License-Identifier: Apache-2.0
// wgmma in each layout of shared memory, with factors of one, two and four bytes, on small
// integers, whose sums are exact; the conformance test has all types. The layouts are written here
// as the PTX ISA (9.7.15.5.1) draws them.
#include <cuda_fp16.h>

#include <bit>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/construct.hpp"
#include "harness/simt/tests/ptx/has_wgmma.hpp"

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
    unsigned* d;  ///< 64 rows of n
    Layout of_a, of_b;
    bool adds;
};

/// Where a thread's register `i` of the accumulator lies in `d`.
__device__ int place_of_register(int i) {
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    return row * n + i / 4 * 8 + lane % 4 * 2 + i % 2;
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
    unsigned sum[n / 2];
    for (int i = 0; i < n / 2; ++i) sum[i] = problem.d[place_of_register(i)];
    WGMMA("wgmma.fence.sync.aligned;" :: : "memory");
    Product::apply(sum, problem.a_registers + threadIdx.x * 4, problem.of_a.descriptor(a),
                   problem.of_b.descriptor(b), problem.adds);
    WGMMA("wgmma.commit_group.sync.aligned;" :: : "memory");
    WGMMA("wgmma.wait_group.sync.aligned 0;" :: : "memory");
    for (int i = 0; i < n / 2; ++i) problem.d[place_of_register(i)] = sum[i];
}
#define R8(I)                                                                                   \
    "+r"(d[I]), "+r"(d[I + 1]), "+r"(d[I + 2]), "+r"(d[I + 3]), "+r"(d[I + 4]), "+r"(d[I + 5]), \
        "+r"(d[I + 6]), "+r"(d[I + 7])
#define SUMS                                                                                 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
#define PRODUCT(NAME, FORM, OF_A, END)                                                     \
    struct NAME {                                                                          \
        static __device__ void apply(unsigned* d, const unsigned* r, unsigned long long a, \
                                     unsigned long long b, int adds) {                     \
            WGMMA(                                                                         \
                "{.reg .pred p; setp.ne.b32 p, %38, 0; "                                   \
                "wgmma.mma_async.sync.aligned.m64n64" FORM " " SUMS OF_A ", %33, p" END    \
                ";}" : R8(0),                                                              \
                R8(8), R8(16), R8(24) : "l"(a), "l"(b), "r"(r[0]), "r"(r[1]), "r"(r[2]),   \
                "r"(r[3]), "r"(adds));                                                     \
        }                                                                                  \
    };
#define FROM_SHARED(NAME, FORM, END) PRODUCT(NAME, FORM, "%32", END)
FROM_SHARED(F16, "k16.f32.f16.f16", ", 1, 1, 0, 0")
FROM_SHARED(F16Columns, "k16.f32.f16.f16", ", 1, 1, 1, 1")
FROM_SHARED(F16ColumnsOfA, "k16.f32.f16.f16", ", 1, -1, 1, 0")
FROM_SHARED(F16ColumnsOfB, "k16.f32.f16.f16", ", 1, 1, 0, 1")
FROM_SHARED(Tf32, "k8.f32.tf32.tf32", ", 1, 1")
FROM_SHARED(S8, "k32.s32.s8.s8", "")
PRODUCT(F16RegistersColumnsOfB, "k16.f32.f16.f16", "{%34, %35, %36, %37}", ", 1, 1, 1")

unsigned as_number(int value) { return unsigned(value) & 0xffu; }
unsigned as_float(int value) { return std::bit_cast<unsigned>(float(value)); }
unsigned as_f16(int value) {
    const __half half(static_cast<float>(value));
    return std::bit_cast<unsigned short>(half);
}
struct Encoding {
    int bytes, least, count;
    unsigned (*encode)(int);
    int number(int row, int k) const { return (row * 7 + k * 3 + row * k) % count + least; }
};
constexpr Encoding f16{2, -4, 9, &as_f16}, tf32{4, -9, 19, &as_float}, s8{1, -128, 256, &as_number};

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

template <class Product>
void check(construct::Report& report, const std::string& name, const Encoding& type,
           const Layout& of_a, const Layout& of_b, int sign = 1) {
    const bool is_float = type.encode != &as_number;
    const auto first = [](int i) { return i % 5 - 2; };
    for (const bool adds : {false, true}) {
        const Array<char> a(image_of(type, of_a, 0)), b(image_of(type, of_b, 1));
        const Array<unsigned> registers(registers_of(type));
        const Array<unsigned> d(table(
            n * n, [&](int i) { return is_float ? as_float(first(i)) : unsigned(first(i)); }));
        multiply<Product><<<1, 128>>>({a, b, registers, d, of_a, of_b, adds});
        const auto want = [&](int i) {
            int sum = adds ? first(i) : 0;
            for (int k = 0; k < 32 / type.bytes; ++k)
                sum += sign * type.number(i / n, k) * type.number(i % n + 1, k);
            return sum;
        };
        report.equal(name, d.host(),
                     [&](int i) { return is_float ? as_float(want(i)) : unsigned(want(i)); });
    }
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
        check<F16RegistersColumnsOfB>(report, name + " of B's columns, A in registers", f16, rows,
                                      columns);
    }
}

}  // namespace
