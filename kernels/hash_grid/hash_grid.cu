// SPDX-License-Identifier: Apache-2.0
// hash_grid.forward/naive: a thread for each position and level.
// hash_grid.forward/vectors: the same with all features of a row in one load, for 1, 2 or 4.
// hash_grid.backward/gather: a thread for each element of the table looks at every position.
// hash_grid.backward/scatter: each position adds to the rows around it, a thread for each level.
// The gradient by positions is a sum over the levels, by a thread for each position.
#include "kernels/kernel.cuh"

namespace {

using gradverify::TensorView;

struct Forward : gradverify::Pass<"hash_grid", "forward"> {
    using Pass::Pass;
    TensorView positions = tensor("positions"), table = tensor("table"), y = tensor("y");
};
struct Backward : gradverify::Pass<"hash_grid", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), positions = tensor("positions"), table = tensor("table"),
               dpositions = tensor("dpositions"), dtable = tensor("dtable");
};

constexpr int most_dims = 3;

/// The grid of one level.
struct Level {
    float scale;
    unsigned resolution;
};

/// What an axis's coordinate is multiplied by in a hash. As an array, nvcc 13.0 takes a wrong
/// element of it where it optimises: hash_grid.forward/naive failed on a GPU at rows=2,base=3.
__device__ constexpr unsigned prime_of(int axis) {
    return axis == 0 ? 1u : axis == 1 ? 2654435761u : 805459861u;
}

/// The cell of a grid that a position lies in, and where in it.
struct Cell {
    unsigned first[most_dims];
    float share[most_dims];
    int dims;

    __device__ Cell(const float* position, const Level& level, int of_dims) : dims(of_dims) {
        for (int axis = 0; axis < dims; ++axis) {
            const float place = fmaf(position[axis], level.scale, 0.5f);
            first[axis] = static_cast<unsigned>(floorf(place));
            share[axis] = place - floorf(place);
        }
    }
    __device__ unsigned at(int corner, int axis) const {
        return first[axis] + (corner >> axis & 1);
    }
    __device__ float weight(int corner) const {
        float product = 1.0f;
        for (int axis = 0; axis < dims; ++axis)
            product *= corner >> axis & 1 ? share[axis] : 1.0f - share[axis];
        return product;
    }
    /// The gradient of a corner's weight by the share of one axis.
    __device__ float slope(int corner, int axis) const {
        float product = corner >> axis & 1 ? 1.0f : -1.0f;
        for (int other = 0; other < dims; ++other)
            if (other != axis) product *= corner >> other & 1 ? share[other] : 1.0f - share[other];
        return product;
    }
};

struct Grids {
    const float *positions, *table;
    long long samples, levels, features, rows;
    int dims;
    float base, growth;

    template <class Call>
    explicit Grids(const Call& call)
        : positions(call.positions.template as<const float>()),
          table(call.table.template as<const float>()),
          samples(call.size("n")),
          levels(call.size("levels")),
          features(call.size("features")),
          rows(call.size("rows")),
          dims(static_cast<int>(call.size("dims"))),
          base(static_cast<float>(call.size("base"))),
          growth(call.attribute("growth")) {}

    __device__ Level level_of(long long level) const {
        float resolution = base;
        for (long long i = 0; i < level; ++i) resolution *= growth;
        return {resolution - 1.0f, static_cast<unsigned>(ceilf(resolution))};
    }
    __device__ Cell cell_of(long long sample, const Level& level) const {
        return Cell(positions + sample * dims, level, dims);
    }
    /// The row of a corner: its number in the grid if that fits into the table, else a hash.
    __device__ long long row_of(const Cell& cell, int corner, unsigned resolution) const {
        unsigned long long dense = 0, stride = 1;
        unsigned hash = 0;
        for (int axis = 0; axis < dims; ++axis) {
            const unsigned at = cell.at(corner, axis);
            if (stride <= static_cast<unsigned long long>(rows)) {
                dense += at * stride;
                stride *= resolution;
            }
            hash ^= at * prime_of(axis);
        }
        const bool is_dense = stride <= static_cast<unsigned long long>(rows);
        return static_cast<long long>(is_dense ? dense : hash) % rows;
    }
    /// The first feature of a row of a level's table.
    __device__ long long element_of(long long level, long long row) const {
        return (level * rows + row) * features;
    }
};

__global__ void encode(Grids grids, float* y) {
    const long long i = thread_in_grid();
    if (i >= grids.samples * grids.levels) return;
    const long long level = i % grids.levels;
    const Level grid = grids.level_of(level);
    const Cell cell = grids.cell_of(i / grids.levels, grid);
    for (long long f = 0; f < grids.features; ++f) {
        float sum = 0.0f;
        for (int corner = 0; corner < 1 << grids.dims; ++corner) {
            const long long row = grids.row_of(cell, corner, grid.resolution);
            sum += cell.weight(corner) * grids.table[grids.element_of(level, row) + f];
        }
        y[i * grids.features + f] = sum;
    }
}

void naive(const Forward& call) {
    const Grids grids(call);
    if (grids.samples == 0) return;
    encode<<<blocks_of(grids.samples * grids.levels, 128), 128, 0, call.launch.stream>>>(
        grids, call.y.as<float>());
}

template <int features>
struct alignas(features * sizeof(float)) Features {
    float of[features];
};

