// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/problem_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// Steps of each parameter that are tried above its smallest value, and above its failing one.
constexpr std::int64_t steps_above_smallest = 5, steps_above_failing = 3;

/// The shortest name of a class of slots.
std::string name_of(const ParameterSpace& space, int rank, const SlotClass& slot_class) {
    std::string name = at(space.slots(rank), slot_class.slots.front()).name;
    for (const std::string& candidate : space.names(rank))
        if (space.find(candidate, rank) == slot_class.slots && candidate.size() < name.size())
            name = candidate;
    return name;
}

}  // namespace

std::string enumerated(std::vector<std::string> words) {
    if (words.size() < 2) return joined(words);
    const std::string last = words.back();
    words.pop_back();
    return joined(words) + " and " + last;
}

ProblemValues::ProblemValues(const SupportedProblems& supported, const Problem& base)
    : supported_(supported), domain_(*supported.domain_of(base.rank())) {
    for (const SlotClass& slot_class : domain_.classes) {
        names_.push_back(name_of(base.space(), base.rank(), slot_class));
        base_.push_back(base[slot_class.slots.front()]);
        std::vector<std::string>& texts = value_texts_.emplace_back();
        const auto& spec = base.space().spec(at(base.slots(), slot_class.slots.front()));
        for (const double value : spec.values) texts.push_back(print_exactly(value));
        if (texts.empty() && spec.minimum == 0 && spec.maximum == 1) texts = {"0", "1"};
    }
    find_sizes();
}

int ProblemValues::parameter_of(int which) const {
    return at(supported_.op().space.slots(domain_.rank), class_at(which).slots.front()).parameter;
}

bool ProblemValues::has_axis(int which) const {
    return at(supported_.op().space.parameters(), parameter_of(which)).kind !=
           ParameterKind::scalar;
}

std::string ProblemValues::names_of(const std::set<int>& classes) const {
    std::vector<std::string> names;
    const ParameterSpace& space = supported_.op().space;
    const auto& slots = space.slots(domain_.rank);
    for (int parameter = 0; parameter < std::ssize(space.parameters()); ++parameter) {
        std::set<int> mine;
        for (std::size_t slot = 0; slot < slots.size(); ++slot)
            if (slots[slot].parameter == parameter) mine.insert(domain_.class_of[slot]);
        if (std::ranges::includes(classes, mine)) {
            names.push_back(at(space.parameters(), parameter).name);
            continue;
        }
        for (const int which : mine)
            if (classes.contains(which)) names.push_back(at(names_, which));
    }
    return enumerated(std::move(names));
}

Problem ProblemValues::problem_of(const Row& values) const {
    Assignment assigned(domain_);
    for (int which = 0; which < class_count(); ++which) assigned.set(which, at(values, which));
    return assigned.problem(supported_.op().space);
}

ProblemValues::Row ProblemValues::with_sizes(Row values) const {
    if (sizes_.empty()) return values;
    const Problem problem = problem_of(values);
    for (const auto& [tensor, axis] : sizes_) values.push_back(at(tensor->sizes(problem), axis));
    return values;
}

std::optional<ProblemValues::Row> ProblemValues::with(
    const std::map<int, std::int64_t>& wanted) const {
    Assignment assigned(domain_);
    for (const auto& [which, value] : wanted) {
        if (!assigned.allows(which, value)) return std::nullopt;
        assigned.set(which, value);
    }
    for (const int which : domain_.draw_order) {
        if (assigned.has(which)) continue;
        const auto value = assigned.nearest(which, base(which));
        if (!value) return std::nullopt;
        assigned.set(which, *value);
    }
    Row values;
    for (int which = 0; which < class_count(); ++which) values.push_back(assigned[which]);
    return values;
}

std::map<int, std::int64_t> ProblemValues::changed_in(const Row& values) const {
    std::map<int, std::int64_t> changed;
    for (int which = 0; which < class_count(); ++which)
        if (at(values, which) != base(which)) changed[which] = at(values, which);
    return changed;
}

std::vector<std::int64_t> ProblemValues::spread(int which) const {
    const SlotClass& slot_class = class_at(which);
    const std::int64_t step = std::max<std::int64_t>(slot_class.step, 1);
    const std::int64_t failing = base(which), smallest = slot_class.smallest;
    std::vector<std::int64_t> values{failing + step, smallest, failing - step};
    for (std::int64_t i = 2; i <= steps_above_failing; ++i) values.push_back(failing + i * step);
    for (std::int64_t i = 1; i <= steps_above_smallest; ++i) values.push_back(smallest + i * step);
    values.insert(values.end(), std::begin(telling_lengths), std::end(telling_lengths));
    values.push_back(2 * failing);
    std::set<std::int64_t> once{failing};
    std::erase_if(values, [&](std::int64_t value) {
        return value < slot_class.lowest || value > slot_class.highest ||
               !once.insert(value).second;
    });
    return values;
}

/// Keeps those that are no other number of every row that one changed parameter makes.
void ProblemValues::find_sizes() {
    std::vector<Row> probes;
    for (int which = 0; which < class_count(); ++which)
        for (const std::int64_t value : spread(which))
            if (const auto values = with({{which, value}})) probes.push_back(*values);
    const Operator& op = supported_.op();
    const Problem any(op.space, domain_.rank);
    for (const TensorSpec& tensor : op.outputs)
        for (int axis = 0; axis < std::ssize(tensor.sizes(any)); ++axis) {
            std::vector<Row> with_size = probes;
            for (Row& values : with_size)
                values.push_back(at(tensor.sizes(problem_of(values)), axis));
            bool is_known = false;
            for (std::size_t other = 0; other < names_.size(); ++other)
                is_known |= std::ranges::all_of(
                    with_size, [&](const Row& values) { return values[other] == values.back(); });
            if (is_known) continue;
            probes = std::move(with_size);
            sizes_.push_back({&tensor, axis});
            names_.push_back(fmt::format("{}.size({})", tensor.name, axis));
        }
}

}  // namespace gradverify
