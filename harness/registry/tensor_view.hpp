// SPDX-License-Identifier: Apache-2.0
// Decides how a launcher sees a tensor: device pointer, element type, sizes, strides
// and blocks. Owns nothing and knows no device. Included by CUDA units.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "harness/numbers/dtype.hpp"

namespace gradverify {

/// At most: groups or batch, two of channels, three spatial axes; or batch, channel, three spatial
/// axes, and that of pairs.
inline constexpr int max_tensor_rank = 6;

namespace detail {
template <class T>
concept HasDType = requires {
    { DTypeOf<T>::value } -> std::convertible_to<DType>;
};

/// What a pair consists of: std::complex<T> and its like name it, float2 and its like have x and y.
template <class Pair>
constexpr auto number_of_pair() {
    if constexpr (requires { typename Pair::value_type; })
        return std::type_identity<typename Pair::value_type>{};
    else if constexpr (requires(Pair pair) { pair.x = pair.y; })
        return std::type_identity<decltype(Pair::x)>{};
    else
        return std::type_identity<void>{};
}
template <class Pair>
using NumberOfPair = typename decltype(number_of_pair<Pair>())::type;

template <class T>
constexpr bool is_pair() {
    if constexpr (HasDType<NumberOfPair<T>>)
        return sizeof(T) == 2 * sizeof(NumberOfPair<T>);
    else
        return false;
}
}  // namespace detail

/// How an axis is cut into blocks: once, as the i of `OIhw8i8o`, or each block once more, as the i
/// of `OIhw8i16o2i` into 8 times 2. An axis that is not cut has blocks of one element.
struct BlockOfAxis {
    std::int32_t size = 1;          ///< elements of a block, a full one: 16 of `8i16o2i`
    std::int32_t stride = 0;        ///< from one inner block to the next: 32
    std::int32_t inner_size = 1;    ///< elements of an inner block: 2; 1 of an axis cut once
    std::int32_t inner_stride = 0;  ///< from one element to the next within it: 1

    bool operator==(const BlockOfAxis&) const = default;
    /// How far behind element 0 another lies, where so many elements lie from block to block.
    std::int64_t offset(std::int64_t i, std::int64_t outer_stride) const {
        return i / size * outer_stride + i % size / inner_size * stride +
               i % inner_size * inner_stride;
    }
};

/// A tensor in device memory, as a launcher gets it.
///
/// **Units** `sizes` and `strides` count elements; axis 0 is the outermost (for conv the batch).
///
/// An element lies at the sum over all axes of
///
///     i / block(axis) * stride(axis)
///         + i % block(axis) / inner_block(axis) * stride_in_block(axis)
///         + i % inner_block(axis) * stride_in_inner_block(axis)
///
/// which is `i / block(axis) * stride(axis) + i % block(axis) * stride_in_block(axis)` in layouts
/// that cut each axis once at most, and `i * stride(axis)` where none is blocked. Where a size is
/// no multiple of its block the last block has a tail: zeros in an input, and a kernel writes zeros
/// to that of an output.
///
/// **Shapes** a filter in a layout with an axis for groups, `gOIhw16i16o`, has this axis in front:
/// groups, k / groups, c / groups and the spatial ones, an axis more than in all other layouts.
struct TensorView {
    void* data = nullptr;
    DType dtype = DType::f32;
    int rank = 0;
    std::array<std::int64_t, max_tensor_rank> sizes{};
    std::array<std::int64_t, max_tensor_rank> strides{};
    std::array<BlockOfAxis, max_tensor_rank> blocks{};

    std::int64_t size(int axis) const { return sizes[static_cast<std::size_t>(axis)]; }
    /// Elements from one to the next along the axis; of a blocked one from a block to the next.
    std::int64_t stride(int axis) const { return strides[static_cast<std::size_t>(axis)]; }
    /// Elements of a block along the axis, a full one; 1 where the axis is not blocked.
    std::int64_t block(int axis) const { return block_of(axis).size; }
    /// Elements from one to the next within a block, where blocks are cut once more from one inner
    /// block to the next; 0 where the axis is not blocked.
    std::int64_t stride_in_block(int axis) const { return block_of(axis).stride; }
    /// Elements of what a block is cut into: 2 for the i of `OIhw8i16o2i`, whose block is 16; 1
    /// where it is not cut.
    std::int64_t inner_block(int axis) const { return block_of(axis).inner_size; }
    /// Elements from one to the next within an inner block; 0 where there are none.
    std::int64_t stride_in_inner_block(int axis) const { return block_of(axis).inner_stride; }
    const BlockOfAxis& block_of(int axis) const { return blocks[static_cast<std::size_t>(axis)]; }

    std::int64_t elements() const {
        std::int64_t count = 1;
        for (int axis = 0; axis < rank; ++axis) count *= size(axis);
        return count;
    }
    /// With the tails of blocks: what `elements()` is where no axis is blocked.
    std::int64_t elements_with_tails() const {
        std::int64_t count = 1;
        for (int axis = 0; axis < rank; ++axis)
            count *= (size(axis) + block(axis) - 1) / block(axis) * block(axis);
        return count;
    }

    /// The data as `T*`: `as<const float>()`, `as<__half>()`.
    ///
    /// **Errors** std::invalid_argument when `T` is not the tensor's element type.
    template <class T>
    T* as() const {
        constexpr bool is_known = detail::HasDType<std::remove_const_t<T>>;
        static_assert(is_known,
                      "gradverify: as<T>() takes float, double, __half, __nv_bfloat16, "
                      "__nv_fp8_e4m3, __nv_fp8_e5m2, std::int32_t or std::int64_t, const or not; "
                      "for a type of your own with the same bits specialise gradverify::DTypeOf");
        if constexpr (is_known) {
            constexpr DType wanted = DTypeOf<std::remove_const_t<T>>::value;
            if (dtype != wanted) refuse(wanted);
        }
        return static_cast<T*>(data);
    }

    /// The data as pairs, which are the last axis: complex numbers as `as_pairs<const float2>()`.
    /// `stride` counts numbers still: half of it is one of pairs.
    ///
    /// **Errors** std::invalid_argument when the numbers are of another type, or do not lie in
    /// pairs.
    template <class Pair>
    Pair* as_pairs() const {
        using Plain = std::remove_const_t<Pair>;
        constexpr bool is_pair = detail::is_pair<Plain>();
        static_assert(is_pair,
                      "gradverify: as_pairs<T>() takes a type of two numbers that as<T>() takes, "
                      "const or not: float2, double2, cuFloatComplex, std::complex<float>");
        if constexpr (is_pair) require_pairs(DTypeOf<detail::NumberOfPair<Plain>>::value);
        return static_cast<Pair*>(data);
    }

  private:
    void require_pairs(DType wanted) const;
    [[noreturn]] void refuse(DType wanted) const;
};

}  // namespace gradverify
