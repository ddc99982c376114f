// SPDX-License-Identifier: Apache-2.0
// Decides how a problem is written: `n=2,in=5x4,padding=1+0x2+0`, with `x` for axes, `+` for sides.
#include <algorithm>
#include <optional>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/problems/problem.hpp"

namespace gradverify {
namespace {

std::string accepted_values(const ParameterSpec& spec, std::string_view between) {
    std::vector<std::string> values;
    for (const double value : spec.values) values.push_back(print_exactly(value));
    return joined(values, between);
}

/// The position of a real parameter's value.
std::int64_t parse_real(const ParameterSpec& spec, std::string_view text) {
    const auto value = parse_double(text);
    for (std::size_t i = 0; value && i < spec.values.size(); ++i)
        if (spec.values[i] == *value) return static_cast<std::int64_t>(i);
    refuse(
        "`{}` is not accepted for {}, which is one of {} (the operator's declaration lists them)",
        text, spec.name, accepted_values(spec, ", "));
}

/// `n=N, in=HxW, padding=PxQ`: how each parameter is written.
std::string accepted(const ParameterSpace& space) {
    std::vector<std::string> parameters;
    for (const ParameterSpec& spec : space.parameters())
        parameters.push_back(spec.name + "=" +
                             (spec.is_real()                         ? accepted_values(spec, "|")
                              : spec.kind == ParameterKind::scalar   ? "NUMBER"
                              : spec.kind == ParameterKind::per_axis ? "NUMBERxNUMBER.."
                                                                     : "LEFT+RIGHTx.."));
    return "accepted: " + joined(parameters);
}

std::int64_t parse_number(const ParameterSpec& spec, std::string_view text) {
    const auto value = parse_int(text);
    if (!value || *value < spec.minimum || *value > spec.maximum)
        refuse("`{}` is not accepted for {}: a whole number from {} to {}", text, spec.name,
               spec.minimum, spec.maximum);
    return *value;
}

/// The `name=value` pairs of a text, by parameter; empty where one is left out.
std::vector<std::optional<std::string_view>> assignments(const ParameterSpace& space,
                                                         std::string_view text) {
    std::vector<std::optional<std::string_view>> by_parameter(space.parameters().size());
    if (text.empty()) return by_parameter;
    for (const std::string_view item : split(text, ',')) {
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos)
            refuse("`{}` is not of the form name=value; {}", item, accepted(space));
        if (item.find('=', equals + 1) != std::string_view::npos)
            refuse("`{}` is not accepted: commas stand between parameters, and no blanks", item);
        const std::string_view name = item.substr(0, equals);
        std::size_t p = 0;
        while (p < by_parameter.size() && space.parameters()[p].name != name) ++p;
        if (p == by_parameter.size()) refuse("unknown parameter `{}`; {}", name, accepted(space));
        if (by_parameter[p]) refuse("`{}` is given twice; each parameter is accepted once", name);
        by_parameter[p] = item.substr(equals + 1);
    }
    return by_parameter;
}

/// The rank: the number of values of the parameter that carries it.
int find_rank(const ParameterSpace& space,
              const std::vector<std::optional<std::string_view>>& by_parameter) {
    const auto& all = space.parameters();
    const auto carrier = std::ranges::find(all, true, &ParameterSpec::carries_rank);
    const auto [least, most] = space.ranks();
    if (carrier == all.end() || most == 0) return least;
    const auto& value = by_parameter[static_cast<std::size_t>(carrier - all.begin())];
    if (!value)
        refuse("{}= is missing: its number of values is the number of axes; {}", carrier->name,
               accepted(space));
    const int axes = static_cast<int>(split(*value, 'x').size());
    if (axes == 1 && least == most) return least;
    if (!space.ranks().contains(axes))
        refuse("{}={} has {} {}; accepted: {} numbers joined by x", carrier->name, *value, axes,
               axes == 1 ? "axis" : "axes",
               least == most ? std::to_string(least) : fmt::format("{} to {}", least, most));
    return axes;
}

/// One parameter's numbers, in the order of its slots.
std::vector<std::int64_t> parse_values(const ParameterSpec& spec, std::string_view text, int rank) {
    if (spec.is_real()) return {parse_real(spec, text)};
    if (spec.kind == ParameterKind::scalar) return {parse_number(spec, text)};
    std::vector<std::string_view> axes = split(text, 'x');
    if (axes.size() == 1) axes.resize(static_cast<std::size_t>(rank), axes.front());
    if (static_cast<int>(axes.size()) != rank)
        refuse("{}={} has {} axes; accepted: {} numbers joined by x, or one for every axis",
               spec.name, text, axes.size(), rank);
    std::vector<std::int64_t> values;
    for (const std::string_view axis : axes) {
        if (spec.kind == ParameterKind::per_axis) {
            values.push_back(parse_number(spec, axis));
            continue;
        }
        const std::vector<std::string_view> sides = split(axis, '+');
        if (sides.size() > 2)
            refuse("`{}` has too many sides for {}; accepted: NUMBER, or LEFT+RIGHT", axis,
                   spec.name);
        values.push_back(parse_number(spec, sides.front()));
        values.push_back(parse_number(spec, sides.back()));
    }
    return values;
}

/// The value of a parameter as text, from its numbers in slot order.
std::string print_values(const ParameterSpec& spec, std::span<const std::int64_t> values) {
    if (spec.is_real())
        return print_exactly(spec.values.at(static_cast<std::size_t>(values.front())));
    const bool in_pairs = spec.kind == ParameterKind::per_axis_pair;
    bool two_sided = false;
    for (std::size_t i = 0; in_pairs && i < values.size(); i += 2)
        two_sided |= values[i] != values[i + 1];
    std::vector<std::string> axes;
    for (std::size_t i = 0; i < values.size(); i += in_pairs ? 2 : 1)
        axes.push_back(two_sided ? fmt::format("{}+{}", values[i], values[i + 1])
                                 : std::to_string(values[i]));
    return joined(axes, "x");
}

}  // namespace

Problem Problem::parse(const ParameterSpace& space, std::string_view text) {
    const auto by_parameter = assignments(space, text);
    Problem problem(space, find_rank(space, by_parameter));
    auto slot = problem.values_.begin();
    for (std::size_t p = 0; p < by_parameter.size(); ++p) {
        const ParameterSpec& spec = space.parameters()[p];
        if (by_parameter[p])
            std::ranges::copy(parse_values(spec, *by_parameter[p], problem.rank()), slot);
        slot += static_cast<std::ptrdiff_t>(spec.slot_count(problem.rank()));
    }
    return problem;
}

std::string Problem::print() const {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (const ParameterSpec& spec : space_->parameters()) {
        const auto its = values().subspan(begin, spec.slot_count(rank_));
        begin += its.size();
        const bool is_default = std::ranges::count(its, spec.default_value) == std::ssize(its);
        if (!is_default || (spec.carries_rank && !its.empty()))
            parts.push_back(spec.name + '=' + print_values(spec, its));
    }
    return joined(parts, ",");
}

}  // namespace gradverify
