// SPDX-License-Identifier: Apache-2.0
// A warp's matrix instructions (PTX ISA, 9.7.14). The product is the library's (ptx/mma.cpp); the
// loads and stores of ldmatrix and stmatrix are each lane's own accesses.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/memory.hpp"
#include "gradverify_simt/sync.hpp"

namespace gradverify::simt::ptx {

enum class MatrixElement { f16, bf16, tf32, f64, s8, u8, s4, u4, b1, e4m3, e5m2, f32, s32 };
struct MmaForm {
    int m, n, k;
    MatrixElement a, b, c, d;
    bool saturates;
    bool has_and;  ///< of single bits: and, else xor
    bool operator==(const MmaForm& x) const {
        return m == x.m && n == x.n && k == x.k && a == x.a && b == x.b && c == x.c && d == x.d &&
               saturates == x.saturates && has_and == x.has_and;
    }
};
/// One lane's registers.
struct MmaLane {
    unit::Together together;
    const MmaForm* form;
    const void *a, *b, *c;
    void* d;
};
/// One lane's row of ldmatrix and stmatrix, and where its two elements of each matrix lie.
struct MatrixRow {
    unit::Together together;
    std::uint64_t row;
    std::uint64_t elements[8];
};
extern "C" {
bool gradverify_simt_mma(const std::uint64_t* lanes);
bool gradverify_simt_matrix_rows(const std::uint64_t* lanes);
bool gradverify_simt_matrix_columns(const std::uint64_t* lanes);
}

/// All 32 lanes do it, with the address of a record that begins with a Together.
GRADVERIFY_SIMT_UNREPORTED inline void together(const void* record, const char* what,
                                                const char* file, int line) {
    constexpr int illegal_instruction = 715;
    if (unit::collective(unit::WarpOp::together, ~0u, reinterpret_cast<std::uintptr_t>(record),
                         file, line) == 0)
        unit::gradverify_simt_trap(illegal_instruction, what, file, line);
}

/// 9.7.14.5 mma.sync.
inline void mma(const MmaForm& form, const void* a, const void* b, const void* c, void* d,
                GRADVERIFY_SIMT_PLACE) {
    const MmaLane lane{{&gradverify_simt_mma}, &form, a, b, c, d};
    together(&lane, "mma.sync that not all 32 lanes of a warp reach together", file, line);
}

/// Lane l names row l % 8 of matrix l / 8; those of lanes beyond `matrices` are not read.
template <bool is_transposed>
inline MatrixRow matrix_row(Address address, std::size_t matrices) {
    constexpr int misaligned = 716;
    if (unit::lane() / 8u < matrices && address.value % 16u != 0) [[unlikely]]
        unit::gradverify_simt_trap(misaligned,
                                   "a row of ldmatrix or stmatrix that is no multiple of 16 bytes",
                                   address.file, address.line);
    MatrixRow row{{is_transposed ? &gradverify_simt_matrix_columns : &gradverify_simt_matrix_rows},
                  address.value,
                  {}};
    together(&row, "ldmatrix or stmatrix that not all 32 lanes of a warp reach together",
             address.file, address.line);
    return row;
}
inline std::uint16_t* element_at(std::uint64_t element, Address matrix) {
    return memory_at<std::uint16_t, Space::shared>(element, 2, matrix.file, matrix.line);
}

/// 9.7.14.5.15 ldmatrix: lane l holds elements 2 (l % 4) and the next of row l / 4, or of column
/// l / 4 under .trans.
template <bool is_transposed, class... Registers>
GRADVERIFY_SIMT_ACCESS void ldmatrix(Address address, Registers&... registers) {
    const MatrixRow row = matrix_row<is_transposed>(address, sizeof...(registers));
    const std::uint64_t* at = row.elements;
    ((registers = *element_at(at[0], address) |
                  static_cast<std::uint32_t>(*element_at(at[1], address)) << 16,
      at += 2),
     ...);
}
/// 9.7.14.5.16 stmatrix.
template <bool is_transposed, class... Registers>
GRADVERIFY_SIMT_ACCESS void stmatrix(Address address, Registers... registers) {
    const MatrixRow row = matrix_row<is_transposed>(address, sizeof...(registers));
    const std::uint64_t* at = row.elements;
    ((*element_at(at[0], address) = static_cast<std::uint16_t>(registers),
      *element_at(at[1], address) = static_cast<std::uint16_t>(registers >> 16), at += 2),
     ...);
}
/// 9.7.14.5.17 movmatrix, transposed.
inline std::uint32_t movmatrix(std::uint32_t a, GRADVERIFY_SIMT_PLACE) {
    const unsigned lane = unit::lane(), column = lane / 4u, row = lane % 4u * 2u;
    const auto element = [&](unsigned of_row) {
        const std::uint32_t both = unit::shuffle(~0u, a, of_row * 4u + column / 2u, file, line);
        return both >> column % 2u * 16u & 0xffffu;
    };
    const std::uint32_t low = element(row);
    return low | element(row + 1u) << 16;
}

}  // namespace gradverify::simt::ptx
