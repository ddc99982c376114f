// SPDX-License-Identifier: Apache-2.0
// The matrices of a warpgroup's product: where a descriptor of shared memory puts them, which of
// them each thread's registers hold, and their product.
#pragma once

#include <cstdint>
#include <vector>

#include "gradverify_simt/forced.hpp"

namespace gradverify::simt::ptx {

constexpr unsigned warpgroup_threads = 128;

/// A matrix in shared memory: rows of A, or columns of B, each of `depth` elements.
struct SharedMatrix {
    std::uint64_t descriptor;
    MatrixElement element;
    int rows, depth;
    bool is_transposed;  ///< neighbours of a column lie together, not those of a row
};
/// 16 bytes of it: elements from `row` and `depth` on, along the direction that is contiguous.
struct SharedChunk {
    const char* at;
    int row, depth;
};
constexpr std::size_t chunk_bytes = 16;
std::vector<SharedChunk> chunks_of(const SharedMatrix& matrix);

SharedMatrix shared_a(const WgmmaForm& form, std::uint64_t descriptor);
SharedMatrix shared_b(const WgmmaForm& form, std::uint64_t descriptor);

/// How many registers of the accumulator a thread holds.
int sum_registers(const WgmmaForm& form);

/// One product: sum = a b (+ sum).
struct WarpgroupProduct {
    WgmmaForm form;
    std::uint64_t descriptor_a, descriptor_b;
    bool adds;
    std::vector<std::uint32_t> a;  ///< four registers of each thread
};
/// `sums` holds the accumulator's registers, thread by thread.
void multiply(const WarpgroupProduct& product, std::vector<std::uint32_t>& sums);

}  // namespace gradverify::simt::ptx
