// SPDX-License-Identifier: Apache-2.0
// Factors of sliding windows: relations between an axis's parameters in which kernels had bugs.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

namespace detail {

using FactorValues = std::span<const std::int64_t>;

inline int order_of(std::int64_t value, std::int64_t other) {
    return value < other ? 0 : value == other ? 1 : 2;
}

/// What is left of a padded image behind the last window.
inline int rest_level(std::int64_t padded, std::int64_t span, std::int64_t stride) {
    if (stride == 1 || padded < span) return 0;
    const std::int64_t rest = (padded - span) % stride;
    return rest == 0 ? 1 : rest == stride - 1 ? 3 : 2;
}

}  // namespace detail

/// Whether every window of an axis lies in the padding alone.
///
/// \param in       elements of the image
/// \param taps     of a window, `dilation` elements apart
/// \param windows  of the axis, `stride` elements apart, the first one `padding` before the image
inline bool reads_only_padding(std::int64_t in, std::int64_t taps, std::int64_t dilation,
                               std::int64_t windows, std::int64_t stride, std::int64_t padding) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t before = padding - tap * dilation;
        const std::int64_t window = before <= 0 ? 0 : (before + stride - 1) / stride;
        if (window < windows && window * stride - before < in) return false;
    }
    return true;
}

/// Whether a parameter is below another one, the same or above it.
inline FactorSpec order_factor(const std::string& name, const std::string& parameter,
                               const std::string& other) {
    return {.name = name,
            .levels = {"smaller", "equal", "larger"},
            .parameters = {parameter, other},
            .level_of_values = [](detail::FactorValues v) { return detail::order_of(v[0], v[1]); }};
}

/// The factors of an operator with these names for its parameters.
inline std::vector<FactorSpec> window_factors(const std::string& window,
                                              const std::string& padding) {
    return {order_factor("stride against " + window, "stride", window),
            {.name = "padding against " + window,
             .levels = {"none", "smaller", "equal", "larger"},
             .parameters = {padding, window},
             .level_of_values =
                 [](detail::FactorValues v) {
                     return v[0] == 0 ? 0 : 1 + detail::order_of(v[0], v[1]);
                 }},
            order_factor("image against " + window, "in", window),
            order_factor("image against stride", "in", "stride")};
}

/// Adds what the stride leaves of the image, by the parameters image, window, stride and `others`.
inline std::vector<FactorSpec> with_rest(std::vector<FactorSpec> factors, const std::string& window,
                                         const std::vector<std::string>& others,
                                         int (*level_of_values)(detail::FactorValues)) {
    std::vector<std::string> parameters{"in", window, "stride"};
    parameters.insert(parameters.end(), others.begin(), others.end());
    factors.push_back({.name = "rest of the stride",
                       .levels = {"stride 1", "0", "between", "stride - 1"},
                       .parameters = std::move(parameters),
                       .level_of_values = level_of_values});
    return factors;
}

/// What conv and conv_transpose share.
inline std::vector<FactorSpec> filter_factors() {
    using detail::FactorValues;
    std::vector<FactorSpec> factors = window_factors("filter", "padding_left");
    factors.push_back({.name = "groups against c",
                       .levels = {"one", "some", "all"},
                       .parameters = {"groups", "c"},
                       .level_of_values = [](FactorValues v) {
                           if (v[0] == 1) return 0;
                           return v[0] == v[1] ? 2 : 1;
                       }});
    factors.push_back({.name = "k in a group",
                       .levels = {"1", "2", "3 or more"},
                       .parameters = {"k", "groups"},
                       .level_of_values = [](FactorValues v) {
                           return static_cast<int>(std::min<std::int64_t>(v[0] / v[1], 3)) - 1;
                       }});
    factors.push_back(order_factor("padding left against right", "padding_left", "padding_right"));
    return factors;
}

}  // namespace gradverify
