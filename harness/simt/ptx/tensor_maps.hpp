// SPDX-License-Identifier: Apache-2.0
// A tensor map as the CPU device keeps it in the 128 bytes of a CUtensorMap.
#pragma once

#include <cstdint>
#include <optional>

#include "gradverify_simt/ptx/bulk.hpp"
#include "gradverify_simt/tensor_maps.hpp"

namespace gradverify::simt {

struct TensorElement {
    std::uint32_t bytes;
    std::optional<ptx::BulkType> summed;  ///< what reductions take it for, if there are any
};

struct TensorMap {
    static constexpr std::uint32_t valid_mark = 0x70616d54;
    std::uint32_t mark = 0;
    std::uint8_t type = 0, rank = 0, swizzle = 0;
    bool fills_with_nan = false, is_im2col = false;
    std::uint8_t element_strides[5] = {1, 1, 1, 1, 1};
    std::uint16_t box[5] = {};  ///< in elements; of im2col the channels, and the pixels
    std::int16_t lower_corner[3] = {}, upper_corner[3] = {};
    std::uint32_t last[5] = {};  ///< index of each dimension
    std::uint64_t address = 0;
    std::uint64_t strides[4] = {};  ///< in bytes, of all dimensions but the first

    const TensorElement& element() const;
    std::uint32_t element_bytes() const { return element().bytes; }
    /// Bytes that the swizzle permutes; 0: it is none.
    std::uint32_t swizzle_bytes() const { return swizzle == 0 ? 0 : 16u << swizzle; }
    static std::optional<TensorMap> read(const void* map);
};
static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

}  // namespace gradverify::simt
