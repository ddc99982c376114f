// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "harness/base/text.hpp"
#include "harness/report/text/caveats.hpp"
#include "harness/report/text/failure.hpp"
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
    if (record.verdict == Verdict::passed) {
        const std::string cases = record.passed == record.cases
                                      ? fmt::to_string(record.cases)
                                      : fmt::format("{}/{}", record.passed, record.cases);
        return record.is_thin() ? "(" + cases + ")" : cases;
    }
    std::string word(name_of(record.verdict));
    if (record.verdict != Verdict::skipped) std::ranges::transform(word, word.begin(), ::toupper);
    return word;
}

// Of more kernels than these a run without `-v` tells what is wrong, and how many there are.
constexpr std::size_t kernels_told = 24;
// Kernels of such a run in its table, and its remarks of one kind.
constexpr std::size_t wrong_kernels_told = 12, remarks_told = 3;

/// Kernels down, properties across.
class Table {
  public:
    Table(const std::vector<std::string>& properties, const std::vector<RowRecord>& records,
          std::string device, bool is_long)
        : device_(std::move(device)) {
        std::set<std::string> used, wrong;
        for (const RowRecord& record : records) {
            if (record.device != device_) continue;
            cells_[record.kernel][record.property] = cell(record);
            used.insert(record.property);
            if (record.is_wrong()) wrong.insert(record.kernel);
        }
        std::ranges::copy_if(properties, std::back_inserter(columns_),
                             [&](const std::string& name) { return used.contains(name); });
        const std::size_t all = cells_.size();
        if (is_long)
            std::erase_if(cells_, [&](const auto& of) {
                return !wrong.contains(of.first) ||
                       std::distance(wrong.begin(), wrong.find(of.first)) >=
                           static_cast<std::ptrdiff_t>(wrong_kernels_told);
            });
        if (wrong.size() > cells_.size())
            left_out_ = fmt::format("and {} more with a wrong row\n", wrong.size() - cells_.size());
        if (is_long && all > wrong.size())
            left_out_ +=
                fmt::format("and {} kernels on {} without a wrong row, which -v lists\n",
                            print_grouped(static_cast<std::int64_t>(all - wrong.size())), device_);
        name_width_ = device_.size() + 10;
        for (const auto& of_kernel : cells_)
            name_width_ = std::max(name_width_, of_kernel.first.size() + 2);
    }

    /// As many tables below each other as it takes columns' `width`.
    std::string print(std::size_t width) const {
        const std::size_t room = width > name_width_ ? (width - name_width_) / column_width : 0;
        const std::size_t across = std::max<std::size_t>(room, 1);
        std::string text;
        for (std::size_t at = 0; at < columns_.size() && !cells_.empty(); at += across)
            text += part({columns_.begin() + static_cast<std::ptrdiff_t>(at),
                          columns_.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min(at + across, columns_.size()))}) +
                    "\n";
        return text + left_out_ + (left_out_.empty() ? "" : "\n");
    }

  private:
    /// A cell is the number of cases, as in 17/20 where only 17 compared a value other than zero,
    /// or the verdict.
    std::string part(const std::vector<std::string>& columns) const {
        std::string text;
        const auto add_line = [&](const std::string& name, const auto& cell_of) {
            std::string line = fmt::format("{:<{}}", name, name_width_);
            for (const std::string& column : columns)
                line += fmt::format("{:<{}}", cell_of(column), column_width);
            text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
        };
        std::size_t height = 1;
        for (const std::string& name : columns) height = std::max(height, stacked(name).size());
        for (std::size_t i = 0; i < height; ++i)
            add_line(i == 0 ? "cases on " + device_ : "", [&](const std::string& column) {
                const auto lines = stacked(column);
                return i < lines.size() ? lines[i] : "";
            });
        for (const auto& of_kernel : cells_)
            add_line(of_kernel.first, [&](const std::string& column) {
                const auto found = of_kernel.second.find(column);
                return found == of_kernel.second.end() ? "-" : found->second;
            });
        return text;
    }

    std::string device_, left_out_;
    std::map<std::string, std::map<std::string, std::string>> cells_;
    std::vector<std::string> columns_;
    std::size_t name_width_ = 0;
};

