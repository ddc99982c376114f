// SPDX-License-Identifier: Apache-2.0
// Merges slots into classes, narrows their ranges to a fixed point, and orders them.
#include "properties/problems/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "harness/base/text.hpp"

namespace gradverify {
namespace {

using Kind = Constraint::Kind;

/// Builds the domain of one rank; throws where the constraints leave no value.
class DomainBuilder {
  public:
    DomainBuilder(const Operator& op, const KernelDeclaration& kernel, int rank)
        : op_(op), kernel_(kernel), rank_(rank), leader_(op.space.slots(rank).size()) {
        std::iota(leader_.begin(), leader_.end(), 0);
        for (const Constraint& constraint : op.constraints) statements_.push_back(&constraint);
        for (const Constraint& constraint : kernel.constraints) statements_.push_back(&constraint);
    }

    RankDomain build() {
        for (const Constraint* constraint : statements_)
            if (constraint->kind == Kind::same_as)
                for (const auto& [slot, other] : slots_of(*constraint, op_.space, rank_))
                    unite(slot, other);
        // Two that are multiples of each other are equal: merging them may close another circle.
        do make_classes();
        while (merge_circles());
        narrow();
        if (!kernel_.accepts_empty) exclude_empty_sizes();
        find_draw_order();
        for (SlotClass& slot_class : domain_.classes) slot_class.smallest = smallest_of(slot_class);
        if (Assignment smallest(domain_); !smallest.complete()) contradict_relations();
        return std::move(domain_);
    }

  private:
    int leader(int slot) const { return leader_[static_cast<std::size_t>(slot)]; }
    /// The lowest slot leads, so that classes are found in the order of slots.
    void unite(int a, int b) {
        const auto [first, other] = std::minmax({leader(a), leader(b)});
        std::ranges::replace(leader_, other, first);
    }
    SlotClass& class_at(int slot) { return domain_.at(domain_.index_of(slot)); }

    void make_classes() {
        domain_ = {.rank = rank_};
        for (int slot = 0; slot < static_cast<int>(leader_.size()); ++slot) {
            const ParameterSpec& spec = op_.space.spec(rank_, slot);
            const bool leads = leader(slot) == slot;
            domain_.class_of.push_back(leads ? static_cast<int>(domain_.classes.size())
                                             : domain_.index_of(leader(slot)));
            if (leads) domain_.classes.push_back({.lowest = spec.minimum, .highest = spec.maximum});
            SlotClass& slot_class = class_at(slot);
            slot_class.slots.push_back(slot);
            slot_class.lowest = std::max(slot_class.lowest, spec.minimum);
            slot_class.highest = std::min(slot_class.highest, spec.maximum);
        }
        for (const Constraint* constraint : statements_) apply(*constraint);
        close_relations();
    }

    void apply(const Constraint& constraint) {
        for (const auto& [slot, other] : slots_of(constraint, op_.space, rank_)) {
            SlotClass& slot_class = class_at(slot);
            if (constraint.kind == Kind::range) {
                slot_class.lowest = std::max(slot_class.lowest, constraint.minimum);
                slot_class.highest = std::min(slot_class.highest, constraint.maximum);
            } else if (constraint.kind == Kind::multiple_of) {
                slot_class.step = least_common_multiple(slot_class.step, constraint.factor);
            } else if (constraint.kind == Kind::multiple_of_parameter) {
                add_divisor(domain_.index_of(slot), domain_.index_of(other));
            }
        }
    }

    bool add_divisor(int multiple, int divisor) {
        std::vector<int>& divisors = domain_.at(multiple).divisors;
        if (multiple == divisor || std::ranges::count(divisors, divisor) > 0) return false;
        divisors.push_back(divisor);
        domain_.at(divisor).multiples.push_back(multiple);
        return true;
    }

