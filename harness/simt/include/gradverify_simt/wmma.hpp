// SPDX-License-Identifier: Apache-2.0
// nvcuda::wmma of half, bfloat16, tf32 and double. Each lane loads and stores its own elements; the
// product is one collective of the warp (warp_product.cpp). CUDA leaves open which these are, but
// accumulators of one shape agree.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "gradverify_simt/state.hpp"
#include "gradverify_simt/sync.hpp"

namespace nvcuda::wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
}  // namespace precision

namespace detail {

using Product = ::gradverify::simt::unit::WarpProduct;

template <class Use, int m, int n, int k>
constexpr int rows = std::is_same_v<Use, matrix_b> ? k : m;
template <class Use, int m, int n, int k>
constexpr int columns = std::is_same_v<Use, matrix_a> ? k : n;

template <class T, class... Types>
constexpr bool is_any_of = (std::is_same_v<T, Types> || ...);

/// The shapes that CUDA has for elements of this type.
template <class Use, int m, int n, int k, class T>
constexpr bool has_shape() {
    const bool of_narrow =
        k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
    const bool of_tf32 = m == 16 && n == 16 && k == 8, of_double = m == 8 && n == 8 && k == 4;
    if (std::is_same_v<T, double>) return of_double;
    if (std::is_same_v<Use, accumulator>)
        return std::is_same_v<T, float> ? of_narrow || of_tf32
                                        : std::is_same_v<T, __half> && of_narrow;
    return std::is_same_v<T, precision::tf32> ? of_tf32
                                              : is_any_of<T, __half, __nv_bfloat16> && of_narrow;
}
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
    static_assert(!std::is_integral_v<T>,
                  "gradverify: wmma fragments of integers run on cuda only; name this file behind "
                  "CUDA_ONLY in gradverify_add_kernels, and the rest of the target still builds "
                  "for the cpu device");
    static_assert(std::is_integral_v<T> || detail::has_shape<Use, m, n, k, T>(),
                  "wmma: CUDA has no fragment of this shape and type");
    static_assert(std::is_same_v<Layout, void> == std::is_same_v<Use, accumulator>,
                  "wmma: matrix_a and matrix_b have a layout, an accumulator has none");

  public:
    using element_type = T;
    using storage_element_type = detail::Stored<T>;
    enum {
        /// How many elements a lane owns.
        gradverify_own = detail::rows<Use, m, n, k> * detail::columns<Use, m, n, k> / 32,
        gradverify_columns = detail::columns<Use, m, n, k>,
        /// A lane holds some factors of half several times.
        num_elements =
            std::is_same_v<T, __half> && !std::is_same_v<Use, accumulator> ? 16 : gradverify_own,
        num_storage_elements = num_elements
    };
    storage_element_type x[num_elements];
};

namespace detail {

/// A lane's elements lie in the matrix from `first` on, `step` apart.
struct Places {
    std::size_t first, step;
};
template <class Fragment>
GRADVERIFY_SIMT_ACCESS Places places(std::size_t ldm, bool is_by_column) {
    constexpr std::size_t own = Fragment::gradverify_own, columns = Fragment::gradverify_columns;
    static_assert(columns % own == 0, "a lane's elements are of one row");
    const std::size_t element = ::gradverify::simt::unit::lane() * own;
    const std::size_t row = element / columns, column = element % columns;
    return is_by_column ? Places{row + column * ldm, ldm} : Places{row * ldm + column, 1};
}

/// What CUDA asks of a matrix in memory, and of the warp.
inline void require(const void* matrix, std::size_t row_bytes, const char* file, int line) {
    using namespace ::gradverify::simt::unit;
    constexpr int misaligned = 716, illegal_instruction = 715;
    const auto address = reinterpret_cast<std::uintptr_t>(matrix);
    const auto trap = [=](int error, const char* text) {
        gradverify_simt_trap(error, text, file, line);
    };
    if (address % 32 != 0)
        trap(misaligned, "a matrix of wmma that does not begin at a multiple of 32 bytes");
    if (row_bytes % 16 != 0)
        trap(misaligned, "a matrix of wmma whose ldm is no multiple of 16 bytes");
    // In the plain variant the product notices it.
    if (is_checked && collective(WarpOp::same_matrix, ~0u, address, file, line) == 0)
        trap(illegal_instruction,
             "a matrix of wmma that not all 32 lanes of a warp load or store together");
}

template <class Fragment, class T>
GRADVERIFY_SIMT_ACCESS void load(Fragment& to, const T* from, unsigned ldm, bool is_by_column) {
    constexpr int own = Fragment::gradverify_own;
    const Places at = places<Fragment>(ldm, is_by_column);
    for (int i = 0; i < own; ++i) to.x[i] = from[at.first + static_cast<std::size_t>(i) * at.step];
    for (int i = own; i < Fragment::num_elements; ++i) to.x[i] = to.x[i - own];
}

template <class T>
constexpr Product::Element element_of() {
    if (std::is_same_v<T, __half>) return Product::Element::half;
    if (std::is_same_v<T, __nv_bfloat16>) return Product::Element::bfloat16;
    return std::is_same_v<T, double> ? Product::Element::float64 : Product::Element::tf32;
}

/// Whether CUDA sums products of this type so.
template <class T, class Sum>
constexpr bool can_sum = std::is_same_v<T, double>   ? std::is_same_v<Sum, double>
                         : std::is_same_v<T, __half> ? is_any_of<Sum, float, __half>
                                                     : std::is_same_v<Sum, float>;

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& to, const detail::Stored<T>& value) {
    for (auto& element : to.x) element = value;
}

