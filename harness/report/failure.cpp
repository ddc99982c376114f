// SPDX-License-Identifier: Apache-2.0
#include "harness/report/failure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "harness/base/text.hpp"
#include "harness/cases/sensitivity.hpp"

namespace gradverify {

namespace {

// A slice of more columns than this is cut; a terminal has about as many.
constexpr std::int64_t columns_maximum = 24;
constexpr std::int64_t rows_maximum = 16;
constexpr int slices_maximum = 3;

// What a float needs to be read back, and what a double does.
constexpr int digits_of_float = 9, digits_of_double = 17;

std::string number(double value, int digits = digits_of_float) {
    char text[32];
    if (std::isnan(value)) return "nan";  // printf would tell its sign
    // Integers as they are.
    const bool whole = value == std::round(value) && std::abs(value) < 1e9;
    if (whole)
        std::snprintf(text, sizeof text, "%.0f", value);
    else
        std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", value);
    return text;
}

std::string indexed(const WrongElement& element) {
    std::string text = element.tensor;
    for (const std::int64_t i : element.index) text += "[" + std::to_string(i) + "]";
    return text;
}

/// `, 3 ulps of f16`: how far off, in what the last place of the expected value is worth.
std::string in_ulps(const WrongElement& element) {
    if (!element.dtype || !is_floating(*element.dtype)) return {};
    const double ulps =
        std::abs(element.got - element.want) / ulp_of(Rounding::of(*element.dtype), element.want);
    return ", " + short_number(ulps) + " ulps of " + std::string(traits_of(*element.dtype).name);
}

std::string describe(const WrongElement& element) {
    const bool is_integer = element.dtype && !is_floating(*element.dtype);
    const bool differ_as_floats = number(element.got) != number(element.want);
    const int digits = differ_as_floats && !is_integer ? digits_of_float : digits_of_double;
    std::string text = indexed(element) + ": got " + number(element.got, digits) + ", want " +
                       number(element.want, digits);
    if (!(element.bound > 0.0)) return text + " exactly";
    const double times = std::abs(element.got - element.want) / element.bound;
    text += ", bound " + short_number(element.bound);
    if (!std::isfinite(times)) return text;
    const bool large = times >= 10.0 && times < 1e9;
    return text + " (" + (large ? number(std::round(times)) : short_number(times)) +
           " times the bound" + in_ulps(element) + ")";
}

/// One border of a box: "┌───┬───┐\n".
std::string border(std::int64_t columns, const char* left, const char* middle, const char* right) {
    std::string line = left;
    for (std::int64_t i = 0; i < columns; ++i) line += std::string(i == 0 ? "" : middle) + "───";
    return line + right + "\n";
}

struct Slice {
    std::int64_t rows = 1, columns = 1;
    std::string name;
    std::string marks;
};

/// Of an axis of a slice the part that is drawn: the whole, or as much as fits, with `wrong` in it.
struct Window {
    std::int64_t begin = 0, end = 0;

