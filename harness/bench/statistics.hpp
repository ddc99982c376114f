// SPDX-License-Identifier: Apache-2.0
// Decides what samples of a time say: their median and quartiles, and whether two times differ.
// Means are not used: one interrupted sample would move them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace gradverify {

/// The median and the quartiles around it, by linear interpolation between the sorted samples.
struct Spread {
    double median = 0.0, low = 0.0, high = 0.0;
    bool operator==(const Spread&) const = default;
};

/// **Errors** std::logic_error when there is no sample.
Spread spread_of(std::span<const double> samples);

/// The ratio of two medians, `after` divided by `before`, and its 95 % interval.
struct Ratio {
    double value = 1.0, low = 1.0, high = 1.0;
    bool operator==(const Ratio&) const = default;
};

/// The interval is the percentile bootstrap's (Efron, 1979), of 2,000 resamples that are the same
/// in every run.
/// **Errors** std::logic_error when there is no sample.
Ratio ratio_of_medians(std::span<const double> before, std::span<const double> after);

enum class Difference { faster, slower, none, undecided };

std::string_view name_of(Difference difference);

/// Two runs differ by about this much anyway, in clocks and placement.
inline constexpr double margin_between_runs = 0.02;
/// Fewer samples say too little of the spread.
inline constexpr std::size_t samples_to_compare = 8;

/// `faster` and `slower` where the whole interval lies beyond the margin, `none` where it lies
/// within; otherwise, or with too few samples, `undecided`.
Difference difference_of(const Ratio& ratio, std::size_t fewest_samples);

}  // namespace gradverify
