// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/text.hpp"
#include "harness/cases/compare.hpp"
#include "harness/cases/sensitivity.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

// What fits a terminal.
constexpr std::int64_t columns_maximum = 24, rows_maximum = 16;
constexpr int slices_maximum = 3, listed_maximum = 6;
// More ulps say no more than the two numbers do.
constexpr double ulps_maximum = 1e5;
// Digits that tell every float, or double, from all others.
constexpr int digits_of_float = 9, digits_of_double = 17;

std::string number(double value, int digits = digits_of_float) {
    if (std::isnan(value)) return "nan";  // without its sign
    const bool whole = value == std::round(value) && std::abs(value) < 1e9;
    return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits);
}

std::string print_index(std::span<const std::int64_t> index) {
    std::string text;
    for (const std::int64_t i : index) text += fmt::format("[{}]", i);
    return text;
}

/// `, 3 ulps of f16`: how far off an element is, in ulps of its expected value; nothing where that
/// is next to zero, or the element altogether wrong.
std::string in_ulps(const WrongElement& element) {
    if (!element.dtype || !is_floating(*element.dtype)) return {};
    const double ulps =
        std::abs(element.got - element.want) / ulp_of(Rounding::of(*element.dtype), element.want);
    if (!(ulps < ulps_maximum)) return {};
    return fmt::format(", {:.2g} ulps of {}", ulps, traits_of(*element.dtype).name);
}

std::string describe(const WrongElement& element, bool is_of_two_calls = false) {
    const bool is_integer = element.dtype && !is_floating(*element.dtype);
    const bool differ_as_floats = number(element.got) != number(element.want);
    const int digits = differ_as_floats && !is_integer ? digits_of_float : digits_of_double;
    const std::string got = number(element.got, digits), want = number(element.want, digits);
    std::string text = element.tensor + print_index(element.index) + ": ";
    if (!is_of_two_calls && std::isnan(element.got) && std::isnan(element.want))
        text += "got nan, and the operator gives no number either, though no input is NaN";
    else if (!is_of_two_calls)
        text += fmt::format("got {}, want {}", got, want);
    else if (got == want)
        text += fmt::format("got {} in both calls", got);
    else
        text += fmt::format("got {} in one call, {} in the other", want, got);
    if (std::isnan(element.want)) return text;
    if (!(element.bound > 0.0)) return is_of_two_calls ? text : text + " exactly";
    const double times = std::abs(element.got - element.want) / element.bound;
    text += fmt::format(", bound {:.2g}", element.bound);
    if (!std::isfinite(times)) return text;
    const bool large = times >= 10.0 && times < 1e9;
    return fmt::format("{} ({} times the bound{})", text,
                       large ? number(std::round(times)) : fmt::format("{:.2g}", times),
                       in_ulps(element));
}

/// One line of a box: `┌───┬───┐`.
std::string box_line(const std::vector<std::string_view>& cells, const char* left,
                     const char* middle, const char* right) {
    return fmt::format("    {}{}{}\n", left, fmt::join(cells, middle), right);
}

struct Slice {
    std::int64_t rows = 1, columns = 1;
    std::string name;
    std::string marks;
};

/// The part of a slice's axis that is drawn: as much as fits, with the index `wrong` in it.
struct Window {
    std::int64_t begin = 0, end = 0;

    Window(std::int64_t size, std::int64_t maximum, std::int64_t wrong)
        : begin(wrong < maximum ? 0 : std::min(wrong, size - maximum)),
          end(std::min(size, begin + maximum)) {}
    std::string print() const { return fmt::format("{} to {}", begin, end - 1); }
};

