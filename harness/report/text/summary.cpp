// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "harness/base/text.hpp"
#include "harness/report/text/caveats.hpp"
#include "harness/report/text/missed.hpp"

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

std::string cell(const RowRecord& record) {
    if (record.verdict == Verdict::passed)
        return record.passed == record.cases ? fmt::to_string(record.cases)
                                             : fmt::format("{}/{}", record.passed, record.cases);
    std::string word(name_of(record.verdict));
    if (record.verdict != Verdict::skipped) std::ranges::transform(word, word.begin(), ::toupper);
    return word;
}

/// Kernels down, properties across. A cell is the number of cases, as in 17/20 where only 17
/// compared a value other than zero, or the verdict.
std::string table(const std::vector<std::string>& properties, const std::vector<RowRecord>& records,
                  const std::string& device) {
    std::map<std::string, std::map<std::string, std::string>> cells;
    std::set<std::string> used;
    std::size_t name_width = device.size() + 10;
    for (const RowRecord& record : records) {
        if (record.device != device) continue;
        cells[record.kernel][record.property] = cell(record);
        used.insert(record.property);
        name_width = std::max(name_width, record.kernel.size() + 2);
    }
    std::vector<std::string> columns;
    std::size_t height = 1;
    for (const std::string& name : properties)
        if (used.contains(name)) {
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
std::string error_lines(const std::vector<RowRecord>& records) {
    std::map<std::string, Distribution> shares;
    for (const RowRecord& record : records)
        shares[record.kernel_on_device()].add(record.error_over_bound);
    std::erase_if(shares, [](const auto& of_kernel) {
        return of_kernel.second.zeros() == of_kernel.second.count();
    });
    if (shares.empty()) return {};
    std::size_t name_width = 0;
    for (const auto& [kernel, values] : shares) name_width = std::max(name_width, kernel.size());
    std::string text = "largest error of a case as a share of its bound\n";
    for (const auto& [kernel, values] : shares)
        text +=
            fmt::format("  {:<{}}  median {:.3f}  99 % {:.3f}  max {:.3f}\n", kernel, name_width,
                        values.quantile(0.5), values.quantile(0.99), values.quantile(1.0));
    return text + "\n";
}

/// Exhaustive rows of a kernel that got equally far.
struct EquallyFar {
    std::vector<std::string> properties;
    std::int64_t problems = 0, fewest_compared = 0;

    void add(const RowRecord& record) {
        const std::int64_t compared = record.exhaustive->compared;
        fewest_compared = properties.empty() ? compared : std::min(fewest_compared, compared);
        problems = record.exhaustive->problems;
        properties.push_back(record.property);
    }
};

/// How far the exhaustive rows of each kernel got.
std::string exhaustive_lines(const std::vector<RowRecord>& records) {
    std::map<std::string, std::map<std::string, EquallyFar>> covers;
    std::size_t name_width = 0;
    for (const RowRecord& record : records) {
        if (!record.exhaustive) continue;
        const std::string kernel = record.kernel_on_device();
        covers[kernel][record.exhaustive->print()].add(record);
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

}  // namespace

Counts count(const std::vector<RowRecord>& records) {
    Counts counts;
    for (const RowRecord& record : records) {
        counts.cases += record.cases;
        counts.known += record.known ? 1 : 0;
        ++counts.rows[static_cast<std::size_t>(record.verdict)];
    }
    return counts;
}

std::vector<std::string> not_verified(const std::vector<RowRecord>& records) {
    std::map<std::string, bool> verified;
    for (const RowRecord& record : records)
        verified[record.kernel] |= record.verdict == Verdict::passed || record.known;
    std::vector<std::string> kernels;
    for (const auto& [kernel, has_passed] : verified)
        if (!has_passed) kernels.push_back(kernel);
    return kernels;
}

bool all_well(const std::vector<RowRecord>& records) {
    const Counts counts = count(records);
    return counts.of(Verdict::failed) + counts.of(Verdict::vacuous) + counts.of(Verdict::errored) ==
               counts.known &&
           not_verified(records).empty();
}

std::string summarize(const std::vector<std::string>& properties,
                      const std::vector<RowRecord>& records, const std::vector<std::string>& absent,
                      double seconds) {
    std::set<std::string> devices;
    Distribution multiply_adds;
    for (const RowRecord& record : records) {
        devices.insert(record.device);
        multiply_adds.add(record.multiply_adds);
    }
    std::string text = "\n";
    for (const std::string& device : devices) text += table(properties, records, device);
    if (std::ranges::any_of(records, [](const RowRecord& record) {
            return record.verdict == Verdict::passed && record.passed < record.cases;
        }))
        text += "a/b: of b cases, a compared a value other than zero\n\n";
    text += exhaustive_lines(records) + error_lines(records) + missed_lines(records) +
            caveats(records, absent);
    const Counts counts = count(records);
    text += fmt::format("{} cases{}, in {:.1f} s\n{} rows: ", counts.cases,
                        multiply_adds.empty() ? std::string()
                                              : fmt::format(", median {:.0f} multiply-adds",
                                                            multiply_adds.quantile(0.5)),
                        seconds, records.size());
    std::vector<std::string> words;
    for (const Verdict verdict :
         {Verdict::passed, Verdict::failed, Verdict::vacuous, Verdict::errored, Verdict::skipped})
        words.push_back(fmt::format("{} {}", counts.of(verdict), name_of(verdict)));
    if (counts.known > 0)
        words.push_back(fmt::format("{} of them known not to pass", counts.known));
    return text + joined(words) + "\n";
}

std::string summarize_interrupted(const std::vector<RowRecord>& records, double seconds,
                                  std::uint64_t seed) {
    const Counts counts = count(records);
    std::int64_t cases = 0, without_case = 0;
    std::string text = "\n";
    for (const RowRecord& record : records) {
        if (record.verdict == Verdict::passed) cases += record.cases;
        if (got_no_case(record)) ++without_case;
        if (record.verdict == Verdict::errored || record.verdict == Verdict::vacuous)
            text +=
                fmt::format("{}: {}: {}\n", name_of(record.verdict), record.name(), record.message);
    }
    const auto rows = [](std::int64_t count) {
        return print_grouped(count) + (count == 1 ? " row" : " rows");
    };
    text +=
        fmt::format("interrupted after {:.0f} s: {} case{} of {} passed, ", seconds,
                    print_grouped(cases), cases == 1 ? "" : "s", rows(counts.of(Verdict::passed)));
    text += counts.of(Verdict::failed) == 0 ? "none failed"
                                            : rows(counts.of(Verdict::failed)) + " failed";
    for (const Verdict verdict : {Verdict::errored, Verdict::vacuous})
        if (counts.of(verdict) > 0)
            text += fmt::format(", {} {}", rows(counts.of(verdict)), name_of(verdict));
    if (without_case > 0) text += ", " + rows(without_case) + " had no case yet";
    return text + fmt::format("; go on with --seed {}\n", seed);
}

}  // namespace gradverify
