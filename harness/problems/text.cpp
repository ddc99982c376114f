// SPDX-License-Identifier: Apache-2.0
// Decides how a problem is written: `n=2,in=5x4,padding=1+0x2+0`. Numbers of axes are joined by
// `x`; two different sides by `+`. Does not decide whether a problem makes sense for its operator.
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "harness/base/text.hpp"
#include "harness/problems/problem.hpp"

namespace gradverify {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

/// The shortest text that is read as this number again.
std::string print_real(double value) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end};
}

std::string accepted_values(const ParameterSpec& spec, std::string_view between) {
    std::vector<std::string> values;
    for (const double value : spec.values) values.push_back(print_real(value));
    return joined(values, between);
}

/// The position of a real parameter's value.
std::int64_t parse_real(const ParameterSpec& spec, std::string_view text) {
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    for (std::size_t i = 0; error == std::errc() && stop == end && i < spec.values.size(); ++i)
        if (spec.values[i] == value) return static_cast<std::int64_t>(i);
    refuse(quoted(text) + " is not accepted for " + spec.name + ", which is one of " +
           accepted_values(spec, ", ") + " (the operator's declaration lists them)");
}

/// `n=N, in=HxW, padding=PxQ`: how each parameter is written.
std::string accepted(const ParameterSpace& space) {
    std::string text = "accepted: ";
    for (const ParameterSpec& spec : space.parameters()) {
        if (&spec != &space.parameters().front()) text += ", ";
        text += spec.name;
        if (spec.is_real())
            text += "=" + accepted_values(spec, "|");
        else if (spec.kind == ParameterKind::scalar)
            text += "=NUMBER";
        else
            text += spec.kind == ParameterKind::per_axis ? "=NUMBERxNUMBER.." : "=LEFT+RIGHTx..";
    }
    return text;
}

std::string accepted_ranks(const ParameterSpace& space) {
    if (space.rank_min() == space.rank_max()) return std::to_string(space.rank_min());
    return std::to_string(space.rank_min()) + " to " + std::to_string(space.rank_max());
}

std::int64_t parse_number(const ParameterSpec& spec, std::string_view text) {
    const std::string range = " is not accepted for " + spec.name + ": a whole number from " +
                              std::to_string(spec.minimum) + " to " + std::to_string(spec.maximum);
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < spec.minimum || value > spec.maximum)
        refuse(quoted(text) + range);
    return value;
}

/// The `name=value` pairs of a text, by parameter; empty where one is left out.
std::vector<std::optional<std::string_view>> assignments(const ParameterSpace& space,
                                                         std::string_view text) {
    std::vector<std::optional<std::string_view>> by_parameter(space.parameters().size());
    if (text.empty()) return by_parameter;
    for (const std::string_view item : split(text, ',')) {
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos)
            refuse(quoted(item) + " is not of the form name=value; " + accepted(space));
        const std::string_view name = item.substr(0, equals);
        std::size_t p = 0;
        while (p < by_parameter.size() && space.parameters()[p].name != name) ++p;
        if (p == by_parameter.size())
            refuse("unknown parameter " + quoted(name) + "; " + accepted(space));
        if (by_parameter[p])
            refuse(quoted(name) + " is given twice; each parameter is accepted once");
        by_parameter[p] = item.substr(equals + 1);
    }
    return by_parameter;
}

/// The rank that the carrying parameter's number of values means.
int parse_rank(const ParameterSpace& space, const ParameterSpec& spec, std::string_view value) {
    const int axes = static_cast<int>(split(value, 'x').size());
    if (axes == 1 && space.rank_min() == space.rank_max()) return space.rank_min();
    if (axes < space.rank_min() || axes > space.rank_max())
        refuse(spec.name + "=" + std::string(value) + " has " + std::to_string(axes) +
               (axes == 1 ? " axis" : " axes") + "; accepted: " + accepted_ranks(space) +
               " numbers joined by x");
    return axes;
}

