// SPDX-License-Identifier: Apache-2.0
// The limits that the CPU device keeps, those of a current GPU, and the few processors it reports.
#pragma once

#include <cstddef>

namespace gradverify::simt {

constexpr unsigned max_grid_x = 2147483647u;
constexpr unsigned max_grid_y_z = 65535u;
constexpr unsigned max_block_z = 64u;
// Few, so that a cooperative launch needs at most 8,192 fibers: each takes two mappings, and a
// process has 65,530 by default.
constexpr int multiprocessors = 4;
constexpr int threads_per_multiprocessor = 2048;
constexpr int blocks_per_multiprocessor = 32;
constexpr std::size_t device_memory_bytes = std::size_t{8} << 30;

}  // namespace gradverify::simt
