// SPDX-License-Identifier: Apache-2.0
// nvcuda::wmma: products of integers in every shape and type that the cpu device has, against a
// plain sum of products; elements of accumulators; floats as tf32.
#include <mma.h>

#include "harness/simt/tests/construct.hpp"

namespace wmma = nvcuda::wmma;

namespace {

template <class T>
using Stored = std::conditional_t<std::is_same_v<T, wmma::precision::tf32>, float, T>;

/// out = 2 (a b + c) by elements of the accumulator, a by `A`'s layout and so on.
template <class T, class Sum, int m, int n, int k, class A, class B>
__global__ void product(const Stored<T>* a, const Stored<T>* b, const Sum* c, Sum* out,
                        wmma::layout_t layout) {
    constexpr bool a_by_row = std::is_same_v<A, wmma::row_major>;
    constexpr bool b_by_row = std::is_same_v<B, wmma::row_major>;
    wmma::fragment<wmma::matrix_a, m, n, k, T, A> first;
    wmma::fragment<wmma::matrix_b, m, n, k, T, B> second;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> before, sum;
    wmma::load_matrix_sync(first, a, a_by_row ? k : m);
    wmma::load_matrix_sync(second, b, b_by_row ? n : k);
    wmma::load_matrix_sync(before, c, layout == wmma::mem_row_major ? n : m, layout);
    for (int i = 0; i < first.num_elements; ++i) first.x[i] = first.x[i];
    wmma::mma_sync(sum, first, second, before);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
    wmma::store_matrix_sync(out, sum, layout == wmma::mem_row_major ? n : m, layout);
}

/// Small integers, different enough that no transposed, shifted or missing element goes unseen.
template <class T>
std::vector<T> integers(int count, int factor) {
    return table(count, [=](int i) { return T(float((i * factor + i / 7) % 13 - 6)); });
}

template <class T, class Sum, int m, int n, int k, class A, class B>
void compare(construct::Report& report, wmma::layout_t layout) {
    using Element = Stored<T>;
    const auto a = integers<Element>(m * k, 5), b = integers<Element>(k * n, 3);
    const auto c = integers<Sum>(m * n, 7);
    const bool by_row = layout == wmma::mem_row_major;
    std::vector<float> want(std::size_t(m * n));
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            const int at = by_row ? i * n + j : j * m + i;
            float sum = float(c[std::size_t(at)]);
            for (int l = 0; l < k; ++l) {
                const int of_a = std::is_same_v<A, wmma::row_major> ? i * k + l : l * m + i;
                const int of_b = std::is_same_v<B, wmma::row_major> ? l * n + j : j * k + l;
                sum += float(a[std::size_t(of_a)]) * float(b[std::size_t(of_b)]);
            }
            want[std::size_t(at)] = 2 * sum;
        }
    Array<Element> on_device_a(a), on_device_b(b);
    Array<Sum> on_device_c(c), out(m * n);
    product<T, Sum, m, n, k, A, B><<<1, 32>>>(on_device_a, on_device_b, on_device_c, out, layout);
    report.equal("2 (a b + c)", as<float>(out.host()), want);
}

template <class T, class Sum, int m, int n, int k>
void compare_layouts(construct::Report& report) {
    using Row = wmma::row_major;
    using Column = wmma::col_major;
    compare<T, Sum, m, n, k, Row, Row>(report, wmma::mem_row_major);
    compare<T, Sum, m, n, k, Row, Column>(report, wmma::mem_col_major);
    compare<T, Sum, m, n, k, Column, Row>(report, wmma::mem_col_major);
    compare<T, Sum, m, n, k, Column, Column>(report, wmma::mem_row_major);
}
template <class T, class Sum>
void compare_shapes(construct::Report& report) {
    compare_layouts<T, Sum, 16, 16, 16>(report);
    compare_layouts<T, Sum, 32, 8, 16>(report);
    compare_layouts<T, Sum, 8, 32, 16>(report);
}

}  // namespace

CONSTRUCT(products_of_half_summed_in_float) { compare_shapes<__half, float>(report); }
CONSTRUCT(products_of_half_summed_in_half) { compare_shapes<__half, __half>(report); }
CONSTRUCT(products_of_bfloat16) { compare_shapes<__nv_bfloat16, float>(report); }
CONSTRUCT(products_of_tf32) { compare_layouts<wmma::precision::tf32, float, 16, 16, 8>(report); }
CONSTRUCT(products_of_double) { compare_layouts<double, double, 8, 8, 4>(report); }

// Sums change their type on the way, as CUDA lets them.
__global__ void mixed_sums(__half* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> sum;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(0.5f));
    wmma::fill_fragment(c, 1024.0f + 1.0f / 1024.0f);
    wmma::mma_sync(sum, a, b, c);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
CONSTRUCT(sums_of_another_type) {
    Array<__half> out(256);
    mixed_sums<<<1, 32>>>(out);
    report.equal("1024 + 1/1024 + 16 / 2, in half", as<float>(out.host()),
                 std::vector<float>(256, 1032.0f));
}

/// Eight products of a factor with one; the factor is rounded to tf32 first, or not.
__global__ void factors(const float* value, float* out, bool rounds) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(a, rounds ? wmma::__float_to_tf32(*value) : *value);
    wmma::fill_fragment(b, 1.0f);
    wmma::fill_fragment(sum, 0.0f);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
CONSTRUCT(digits_of_tf32) {
    struct Case {
        float value, cut, rounded;
    };
    const Case cases[] = {{1.0f + 1.0f / 1024, 1.0f + 1.0f / 1024, 1.0f + 1.0f / 1024},
                          {1.0f + 1.75f / 1024, 1.0f + 1.0f / 1024, 1.0f + 2.0f / 1024},
                          {-1.0f - 0.5f / 1024, -1.0f, -1.0f - 1.0f / 1024},
                          {3.0f + 0.25f / 1024, 3.0f, 3.0f}};
    for (const Case& one : cases) {
        Array<float> value(std::vector<float>{one.value}), out(256);
        factors<<<1, 32>>>(value, out, false);
        report.equal("eight times what was cut", out.host(), std::vector<float>(256, 8 * one.cut));
        factors<<<1, 32>>>(value, out, true);
        report.equal("eight times what was rounded", out.host(),
                     std::vector<float>(256, 8 * one.rounded));
    }
}