int find_rank(const ParameterSpace& space,
              const std::vector<std::optional<std::string_view>>& by_parameter) {
    for (std::size_t p = 0; p < by_parameter.size(); ++p) {
        const ParameterSpec& spec = space.parameters()[p];
        if (!spec.carries_rank || space.rank_max() == 0) continue;
        if (!by_parameter[p])
            refuse(spec.name + "= is missing: its number of values is the number of axes; " +
                   accepted(space));
        return parse_rank(space, spec, *by_parameter[p]);
    }
    return space.rank_min();
}

/// One parameter's numbers, in the order of its slots.
std::vector<std::int64_t> parse_values(const ParameterSpec& spec, std::string_view text, int rank) {
    if (spec.is_real()) return {parse_real(spec, text)};
    if (spec.kind == ParameterKind::scalar) return {parse_number(spec, text)};
    std::vector<std::string_view> axes = split(text, 'x');
    if (axes.size() == 1) axes.resize(static_cast<std::size_t>(rank), axes.front());
    if (static_cast<int>(axes.size()) != rank)
        refuse(spec.name + "=" + std::string(text) + " has " + std::to_string(axes.size()) +
               " axes; accepted: " + std::to_string(rank) +
               " numbers joined by x, or one for every axis");
    std::vector<std::int64_t> values;
    for (const std::string_view axis : axes) {
        if (spec.kind == ParameterKind::per_axis) {
            values.push_back(parse_number(spec, axis));
            continue;
        }
        const std::vector<std::string_view> sides = split(axis, '+');
        if (sides.size() > 2)
            refuse(quoted(axis) + " has too many sides for " + spec.name +
                   "; accepted: NUMBER, or LEFT+RIGHT");
        values.push_back(parse_number(spec, sides.front()));
        values.push_back(parse_number(spec, sides.back()));
    }
    return values;
}

/// The value of a parameter as text, from its numbers in slot order.
std::string print_values(const ParameterSpec& spec, std::span<const std::int64_t> values) {
    if (spec.is_real()) return print_real(spec.values.at(static_cast<std::size_t>(values.front())));
    const bool in_pairs = spec.kind == ParameterKind::per_axis_pair;
    bool two_sided = false;
    for (std::size_t i = 0; in_pairs && i < values.size(); i += 2)
        two_sided |= values[i] != values[i + 1];
    std::string text;
    for (std::size_t i = 0; i < values.size(); i += in_pairs ? 2 : 1) {
        if (i > 0) text += 'x';
        text += std::to_string(values[i]);
        if (two_sided) text += '+' + std::to_string(values[i + 1]);
    }
    return text;
}

}  // namespace

Problem Problem::parse(const ParameterSpace& space, std::string_view text) {
    const auto by_parameter = assignments(space, text);
    Problem problem(space, find_rank(space, by_parameter));
    std::vector<std::vector<std::int64_t>> values(by_parameter.size());
    for (std::size_t p = 0; p < by_parameter.size(); ++p)
        if (by_parameter[p])
            values[p] = parse_values(space.parameters()[p], *by_parameter[p], problem.rank());
    std::vector<std::size_t> used(by_parameter.size(), 0);
    for (std::size_t slot = 0; slot < problem.slots().size(); ++slot) {
        const auto p = static_cast<std::size_t>(problem.slots()[slot].parameter);
        if (!values[p].empty()) problem[static_cast<int>(slot)] = values[p][used[p]++];
    }
    return problem;
}

std::string Problem::print() const {
    std::string text;
    std::size_t begin = 0;
    while (begin < slots().size()) {
        const ParameterSpec& spec = space_->spec(slots()[begin]);
        std::size_t end = begin;
        bool is_default = true;
        for (; end < slots().size() && slots()[end].parameter == slots()[begin].parameter; ++end)
            is_default &= values_[end] == spec.default_value;
        if (!is_default || spec.carries_rank) {
            if (!text.empty()) text += ',';
            text += spec.name + '=' + print_values(spec, values().subspan(begin, end - begin));
        }
        begin = end;
    }
    return text;
}

}  // namespace gradverify