std::string draw_slice(const Slice& slice) {
    const auto wrong = static_cast<std::int64_t>(slice.marks.find('#'));
    const Window down(slice.rows, rows_maximum, wrong / slice.columns);
    const Window across(slice.columns, columns_maximum, wrong % slice.columns);
    const std::int64_t columns = across.end - across.begin;
    const std::vector<std::string_view> edges(static_cast<std::size_t>(columns), "───");
    std::string text = fmt::format("    {}\n", slice.name) + box_line(edges, "┌", "┬", "┐");
    for (std::int64_t row = down.begin; row < down.end; ++row) {
        if (row > down.begin) text += box_line(edges, "├", "┼", "┤");
        std::vector<std::string_view> cells;
        for (std::int64_t column = across.begin; column < across.end; ++column) {
            const char mark = slice.marks[static_cast<std::size_t>(row * slice.columns + column)];
            cells.emplace_back(mark == '#' ? " # " : " · ");
        }
        text += box_line(cells, "│", "│", "│");
    }
    text += box_line(edges, "└", "┴", "┘");
    if (down.end - down.begin < slice.rows || columns < slice.columns)
        text += fmt::format("    (rows {} of {}, columns {} of {})\n", down.print(), slice.rows,
                            across.print(), slice.columns);
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
        const Sizes outer(map.sizes.begin(), map.sizes.end() - std::min(std::ssize(map.sizes), 2L));
        slice.name += print_index(unflatten(at / elements, outer));
        slices.push_back(std::move(slice));
    }
    return slices;
}

std::string line(const char* label, const std::string& text) {
    return fmt::format("  {:<11}{}\n", label, text);
}

std::string worst_lines(const Outcome& outcome) {
    std::string text;
    for (std::size_t i = 0; i < outcome.worst.size(); ++i)
        text += line(i == 0 ? "worst" : "", describe(outcome.worst[i], outcome.is_of_two_calls));
    return text;
}

std::string wrong_maps(const Outcome& outcome) {
    std::string text;
    for (const WrongMap& map : outcome.maps) {
        if (map.total <= 1) continue;  // the worst element is all there is
        text +=
            line("wrong", fmt::format("{} of {} elements of {}", map.wrong, map.total, map.tensor));
        text += draw_map(map);
    }
    return text;
}

/// `2 of them have only zeros to compare, or were skipped`
std::string silence(std::int64_t problems) {
    return problems == 1
               ? "1 of them has only zeros to compare, or was skipped"
               : fmt::format("{} of them have only zeros to compare, or were skipped", problems);
}

/// `3 of 9`, or what is known of a box whose problems were not all counted.
std::string how_many_of_box(const Minimality& minimality) {
    if (!minimality.of_is_least) return fmt::format("{} of {}", minimality.passed, minimality.of);
    if (minimality.passed == minimality.of)
        return fmt::format("{} of an unknown number", minimality.passed);
    return fmt::format("{} of more than {}", minimality.passed, minimality.of);
}

/// ` on 12 draws each`
std::string on_draws(const Minimality& minimality) {
    if (minimality.draws == 0) return {};
    return fmt::format(" on {} draw{}{}", minimality.draws, minimality.draws == 1 ? "" : "s",
                       minimality.of == 1 ? "" : " each");
}

std::string how_small(const Minimality& minimality) {
    switch (minimality.kind) {
        case Minimality::Kind::certified:
            if (minimality.of == 0) return "minimal, certified: no problem is smaller";
            if (minimality.silent > 0)
                return fmt::format("minimal, certified: of {} smaller problem{} none fails{}; {}",
                                   minimality.of, minimality.of == 1 ? "" : "s",
                                   on_draws(minimality), silence(minimality.silent));
            if (minimality.of == 1)
                return "minimal, certified: the one smaller problem passes" + on_draws(minimality);
            return fmt::format("minimal, certified: all {} smaller problems pass{}", minimality.of,
                               on_draws(minimality));
        case Minimality::Kind::boxed:
            return fmt::format(
                "boxed, {}: so many problems between the default one and this were run and {}",
                how_many_of_box(minimality),
                minimality.silent > 0 ? fmt::format("none fails{}; {}", on_draws(minimality),
                                                    silence(minimality.silent))
                                      : "pass" + on_draws(minimality));
        case Minimality::Kind::none:
            break;
    }
    return "shrunk, not certified";
}

std::string in_general(const Generality& generality) {
    if (generality.text.empty()) return {};
    return line("in general",
                wrapped(fmt::format("{} ({} problem{} run)", generality.text, generality.problems,
                                    generality.problems == 1 ? "" : "s"),
                        13));
}