    /// A divisor's divisor is a divisor.
    void close_relations() {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t c = 0; c < domain_.classes.size(); ++c)
                for (const int divisor : std::vector<int>(domain_.classes[c].divisors))
                    for (const int further : std::vector<int>(domain_.at(divisor).divisors))
                        changed |= add_divisor(static_cast<int>(c), further);
        }
    }

    bool merge_circles() {
        bool merged = false;
        for (const SlotClass& slot_class : domain_.classes)
            for (const int divisor : slot_class.divisors) {
                const SlotClass& other = domain_.at(divisor);
                const int self = domain_.index_of(slot_class.slots[0]);
                if (std::ranges::count(other.divisors, self) == 0) continue;
                unite(slot_class.slots.front(), other.slots.front());
                merged = true;
            }
        return merged;
    }

    void round_ends(SlotClass& slot_class) {
        slot_class.lowest = round_up(slot_class.lowest, slot_class.step);
        slot_class.highest = round_down(slot_class.highest, slot_class.step);
        if (slot_class.lowest > slot_class.highest) contradict(slot_class);
    }

    /// Narrows the ranges of a divisor and its multiple by each other; zero is a multiple of all.
    void narrow_pair(SlotClass& multiple, SlotClass& divisor) {
        const std::int64_t sure = divisor.is_fixed() ? divisor.lowest : divisor.step;
        multiple.step = least_common_multiple(multiple.step, std::max<std::int64_t>(sure, 1));
        if (divisor.highest == 0) multiple.highest = 0;
        if (multiple.lowest > 0) {
            divisor.lowest = std::max<std::int64_t>(divisor.lowest, 1);
            divisor.highest = std::min(divisor.highest, multiple.highest);
            multiple.lowest = std::max(multiple.lowest, divisor.lowest);
        }
    }

    void narrow() {
        for (std::vector<SlotClass> before; before != domain_.classes;) {
            before = domain_.classes;
            for (SlotClass& slot_class : domain_.classes) {
                round_ends(slot_class);
                for (const int divisor : slot_class.divisors)
                    narrow_pair(slot_class, domain_.at(divisor));
            }
        }
    }

    std::int64_t smallest_of(const SlotClass& slot_class) const {
        return nearest_in({slot_class.lowest, slot_class.highest, slot_class.step},
                          op_.space.spec(rank_, slot_class.slots.front()).default_value);
    }

    /// Takes zero from sizes that alone make a tensor empty.
    void exclude_empty_sizes() {
        for (SlotClass& slot_class : domain_.classes) {
            Problem problem(op_.space, rank_);
            if (slot_class.lowest != 0 || op_.is_empty(problem)) continue;
            for (const int slot : slot_class.slots) problem[slot] = 0;
            if (!op_.is_empty(problem)) continue;
            slot_class.lowest = 1;
            empty_excluded_.insert(slot_class.slots.front());
        }
        narrow();
    }

    void find_draw_order() {
        // A divisor has fewer divisors than its multiples, since relations are closed.
        for (std::size_t c = 0; c < domain_.classes.size(); ++c)
            domain_.draw_order.push_back(static_cast<int>(c));
        std::ranges::stable_sort(domain_.draw_order, {},
                                 [&](int c) { return domain_.at(c).divisors.size(); });
    }

    std::string statements_on(const std::set<int>& slots) const {
        std::vector<std::string> texts;
        for (const Constraint* constraint : statements_) {
            const auto pairs = slots_of(*constraint, op_.space, rank_);
            const bool speaks = std::ranges::any_of(pairs, [&](const SlotPair& pair) {
                return slots.contains(pair.slot) || slots.contains(pair.other);
            });
            if (speaks) texts.push_back(fmt::format("`{}`", constraint->print()));
        }
        return joined(texts);
    }

