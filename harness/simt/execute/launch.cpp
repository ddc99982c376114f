// SPDX-License-Identifier: Apache-2.0
// Which block and thread of a launch is next, its text, and which launches CUDA refuses.
#include "harness/simt/execute/launch.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "gradverify_simt/runtime.hpp"
#include "harness/simt/runtime/device_limits.hpp"
#include "harness/simt/runtime/source_line.hpp"
#include "harness/simt/runtime/text.hpp"

namespace gradverify::simt {
namespace {

std::uint64_t resident_blocks(const unit::LaunchConfig& config) {
    return multiprocessors * static_cast<std::uint64_t>(blocks_per_multiprocessor_of(
                                 static_cast<int>(volume(config.block)), config.shared_bytes));
}

std::string why_no_cluster(const unit::LaunchConfig& config) {
    const dim3 &grid = config.grid, &cluster = config.cluster;
    if (volume(cluster) == 1) return "";
    if (volume(cluster) == 0 || volume(cluster) > unit::max_cluster_size)
        return "cluster " + text_of(cluster) + " has no block, or more than 16";
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
        return "grid " + text_of(grid) + " is no multiple of cluster " + text_of(cluster);
    return config.is_cooperative ? "a cooperative launch of clusters runs on cuda only" : "";
}

}  // namespace

std::uint64_t volume(const dim3& size) { return std::uint64_t{size.x} * size.y * size.z; }

std::string Launch::text() const {
    return short_place(place.file, place.line) + ": launch of " + kernel;
}

std::string shape_text() {
    const auto text = [](const dim3& size) {
        const std::string x = std::to_string(size.x), y = std::to_string(size.y);
        if (size.z != 1) return text_of(size);
        return size.y == 1 ? x : "(" + x + ", " + y + ")";
    };
    return "<<<" + text(unit::state.grid_dim) + ", " + text(unit::state.block_dim) + ">>>";
}

/// A step that is prime to the number of clusters visits each once, without a table.
void Launch::draw_order(Random& random, unsigned cluster_size) {
    const std::uint64_t clusters = blocks / cluster_size;
    offset_ = random.next() % clusters;
    stride_ = random.next() % clusters | 1;
    while (std::gcd(stride_, clusters) != 1) ++stride_;
}

void Launch::set_block_index(Order order, unsigned cluster_size) const {
    const std::uint64_t clusters = blocks / cluster_size;
    std::uint64_t index = begun / cluster_size;
    auto rank = static_cast<unsigned>(begun % cluster_size);
    if (order == Order::descending) {
        index = clusters - 1 - index;
        rank = cluster_size - 1 - rank;
    } else if (order != Order::ascending) {
        __extension__ using Wide = unsigned __int128;
        rank = static_cast<unsigned>((rank + index + offset_) % cluster_size);
        index = static_cast<std::uint64_t>((Wide{index} * stride_ + offset_) % clusters);
    }
    unit::State& state = unit::state;
    const dim3 &grid = state.grid_dim, &cluster = state.cluster_dim;
    const std::uint64_t row = index / (grid.x / cluster.x);
    state.cluster_rank = rank;
    state.block_index = {
        static_cast<unsigned>(index % (grid.x / cluster.x)) * cluster.x + rank % cluster.x,
        static_cast<unsigned>(row % (grid.y / cluster.y)) * cluster.y +
            rank / cluster.x % cluster.y,
        static_cast<unsigned>(row / (grid.y / cluster.y)) * cluster.z +
            rank / cluster.x / cluster.y};
}

void ThreadOrder::set_block(dim3 size, Block& block) {
    if (size.x == size_.x && size.y == size_.y && size.z == size_.z) return;
    size_ = size;
    forget();
    block.threads_ = size.x * size.y * size.z;
    block.order_end_ = block.order_.data() + block.threads_;
    for (unsigned rank = 0; rank < block.threads_; ++rank)
        by_rank_[rank] = {{rank % size.x, rank / size.x % size.y, rank / size.x / size.y}, rank};
}

void ThreadOrder::draw(Order order, Random& random, Block& block) {
    if (!is_random(order) && order == drawn_) return;
    drawn_ = order;
    const unsigned threads = block.threads_;
    for (unsigned i = 0; i < threads; ++i) {
        ranks_[i] = static_cast<std::uint16_t>(order == Order::descending ? threads - 1 - i : i);
    }
    if (order == Order::random_threads) {
        shuffle(ranks_.data(), threads, random);
    } else if (order == Order::random_warps) {
        std::array<std::uint16_t, max_block_threads / warp_lanes> warps{};
        const unsigned count = (threads + warp_lanes - 1) / warp_lanes;
        for (unsigned i = 0; i < count; ++i) warps[i] = static_cast<std::uint16_t>(i);
        shuffle(warps.data(), count, random);
        unsigned at = 0;
        for (unsigned w = 0; w < count; ++w) {
            const unsigned first = warps[w] * warp_lanes;
            for (unsigned i = first; i < first + warp_lanes && i < threads; ++i) {
                ranks_[at++] = static_cast<std::uint16_t>(i);
            }
        }
    }
    for (unsigned i = 0; i < threads; ++i) {
        const unsigned rank = ranks_[i];
        block.order_[i] = by_rank_[rank];
        block.position_of_[rank] = static_cast<std::uint16_t>(i);
    }
}

// Fisher and Yates. All numbers are drawn before the swaps, which halves the time.
void ThreadOrder::shuffle(std::uint16_t* values, unsigned count, Random& random) {
    for (unsigned i = count; i > 1; --i)
        picks_[i - 1] = static_cast<std::uint16_t>(random.below(i));
    for (unsigned i = count; i > 1; --i) std::swap(values[i - 1], values[picks_[i - 1]]);
}

std::string why_invalid(const unit::LaunchConfig& config, int& cuda_error) {
    // As CUDA 12 documents it; CUDA 13.0 was seen to answer cudaErrorInvalidValue to a large block.
    cuda_error = cudaErrorInvalidConfiguration;
    const dim3& grid = config.grid;
    const dim3& block = config.block;
    if (volume(grid) == 0) return "grid " + text_of(grid) + " has a zero";
    if (volume(block) == 0) return "block " + text_of(block) + " has a zero";
    if (grid.x > max_grid_x || grid.y > max_grid_y_z || grid.z > max_grid_y_z) {
        return "grid " + text_of(grid) + " exceeds (2147483647, 65535, 65535)";
    }
    if (block.x > max_block_threads || block.y > max_block_threads || block.z > max_block_z ||
        volume(block) > max_block_threads) {
        return "block " + text_of(block) + " exceeds 1024 threads or (1024, 1024, 64)";
    }
    if (config.shared_bytes > dynamic_shared_limit()) {
        cuda_error = cudaErrorInvalidValue;
        return std::to_string(config.shared_bytes) + " bytes of dynamic shared memory exceed " +
               std::to_string(dynamic_shared_limit()) +
               " (cudaFuncSetAttribute raises the limit up to " +
               std::to_string(shared_opt_in_bytes) + ")";
    }
    if (config.is_cooperative && volume(grid) > resident_blocks(config)) {
        cuda_error = cudaErrorCooperativeLaunchTooLarge;
        return "a cooperative launch of " + std::to_string(volume(grid)) + " blocks; at most " +
               std::to_string(resident_blocks(config)) + " of this size run at a time";
    }
    if (std::string why = why_no_cluster(config); !why.empty()) {
        if (config.is_cooperative) cuda_error = cudaErrorNotSupported;
        return why;
    }
    cuda_error = cudaSuccess;
    return "";
}

}  // namespace gradverify::simt