/// Of the remarks of one kind, which begin with the same words up to a colon, the first.
std::string shortened(const std::string& remarks) {
    std::map<std::string, std::size_t> met;
    std::string text;
    bool is_told = true;
    for (const std::string_view line : split(remarks, '\n')) {
        if (line.empty()) continue;
        if (line.front() != ' ')
            is_told = ++met[std::string(line.substr(0, line.find(':')))] <= remarks_told;
        if (is_told) text += std::string(line) + "\n";
    }
    for (const auto& [kind, count] : met)
        if (count > remarks_told)
            text += fmt::format("{}: and {} more, which -v prints\n", kind, count - remarks_told);
    return text;
}

/// What is wrong, by name: a kernel with the first of its lines to replay, or a row with the
/// reason.
std::string wrong_lines(const std::vector<RowRecord>& records, bool is_long) {
    struct Wrong {
        std::vector<std::string> properties;
        std::string replay;
    };
    std::map<std::string, Wrong> kernels;
    std::vector<std::string> entries;
    for (const RowRecord& record : records) {
        if (!record.is_wrong()) continue;
        if (record.verdict != Verdict::failed) {
            entries.push_back(wrapped(
                fmt::format("{}: {}: {}", name_of(record.verdict), record.name(), record.message),
                2));
            continue;
        }
        Wrong& wrong = kernels[record.kernel_on_device()];
        wrong.properties.push_back(record.property);
        if (record.failure && wrong.replay.empty())
            wrong.replay = command_to_replay(record.failure->report);
    }
    std::vector<std::string> failed;
    for (const auto& [kernel, wrong] : kernels) {
        const std::size_t more = wrong.properties.size() - 1;
        failed.push_back(fmt::format("FAILED {}: {}{}{}", kernel, wrong.properties.front(),
                                     more > 0 ? fmt::format(" and {} more", more) : "",
                                     wrong.replay.empty() ? "" : "\n  " + wrong.replay));
    }
    entries.insert(entries.begin(), failed.begin(), failed.end());
    std::string text;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (is_long && i == wrong_kernels_told) {
            text += fmt::format("and {} more that are wrong, which -v lists\n", entries.size() - i);
            break;
        }
        text += entries[i] + "\n";
    }
    return text;
}

/// How close each kernel's errors came to their bounds; of one that failed that says nothing.
std::string error_lines(const std::vector<RowRecord>& records) {
    std::map<std::string, Distribution> shares;
    for (const RowRecord& record : records)
        shares[record.kernel_on_device()].add(record.error_over_bound);
    std::erase_if(shares, [](const auto& of_kernel) {
        return of_kernel.second.zeros() == of_kernel.second.count();
    });
    for (const RowRecord& record : records)
        if (record.verdict == Verdict::failed) shares.erase(record.kernel_on_device());
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
                      double seconds, const SummaryOptions& options) {
    std::set<std::string> devices, kernels;
    Distribution multiply_adds;
    for (const RowRecord& record : records) {
        devices.insert(record.device);
        kernels.insert(record.kernel);
        multiply_adds.add(record.multiply_adds);
    }
    const auto any = [&](const auto& holds) { return std::ranges::any_of(records, holds); };
    const bool is_long = kernels.size() > kernels_told && !options.is_verbose;
    std::string text;
    if (!options.is_quiet) {
        text = "\n";
        for (const std::string& device : devices)
            text += Table(properties, records, device, is_long).print(options.table_width);
        const bool has_zeros = any([](const RowRecord& record) {
            return record.verdict == Verdict::passed && record.passed < record.cases;
        });
        if (has_zeros && !is_long)
            text += "a/b: of b cases, a compared a value other than zero\n\n";
        if (any(&RowRecord::is_thin) && !is_long) text += "(n): few cases\n\n";
        if (!is_long) text += exhaustive_lines(records);
        if (kernels.size() == 1 || options.is_verbose)
            text += error_lines(records) + missed_lines(records);
        const std::string remarks = caveats(records, absent);
        text += is_long ? shortened(remarks) : remarks;
    }
    const std::string wrong = wrong_lines(records, is_long);
    text += options.remarks + (wrong.empty() || options.is_quiet ? "" : "\n") + wrong;
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
    }
    text += wrong_lines(records, records.size() > kernels_told);
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
