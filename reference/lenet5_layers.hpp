// SPDX-License-Identifier: Apache-2.0
// The layers of LeNet-5, forwards and backwards, as their formulas; no other operator's reference.
#pragma once

#include <cmath>
#include <cstdint>

#include "harness/declare_operator.hpp"
#include "reference/lenet5_network.hpp"

namespace gradverify::lenet5 {

/// Calls `visit(n, channel, h, w)` for each element of images.
void for_each_pixel(const auto& images, auto visit) {
    for (std::int64_t n = 0; n < images.size(0); ++n)
        for (std::int64_t c = 0; c < images.size(1); ++c)
            for (std::int64_t h = 0; h < images.size(2); ++h)
                for (std::int64_t w = 0; w < images.size(3); ++w) visit(n, c, h, w);
}

/// Calls `visit(channel, row, column)` for each tap of a filter.
void for_each_tap(const auto& filter, auto visit) {
    for (std::int64_t c = 0; c < filter.size(1); ++c)
        for (std::int64_t r = 0; r < filter.size(2); ++r)
            for (std::int64_t s = 0; s < filter.size(3); ++s) visit(c, r, s);
}

// ---- layers, forwards

/// y[n,k,o] = b[k] + the sum over channels and taps of x[n,c,o + tap] w[k,c,tap].
void convolve(const auto& x, const auto& w, const auto& b, const auto& y) {
    for_each_pixel(y, [&](auto n, auto k, auto oh, auto ow) {
        auto sum = b(k);
        for_each_tap(
            w, [&](auto c, auto r, auto s) { sum += x(n, c, oh + r, ow + s) * w(k, c, r, s); });
        y(n, k, oh, ow) = sum;
    });
}

/// The largest of each window, the first of several, and its offset in the plane.
template <class T>
void take_largest(const auto& x, const auto& y, const auto& index, const Plane& window) {
    for_each_pixel(y, [&](auto n, auto c, auto oh, auto ow) {
        LargestOf<T> largest;
        for (std::int64_t h = oh * window[0]; h < (oh + 1) * window[0]; ++h)
            for (std::int64_t w = ow * window[1]; w < (ow + 1) * window[1]; ++w)
                largest.see(x(n, c, h, w), h * x.size(3) + w);
        y(n, c, oh, ow) = largest.value();
        index(n, c, oh, ow) = largest.position();
    });
}

template <class T>
void rectify(const auto& x, const auto& y) {
    for (std::int64_t i = 0; i < x.elements(); ++i) y.flat(i) = max(x.flat(i), T(0.0));
}

/// y = x w^T + b; x may have more axes than one behind the first.
void connect(const auto& x, const auto& w, const auto& b, const auto& y) {
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t k = 0; k < y.size(1); ++k) {
            auto sum = b(k);
            for (std::int64_t j = 0; j < w.size(1); ++j) sum += x.flat(n * w.size(1) + j) * w(k, j);
            y(n, k) = sum;
        }
}

// ---- layers, backwards: dx, dw and db hold zeros at first

void convolve_grad_parameters(const auto& dy, const auto& x, const auto& dw, const auto& db) {
    for_each_pixel(dy, [&](auto n, auto k, auto oh, auto ow) {
        const auto& cotangent = dy(n, k, oh, ow);
        db(k) += cotangent;
        for_each_tap(dw, [&](auto c, auto r, auto s) {
            dw(k, c, r, s) += cotangent * x(n, c, oh + r, ow + s);
        });
    });
}

void convolve_grad_input(const auto& dy, const auto& w, const auto& dx) {
    for_each_pixel(dy, [&](auto n, auto k, auto oh, auto ow) {
        for_each_tap(w, [&](auto c, auto r, auto s) {
            dx(n, c, oh + r, ow + s) += dy(n, k, oh, ow) * w(k, c, r, s);
        });
    });
}

/// Where rounding may have chosen another index, it may be that of each pixel of the window.
template <class T>
void scatter_to_largest(const auto& dy, const auto& index, const auto& dx, const Plane& window) {
    for_each_pixel(dy, [&](auto n, auto c, auto oh, auto ow) {
        const T& at = index(n, c, oh, ow);
        const auto largest = std::llround(detail::plain_value(at));
        for (std::int64_t h = oh * window[0]; h < (oh + 1) * window[0]; ++h)
            for (std::int64_t w = ow * window[1]; w < (ow + 1) * window[1]; ++w)
                dx(n, c, h, w) += taken_or_zero<T>(dy(n, c, oh, ow), h * dx.size(3) + w == largest,
                                                   error_of(at) == 0.0);
    });
}

template <class T>
void mask(const auto& dy, const auto& x, const auto& dx) {
    for (std::int64_t i = 0; i < dx.elements(); ++i)
        dx.flat(i) = where_positive<T>(x.flat(i), dy.flat(i));
}

void connect_grad_parameters(const auto& dy, const auto& x, const auto& dw, const auto& db) {
    for (std::int64_t n = 0; n < dy.size(0); ++n)
        for (std::int64_t k = 0; k < dy.size(1); ++k) {
            db(k) += dy(n, k);
            for (std::int64_t j = 0; j < dw.size(1); ++j)
                dw(k, j) += dy(n, k) * x.flat(n * dw.size(1) + j);
        }
}

void connect_grad_input(const auto& dy, const auto& w, const auto& dx) {
    for (std::int64_t n = 0; n < dy.size(0); ++n)
        for (std::int64_t k = 0; k < dy.size(1); ++k)
            for (std::int64_t j = 0; j < w.size(1); ++j)
                dx.flat(n * w.size(1) + j) += dy(n, k) * w(k, j);
}

}  // namespace gradverify::lenet5
