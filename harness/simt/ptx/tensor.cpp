// SPDX-License-Identifier: Apache-2.0
// Boxes of tensors as pieces of bulk copies (PTX ISA, 5.5 and 9.7.9.26): tiles and im2col columns,
// swizzled in shared memory; what lies outside of the tensor is filled, or not stored.
#include "gradverify_simt/ptx/tensor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/ptx/bulk.hpp"
#include "harness/simt/ptx/tensor_maps.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

std::byte* bytes_at(std::uintptr_t address) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(pointer_to(address)));
}

using ptx::Coordinates;
using ptx::Offsets;
using Index = std::array<std::int64_t, 5>;

/// The 16-byte chunks of shared memory that the swizzle exchanges: bits 4 to 6 of an address are
/// those XOR bits 7 to 9, or as many of them as the swizzle has.
std::uintptr_t swizzled(std::uintptr_t address, const TensorMap& map) {
    const unsigned bits = map.swizzle;  // 1, 2, 3 for 32, 64, 128 bytes
    return address ^ ((address >> 7 & ((1u << bits) - 1u)) << 4);
}

constexpr std::int64_t chunk_bytes = 16;

/// Puts the rows of a box, one after another in shared memory, into a copy.
class Box {
  public:
    Box(const TensorMap& map, std::uintptr_t shared, bool loads, BulkCopy& copy)
        : map_(map), shared_(shared), loads_(loads), copy_(copy) {
        const std::uint32_t bytes = map.box[0] * map.element_bytes();
        pitch_ = std::max(bytes, map.swizzle_bytes());
        row_bytes_ = bytes;
    }

    /// The row of elements that begins at `first`.
    void add(const Index& first) {
        bool is_inside = true;
        std::uint64_t address = map_.address;
        for (unsigned i = 1; i < map_.rank; ++i) {
            is_inside = is_inside && first[i] >= 0 && first[i] <= map_.last[i];
            address += static_cast<std::uint64_t>(first[i]) * map_.strides[i - 1];
        }
        const std::int64_t size = map_.element_bytes();
        std::int64_t end = (std::int64_t{map_.last[0]} + 1) * size;
        // The ISA does not say so, but sm_90 writes all of the 16 bytes in which a row ends.
        if (!loads_) end = (end + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
        end -= first[0] * size;
        const std::int64_t row = row_bytes_;
        const std::int64_t from =
            is_inside ? std::clamp(-first[0] * size, std::int64_t{0}, row) : row;
        const std::int64_t to = is_inside ? std::clamp(end, from, row) : row;
        address += static_cast<std::uint64_t>(first[0] * size);
        add_range(0, from, 0);
        add_range(from, to, address);
        add_range(to, row, 0);
        shared_ += pitch_;
        copy_.transaction_bytes += row_bytes_;
    }

  private:
    /// Bytes of the row; `global` is of its first byte, 0 where it is outside of the tensor.
    void add_range(std::int64_t from, std::int64_t to, std::uint64_t global) {
        if (global == 0 && !loads_) return;
        while (from < to) {
            const std::int64_t end =
                map_.swizzle == 0 ? to
                                  : std::min(to, from / chunk_bytes * chunk_bytes + chunk_bytes);
            auto* const shared =
                bytes_at(swizzled(shared_ + static_cast<std::uintptr_t>(from), map_));
            auto* const tensor = global == 0 ? nullptr : bytes_at(global) + from;
            const auto bytes = static_cast<std::uint32_t>(end - from);
            if (loads_)
                copy_.pieces.push_back({shared, tensor, bytes});
            else
                copy_.pieces.push_back({tensor, shared, bytes});
            from = end;
        }
    }

    const TensorMap& map_;
    std::uintptr_t shared_;
    bool loads_;
    BulkCopy& copy_;
    std::uint32_t pitch_ = 0, row_bytes_ = 0;
};

/// All dimensions but the first, each in its steps.
void add_tile(const TensorMap& map, const Coordinates& coordinates, Box& box) {
    Index step{}, first{};
    for (;;) {
        for (unsigned i = 0; i < map.rank; ++i)
            first[i] = coordinates.at[i] + step[i] * map.element_strides[i];
        box.add(first);
        unsigned i = 1;
        while (i < map.rank && ++step[i] * map.element_strides[i] >= map.box[i]) step[i++] = 0;
        if (i >= map.rank) return;
    }
}

/// Pixels within the bounding box, W first, from the coordinates on; each lies off by the offsets.
void add_column(const TensorMap& map, const Coordinates& coordinates, const Offsets& offsets,
                Box& box) {
    Index pixel{};
    std::copy_n(coordinates.at, map.rank, pixel.begin());
    const unsigned batch = map.rank - 1u;
    for (unsigned count = 0; count < map.box[1]; ++count) {
        Index first = pixel;
        for (unsigned i = 1; i < batch; ++i) first[i] += offsets.by[i - 1];
        box.add(first);
        unsigned i = 1;
        while (i < batch && (pixel[i] += map.element_strides[i]) >
                                std::int64_t{map.last[i]} + map.upper_corner[i - 1]) {
            pixel[i] = map.lower_corner[i - 1];
            ++i;
        }
        if (i == batch) ++pixel[batch];
    }
}

/// Elements outside of the tensor where they are NaN, as sm_90 has them in types of any size.
constexpr std::uint32_t nan_fill = 0x7ff77ff7u;

struct Tensor {
    const void* map;
    const Coordinates& coordinates;
    const Offsets& offsets;
    const void* shared;
    bool loads;
};

/// **Errors** end the launch.
BulkCopy copy_of(const Tensor& tensor, const AsyncPlace& at, TensorMap& map) {
    const auto fail = [&](const char* what) {
        Executor::of_this_thread().trap(cudaErrorIllegalInstruction, {what}, at.place);
    };
    const std::optional<TensorMap> read = TensorMap::read(tensor.map);
    if (!read) fail("a tensor copy by what is no tensor map");
    map = *read;
    if (map.rank != tensor.coordinates.count)
        fail("a tensor copy of another number of dimensions than its tensor map has");
    if (map.is_im2col != tensor.coordinates.is_im2col)
        fail("a tensor copy of another mode (tile, im2col) than its tensor map has");
    // The ISA does not say so, but sm_90 stops there as at an illegal instruction.
    if (tensor.coordinates.at[0] * std::int64_t{map.element_bytes()} % 16 != 0)
        fail("a tensor copy whose first coordinate is at no multiple of 16 bytes");
    if (!tensor.loads && std::ranges::any_of(tensor.coordinates.at, [](int i) { return i < 0; }))
        fail("a tensor copy to global memory at a coordinate below 0");
    BulkCopy copy{.by = at, .pieces = {}, .tensor_map = tensor.map, .source = {}};
    copy.fill = map.fills_with_nan ? nan_fill : 0;
    copy.fill_bytes = std::min(map.element_bytes(), 4u);
    Box box(map, number(tensor.shared), tensor.loads, copy);
    if (map.is_im2col)
        add_column(map, tensor.coordinates, tensor.offsets, box);
    else
        add_tile(map, tensor.coordinates, box);
    return copy;
}

}  // namespace
}  // namespace gradverify::simt

