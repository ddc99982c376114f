// SPDX-License-Identifier: Apache-2.0
// mma.sync (PTX ISA, 9.7.14.5): where each lane's registers lie in the matrices, and their product,
// summed as execute/warp_product.cpp sums it: exact products in order in float, an accumulator of
// half rounded once; integers wrap or saturate.
#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>

#include "gradverify_simt/forced.hpp"
#include "harness/simt/ptx/matrix_elements.hpp"

namespace gradverify::simt::ptx {
namespace {

constexpr int most_rows = 16, columns = 8, most_depth = 256;
constexpr int lanes_of_warp = 32;

/// A matrix in rows of `width`.
template <class T>
struct Matrices {
    std::array<T, std::size_t{most_rows} * most_depth> a{};
    std::array<T, std::size_t{most_depth} * columns> b{};
    std::array<T, std::size_t{most_rows} * columns> sum{};
};

/// Registers of A: row l / 4, then 8 rows below; then on by 4 registers' columns. Those of B lie
/// likewise, in column l / 4.
template <class T>
void gather_factors(const MmaForm& form, const MmaLane& lane, int number, Matrices<T>& all) {
    const int group = number / 4, member = number % 4;
    const int bits = bits_of(form.a), in_each = bits > 32 ? 1 : 32 / bits;
    const int halves = form.m / 8;
    for (int i = 0; i < form.m * form.k / lanes_of_warp; ++i) {
        const int one = i / in_each;
        const int row = group + 8 * (one % halves);
        const int column = one / halves * 4 * in_each + member * in_each + i % in_each;
        all.a[static_cast<std::size_t>(row * form.k + column)] =
            factor<T>(form.a, element_of(lane.a, bits, i));
    }
    for (int i = 0; i < form.k * columns / lanes_of_warp; ++i) {
        const int row = i / in_each * 4 * in_each + member * in_each + i % in_each;
        all.b[static_cast<std::size_t>(row * columns + group)] =
            factor<T>(form.b, element_of(lane.b, bits, i));
    }
}

/// The place of a lane's accumulator `i`: two neighbours of row l / 4, then two 8 rows below.
std::size_t place_of_sum(int number, int i) {
    const int row = number / 4 + 8 * (i / 2), column = number % 4 * 2 + i % 2;
    return static_cast<std::size_t>(row * columns + column);
}

template <class T>
T product_of(const MmaForm& form, T a, T b) {
    if constexpr (std::is_same_v<T, std::int64_t>)
        if (form.a == MatrixElement::b1) return form.has_and ? a & b : a ^ b;
    return a * b;
}

/// The columns of a row stay in registers over the depth.
template <class T>
void add_products(const MmaForm& form, Matrices<T>& all) {
    for (int i = 0; i < form.m; ++i) {
        T* const sums = &all.sum[static_cast<std::size_t>(i * columns)];
        for (int k = 0; k < form.k; ++k) {
            const T a = all.a[static_cast<std::size_t>(i * form.k + k)];
            const T* const b = &all.b[static_cast<std::size_t>(k * columns)];
            for (int j = 0; j < columns; ++j) sums[j] += product_of(form, a, b[j]);
        }
    }
}

template <class T>
void multiply_as(const MmaForm& form, const std::array<const MmaLane*, lanes_of_warp>& lanes) {
    // On the heap: a library that is loaded late has little room for variables of a thread.
    thread_local const auto owner = std::make_unique<Matrices<T>>();
    Matrices<T>& all = *owner;
    const int own = form.m * columns / lanes_of_warp;
    for (int l = 0; l < lanes_of_warp; ++l) {
        const MmaLane& lane = *lanes[static_cast<std::size_t>(l)];
        gather_factors(form, lane, l, all);
        for (int i = 0; i < own; ++i)
            all.sum[place_of_sum(l, i)] = accumulator<T>(form.c, lane.c, i);
    }
    add_products(form, all);
    for (int l = 0; l < lanes_of_warp; ++l)
        for (int i = 0; i < own; ++i)
            put_accumulator(form.d, lanes[static_cast<std::size_t>(l)]->d, i,
                            all.sum[place_of_sum(l, i)], form.saturates);
}

/// What the warp's lanes gave.
template <class T>
std::array<T*, lanes_of_warp> records(const std::uint64_t* lanes) {
    std::array<T*, lanes_of_warp> all;
    std::transform(lanes, lanes + lanes_of_warp, all.begin(), [](std::uint64_t lane) {
        return reinterpret_cast<T*>(lane);  // NOLINT(performance-no-int-to-ptr)
    });
    return all;
}

}  // namespace

extern "C" {

bool gradverify_simt_mma(const std::uint64_t* lanes) {
    const auto all = records<const MmaLane>(lanes);
    const MmaForm& form = *all[0]->form;
    if (!std::ranges::all_of(all, [&](const MmaLane* one) { return *one->form == form; }))
        return false;
    if (form.a == MatrixElement::f64)
        multiply_as<double>(form, all);
    else if (form.d == MatrixElement::s32)
        multiply_as<std::int64_t>(form, all);
    else
        multiply_as<float>(form, all);
    return true;
}

bool gradverify_simt_matrix_rows(const std::uint64_t* lanes) {
    const auto all = records<MatrixRow>(lanes);
    for (std::size_t l = 0; l < all.size(); ++l)
        for (std::size_t i = 0; i < 8; ++i)
            all[l]->elements[i] = all[i / 2 * 8 + l / 4]->row + (l % 4 * 2 + i % 2) * 2;
    return true;
}

bool gradverify_simt_matrix_columns(const std::uint64_t* lanes) {
    const auto all = records<MatrixRow>(lanes);
    for (std::size_t l = 0; l < all.size(); ++l)
        for (std::size_t i = 0; i < 8; ++i)
            all[l]->elements[i] = all[i / 2 * 8 + l % 4 * 2 + i % 2]->row + l / 4 * 2;
    return true;
}

}  // extern "C"

}  // namespace gradverify::simt::ptx
