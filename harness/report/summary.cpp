// SPDX-License-Identifier: Apache-2.0
#include "harness/report/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/text.hpp"
#include "harness/report/failure.hpp"
#include "harness/report/missed.hpp"

namespace gradverify {

namespace {

constexpr std::size_t column_width = 12;

/// A property's name, as lines that fit a column.
std::vector<std::string> stacked(const std::string& name) {
    std::vector<std::string> lines;
    for (const std::string_view word : split(name, '_')) {
        if (!lines.empty() && lines.back().size() + 1 + word.size() < column_width)
            lines.back() += " " + std::string(word);
        else
            lines.emplace_back(word);
    }
    return lines;
}

std::string cell(const RowResult& result) {
    if (result.verdict == Verdict::passed)
        return result.passed == result.cases ? fmt::to_string(result.cases)
                                             : fmt::format("{}/{}", result.passed, result.cases);
    std::string word(name_of(result.verdict));
    if (result.verdict != Verdict::skipped) std::ranges::transform(word, word.begin(), ::toupper);
    return word;
}

/// Kernels down, properties across. A cell is the number of cases, as in 17/20 where only 17
/// compared a value other than zero, or the verdict.
std::string table(const Suite& suite, const std::vector<RowResult>& results,
                  const std::string& device) {
    std::map<std::string, std::map<std::string, std::string>> cells;
    std::set<std::string> used;
    std::size_t name_width = device.size() + 10;
    for (const RowResult& result : results) {
        if (result.row.device != device) continue;
        cells[result.row.kernel->name][result.row.property_name()] = cell(result);
        used.insert(result.row.property_name());
        name_width = std::max(name_width, result.row.kernel->name.size() + 2);
    }
    std::vector<std::string> columns;
    std::size_t height = 1;
    for (const Property* const property : suite.properties())
        if (const std::string name(property->name); used.contains(name)) {
            columns.push_back(name);
            height = std::max(height, stacked(name).size());
        }
    std::string text;
    const auto add_line = [&](const std::string& name, const auto& cell_of) {
        std::string line = fmt::format("{:<{}}", name, name_width);
        for (const std::string& column : columns)
            line += fmt::format("{:<{}}", cell_of(column), column_width);
        text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    };
    for (std::size_t i = 0; i < height; ++i)
        add_line(i == 0 ? "cases on " + device : "", [&](const std::string& column) {
            const auto lines = stacked(column);
            return i < lines.size() ? lines[i] : "";
        });
    for (const auto& of_kernel : cells)
        add_line(of_kernel.first, [&](const std::string& column) {
            const auto found = of_kernel.second.find(column);
            return found == of_kernel.second.end() ? "-" : found->second;
        });
    return text + "\n";
}

/// How close each kernel's errors came to their bounds.
std::string error_lines(const std::vector<RowResult>& results) {
    std::map<std::string, std::vector<double>> shares;
    for (const RowResult& result : results)
        for (const double share : result.error_over_bound)
            if (share > 0.0)
                shares[result.row.kernel->name + " on " + result.row.device].push_back(share);
    if (shares.empty()) return {};
    std::size_t name_width = 0;
    for (const auto& [kernel, values] : shares) name_width = std::max(name_width, kernel.size());
    std::string text = "largest error of a case as a share of its bound\n";
    for (const auto& [kernel, values] : shares)
        text +=
            fmt::format("  {:<{}}  median {:.3f}  99 % {:.3f}  max {:.3f}\n", kernel, name_width,
                        quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1.0));
    return text + "\n";
}

/// Exhaustive rows of a kernel that got equally far.
struct EquallyFar {
    std::vector<std::string> properties;
    std::int64_t problems = 0, fewest_compared = 0;