    Window(std::int64_t size, std::int64_t maximum, std::int64_t wrong)
        : begin(wrong < maximum ? 0 : std::min(wrong, size - maximum)),
          end(std::min(size, begin + maximum)) {}
    std::string print() const { return std::to_string(begin) + " to " + std::to_string(end - 1); }
};

std::string draw_slice(const Slice& slice) {
    const auto wrong = static_cast<std::int64_t>(slice.marks.find('#'));
    const Window down(slice.rows, rows_maximum, wrong / slice.columns);
    const Window across(slice.columns, columns_maximum, wrong % slice.columns);
    const std::int64_t columns = across.end - across.begin;
    std::string text = "    " + slice.name + "\n    " + border(columns, "┌", "┬", "┐");
    for (std::int64_t row = down.begin; row < down.end; ++row) {
        if (row > down.begin) text += "    " + border(columns, "├", "┼", "┤");
        text += "    ";
        for (std::int64_t column = across.begin; column < across.end; ++column) {
            const char mark = slice.marks[static_cast<std::size_t>(row * slice.columns + column)];
            text += std::string("│ ") + (mark == '#' ? "#" : "·") + " ";
        }
        text += "│\n";
    }
    text += "    " + border(columns, "└", "┴", "┘");
    if (down.end - down.begin < slice.rows || columns < slice.columns)
        text += "    (rows " + down.print() + " of " + std::to_string(slice.rows) + ", columns " +
                across.print() + " of " + std::to_string(slice.columns) + ")\n";
    return text;
}

/// The slices of a map that hold a wrong element.
std::vector<Slice> wrong_slices(const WrongMap& map) {
    const std::size_t rank = map.sizes.size();
    const std::int64_t columns = rank == 0 ? 1 : map.sizes.back();
    const std::int64_t rows = rank < 2 ? 1 : map.sizes[rank - 2];
    const std::int64_t elements = std::max<std::int64_t>(rows * columns, 1);
    std::vector<Slice> slices;
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(map.marks.size()); at += elements) {
        Slice slice{.rows = rows,
                    .columns = columns,
                    .name = map.tensor,
                    .marks = map.marks.substr(static_cast<std::size_t>(at),
                                              static_cast<std::size_t>(elements))};
        if (slice.marks.find('#') == std::string::npos) continue;
        std::int64_t rest = at / elements;
        std::string index;
        for (std::size_t axis = rank < 2 ? 0 : rank - 2; axis-- > 0; rest /= map.sizes[axis])
            index = "[" + std::to_string(rest % map.sizes[axis]) + "]" + index;
        slice.name += index;
        slices.push_back(std::move(slice));
    }
    return slices;
}

std::string line(const char* label, const std::string& text) {
    std::string padded = std::string("  ") + label;
    padded.resize(13, ' ');
    return padded + text + "\n";
}

std::string evidence(const Outcome& outcome) {
    std::string text;
    for (std::size_t i = 0; i < outcome.worst.size(); ++i)
        text += line(i == 0 ? "worst" : "", describe(outcome.worst[i]));
    for (const WrongMap& map : outcome.maps) {
        if (map.total <= 1) continue;  // the worst element is all there is
        text += line("wrong", std::to_string(map.wrong) + " of " + std::to_string(map.total) +
                                  " elements of " + map.tensor);
        text += draw_map(map);
    }
    return text;
}

std::string how_small(const Minimality& minimality) {
    const std::string of = std::to_string(minimality.of);
    switch (minimality.kind) {
        case Minimality::Kind::certified:
            if (minimality.of == 0) return "minimal, certified: no problem is smaller";
            return "minimal, certified: " + (minimality.of == 1
                                                 ? std::string("the one smaller problem passes")
                                                 : "all " + of + " smaller problems pass");
        case Minimality::Kind::boxed:
            return "boxed, " + std::to_string(minimality.passed) + " of " +
                   (minimality.of_is_least ? "more than " : "") + of +
                   ": so many problems between the default one and this were run and pass";
        case Minimality::Kind::none:
            break;
    }
    return "shrunk, not certified";
}

std::string in_general(const Generality& generality) {
    if (generality.text.empty()) return {};
    const std::string problems =
        generality.problems == 1 ? "1 problem" : std::to_string(generality.problems) + " problems";
    return line("in general", wrapped(generality.text + " (" + problems + " run)", 13));
}

std::string header(const Case& checked, const Outcome& outcome) {
    return line("kernel", checked.kernel + " on " + checked.device) +
           line("property", wrapped(checked.property + ": " + outcome.message, 13));
}

/// The properties that the kernel fails at the same problem as `told`: first those that say the
/// same.
std::string also(const std::vector<const RowResult*>& rows, const std::string& told) {
    std::vector<std::string> same, lines;
    for (const RowResult* const row : rows) {
        const std::string& message = row->failure->outcome.message;
        if (message == told)
            same.push_back(row->row.property_name());
        else
            lines.push_back(row->row.property_name() + ": " + message);
    }
    if (!same.empty()) lines.insert(lines.begin(), joined(same) + ": the same");
    std::string text;
    for (const std::string& words : lines)
        text += line(text.empty() ? "also" : "", wrapped(words, 13));
    return text;
}

}  // namespace

std::string draw_map(const WrongMap& map) {
    if (map.marks.empty() || map.total <= 1) return {};
    const std::vector<Slice> slices = wrong_slices(map);
    std::string text;
    for (std::size_t i = 0; i < slices.size() && i < slices_maximum; ++i)
        text += draw_slice(slices[i]);
    if (slices.size() > slices_maximum)
        text += "    and " + std::to_string(slices.size() - slices_maximum) + " more slices\n";
    return text;
}

std::string report_bug(const std::vector<const RowResult*>& rows, const std::string& program) {
    const RowResult& first = *rows.front();
    const Shrunk& failure = *first.failure;
    const std::string problem = failure.smallest.problem.print() + " (" +
                                how_small(failure.minimality) + "; " +
                                std::to_string(failure.runs) + " runs)";
    std::string text =
        "FAILED " + first.row.kernel->name + "\n" + header(failure.smallest, failure.outcome);
    return text + also({rows.begin() + 1, rows.end()}, failure.outcome.message) +
           line("problem", wrapped(problem, 13)) + in_general(failure.generality) +
           (failure.witnesses.empty() ? std::string()
                                      : line("witnesses", wrapped(failure.witnesses, 13))) +
           evidence(failure.outcome) +
           line("replay", program + " repro " + shell_quoted(failure.smallest.print()));
}

std::string report_more(const std::vector<const RowResult*>& rows) {
    const RowResult& first = *rows.front();
    return "FAILED " + first.row.kernel->name + " too, at the problem above, " +
           first.failure->smallest.problem.print() + "\n" + also(rows, "");
}

std::string report_failure(const RowResult& result, const std::string& program) {
    return report_bug({&result}, program);
}

std::string report_case(const Case& checked, const Outcome& outcome) {
    if (outcome.verdict == Verdict::failed)
        return "FAILED " + checked.kernel + "\n" + header(checked, outcome) +
               line("problem", checked.problem.print()) + evidence(outcome);
    std::string text = std::string(name_of(outcome.verdict)) + ": " + checked.kernel + " on " +
                       checked.device + ", " + checked.property + ", " + checked.problem.print();
    if (!outcome.message.empty()) text += " (" + outcome.message + ")";
    if (outcome.verdict == Verdict::vacuous) text += " (every expected value is zero)";
    return text + "\n";
}

}  // namespace gradverify
