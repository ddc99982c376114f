// SPDX-License-Identifier: Apache-2.0
// Factors of sliding windows: relations between an axis's parameters in which kernels had bugs.
#pragma once

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

/// The factors of an operator with these names for its parameters.
inline std::vector<FactorSpec> window_factors(const std::string& window,
                                              const std::string& padding) {
    using detail::FactorValues;
    const auto order = [](FactorValues v) { return detail::order_of(v[0], v[1]); };
    return {{.name = "stride against " + window,
             .levels = {"smaller", "equal", "larger"},
             .parameters = {"stride", window},
             .level_of_values = order},
            {.name = "padding against " + window,
             .levels = {"none", "smaller", "equal", "larger"},
             .parameters = {padding, window},
             .level_of_values =
                 [](FactorValues v) { return v[0] == 0 ? 0 : 1 + detail::order_of(v[0], v[1]); }},
            {.name = "image against " + window,
             .levels = {"smaller", "equal", "larger"},
             .parameters = {"in", window},
             .level_of_values = order},
            {.name = "image against stride",
             .levels = {"smaller", "equal", "larger"},
             .parameters = {"in", "stride"},
             .level_of_values = order}};
}

/// What the stride leaves of the image. The parameters are image, window, stride and `others`.
inline FactorSpec rest_factor(const std::string& window, const std::vector<std::string>& others,
                              int (*level_of_values)(detail::FactorValues)) {
    std::vector<std::string> parameters{"in", window, "stride"};
    parameters.insert(parameters.end(), others.begin(), others.end());
    return {.name = "rest of the stride",
            .levels = {"stride 1", "0", "between", "stride - 1"},
            .parameters = std::move(parameters),
            .level_of_values = level_of_values};
}

/// The factors of an operator with channels in groups.
inline std::vector<FactorSpec> group_factors() {
    using detail::FactorValues;
    const auto channels_in_group = [](FactorValues v) {
        const std::int64_t each = v[0] / v[1];
        return static_cast<int>(each < 3 ? each - 1 : 2);
    };
    return {
        {.name = "groups against c",
         .levels = {"one", "some", "all"},
         .parameters = {"groups", "c"},
         .level_of_values = [](FactorValues v) { return v[0] == 1      ? 0
                                                        : v[0] == v[1] ? 2
                                                                       : 1; }},
        {.name = "k in a group",
         .levels = {"1", "2", "3 or more"},
         .parameters = {"k", "groups"},
         .level_of_values = channels_in_group}};
}

/// What conv and conv_transpose share.
inline std::vector<FactorSpec> filter_factors() {
    std::vector<FactorSpec> factors = window_factors("filter", "padding_left");
    for (FactorSpec& factor : group_factors()) factors.push_back(std::move(factor));
    factors.push_back(
        {.name = "padding left against right",
         .levels = {"smaller", "equal", "larger"},
         .parameters = {"padding_left", "padding_right"},
         .level_of_values = [](detail::FactorValues v) { return detail::order_of(v[0], v[1]); }});
    return factors;
}

}  // namespace gradverify
