// SPDX-License-Identifier: Apache-2.0
// How many blocks a launch takes, and launches of more blocks than a grid has room for along x.
#pragma once

#include <algorithm>

constexpr long long divided_up(long long a, long long b) { return (a + b - 1) / b; }

/// Enough blocks for one thread each.
inline unsigned blocks_of(long long threads, int block_size) {
    return static_cast<unsigned>(divided_up(threads, block_size));
}
/// The same, but no more than a loop over the grid needs to fill a GPU.
inline unsigned blocks_of_loop(long long elements, int block_size) {
    return static_cast<unsigned>(std::min(divided_up(elements, block_size), 65536LL));
}

constexpr long long most_blocks_of_grid = 2147483647;

/// Calls `launch(first block, blocks)` for one grid after the other.
template <class Launch>
void in_grids(long long blocks, Launch launch, long long most = most_blocks_of_grid) {
    for (long long first = 0; first < blocks; first += most)
        launch(first, static_cast<unsigned>(std::min(blocks - first, most)));
}
