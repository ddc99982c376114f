// SPDX-License-Identifier: Apache-2.0
// wgmma's matrices (PTX ISA, 9.7.15.5.1): the canonical layouts of descriptors in shared memory,
// the fragments of registers, and the product, summed as mma.cpp sums: exact products in order in
// float, an accumulator of half rounded once; integers wrap or saturate.
#include "harness/simt/ptx/wgmma_matrices.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/ptx/matrix_elements.hpp"

namespace gradverify::simt::ptx {
namespace {

constexpr int rows_of_group = 64, most_depth = 32, most_columns = 256;

/// The fields of a matrix descriptor (PTX ISA, 9.7.15.5.1.2.2), in bytes.
struct Descriptor {
    unsigned start, leading, stride;
    unsigned
        phase;    ///< the row of the swizzle pattern at which addresses that are a multiple begin
    int swizzle;  ///< how many bits of the address are exchanged: 0, or 1, 2 and 3 for 32, 64 and
                  ///< 128 bytes

    explicit Descriptor(std::uint64_t bits)
        : start(field(bits, 0)),
          leading(field(bits, 16)),
          stride(field(bits, 32)),
          phase(static_cast<unsigned>(bits >> 49 & 7u)),
          swizzle(static_cast<int>((4 - (bits >> 62)) % 4)) {}
    static unsigned field(std::uint64_t bits, int at) {
        return static_cast<unsigned>(bits >> at & 0x3fffu) << 4;
    }
    /// How many chunks a row of the pattern has.
    unsigned width() const { return 1u << swizzle; }
    const char* address(std::size_t offset) const {
        const unsigned plain = start + static_cast<unsigned>(offset);
        const unsigned row = ((plain >> 7) - phase) & (width() - 1u);
        return Executor::of_this_thread().shared_at(plain ^ row << 4);
    }
    /// Chunk `chunk` of a row of a matrix whose rows are contiguous.
    std::size_t row_offset(int row, int chunk) const {
        const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(chunk);
        const std::size_t step = swizzle == 0 ? leading : chunk_bytes;
        return r % 8 * width() * chunk_bytes + r / 8 * stride + c * step;
    }
    /// Rows 8 `chunk` to 8 `chunk` + 7 of a column of a matrix whose columns are contiguous.
    std::size_t column_offset(int chunk, int column) const {
        const auto r = static_cast<std::size_t>(chunk), c = static_cast<std::size_t>(column);
        const std::size_t of_rows = swizzle == 0 ? stride : leading;
        const std::size_t of_columns = swizzle == 0 ? leading : stride;
        return r % width() * chunk_bytes + r / width() * of_rows + c % 8 * width() * chunk_bytes +
               c / 8 * of_columns;
    }
};

template <class T>
struct Matrices {
    T a[rows_of_group * most_depth];
    T b[most_depth * most_columns];
    T sum[rows_of_group * most_columns];
};

/// `put(row, depth, value)` for each element of a matrix in shared memory.
template <class T, class Put>
void read_shared(const SharedMatrix& matrix, int sign, Put put) {
    const int bits = bits_of(matrix.element);
    const int in_chunk = static_cast<int>(chunk_bytes) * 8 / bits;
    for (const SharedChunk& chunk : chunks_of(matrix)) {
        std::uint32_t words[chunk_bytes / 4];
        std::memcpy(words, chunk.at, chunk_bytes);
        for (int i = 0; i < in_chunk; ++i) {
            const T value = factor<T>(matrix.element, element_of(words, bits, i));
            const int row = chunk.row + (matrix.is_transposed ? i : 0);
            put(row, chunk.depth + (matrix.is_transposed ? 0 : i),
                static_cast<T>(sign < 0 ? -value : value));
        }
    }
}

/// Element `i` of a thread's registers of A: row l / 4 of its warp's 16, then 8 rows below; then on
/// by 4 registers' columns.
template <class T>
void read_registers(const WarpgroupProduct& product, T* a) {
    const WgmmaForm& form = product.form;
    const int bits = bits_of(form.a), in_each = 32 / bits;
    for (int one = 0; one < 4 * static_cast<int>(warpgroup_threads); ++one) {
        const int thread = one / 4, lane = thread % 32;
        const int row = thread / 32 * 16 + lane / 4 + 8 * (one % 2);
        const int column = (one % 4 / 2 * 4 + lane % 4) * in_each;
        for (int i = 0; i < in_each; ++i) {
            const T value =
                factor<T>(form.a, element_of(&product.a[static_cast<std::size_t>(one)], bits, i));
            a[row * form.k + column + i] = form.sign_of_a < 0 ? -value : value;
        }
    }
}

/// `visit(i, sum)` for each element of a thread's accumulator: two neighbours of row l / 4 of its
/// warp's 16, then two 8 rows below; then on by 8 columns.
template <class T, class Visit>
void for_each_sum(T* sums, int thread, int n, Visit visit) {
    const int lane = thread % 32;
    T* const first = sums + (thread / 32 * 16 + lane / 4) * n + lane % 4 * 2;
    for (int i = 0; i < n / 2; i += 4)
        for (int j = 0; j < 4; ++j) visit(i + j, first[j / 2 * 8 * n + i * 2 + j % 2]);
}

/// Eight columns of a row stay in registers over the depth.
template <class T>
void add_products(const WgmmaForm& form, Matrices<T>& all) {
    constexpr int part = 8;
    for (int i = 0; i < rows_of_group; ++i)
        for (int j = 0; j < form.n; j += part) {
            T sums[part];
            std::copy_n(all.sum + i * form.n + j, part, sums);
            for (int k = 0; k < form.k; ++k) {
                const T a = all.a[i * form.k + k];
                const T* const b = all.b + k * form.n + j;
                for (int c = 0; c < part; ++c) sums[c] += a * b[c];
            }
            std::copy_n(sums, part, all.sum + i * form.n + j);
        }
}

template <class T>
void multiply_as(const WarpgroupProduct& product, std::vector<std::uint32_t>& sums) {
    // On the heap: a library that is loaded late has little room for variables of a thread.
    thread_local const auto owner = std::make_unique<Matrices<T>>();
    Matrices<T>& all = *owner;
    const WgmmaForm& form = product.form;
    if (form.a_in_registers)
        read_registers(product, all.a);
    else
        read_shared<T>(shared_a(form, product.descriptor_a), form.sign_of_a,
                       [&](int row, int k, T value) { all.a[row * form.k + k] = value; });
    read_shared<T>(shared_b(form, product.descriptor_b), form.sign_of_b,
                   [&](int column, int k, T value) { all.b[k * form.n + column] = value; });
    const int registers = sum_registers(form);
    const auto for_all_sums = [&](auto visit) {
        for (int thread = 0; thread < static_cast<int>(warpgroup_threads); ++thread) {
            std::uint32_t* const of_thread = &sums[static_cast<std::size_t>(thread * registers)];
            for_each_sum(all.sum, thread, form.n, [&](int i, T& sum) { visit(of_thread, i, sum); });
        }
    };
    for_all_sums([&](const std::uint32_t* of_thread, int i, T& sum) {
        sum = product.adds ? accumulator<T>(form.d, of_thread, i) : T{};
    });
    add_products(form, all);
    for_all_sums([&](std::uint32_t* of_thread, int i, T& sum) {
        put_accumulator(form.d, of_thread, i, sum, form.saturates);
    });
}

}  // namespace

int sum_registers(const WgmmaForm& form) {
    return form.d == MatrixElement::f16 ? form.n / 4 : form.n / 2;
}

SharedMatrix shared_a(const WgmmaForm& form, std::uint64_t descriptor) {
    return {descriptor, form.a, rows_of_group, form.k, form.transposes_a != 0};
}
SharedMatrix shared_b(const WgmmaForm& form, std::uint64_t descriptor) {
    return {descriptor, form.b, form.n, form.k, form.transposes_b != 0};
}

std::vector<SharedChunk> chunks_of(const SharedMatrix& matrix) {
    const Descriptor descriptor(matrix.descriptor);
    const int in_chunk = static_cast<int>(chunk_bytes) * 8 / bits_of(matrix.element);
    std::vector<SharedChunk> chunks;
    if (matrix.is_transposed) {
        for (int k = 0; k < matrix.depth; ++k)
            for (int i = 0; i < matrix.rows / in_chunk; ++i)
                chunks.push_back(
                    {descriptor.address(descriptor.column_offset(i, k)), i * in_chunk, k});
        return chunks;
    }
    for (int row = 0; row < matrix.rows; ++row)
        for (int i = 0; i < matrix.depth / in_chunk; ++i)
            chunks.push_back(
                {descriptor.address(descriptor.row_offset(row, i)), row, i * in_chunk});
    return chunks;
}

void multiply(const WarpgroupProduct& product, std::vector<std::uint32_t>& sums) {
    if (product.form.d == MatrixElement::s32) return multiply_as<std::int64_t>(product, sums);
    multiply_as<float>(product, sums);
}

}  // namespace gradverify::simt::ptx