namespace gradverify::simt::ptx {
extern "C" {

void gradverify_simt_tensor_load(void* to, const void* map, const Coordinates& coordinates,
                                 const Offsets& offsets, void* mbarrier, std::uint32_t blocks,
                                 const char* file, int line) {
    TensorMap read;
    BulkCopy copy = copy_of({map, coordinates, offsets, to, true},
                            {mbarrier, __builtin_return_address(0), {file, line}}, read);
    if (blocks != 0) return BulkCopies::of_this_thread().multicast(copy, blocks);
    BulkCopies::of_this_thread().add(std::move(copy));
}
void gradverify_simt_tensor_store(const void* map, const Coordinates& coordinates, const void* from,
                                  const char* file, int line) {
    TensorMap read;
    BulkCopies::of_this_thread().add(copy_of({map, coordinates, {}, from, false},
                                             {nullptr, __builtin_return_address(0), {file, line}},
                                             read));
}
void gradverify_simt_tensor_reduce(const void* map, const Coordinates& coordinates,
                                   const void* from, BulkOperation operation, const char* file,
                                   int line) {
    TensorMap read;
    BulkCopy copy = copy_of({map, coordinates, {}, from, false},
                            {nullptr, __builtin_return_address(0), {file, line}}, read);
    const std::optional<BulkType> type = read.element().summed;
    copy.reduction = type ? bulk_reduction(operation, *type) : nullptr;
    if (copy.reduction == nullptr)
        Executor::of_this_thread().trap(
            cudaErrorIllegalInstruction,
            {"a tensor reduction that its tensor map's type does not have"}, {file, line});
    BulkCopies::of_this_thread().add(std::move(copy));
}

}  // extern "C"
}  // namespace gradverify::simt::ptx