/// `offsets = 0 0 1, lengths = 2`
std::string print(const std::vector<GivenNumbers>& given) {
    std::vector<std::string> tensors;
    tensors.reserve(given.size());
    for (const GivenNumbers& one : given)
        tensors.push_back(
            fmt::format("{} = {}{}", one.tensor, one.total == 0 ? "(no element)" : "",
                        fmt::join(one.first, " ")) +
            (one.total > std::ssize(one.first) ? fmt::format(" ... ({} in all)", one.total) : ""));
    return joined(tensors);
}

/// `dy[1][0] = 1`, of the elements that a case lists and `given` does not hold.
std::string print_listed(const Case& checked, const std::vector<GivenNumbers>& given) {
    const Kernel* const kernel = Registry::instance().find_kernel(checked.kernel);
    std::vector<std::string> listed;
    for (const DataElement& one : checked.data.elements) {
        if (std::ranges::find(given, one.tensor, &GivenNumbers::tensor) != given.end()) continue;
        Sizes index{one.index};
        if (kernel) index = unflatten(one.index, kernel->op->sizes_of(one.tensor, checked.problem));
        listed.push_back(
            fmt::format("{}{} = {}", one.tensor, print_index(index), number(one.value)));
    }
    if (const auto all = std::ssize(listed); all > listed_maximum) {
        listed.resize(listed_maximum);
        listed.back() += fmt::format(" ... ({} in all)", all);
    }
    return joined(listed);
}

std::string given_line(const Case& checked, const Outcome& outcome) {
    std::vector<std::string> given{print(outcome.given), print_listed(checked, outcome.given)};
    std::erase(given, "");
    return given.empty() ? std::string() : line("given", wrapped(joined(given, "; "), 13));
}

std::string asked_line(const RowResult& row) {
    if (!row.found || !row.found->is_asked ||
        row.found->drawn.problem == row.failure->smallest.problem)
        return {};
    return line("asked", wrapped(row.found->drawn.problem.print() + ", which fails, too", 13));
}

std::string header(const Case& checked, const Outcome& outcome) {
    return fmt::format("FAILED {}\n", checked.kernel) +
           line("kernel", checked.kernel + " on " + checked.device) +
           line("property", wrapped(checked.property + ": " + outcome.message, 13));
}

/// The message without the clauses at its end that `told` ends with, too; its first clause stays.
std::string_view without_shared_end(std::string_view message, std::string_view told) {
    for (;;) {
        const std::size_t mine = message.rfind("; "), other = told.rfind("; ");
        if (mine == std::string_view::npos || other == std::string_view::npos ||
            message.substr(mine) != told.substr(other))
            return message;
        message = message.substr(0, mine);
        told = told.substr(0, other);
    }
}

/// A message without its addresses, which every process has its own of.
std::string without_addresses(std::string message) {
    for (std::size_t at = 0; (at = message.find("0x", at)) != std::string::npos;) {
        at += 2;
        const std::size_t end = message.find_first_not_of("0123456789abcdef", at);
        message.erase(at, end - at);
    }
    return message;
}

/// The other properties that fail at a problem, those with one message together: first those whose
/// message is `told` as well.
std::string also(const std::vector<const RowResult*>& rows, const std::string& told,
                 const Problem& problem) {
    struct Alike {
        std::string message;
        std::vector<std::string> properties;
    };
    std::vector<Alike> here = {{told, {}}};
    std::vector<std::string> elsewhere;
    for (const RowResult* const row : rows) {
        const std::string& message = row->failure->outcome.message;
        const Problem& other = row->failure->smallest.problem;
        if (other != problem) {
            elsewhere.push_back(fmt::format("{}, at {}: {}", row->row.property_name(),
                                            other.print(), without_shared_end(message, told)));
            continue;
        }
        const auto known = std::ranges::find(here, without_addresses(message), [](const Alike& of) {
            return without_addresses(of.message);
        });
        if (known == here.end())
            here.push_back({message, {row->row.property_name()}});
        else
            known->properties.push_back(row->row.property_name());
    }
    std::vector<std::string> lines;
    for (const Alike& of : here)
        if (!of.properties.empty())
            lines.push_back(joined(of.properties) + ": " +
                            (&of == &here.front()
                                 ? "the same"
                                 : std::string(without_shared_end(of.message, told))));
    lines.insert(lines.end(), elsewhere.begin(), elsewhere.end());
    // What names a line of the source, as a race does, is nearer to the cause than a wrong value.
    std::stable_partition(lines.begin(), lines.end(), [](const std::string& words) {
        return source_line_in(words).has_value();
    });
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
        text += fmt::format("    and {} more slices\n", slices.size() - slices_maximum);
    return text;
}

