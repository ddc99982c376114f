// SPDX-License-Identifier: Apache-2.0
// Parameter spaces and problems: slots by rank, names, the order. Their text: text.cpp.
#include "harness/problems/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "harness/base/refuse.hpp"
#include "harness/problems/parameter_reads.hpp"

namespace gradverify {
namespace {

constexpr int largest_rank = 3;

/// Axes are named from the innermost: w, then h, then d.
std::string_view axis_name(int axis, int rank) {
    constexpr std::array<std::string_view, largest_rank> innermost_first{"w", "h", "d"};
    return innermost_first[static_cast<std::size_t>(rank - 1 - axis)];
}

std::string_view side_name(Side side) { return side == Side::left ? "left" : "right"; }

void append_slots(std::vector<Slot>& slots, const ParameterSpec& spec, int parameter, int rank) {
    if (spec.kind == ParameterKind::scalar) {
        slots.push_back({.name = spec.name, .parameter = parameter});
        return;
    }
    for (int axis = 0; axis < rank; ++axis) {
        const std::string suffix = "_" + std::string(axis_name(axis, rank));
        if (spec.kind == ParameterKind::per_axis) {
            slots.push_back({spec.name + suffix, parameter, axis, Side::none});
            continue;
        }
        slots.push_back({spec.name + "_left" + suffix, parameter, axis, Side::left});
        slots.push_back({spec.name + "_right" + suffix, parameter, axis, Side::right});
    }
}

/// Whether `name` means this slot, alone or with others of its parameter.
bool means(std::string_view name, const Slot& slot, const ParameterSpec& spec, int rank) {
    if (!name.starts_with(spec.name)) return false;
    std::string_view rest = name.substr(spec.name.size());
    if (rest.empty()) return true;
    if (slot.axis < 0 || !rest.starts_with('_')) return false;
    rest.remove_prefix(1);
    if (rest == axis_name(slot.axis, rank)) return true;
    return slot.side != Side::none && (rest == side_name(slot.side) || name == slot.name);
}

void check_spec(const ParameterSpec& spec, int rank_max) {
    if (spec.name.empty()) refuse("a parameter needs a name");
    if (spec.minimum < 0 || spec.default_value < spec.minimum || spec.maximum < spec.default_value)
        refuse("parameter {} needs 0 <= minimum <= default <= maximum", spec.name);
    if (spec.kind != ParameterKind::scalar && rank_max == 0)
        refuse("parameter {} has axes in a space without spatial axes", spec.name);
    if (spec.carries_rank && spec.kind == ParameterKind::scalar && rank_max > 0)
        refuse("parameter {} cannot carry the rank: it has no axes", spec.name);
}

thread_local std::set<std::string, std::less<>>* reads = nullptr;

/// Names are short, and looked up many million times in a run.
bool is_called(const ParameterSpec& spec, std::string_view name) {
    return spec.name.size() == name.size() && spec.name.front() == name.front() &&
           (name.size() == 1 || spec.name == name);
}

/// The parameter of this name, and its values in this problem; null where it has none.
std::pair<const ParameterSpec*, std::span<const std::int64_t>> read(const Problem& problem,
                                                                    std::string_view name) {
    if (reads != nullptr) [[unlikely]]
        reads->emplace(name);
    std::size_t first = 0;
    for (const ParameterSpec& spec : problem.space().parameters()) {
        const std::size_t count = spec.slot_count(problem.rank());
        if (count > 0 && is_called(spec, name))
            return {&spec, problem.values().subspan(first, count)};
        first += count;
    }
    return {};
}

/// The slot's part of the distance from the default problem.
std::int64_t slot_distance(const Problem& problem, int slot) {
    const Slot& which = problem.space().slot(problem.rank(), slot);
    const std::int64_t from =
        which.side == Side::right ? problem[slot - 1] : problem.space().spec(which).default_value;
    return std::abs(problem[slot] - from);
}

}  // namespace

std::string RankRange::print() const {
    const std::string range =
        least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
    return fmt::format("{} spatial {}", range, most == 1 ? "axis" : "axes");
}

ParameterSpace::ParameterSpace(std::vector<ParameterSpec> parameters, int rank_min, int rank_max)
    : parameters_(std::move(parameters)), rank_min_(rank_min), rank_max_(rank_max) {
    if (rank_min < 0 || rank_max < rank_min || rank_max > largest_rank)
        refuse("a space needs 0 <= rank_min <= rank_max <= 3");
    for (const ParameterSpec& spec : parameters_) {
        check_spec(spec, rank_max);
        if (std::ranges::count(parameters_, spec.name, &ParameterSpec::name) > 1)
            refuse("parameter {} is named twice", spec.name);
    }
    const auto carriers = std::ranges::count(parameters_, true, &ParameterSpec::carries_rank);
    if (carriers > 1) refuse("only one parameter can carry the rank");
    if (carriers == 0 && rank_min < rank_max)
        refuse("a space of several ranks needs a parameter that carries it");
    for (int rank = 0; rank <= rank_max; ++rank) {
        std::vector<Slot>& slots = slots_by_rank_.emplace_back();
        for (std::size_t p = 0; p < parameters_.size(); ++p)
            append_slots(slots, parameters_[p], static_cast<int>(p), rank);
    }
}

const std::vector<Slot>& ParameterSpace::slots(int rank) const {
    return slots_by_rank_.at(static_cast<std::size_t>(rank));
}

std::vector<int> ParameterSpace::find(std::string_view name, int rank) const {
    std::vector<int> found;
    const std::vector<Slot>& all = slots(rank);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (means(name, all[i], spec(all[i]), rank)) found.push_back(static_cast<int>(i));
    return found;
}

std::vector<std::string> ParameterSpace::names(int rank) const {
    std::vector<std::string> all;
    for (const ParameterSpec& spec : parameters_) {
        std::vector<std::string> whole{spec.name};
        if (spec.kind == ParameterKind::per_axis_pair)
            for (const Side side : {Side::left, Side::right})
                whole.push_back(fmt::format("{}_{}", spec.name, side_name(side)));
        for (const std::string& name : whole) {
            all.push_back(name);
            for (int axis = 0; spec.kind != ParameterKind::scalar && axis < rank; ++axis)
                all.push_back(fmt::format("{}_{}", name, axis_name(axis, rank)));
        }
    }
    return all;
}

ParameterSpec real_parameter(std::string name, std::vector<double> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return {.name = std::move(name),
            .default_value = 0,
            .minimum = 0,
            .maximum = std::max<std::int64_t>(count, 1) - 1,
            .values = std::move(values)};
}

Problem::Problem(const ParameterSpace& space, int rank) : space_(&space), rank_(rank) {
    if (!space.ranks().contains(rank)) refuse("no problem has {} spatial axes", rank);
    for (const Slot& slot : slots()) values_.push_back(space.spec(slot).default_value);
}

std::int64_t Problem::scalar(std::string_view name) const {
    const auto [spec, its] = read(*this, name);
    if (!spec || spec->kind != ParameterKind::scalar)
        refuse("no scalar parameter is called {}", name);
    return its.front();
}

double Problem::real(std::string_view name) const {
    const auto [spec, its] = read(*this, name);
    if (!spec || !spec->is_real()) refuse("no real parameter is called {}", name);
    return spec->values.at(static_cast<std::size_t>(its.front()));
}

std::int64_t Problem::on_axis(std::string_view name, int axis, Side side) const {
    const auto [spec, its] = read(*this, name);
    const auto kind = side == Side::none ? ParameterKind::per_axis : ParameterKind::per_axis_pair;
    if (!spec || spec->kind != kind || axis < 0 || axis >= rank_)
        refuse("no parameter {} has axis {} {}", name, axis,
               side == Side::none ? "without sides" : "with two sides");
    const auto at = static_cast<std::size_t>(axis);
    if (side == Side::none) return its[at];
    return its[2 * at + (side == Side::right ? 1 : 0)];
}

std::span<const std::int64_t> Problem::all_of(std::string_view name) const {
    const auto [spec, its] = read(*this, name);
    if (!spec) refuse("no parameter is called {}", name);
    return its;
}

std::int64_t Problem::distance() const {
    std::int64_t sum = 0;
    for (int slot = 0; slot < static_cast<int>(values_.size()); ++slot)
        sum += slot_distance(*this, slot);
    return sum;
}

std::int64_t Problem::total_padding() const {
    std::int64_t sum = 0;
    for (int slot = 0; slot < static_cast<int>(values_.size()); ++slot)
        if (space_->spec(rank_, slot).is_padding) sum += slot_distance(*this, slot);
    return sum;
}

std::strong_ordering Problem::operator<=>(const Problem& other) const {
    if (const auto order = distance() <=> other.distance(); order != 0) return order;
    if (const auto order = total_padding() <=> other.total_padding(); order != 0) return order;
    if (const auto order = rank_ <=> other.rank_; order != 0) return order;
    return values_ <=> other.values_;
}

ParameterReads::ParameterReads() : before_(reads) { reads = &names_; }
ParameterReads::~ParameterReads() { reads = before_; }

}  // namespace gradverify
