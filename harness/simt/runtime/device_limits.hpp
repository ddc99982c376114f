// SPDX-License-Identifier: Apache-2.0
// The limits of the CPU device: a current GPU's, but few processors.
#pragma once

#include <algorithm>
#include <cstddef>

namespace gradverify::simt {

constexpr unsigned max_block_threads = 1024;
constexpr unsigned warp_lanes = 32;
constexpr std::size_t shared_default_bytes = 48 * 1024;
constexpr std::size_t shared_opt_in_bytes = 227 * 1024;
constexpr unsigned max_grid_x = 2147483647u;
constexpr unsigned max_grid_y_z = 65535u;
constexpr unsigned max_block_z = 64u;
// So that a cooperative launch needs at most 8,192 fibers: each takes two of the 65,530 mappings
// that a process may have by default.
constexpr int multiprocessors = 4;
constexpr int threads_per_multiprocessor = 2048;
constexpr int blocks_per_multiprocessor = 32;
/// How many blocks run on a multiprocessor at a time.
constexpr int blocks_per_multiprocessor_of(int threads, std::size_t dynamic_shared_bytes) {
    const int blocks = std::min(threads_per_multiprocessor / threads, blocks_per_multiprocessor);
    if (dynamic_shared_bytes == 0) return blocks;
    const auto fit = static_cast<int>(shared_opt_in_bytes / dynamic_shared_bytes);
    return std::min(blocks, fit);
}
constexpr std::size_t device_memory_bytes = std::size_t{8} << 30;
/// The largest limit of dynamic shared memory that any kernel of this OS thread was given.
std::size_t& dynamic_shared_limit();

}  // namespace gradverify::simt