std::string report_bug(const std::vector<const RowResult*>& rows, const std::string& program) {
    const Shrunk& failure = *rows.front()->failure;
    // One row of a kernel is explained, and need not be the first; or another one, too, that knows
    // which outputs are wrong.
    const auto found = std::ranges::max_element(rows, {}, [](const RowResult* row) {
        const Shrunk& of = *row->failure;
        const auto& [outputs, pattern, only] = of.symptoms;
        return 2 * (!of.generality.text.empty() || !of.witnesses.empty()) +
               !(outputs.empty() && pattern.empty());
    });
    const Shrunk& explained = *(*found)->failure;
    const auto told = [](const char* label, const std::string& text) {
        return text.empty() ? std::string() : line(label, wrapped(text, 13));
    };
    const auto& [outputs, pattern, only] = explained.symptoms;
    const std::string problem = fmt::format("{} ({}; {} runs)", failure.smallest.problem.print(),
                                            how_small(failure.minimality), failure.runs);
    return header(failure.smallest, failure.outcome) + told("outputs", outputs) +
           told("pattern", pattern) + told("only", only) +
           also({rows.begin() + 1, rows.end()}, failure.outcome.message, failure.smallest.problem) +
           line("problem", wrapped(problem, 13)) + asked_line(*rows.front()) +
           given_line(failure.smallest, failure.outcome) + worst_lines(failure.outcome) +
           in_general(explained.generality) + told("values", explained.values) +
           told("witnesses", explained.witnesses) + wrong_maps(failure.outcome) +
           line("replay", program + " repro " + shell_quoted(failure.smallest.print()));
}

std::string command_to_replay(const std::string& report) {
    constexpr std::string_view label = "\n  replay ";
    const std::size_t at = report.rfind(label);
    if (at == std::string::npos) return {};
    const std::size_t begin = report.find_first_not_of(' ', at + label.size());
    return report.substr(begin, report.find('\n', begin) - begin);
}

std::string report_seen(const Case& found) {
    return fmt::format("FAILED {} on {}, yet to be shrunk: {} at {}\n", found.kernel, found.device,
                       found.property, found.problem.print());
}

std::string report_more(const std::vector<const RowResult*>& rows) {
    const RowResult& first = *rows.front();
    const Problem& problem = first.failure->smallest.problem;
    return fmt::format("FAILED {} too, as above, at {}\n{}", first.row.kernel->name,
                       problem.print(), also(rows, "", problem));
}

std::string report_imprecise(const RowRecord& record, const std::string& program) {
    const ImpreciseCases& imprecise = *record.imprecise;
    return fmt::format(
        "{} of {} cases have elements further off than the operator's formula explains, though "
        "another formula may be (--strict fails); the worst is {}, of a tensor up to {:.3g}; {} "
        "repro {}",
        imprecise.cases, record.cases, describe(imprecise.worst), imprecise.largest, program,
        shell_quoted(imprecise.worst_case));
}

std::string report_case(const Case& checked, const Outcome& outcome) {
    if (outcome.verdict == Verdict::failed)
        return header(checked, outcome) + line("problem", checked.problem.print()) +
               given_line(checked, outcome) + worst_lines(outcome) + wrong_maps(outcome);
    return fmt::format(
        "{}: {} on {}, {}, {}{}{}{}\n", name_of(outcome.verdict), checked.kernel, checked.device,
        checked.property, checked.problem.print(),
        outcome.message.empty() ? "" : " (" + outcome.message + ")",
        outcome.verdict == Verdict::vacuous
            ? " (nothing was compared: every expected value is zero, or zero lies within its bound)"
            : "",
        outcome.overflows.empty() ? "" : " (" + outcome.overflows + ", which wraps back)");
}

}  // namespace gradverify