template <class Use, int m, int n, int k, class T, class Layout>
GRADVERIFY_SIMT_ACCESS void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& to,
                                             const detail::Stored<T>* from, unsigned ldm,
                                             GRADVERIFY_SIMT_PLACE) {
    static_assert(!std::is_same_v<Use, accumulator>,
                  "wmma: an accumulator's load needs a layout_t");
    detail::require(from, ldm * sizeof(*from), file, line);
    detail::load(to, from, ldm, std::is_same_v<Layout, col_major>);
}
template <int m, int n, int k, class T>
GRADVERIFY_SIMT_ACCESS void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* from,
                                             unsigned ldm, layout_t layout, GRADVERIFY_SIMT_PLACE) {
    detail::require(from, ldm * sizeof(*from), file, line);
    detail::load(to, from, ldm, layout == mem_col_major);
}
template <int m, int n, int k, class T>
GRADVERIFY_SIMT_ACCESS void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& from,
                                              unsigned ldm, layout_t layout,
                                              GRADVERIFY_SIMT_PLACE) {
    using Fragment = fragment<accumulator, m, n, k, T>;
    detail::require(to, ldm * sizeof(*to), file, line);
    const detail::Places at = detail::places<Fragment>(ldm, layout == mem_col_major);
    for (int i = 0; i < Fragment::gradverify_own; ++i)
        to[at.first + static_cast<std::size_t>(i) * at.step] = from.x[i];
}

/// `sum` = a b + c; it may be c itself.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class Sum, class From>
GRADVERIFY_SIMT_UNREPORTED inline void mma_sync(fragment<accumulator, m, n, k, Sum>& sum,
                                                const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                                                const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                                                const fragment<accumulator, m, n, k, From>& c,
                                                GRADVERIFY_SIMT_PLACE) {
    using namespace ::gradverify::simt::unit;
    static_assert(detail::can_sum<T, Sum> && detail::can_sum<T, From>,
                  "wmma: CUDA does not sum products of this type so");
    const WarpProduct product{.rows = m,
                              .columns = n,
                              .depth = k,
                              .element = detail::element_of<T>(),
                              .has_half_c = std::is_same_v<From, __half>,
                              .has_half_sum = std::is_same_v<Sum, __half>,
                              .a = a.x,
                              .b = b.x,
                              .c = c.x,
                              .sum = sum.x};
    if (collective(WarpOp::matrix_product, ~0u, reinterpret_cast<std::uintptr_t>(&product), file,
                   line) == 0)
        gradverify_simt_trap(715, "mma_sync that not all 32 lanes of a warp reach together", file,
                             line);
}

/// Rounded to the 11 digits of tf32, half a unit away from zero.
inline float __float_to_tf32(float value) {
    const auto bits = ::gradverify::simt::unit::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7f800000u) == 0x7f800000u) return value;
    return ::gradverify::simt::unit::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace nvcuda::wmma
