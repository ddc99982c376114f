// SPDX-License-Identifier: Apache-2.0
// Launches of more blocks than a grid has room for along x, as a block for each row of a tensor of
// more than 2^31 elements may need.
#pragma once

/// What a grid has room for along x.
constexpr long long most_blocks_of_grid = 2147483647;

/// Calls `launch(first, count)` for one grid behind the other: the number of its first block among
/// all, and of its blocks. Not called without blocks.
template <class Launch>
void in_grids(long long blocks, Launch launch, long long most = most_blocks_of_grid) {
    for (long long first = 0; first < blocks; first += most)
        launch(first, static_cast<unsigned>(blocks - first < most ? blocks - first : most));
}
