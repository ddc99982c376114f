// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "harness/base/random.hpp"

namespace gradverify {

namespace {

constexpr int resamples = 2000;
constexpr double tail = 0.025;

std::vector<double> sorted(std::span<const double> samples) {
    if (samples.empty()) throw std::logic_error("statistics of no samples");
    std::vector<double> all(samples.begin(), samples.end());
    std::ranges::sort(all);
    return all;
}

/// **Shapes** `all` is sorted and not empty; `share` is in [0, 1].
double quantile(const std::vector<double>& all, double share) {
    const double at = share * static_cast<double>(all.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(at));
    const std::size_t above = std::min(below + 1, all.size() - 1);
    return all[below] + (at - static_cast<double>(below)) * (all[above] - all[below]);
}

double median_of_redrawn(const std::vector<double>& all, SplitMix64& random) {
    std::vector<double> drawn(all.size());
    for (double& one : drawn) one = all[random.below(all.size())];
    std::ranges::sort(drawn);
    return quantile(drawn, 0.5);
}

}  // namespace

Spread spread_of(std::span<const double> samples) {
    const std::vector<double> all = sorted(samples);
    return {quantile(all, 0.5), quantile(all, 0.25), quantile(all, 0.75)};
}

Ratio ratio_of_medians(std::span<const double> before, std::span<const double> after) {
    const std::vector<double> first = sorted(before), second = sorted(after);
    SplitMix64 random(1);
    std::vector<double> ratios(resamples);
    for (double& ratio : ratios) {
        const double denominator = median_of_redrawn(first, random);
        ratio = median_of_redrawn(second, random) / denominator;
    }
    std::ranges::sort(ratios);
    return {.value = quantile(second, 0.5) / quantile(first, 0.5),
            .low = quantile(ratios, tail),
            .high = quantile(ratios, 1.0 - tail)};
}

std::string_view name_of(Difference difference) {
    constexpr std::string_view names[] = {"faster", "slower", "no difference", "undecided"};
    return names[static_cast<std::size_t>(difference)];
}

Difference difference_of(const Ratio& ratio, std::size_t fewest_samples) {
    if (fewest_samples < samples_to_compare) return Difference::undecided;
    if (ratio.high < 1.0 - margin_between_runs) return Difference::faster;
    if (ratio.low > 1.0 + margin_between_runs) return Difference::slower;
    const bool within =
        ratio.low >= 1.0 - margin_between_runs && ratio.high <= 1.0 + margin_between_runs;
    return within ? Difference::none : Difference::undecided;
}

}  // namespace gradverify