    void add(const RowResult& result) {
        const std::int64_t compared = result.exhaustive->compared;
        fewest_compared = properties.empty() ? compared : std::min(fewest_compared, compared);
        problems = result.exhaustive->problems;
        properties.push_back(result.row.property_name());
    }
};

/// How far the exhaustive rows of each kernel got.
std::string exhaustive_lines(const std::vector<RowResult>& results) {
    std::map<std::string, std::map<std::string, EquallyFar>> covers;
    std::size_t name_width = 0;
    for (const RowResult& result : results) {
        if (!result.exhaustive) continue;
        const std::string kernel = result.row.kernel->name + " on " + result.row.device;
        covers[kernel][result.exhaustive->print()].add(result);
        name_width = std::max(name_width, kernel.size());
    }
    if (covers.empty()) return {};
    std::string text = "every problem in order, with dense data\n";
    for (const auto& [kernel, by_cover] : covers)
        for (const auto& [cover, rows] : by_cover) {
            std::string words = cover;
            if (rows.fewest_compared < rows.problems)
                words += fmt::format(", at least {} of them with a value other than zero",
                                     print_grouped(rows.fewest_compared));
            if (by_cover.size() > 1) words += ": " + joined(rows.properties);
            text += fmt::format("  {:<{}}  {}\n", kernel, name_width,
                                wrapped(words, static_cast<int>(name_width) + 4));
        }
    return text + "\n";
}

/// Kernels with integers that overflow and come right, one line each.
std::string overflow_lines(const std::vector<RowResult>& results) {
    std::map<std::string, WrappingCases> kernels;
    for (const RowResult& result : results) {
        if (!result.wrapping) continue;
        WrappingCases& of_kernel = kernels[result.row.kernel->name + " on " + result.row.device];
        if (of_kernel.cases == 0) of_kernel.overflows = result.wrapping->overflows;
        of_kernel.cases += result.wrapping->cases;
    }
    std::string text;
    for (const auto& [kernel, wrapping] : kernels)
        text += wrapped(fmt::format("overflow: {}, in {} case{} that passed, so it wraps back: {}",
                                    kernel, wrapping.cases, wrapping.cases == 1 ? "" : "s",
                                    wrapping.overflows),
                        2) +
                "\n";
    return text;
}

std::string lines_of_notes(const std::vector<RowResult>& results,
                           const std::vector<std::string>& absent) {
    std::string text;
    for (const RowResult& result : results)
        if (result.known ||
            (result.verdict != Verdict::passed && result.verdict != Verdict::failed))
            text += fmt::format("{}{}: {}: {}\n", result.known ? "known to be " : "",
                                name_of(result.verdict), print_row(result.row), result.message);
    for (const RowResult& result : results)
        if (result.refused > 0 && result.verdict == Verdict::passed)
            text += fmt::format("refused: {} of {} problems by {}\n", result.refused, result.cases,
                                print_row(result.row));
    for (const RowResult& result : results)
        if (result.imprecise)
            text += wrapped(fmt::format("imprecise: {}: {}", print_row(result.row),
                                        report_imprecise(result)),
                            2) +
                    "\n";
    text += overflow_lines(results);
    std::set<std::string> left_out;
    for (const RowResult& result : results)
        for (const std::string& problem : result.left_out)
            left_out.insert(fmt::format("not run: {} on {}\n", result.row.kernel->name, problem));
    text += fmt::format("{}", fmt::join(left_out, ""));
    for (const std::string& kernel : not_verified(results))
        text += "not verified: " + kernel + " has no passed row\n";
    for (const std::string& reason : absent) text += wrapped("not run, " + reason, 2) + "\n";
    return text;
}

}  // namespace

std::string print_row(const Row& row) {
    return fmt::format("{}, {} on {}", row.kernel->name, row.property->name, row.device);
}

Counts count(const std::vector<RowResult>& results) {
    Counts counts;
    for (const RowResult& result : results) {
        counts.cases += result.cases;
        counts.known += result.known ? 1 : 0;
        ++counts.rows[static_cast<std::size_t>(result.verdict)];
    }
    return counts;
}

std::vector<std::string> not_verified(const std::vector<RowResult>& results) {
    std::map<std::string, bool> verified;
    for (const RowResult& result : results)
        verified[result.row.kernel->name] |= result.verdict == Verdict::passed || result.known;
    std::vector<std::string> kernels;
    for (const auto& [kernel, has_passed] : verified)
        if (!has_passed) kernels.push_back(kernel);
    return kernels;
}

bool all_well(const std::vector<RowResult>& results) {
    const Counts counts = count(results);
    return counts.of(Verdict::failed) + counts.of(Verdict::vacuous) + counts.of(Verdict::errored) ==
               counts.known &&
           not_verified(results).empty();
}

double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0.0;
    const auto at =
        static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)));
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
    return values[at];
}

std::string summarize(const Suite& suite, const std::vector<RowResult>& results,
                      const std::vector<std::string>& absent, double seconds) {
    std::set<std::string> devices;
    std::vector<double> multiply_adds;
    for (const RowResult& result : results) {
        devices.insert(result.row.device);
        multiply_adds.insert(multiply_adds.end(), result.multiply_adds.begin(),
                             result.multiply_adds.end());
    }
    std::string text = "\n";
    for (const std::string& device : devices) text += table(suite, results, device);
    if (std::ranges::any_of(results, [](const RowResult& result) {
            return result.verdict == Verdict::passed && result.passed < result.cases;
        }))
        text += "a/b: of b cases, a compared a value other than zero\n\n";
    text += exhaustive_lines(results) + error_lines(results) + missed_lines(results) +
            lines_of_notes(results, absent);
    const Counts counts = count(results);
    text +=
        fmt::format("{} cases, median {:.0f} multiply-adds, in {:.1f} s\n{} rows: ", counts.cases,
                    quantile(multiply_adds, 0.5), seconds, results.size());
    std::vector<std::string> words;
    for (const Verdict verdict :
         {Verdict::passed, Verdict::failed, Verdict::vacuous, Verdict::errored, Verdict::skipped})
        words.push_back(fmt::format("{} {}", counts.of(verdict), name_of(verdict)));
    if (counts.known > 0)
        words.push_back(fmt::format("{} of them known not to pass", counts.known));
    return text + joined(words) + "\n";
}

}  // namespace gradverify
