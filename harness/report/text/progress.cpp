// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// A rate of less time than this says nothing yet.
constexpr double least_seconds = 1.0;

/// What is first ends the run: the cases or the time.
std::optional<double> seconds_left(const Progress& progress, double rate) {
    std::optional<double> left;
    if (progress.limit) left = std::max(*progress.limit - progress.seconds, 0.0);
    if (progress.most > 0 && rate > 0.0) {
        const double of_cases = static_cast<double>(progress.most - progress.done) / rate;
        left = std::min(left.value_or(of_cases), of_cases);
    }
    return left;
}

std::string in_minutes(double seconds) {
    const auto whole = std::llround(seconds);
    if (whole < 120) return fmt::format("{} s", whole);
    if (whole < 7200) return fmt::format("{} min", whole / 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string Progress::print() const {
    std::string text = print_grouped(done);
    if (most > 0) text += " of " + print_grouped(most);
    text += " cases";
    if (seconds >= least_seconds) {
        const double rate = static_cast<double>(done) / seconds;
        text += fmt::format(", {} a second", print_grouped(std::llround(rate)));
        if (const auto left = seconds_left(*this, rate)) text += ", " + in_minutes(*left) + " left";
    }
    if (failed > 0) text += fmt::format(", {} row{} failed", failed, failed == 1 ? "" : "s");
    return text;
}

std::string print(const SignOfLife& sign) {
    std::string text = fmt::format("{}: {} cases, {} of {} rows have all of theirs, {} failed",
                                   in_minutes(sign.seconds), print_grouped(sign.cases),
                                   print_grouped(sign.rows_with_all), print_grouped(sign.rows),
                                   sign.failed == 0 ? "none" : print_grouped(sign.failed));
    if (!sign.longest) return text;
    const Row& row = *sign.longest;
    text += fmt::format("; {}: {}, {} on {}", sign.is_shrinking ? "shrinking" : "longest now",
                        row.kernel->name, row.property->name, row.device);
    return sign.is_shrinking ? text : text + ", " + in_minutes(sign.longest_seconds);
}

}  // namespace gradverify
