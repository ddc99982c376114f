// SPDX-License-Identifier: Apache-2.0
// The CPU device keeps the limits of a current GPU, and reports few processors.
#pragma once

#include <cstddef>

#include "harness/simt/execute/shared_memory.hpp"

namespace gradverify::simt {

constexpr unsigned max_grid_x = 2147483647u;
constexpr unsigned max_grid_y_z = 65535u;
constexpr unsigned max_block_z = 64u;
// Few, so that a cooperative launch needs at most 8,192 fibers: each takes two mappings, and a
// process has 65,530 by default.
constexpr int multiprocessors = 4;
constexpr int threads_per_multiprocessor = 2048;
constexpr int blocks_per_multiprocessor = 32;
/// Number of blocks with this many threads that run on a multiprocessor at a time.
constexpr int blocks_per_multiprocessor_of(int threads, std::size_t dynamic_shared_bytes) {
    int blocks = threads_per_multiprocessor / threads;
    if (blocks > blocks_per_multiprocessor) blocks = blocks_per_multiprocessor;
    if (dynamic_shared_bytes == 0) return blocks;
    const auto fit = static_cast<int>(SharedMemory::opt_in_limit_bytes / dynamic_shared_bytes);
    return blocks < fit ? blocks : fit;
}
constexpr std::size_t device_memory_bytes = std::size_t{8} << 30;

}  // namespace gradverify::simt
