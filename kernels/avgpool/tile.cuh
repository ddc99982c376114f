// SPDX-License-Identifier: Apache-2.0
// How the separable kernels cut a plane into tiles: a block for each, a column for each lane, and
// as many rows as leave room in shared memory for the rows of sums that they need.
#pragma once

#include "kernels/avgpool/window.cuh"

constexpr int tile_columns = 32, tile_threads_y = 8, sum_rows_maximum = 384;

struct PoolTiles {
    long long rows, columns;  ///< of a plane that is cut
    int tile_rows;            ///< of a tile

    __host__ __device__ long long tiles_down() const { return (rows + tile_rows - 1) / tile_rows; }
    __host__ __device__ long long tiles_across() const {
        return (columns + tile_columns - 1) / tile_columns;
    }
    /// The tile of a block, numbered row by row, plane by plane.
    __device__ long long plane(long long block) const {
        return block / (tiles_down() * tiles_across());
    }
    __device__ long long first_row(long long block) const {
        return block / tiles_across() % tiles_down() * tile_rows;
    }
    __device__ long long column(long long block) const {
        return block % tiles_across() * tile_columns + threadIdx.x;
    }
    __device__ long long end_row(long long first) const {
        return first + tile_rows < rows ? first + tile_rows : rows;
    }
};
