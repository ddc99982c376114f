// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/problem_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// Steps of each parameter that are tried above its smallest value, and above its failing one.
constexpr std::int64_t steps_above_smallest = 5, steps_above_failing = 3;
constexpr std::int64_t warp_size = 32;

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

ProblemValues::ProblemValues(const SupportedProblems& supported, const Problem& base,
                             int block_size)
    : supported_(supported),
      domain_(*supported.domain_of(base.rank())),
      classes_(domain_.classes),
      draw_order_(domain_.draw_order) {
    for (const SlotClass& slot_class : domain_.classes) {
        names_.push_back(name_of(base.space(), base.rank(), slot_class));
        base_.push_back(base[slot_class.slots.front()]);
        value_texts_.emplace_back();
        for (const double value :
             base.space().spec(at(base.slots(), slot_class.slots.front())).values)
            value_texts_.back().push_back(print_exactly(value));
    }
    const std::vector<int>& blocks = supported.kernel().block_sizes;
    if (blocks.size() > 1) {
        blocks_.assign(blocks.begin(), blocks.end());
        std::ranges::sort(blocks_);
        draw_order_.push_back(class_count());
        classes_.push_back({.slots = {},
                            .lowest = blocks_.front(),
                            .highest = blocks_.back(),
                            .smallest = blocks_.front(),
                            .divisors = {},
                            .multiples = {}});
        names_.emplace_back("block");
        base_.push_back(block_size > 0 ? block_size : blocks.front());
        value_texts_.emplace_back();
    }
    kinds_.assign(domain_.classes.size(), NumberKind::parameter);
    kinds_.resize(classes_.size(), NumberKind::launch);
    find_following();
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
    if (!blocks_.empty() && classes.contains(class_count() - 1)) names.push_back("block");
    return enumerated(std::move(names));
}

Problem ProblemValues::problem_of(const Row& values) const {
    Assignment assigned(domain_);
    for (int which = 0; !is_block(which); ++which) assigned.set(which, at(values, which));
    return assigned.problem(supported_.op().space);
}

int ProblemValues::block_size_of(const Row& values) const {
    return blocks_.empty() ? 0 : static_cast<int>(at(values, class_count() - 1));
}

ProblemValues::Row ProblemValues::with_sizes(Row values) const {
    if (following_.empty()) return values;
    const Problem problem = problem_of(values);
    const int block = block_size_of(values);
    for (const Following& one : following_) values.push_back(one.of(problem, block));
    return values;
}

std::optional<ProblemValues::Row> ProblemValues::with(
    const std::map<int, std::int64_t>& wanted) const {
    Assignment assigned(domain_);
    std::int64_t block = blocks_.empty() ? 0 : base_.back();
    for (const auto& [which, value] : wanted) {
        if (is_block(which)) {
            block = *std::ranges::min_element(
                blocks_, {}, [&](std::int64_t one) { return std::abs(one - value); });
            continue;
        }
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
    for (int which = 0; !is_block(which); ++which) values.push_back(assigned[which]);
    if (!blocks_.empty()) values.push_back(block);
    return values;
}

std::map<int, std::int64_t> ProblemValues::changed_in(const Row& values) const {
    std::map<int, std::int64_t> changed;
    for (int which = 0; which < class_count(); ++which)
        if (at(values, which) != base(which)) changed[which] = at(values, which);
    return changed;
}

std::vector<std::int64_t> ProblemValues::spread(int which) const {
    if (is_block(which)) {
        std::vector<std::int64_t> others = blocks_;
        std::erase(others, base(which));
        return others;
    }
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

std::vector<ProblemValues::Following> ProblemValues::sizes_and_elements() const {
    const Operator& op = supported_.op();
    const Problem any(op.space, domain_.rank);
    std::vector<Following> all;
    for (const TensorSpec& tensor : op.outputs)
        for (int axis = 0; axis < std::ssize(tensor.sizes(any)); ++axis)
            all.push_back({fmt::format("{}.size({})", tensor.name, axis), NumberKind::parameter,
                           [&tensor, axis](const Problem& problem, std::int64_t) {
                               return at(tensor.sizes(problem), axis);
                           }});
    for (const std::string& tensor : supported_.pass().outputs)
        all.push_back({"elements of " + tensor, NumberKind::elements,
                       [&op, tensor](const Problem& problem, std::int64_t) {
                           return element_count(op.sizes_of(tensor, problem));
                       }});
    return all;
}

/// Keeps those that are no other number of every row that one changed parameter makes.
void ProblemValues::find_following() {
    std::vector<Row> probes;
    for (int which = 0; which < class_count(); ++which)
        for (const std::int64_t value : spread(which))
            if (const auto values = with({{which, value}})) probes.push_back(*values);
    for (Following& one : sizes_and_elements()) {
        Row column;
        for (const Row& values : probes)
            column.push_back(one.of(problem_of(values), block_size_of(values)));
        bool is_known = false;
        for (std::size_t other = 0; !is_known && !probes.empty() && other < probes[0].size();
             ++other)
            is_known = std::ranges::equal(probes, column, {},
                                          [&](const Row& values) { return values[other]; });
        if (is_known) continue;
        for (std::size_t i = 0; i < probes.size(); ++i) probes[i].push_back(column[i]);
        following_.push_back(std::move(one));
    }
    if (!blocks_.empty() && blocks_.back() > warp_size)
        following_.push_back({fmt::format("(block / {})", warp_size), NumberKind::launch,
                              [](const Problem&, std::int64_t block) {
                                  return std::max<std::int64_t>(block / warp_size, 1);
                              }});
    for (const Following& one : following_) {
        names_.push_back(one.name);
        kinds_.push_back(one.kind);
    }
}

}  // namespace gradverify