/// Neighbouring threads have neighbouring positions of one level, so that a level's table stays in
/// the caches.
template <int features>
__global__ void encode_vectors(Grids grids, Features<features>* y) {
    const long long sample = thread_in_grid(), level = blockIdx.y;
    if (sample >= grids.samples) return;
    const Level grid = grids.level_of(level);
    const Cell cell = grids.cell_of(sample, grid);
    const auto* const table =
        reinterpret_cast<const Features<features>*>(grids.table) + level * grids.rows;
    Features<features> sums{};
    for (int corner = 0; corner < 1 << grids.dims; ++corner) {
        const Features<features> row = table[grids.row_of(cell, corner, grid.resolution)];
        for (int f = 0; f < features; ++f) sums.of[f] += cell.weight(corner) * row.of[f];
    }
    y[sample * grids.levels + level] = sums;
}

template <int features>
void launch_vectors(const Forward& call, const Grids& grids) {
    const dim3 blocks(blocks_of(grids.samples, 128), static_cast<unsigned>(grids.levels));
    encode_vectors<features><<<blocks, 128, 0, call.launch.stream>>>(
        grids, reinterpret_cast<Features<features>*>(call.y.as<float>()));
}

void vectors(const Forward& call) {
    const Grids grids(call);
    if (grids.samples == 0) return;
    if (grids.features == 1) launch_vectors<1>(call, grids);
    if (grids.features == 2) launch_vectors<2>(call, grids);
    if (grids.features == 4) launch_vectors<4>(call, grids);
}

bool fits_vectors(const gradverify::Problem& problem) {
    const std::int64_t features = problem.scalar("features");
    return features == 1 || features == 2 || features == 4;
}

/// A thread for each feature of each row of each level.
__global__ void gather_dtable(Grids grids, const float* dy, float* dtable) {
    const long long i = thread_in_grid();
    if (i >= grids.levels * grids.rows * grids.features) return;
    const long long f = i % grids.features, row = i / grids.features % grids.rows;
    const long long level = i / grids.features / grids.rows;
    const Level grid = grids.level_of(level);
    float sum = 0.0f;
    for (long long sample = 0; sample < grids.samples; ++sample) {
        const Cell cell = grids.cell_of(sample, grid);
        for (int corner = 0; corner < 1 << grids.dims; ++corner)
            if (grids.row_of(cell, corner, grid.resolution) == row)
                sum +=
                    cell.weight(corner) * dy[(sample * grids.levels + level) * grids.features + f];
    }
    dtable[i] = sum;
}

__global__ void scatter_dtable(Grids grids, const float* dy, float* dtable) {
    const long long sample = thread_in_grid(), level = blockIdx.y;
    if (sample >= grids.samples) return;
    const Level grid = grids.level_of(level);
    const Cell cell = grids.cell_of(sample, grid);
    const float* const of_sample = dy + (sample * grids.levels + level) * grids.features;
    for (int corner = 0; corner < 1 << grids.dims; ++corner) {
        const long long row = grids.row_of(cell, corner, grid.resolution);
        float* const to = dtable + grids.element_of(level, row);
        for (long long f = 0; f < grids.features; ++f)
            atomicAdd(&to[f], cell.weight(corner) * of_sample[f]);
    }
}

/// What a corner's features and their cotangents make together.
__device__ float product(const Grids& grids, const float* dy, const float* row) {
    float sum = 0.0f;
    for (long long f = 0; f < grids.features; ++f) sum += dy[f] * row[f];
    return sum;
}

__global__ void sum_dpositions(Grids grids, const float* dy, float* dpositions) {
    const long long sample = thread_in_grid();
    if (sample >= grids.samples) return;
    float sums[most_dims] = {};
    for (long long level = 0; level < grids.levels; ++level) {
        const Level grid = grids.level_of(level);
        const Cell cell = grids.cell_of(sample, grid);
        for (int corner = 0; corner < 1 << grids.dims; ++corner) {
            const long long row = grids.row_of(cell, corner, grid.resolution);
            const float by_weight =
                product(grids, dy + (sample * grids.levels + level) * grids.features,
                        grids.table + grids.element_of(level, row));
            for (int axis = 0; axis < grids.dims; ++axis)
                sums[axis] += grid.scale * cell.slope(corner, axis) * by_weight;
        }
    }
    for (int axis = 0; axis < grids.dims; ++axis)
        dpositions[sample * grids.dims + axis] = sums[axis];
}

void write_dpositions(const Backward& call, const Grids& grids) {
    if (grids.samples == 0) return;
    sum_dpositions<<<blocks_of(grids.samples, 64), 64, 0, call.launch.stream>>>(
        grids, call.dy.as<const float>(), call.dpositions.as<float>());
}

void gather(const Backward& call) {
    const Grids grids(call);
    gather_dtable<<<blocks_of(call.dtable.elements(), 64), 64, 0, call.launch.stream>>>(
        grids, call.dy.as<const float>(), call.dtable.as<float>());
    write_dpositions(call, grids);
}

void scatter(const Backward& call) {
    const Grids grids(call);
    cudaMemsetAsync(call.dtable.as<float>(), 0, call.dtable.elements() * sizeof(float),
                    call.launch.stream);
    if (grids.samples == 0) return;
    const dim3 blocks(blocks_of(grids.samples, 128), static_cast<unsigned>(grids.levels));
    scatter_dtable<<<blocks, 128, 0, call.launch.stream>>>(grids, call.dy.as<const float>(),
                                                           call.dtable.as<float>());
    write_dpositions(call, grids);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", naive).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Forward, "vectors", vectors)
    .with(declare_elements_on_stream<float>)
    .aligned_to(16)
    .only_if("1, 2 or 4 features", fits_vectors);
GRADVERIFY_KERNEL(Backward, "gather", gather).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Backward, "scatter", scatter)
    .with(declare_elements_on_stream<float>)
    .not_deterministic();