    [[noreturn]] void refuse(const std::set<int>& slots) const {
        std::vector<std::string> names, ranges;
        bool is_of_empty = false;
        for (const int slot : slots) {
            const ParameterSpec& spec = op_.space.spec(rank_, slot);
            is_of_empty |= empty_excluded_.contains(slot);
            names.push_back(op_.space.slot(rank_, slot).name);
            ranges.push_back(fmt::format("{} is {} or more", names.back(), spec.minimum));
            if (spec.maximum < ParameterSpec{}.maximum)
                ranges.back() += fmt::format(", at most {}", spec.maximum);
        }
        throw std::invalid_argument(
            fmt::format("{} supports no problem: no value of {} satisfies {}{}; {}",
                        kernel_.full_name(), joined(names), statements_on(slots),
                        is_of_empty ? ", and it is not given empty problems" : "", joined(ranges)));
    }

    [[noreturn]] void contradict(const SlotClass& slot_class) const {
        std::set<int> slots(slot_class.slots.begin(), slot_class.slots.end());
        for (const std::vector<int>& related : {slot_class.divisors, slot_class.multiples})
            for (const int other : related) {
                const auto& more = domain_.at(other).slots;
                slots.insert(more.begin(), more.end());
            }
        refuse(slots);
    }

    [[noreturn]] void contradict_relations() const {
        std::set<int> slots;
        for (const SlotClass& slot_class : domain_.classes)
            if (!slot_class.divisors.empty() || !slot_class.multiples.empty())
                slots.insert(slot_class.slots.begin(), slot_class.slots.end());
        refuse(slots);
    }

    const Operator& op_;
    const KernelDeclaration& kernel_;
    int rank_;
    std::vector<int> leader_;  ///< by slot: the lowest of its class
    std::vector<const Constraint*> statements_;
    std::set<int> empty_excluded_;
    RankDomain domain_;
};

}  // namespace

SupportedProblems::SupportedProblems(const Operator& op, const PassSpec& pass,
                                     const KernelDeclaration& kernel)
    : op_(&op), pass_(&pass), kernel_(&kernel) {
    const RankRange ranks = kernel.ranks.value_or(op.space.ranks());
    check_names(op.constraints, op.space, op.space.ranks());
    check_names(kernel.constraints, op.space, ranks);
    std::string why_none;
    for (int rank = ranks.least; rank <= ranks.most; ++rank) {
        try {
            domains_.push_back(DomainBuilder(op, kernel, rank).build());
        } catch (const std::invalid_argument& contradiction) {
            why_none = contradiction.what();
        }
    }
    if (domains_.empty()) throw std::invalid_argument(why_none);
}

const RankDomain* SupportedProblems::domain_of(int rank) const {
    const auto found = std::ranges::find(domains_, rank, &RankDomain::rank);
    return found == domains_.end() ? nullptr : &*found;
}

bool SupportedProblems::satisfies_constraints(const Problem& problem) const {
    const RankDomain* domain = domain_of(problem.rank());
    if (domain == nullptr) return false;
    const Assignment values(*domain, problem);
    for (std::size_t slot = 0; slot < domain->class_of.size(); ++slot) {
        const int which = domain->class_of[slot];
        const std::int64_t value = problem[static_cast<int>(slot)];
        if (value != values[which] || !values.allows(which, value)) return false;
    }
    return true;
}

double SupportedProblems::share_of_elements(const Problem& problem) const {
    if (!kernel_->most_elements) return 0.0;
    double largest = 0.0;
    for (const std::string& tensor : pass_->tensors()) {
        double elements = 1.0;
        for (const std::int64_t size : op_->sizes_of(tensor, problem))
            elements *= static_cast<double>(size);
        largest = std::max(largest, elements);
    }
    return largest / static_cast<double>(*kernel_->most_elements);
}

bool SupportedProblems::satisfies_predicates(const Problem& problem) const {
    if (op_->why_invalid && op_->why_invalid(problem)) return false;
    if (kernel_->predicate != nullptr && !kernel_->predicate(problem)) return false;
    if (share_of_elements(problem) > 1.0) return false;
    return kernel_->accepts_empty || !op_->is_empty(problem);
}

}  // namespace gradverify
