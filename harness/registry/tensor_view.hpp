// SPDX-License-Identifier: Apache-2.0
// Decides how a launcher sees a tensor: device pointer, element type, sizes and strides.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "harness/numbers/dtype.hpp"

namespace gradverify {

/// Batch, channel, three spatial axes, and the two numbers of a pair.
inline constexpr int max_tensor_rank = 6;

namespace detail {
template <class T>
concept HasDType = requires {
    { DTypeOf<T>::value } -> std::convertible_to<DType>;
};

/// The type of a pair's numbers: std::complex<T> names it, float2 has them as x and y.
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

/// A tensor in device memory, as a launcher gets it.
/// **Units** `sizes` and `strides` count elements; axis 0 is the outermost (for conv the batch).
struct TensorView {
    void* data = nullptr;
    DType dtype = DType::f32;
    int rank = 0;
    std::array<std::int64_t, max_tensor_rank> sizes{};
    std::array<std::int64_t, max_tensor_rank> strides{};

    std::int64_t size(int axis) const { return sizes[static_cast<std::size_t>(axis)]; }
    /// Elements from one to the next along the axis.
    std::int64_t stride(int axis) const { return strides[static_cast<std::size_t>(axis)]; }
    std::int64_t elements() const {
        std::int64_t count = 1;
        for (int axis = 0; axis < rank; ++axis) count *= size(axis);
        return count;
    }
    /// The data as `T*`: `as<const float>()`, `as<__half>()`.
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

    /// The data as pairs along the last axis: complex numbers as `as_pairs<const float2>()`.
    /// `stride` still counts numbers, two for each pair.
    /// **Errors** std::invalid_argument for numbers of another type, or not in pairs.
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

    /// PyTorch's tensor over the same memory, an `at::Tensor` on the device cuda, with these sizes
    /// and strides, for files that include harness/torch.hpp.
    /// **Errors** c10::Error for floats of 8 bits.
    template <class View = TensorView>
    auto tensor() const {
        constexpr bool has_torch = requires(const View& view) { as_torch_tensor(view); };
        static_assert(has_torch, "gradverify: tensor() needs #include \"harness/torch.hpp\"");
        if constexpr (has_torch) return as_torch_tensor(static_cast<const View&>(*this));
    }

  private:
    void require_pairs(DType wanted) const;
    [[noreturn]] void refuse(DType wanted) const;
};

}  // namespace gradverify
