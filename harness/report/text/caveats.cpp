// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/caveats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "harness/base/text.hpp"
#include "harness/report/text/failure.hpp"
#include "harness/report/text/summary.hpp"

namespace gradverify {

namespace {

/// A sentence in lines of its own.
std::string note(const std::string& sentence) { return wrapped(sentence, 2) + "\n"; }

/// Kernels with integers that overflow and come right, one line each.
std::string overflow_lines(const std::vector<RowRecord>& records) {
    std::map<std::string, WrappingCases> kernels;
    for (const RowRecord& record : records) {
        if (!record.wrapping) continue;
        WrappingCases& of_kernel = kernels[record.kernel_on_device()];
        if (of_kernel.cases == 0) of_kernel.overflows = record.wrapping->overflows;
        of_kernel.cases += record.wrapping->cases;
    }
    std::string text;
    for (const auto& [kernel, wrapping] : kernels)
        text +=
            note(fmt::format("overflow: {}, in {} case{} that passed, so it wraps back: {}", kernel,
                             wrapping.cases, wrapping.cases == 1 ? "" : "s", wrapping.overflows));
    return text;
}

/// Kernels that take cotangents for contiguous and don't say so, in one line for each name.
std::string contiguous_lines(const std::vector<RowRecord>& records) {
    std::map<std::string, std::set<std::string>> kernels;
    for (const RowRecord& record : records)
        if (!record.contiguous_alone.empty())
            kernels[record.contiguous_alone].insert(record.kernel);
    std::string text;
    // Of several cotangents the declaration without a name is meant.
    const auto declared = [](const std::string& tensors) {
        return tensors.find(',') == std::string::npos ? '"' + tensors + '"' : std::string();
    };
    for (const auto& [tensors, names] : kernels)
        text += note(fmt::format(
            "only for contiguous {}: {}; frameworks give sliced and expanded ones, too: declare "
            ".contiguous({}), or go by strides and declare .strided()",
            tensors, fmt::join(names, ", "), declared(tensors)));
    return text;
}

/// Passed rows that did not get the cases that they were due, in one line.
std::string thin_line(const std::vector<RowRecord>& records) {
    std::int64_t rows = 0;
    const RowRecord* fewest = nullptr;
    for (const RowRecord& record : records) {
        if (record.thin_of == 0) continue;
        ++rows;
        if (!fewest || record.cases < fewest->cases) fewest = &record;
    }
    if (rows == 0) return {};
    return note(fmt::format(
        "thin: {} row{} passed fewer cases than --at-least, the fewest {} of {} in {}",
        print_grouped(rows), rows == 1 ? "" : "s", fewest->cases, fewest->thin_of, fewest->name()));
}

/// Rows that had no time for all of their cases, in one line.
std::string time_line(const std::vector<RowRecord>& records) {
    if (std::string thin = thin_line(records); !thin.empty()) return thin;
    std::int64_t rows = 0;
    const RowRecord* fewest = nullptr;
    for (const RowRecord& record : records) {
        if (record.cut_of == 0) continue;
        ++rows;
        if (!fewest || record.cases * fewest->cut_of < fewest->cases * record.cut_of)
            fewest = &record;
    }
    if (rows == 0) return {};
    const std::string of_row =
        fmt::format("{} of {} cases of {}", fewest->cases, fewest->cut_of, fewest->name());
    if (rows == 1) return note("time ran out: " + of_row);
    return note(
        fmt::format("time ran out: {} rows ran a part of their cases, the least {}", rows, of_row));
}

/// Kernels that ran few cases since each of their calls begins threads that their cost model does
/// not know of, one line each, by the row that ran fewest.
std::string crowding_lines(const std::vector<RowRecord>& records) {
    constexpr double much_of_the_time = 0.5;
    constexpr std::int64_t least_cases = 50;  // fewer say little
    std::map<std::string, const RowRecord*> kernels;
    for (const RowRecord& record : records) {
        if (record.cut_of == 0 || record.crowding.empty() || record.cases < least_cases ||
            record.crowding.seconds < much_of_the_time * record.seconds)
            continue;
        const RowRecord*& fewest = kernels[record.kernel_on_device()];
        if (!fewest || record.cases < fewest->cases) fewest = &record;
    }
    std::string text;
    for (const auto& [kernel, row] : kernels)
        text += note(fmt::format(
            "few cases: {} ran {} of {}, since its calls begin up to {:.0f} threads where their "
            "cost model says {:.0f}: begin fewer for small problems, or say how many by .costs",
            row->name(), row->cases, row->cut_of, row->crowding.threads, row->crowding.expected));
    return text;
}

/// A line for each, and one for all that time ran out before.
std::string not_verified_lines(const std::vector<RowRecord>& records) {
    std::set<std::string> begun;
    for (const RowRecord& record : records)
        if (!got_no_case(record)) begun.insert(record.kernel);
    std::string text, first;
    std::int64_t not_begun = 0;
    for (const std::string& kernel : not_verified(records)) {
        if (begun.contains(kernel))
            text += "not verified: " + kernel + " has no passed row\n";
        else if (++not_begun == 1)
            first = kernel;
    }
    if (not_begun == 0) return text;
    if (not_begun > 1)
        first += fmt::format(" and {} other kernel{}", not_begun - 1, not_begun == 2 ? "" : "s");
    return text + note(fmt::format("not verified: {} had no case before the run ended", first));
}

/// One for all rows of a kernel that are skipped for the same reason, where the first stands.
std::string skipped_line(const RowRecord& record, const std::vector<RowRecord>& records) {
    const auto is_alike = [&](const RowRecord& other) {
        return other.verdict == Verdict::skipped && !other.known && !got_no_case(other) &&
               other.message == record.message &&
               other.kernel_on_device() == record.kernel_on_device();
    };
    if (&*std::ranges::find_if(records, is_alike) != &record) return {};
    const auto rows = std::ranges::count_if(records, is_alike);
    const std::string whose =
        rows == 1 ? record.name() : fmt::format("{} rows of {}", rows, record.kernel_on_device());
    return fmt::format("skipped: {}: {}\n", whose, record.message);
}

}  // namespace

bool got_no_case(const RowRecord& record) {
    return record.verdict == Verdict::skipped && record.cut_short && record.cases == 0;
}

std::string caveats(const std::vector<RowRecord>& records, const std::vector<std::string>& absent) {
    std::string text;
    std::int64_t without_time = 0;
    for (const RowRecord& record : records)
        if (got_no_case(record))
            ++without_time;
        else if (record.known)
            text += fmt::format("known to be {}: {}: {}\n", name_of(record.verdict), record.name(),
                                record.message);
        else if (record.verdict == Verdict::skipped)
            text += skipped_line(record, records);
    if (without_time > 0)
        text += fmt::format("skipped: the run ended before the first case of {} row{}\n",
                            print_grouped(without_time), without_time == 1 ? "" : "s");
    for (const RowRecord& record : records)
        if (record.refused > 0 && record.verdict == Verdict::passed)
            text += fmt::format("refused: {} of {} problems by {}\n", record.refused, record.cases,
                                record.name());
    for (const RowRecord& record : records)
        if (record.imprecise)
            text += note(fmt::format("imprecise: {}: {}", record.name(), report_imprecise(record)));
    for (const RowRecord& record : records) {
        if (record.verdict == Verdict::failed) continue;
        for (const std::string& problem : record.not_compared)
            text += note(fmt::format("not compared: {}: nothing at {}", record.name(), problem));
    }
    text += time_line(records) + crowding_lines(records) + overflow_lines(records) +
            contiguous_lines(records);
    std::set<std::string> left_out;
    for (const RowRecord& record : records)
        for (const std::string& problem : record.left_out)
            left_out.insert(fmt::format("not run: {} on {}\n", record.kernel, problem));
    text += fmt::format("{}", fmt::join(left_out, ""));
    text += not_verified_lines(records);
    for (const std::string& reason : absent) text += note("not run, " + reason);
    return text;
}

}  // namespace gradverify
