// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/draw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gradverify {
namespace {

using Plan = ProblemDrawer::Plan;

/// Draws in 16 that are usual, and tiled.
constexpr std::uint64_t usual_plans = 4, tiled_plans = 2;

Plan draw_plan(SplitMix64& random) {
    const std::uint64_t roll = random.below(16);
    if (roll < usual_plans) return Plan::usual;
    return roll < usual_plans + tiled_plans ? Plan::tiled : Plan::mixed;
}

/// How often a mixed draw has a large parameter, how often that is of the longest, and how often
/// one of these may cost more.
constexpr std::uint64_t large_one_in = 4, longest_one_in = 5, dear_one_in = 4;
/// How much of the budget any length may cost alone: many of them have many thousands.
constexpr double most_share_of_any = 0.25;
/// How often a large count is more than a grid takes: the only value that shows an unchecked
/// launch, and the dearest.
constexpr std::uint64_t beyond_grid_one_in = 8;
/// How often a value is another parameter's (filter = in, n = c), and the largest: a product of
/// several large ones may not even fit an integer.
constexpr std::uint64_t copied_one_in = 12;
constexpr std::int64_t most_copied = 64;
/// How often a draw may be empty, where the kernel takes that, and how often it is tiny.
constexpr std::uint64_t empty_one_in = 12, generous_but_one_in = 4;
/// Tries after which a draw that is empty, or too dear, is given up or cut to its smallest.
constexpr int most_repairs = 128, most_reductions = 48;

/// Log-uniform in [most / 2^(octaves + 1), most].
double log_uniform_below(double most, std::int64_t octaves, SplitMix64& random) {
    const double mantissa = 1.0 + static_cast<double>(random.below(1024)) / 1024.0;
    return std::ldexp(most * mantissa / 2.0, -static_cast<int>(random.between(0, octaves)));
}

}  // namespace

class ProblemDrawer::Attempt {
  public:
    Attempt(const ProblemDrawer& drawer, SplitMix64& random, std::size_t domain, Plan plan)
        : drawer_(drawer),
          random_(random),
          domain_(drawer.problems_->domains()[domain]),
          levels_(drawer.levels_[domain]),
          values_(domain_),
          plan_(plan),
          most_(drawer.budget_),
          is_generous_(!random.one_in(generous_but_one_in)),
          wants_elements_(!drawer.problems_->kernel().accepts_empty ||
                          !random.one_in(empty_one_in)) {}

    std::optional<Problem> make() {
        if (plan_ == Plan::mixed && random_.one_in(large_one_in)) choose_large();
        if (!wants_elements_ && large_.empty() && random_.one_in(2)) choose_zero();
        return finish();
    }

    /// A problem of these sizes.
    std::optional<Problem> make(const GivenSizes& given) {
        wants_elements_ = true;
        // A length beside several tiles is now and then the smallest.
        others_are_smallest_ = given.has_choice() && random_.one_in(2);
        if (!give(given)) return std::nullopt;
        return finish();
    }

  private:
    std::optional<Problem> finish() {
        if (plan_ == Plan::usual) plan_usual();
        if (plan_ == Plan::tiled) choose_tiled();
        // Padding comes last: the usual one follows the others.
        for (const bool is_padding : {false, true})
            if (!choose_others(is_padding)) return std::nullopt;
        measure();
        if (wants_elements_ && cost_.empty_axes > 0) {
            if (!large_.empty()) make_room_for_large();
            repair();
            if (cost_.empty_axes > 0) return std::nullopt;
        }
        if (!reduce()) return std::nullopt;
        return values_.problem(space());
    }

    const ParameterSpace& space() const { return drawer_.problems_->op().space; }
    int class_count() const { return static_cast<int>(domain_.classes.size()); }
    const ClassLevels& levels(int which) const { return levels_[static_cast<std::size_t>(which)]; }
    bool is_free(int which) const {
        return std::ranges::count(large_, which) == 0 && !domain_.at(which).is_fixed();
    }
    int random_class() {
        return static_cast<int>(random_.below(static_cast<std::uint64_t>(class_count())));
    }
    void measure() { cost_ = drawer_.cost_(values_.problem(space())); }

    /// Gives one class a large value, if that alone is within the budget.
    void choose_large() {
        int weights = 0;
        for (const ClassLevels& levels : levels_) weights += levels.large_weight;
        for (int attempt = 0; attempt < 4 && weights > 0; ++attempt) {
            auto roll = static_cast<int>(random_.below(static_cast<std::uint64_t>(weights)));
            int which = 0;
            while (roll >= levels(which).large_weight) roll -= levels(which++).large_weight;
            const ClassLevels& of = levels(which);
            // Any length, or one at which code is known to change.
            const bool is_any = random_.one_in(2);
            const bool is_longest =
                !is_any && !of.longest.empty() && random_.one_in(longest_one_in);
            const std::vector<std::int64_t>& large = is_longest ? of.longest : of.large;
            std::int64_t value = large[random_.below(large.size())];
            if (is_any)
                value =
                    log_uniform(large.front(), (of.longest.empty() ? large : of.longest).back());
            else if (!is_longest && of.beyond_grid && random_.one_in(beyond_grid_one_in))
                value = *of.beyond_grid;
            Assignment alone = values_;
            if (!alone.set_nearest(which, value) || !alone.complete()) continue;
            const bool is_dear = is_longest && random_.one_in(dear_one_in);
            const WorkBudget most = is_dear ? dear_budget(drawer_.budget_) : drawer_.budget_;
            const double share = drawer_.cost_(alone.problem(space())).share_of(most);
            if (share > (is_any ? most_share_of_any : 1.0)) continue;
            values_.set(which, alone[which]);
            large_ = {which};
            most_ = most;
            return;
        }
    }

    /// Within a factor of two each value is as likely as the others.
    std::int64_t log_uniform(std::int64_t least, std::int64_t most) {
        const auto octave_of = [](std::int64_t value) {
            return std::bit_width(static_cast<std::uint64_t>(value)) - 1;
        };
        const std::int64_t octave = std::int64_t{1}
                                    << random_.between(octave_of(least), octave_of(most));
        return std::clamp(random_.between(octave, 2 * octave - 1), least, most);
    }

    /// Gives classes their sizes: half of the time just above where a level begins, now and then
    /// where it begins, or anything in it that costs a few times as much, or is cheap.
    bool give(const GivenSizes& given) {
        const double most_room = given.has_choice() ? 64.0 : 2.0;
        double room = std::clamp(SizePlan::cheap_share / given.share, given.share > 1.0 ? 1.0 : 2.0,
                                 most_room);
        most_ = share_of_budget(drawer_.budget_, 1.1 * room * given.share);
        const std::uint64_t roll = random_.below(8), start = random_.below(given.sizes.size());
        for (std::size_t i = 0; i < given.sizes.size(); ++i) {
            const auto& [which, least, most] = given.sizes[(start + i) % given.sizes.size()];
            const std::int64_t unit = std::max<std::int64_t>(values_.unit(which), 1);
            const auto highest = static_cast<std::int64_t>(static_cast<double>(least) * room);
            std::int64_t value = least;
            if (least < most && roll == 0 && given.share <= SizePlan::cheap_share)
                value = round_down(least - 1, unit);
            if (least < most && roll > 4)
                value = round_up(log_uniform(least, std::min(most, highest)), unit);
            if (value > most || !values_.allows(which, value)) value = least;
            if (!values_.allows(which, value)) return false;
            values_.set(which, value);
            large_.push_back(which);
            room = std::max(room * static_cast<double>(least) / static_cast<double>(value), 1.0);
        }
        return true;
    }

    void choose_zero() {
        const auto zero = std::ranges::find(levels_, true, &ClassLevels::takes_zero);
        if (zero != levels_.end()) values_.set(static_cast<int>(zero - levels_.begin()), 0);
    }

    /// Decides which parameters of the geometry are not plain, and which sizes give way last.
    void plan_usual() {
        using Role = ClassLevels::Role;
        axes_are_alike_ = !random_.one_in(4);
        std::vector<int> geometry;
        for (const ClassLevels& of : levels_)
            if (of.role == Role::geometry && std::ranges::count(geometry, of.parameter) == 0)
                geometry.push_back(of.parameter);
        // Filters and windows are declared before strides and dilations.
        const std::uint64_t roll = random_.below(6);
        const std::size_t wanted = roll < 1 ? 0 : roll < 4 ? 1 : 2;
        const std::ptrdiff_t first = random_.one_in(4) ? 0 : 1;
        while (geometry.size() > wanted) {
            const std::uint64_t others = geometry.size() - static_cast<std::size_t>(first);
            const auto at = first + static_cast<std::ptrdiff_t>(
                                        random_.below(std::max<std::uint64_t>(others, 1)));
            geometry.erase(geometry.begin() + std::min(at, std::ssize(geometry) - 1));
        }
        not_plain_ = std::move(geometry);
        const bool keeps_counts = !random_.one_in(4);
        for (const ClassLevels& of : levels_)
            is_kept_.push_back(of.role == Role::multiple ? keeps_counts
                                                         : enlarges(of.role) && random_.one_in(2));
    }

    GeometryPart part_of(int which) const {
        const auto at = std::ranges::find(not_plain_, levels(which).parameter);
        if (at == not_plain_.end()) return GeometryPart::plain;
        return at == not_plain_.begin() ? GeometryPart::first : GeometryPart::second;
    }

    /// Gives two or three classes more than a tile's worth.
    void choose_tiled() {
        std::vector<int> large_ones;
        for (int which = 0; which < class_count(); ++which)
            if (is_free(which) && enlarges(levels(which).role))
                large_ones.insert(large_ones.end(),
                                  levels(which).role == ClassLevels::Role::size ? 1 : 2, which);
        for (std::uint64_t left = 2 + random_.below(2); left > 0 && !large_ones.empty(); --left) {
            const int which = large_ones[random_.below(large_ones.size())];
            std::erase(large_ones, which);
            values_.set_nearest(which, tiled_value(random_));
        }
        others_are_smallest_ = !random_.one_in(4);
    }

    /// Gives the classes of padding, or all others, a value where they have none.
    bool choose_others(bool is_padding) {
        for (const int which : domain_.draw_order) {
            if (values_.has(which) ||
                is_padding != (levels(which).role == ClassLevels::Role::padding))
                continue;
            if (!values_.set_nearest(which, propose(which))) return false;
        }
        return true;
    }

    std::int64_t propose(int which) {
        if (plan_ == Plan::usual) return propose_usual(which);
        if (others_are_smallest_) return levels(which).smallest;
        if (random_.one_in(copied_one_in))
            if (const std::optional<std::int64_t> value = similar_value(which)) return *value;
        return small_value(levels(which), values_.unit(which), is_generous_, random_);
    }

    std::int64_t propose_usual(int which) {
        const ClassLevels& of = levels(which);
        for (int other = 0; other < class_count(); ++other)
            if (other != which && values_.has(other) && axes_are_alike_ &&
                levels(other).parameter == of.parameter)
                return values_[other];
        if (of.role == ClassLevels::Role::geometry) return usual_step(of, part_of(which), random_);
        if (of.role != ClassLevels::Role::padding)
            return usual_count(of, values_.unit(which), random_);
        std::vector<std::int64_t> geometry;
        for (int other = 0; other < class_count(); ++other)
            if (levels(other).role == ClassLevels::Role::geometry && values_.has(other) &&
                (levels(other).axis == of.axis || levels(other).axis < 0 || of.axis < 0))
                geometry.push_back(values_[other]);
        return usual_padding(geometry, random_);
    }

    /// The value of another class, mostly of the same axis, if it is found and not large.
    std::optional<std::int64_t> similar_value(int which) {
        const bool any_axis = random_.one_in(4);
        for (int attempt = 0; attempt < 8; ++attempt) {
            const int other = random_class();
            if (other != which && values_.has(other) &&
                (any_axis || levels(other).axis == levels(which).axis))
                return values_[other] > most_copied ? std::nullopt : std::optional(values_[other]);
        }
        return std::nullopt;
    }

    /// Moves a class to the allowed value nearest to `target`; keeps that only if `better`.
    template <class Better>
    void try_value(int which, std::int64_t target, Better better) {
        const std::int64_t before = values_[which];
        const std::int64_t value = values_.nearest(which, target).value_or(before);
        if (value == before) return;
        const ProblemCost cost_before = cost_;
        values_.set(which, value);
        measure();
        if (better(cost_before)) return;
        values_.set(which, before);
        cost_ = cost_before;
    }
    void try_filling(int which, std::int64_t target) {
        try_value(which, target,
                  [&](const ProblemCost& before) { return cost_.empty_axes < before.empty_axes; });
    }

    /// A large filter, say, needs an image as large: lets the classes of its axis follow it.
    void make_room_for_large() {
        const int start = random_class();
        for (int i = 0; i < class_count() && cost_.empty_axes > 0; ++i) {
            const int which = (start + i) % class_count();
            for (const int large : large_)
                if (is_free(which) && levels(which).axis == levels(large).axis)
                    try_filling(which, values_[large] + random_.between(0, 8));
        }
    }

    /// Draws classes again, one at a time, until no tensor is empty.
    void repair() {
        for (int attempt = 0; attempt < most_repairs && cost_.empty_axes > 0; ++attempt) {
            const int which = random_class();
            // Sizes are tried first, so that geometry is not always what gives way.
            const bool is_size = levels(which).role == ClassLevels::Role::size;
            if (!is_free(which) || (attempt < most_repairs / 4 && !is_size)) continue;
            const std::uint64_t roll = random_.below(8);
            if (roll < 5)
                try_filling(which, propose(which));
            else if (roll < 7)
                try_filling(which, random_.between(1, std::int64_t{2} << random_.below(11)));
            else
                try_filling(which, levels(which).smallest);
        }
        for (int which = 0; which < class_count() && cost_.empty_axes > 0; ++which)
            if (is_free(which)) try_filling(which, levels(which).smallest);
    }

    void try_cheaper(int which, std::int64_t target, const WorkBudget& budget) {
        try_value(which, target, [&](const ProblemCost& before) {
            return cost_.share_of(budget) < before.share_of(budget) &&
                   (!wants_elements_ || cost_.empty_axes <= before.empty_axes);
        });
    }

    /// Values that were chosen to go together stay as long as something else can be reduced.
    bool gives_way(int which, bool keeps) const {
        if (plan_ == Plan::mixed || plan_ == Plan::sized) return true;
        if (keeps && !is_kept_.empty() && is_kept_[static_cast<std::size_t>(which)]) return false;
        return enlarges(levels(which).role);
    }

    /// The one of four random classes that is farthest above its smallest value; -1: none is free.
    int class_to_reduce(bool keeps) {
        int found = -1;
        for (int i = 0; i < 4; ++i) {
            const int which = random_class();
            const auto excess = [&](int c) { return values_[c] - levels(c).smallest; };
            if (is_free(which) && gives_way(which, keeps) &&
                (found < 0 || excess(which) > excess(found)))
                found = which;
        }
        return found;
    }

    /// How far below the kernel's budget a draw's own may be.
    std::int64_t octaves() const {
        if (plan_ == Plan::tiled) return 2;
        if (plan_ == Plan::usual) return 4;
        return large_.empty() ? 10 : 8;
    }

    WorkBudget own_budget() {
        WorkBudget budget = most_;
        budget.multiply_adds = log_uniform_below(budget.multiply_adds, octaves(), random_);
        // Deeper tiles pass more barriers, which are not counted.
        budget.thread_barriers =
            log_uniform_below(budget.thread_barriers / (plan_ == Plan::mixed ? 2 : 16), 6, random_);
        // An element costs far more than a product: it is drawn, copied and compared.
        budget.bytes =
            log_uniform_below(budget.bytes / (plan_ == Plan::mixed ? 8 : 32), 3, random_);
        return budget;
    }

    /// Halves classes until the draw is within its own budget, or at least within the kernel's.
    bool reduce() {
        const WorkBudget budget = plan_ == Plan::sized ? most_ : own_budget();
        for (int i = 0; i < most_reductions && cost_.share_of(budget) > 1.0; ++i) {
            const int which = class_to_reduce(i < most_reductions / 2);
            if (which < 0) continue;
            const std::int64_t smallest = levels(which).smallest;
            try_cheaper(which, smallest + (values_[which] - smallest) / 2, budget);
        }
        if (cost_.share_of(most_) <= 1.0) return true;
        for (int which = 0; which < class_count(); ++which)
            if (plan_ != Plan::sized || is_free(which))
                try_cheaper(which, levels(which).smallest, budget);
        return cost_.share_of(most_) <= 1.0;
    }

    const ProblemDrawer& drawer_;
    SplitMix64& random_;
    const RankDomain& domain_;
    const std::vector<ClassLevels>& levels_;
    Assignment values_;
    Plan plan_;
    WorkBudget most_;
    bool axes_are_alike_ = false, others_are_smallest_ = false;
    std::vector<int> not_plain_;  ///< parameters of a usual geometry, the first one first
    std::vector<bool> is_kept_;   ///< by class: is reduced after the others
    bool is_generous_;            ///< sizes and counts are the larger of two draws
    bool wants_elements_;
    std::vector<int> large_;  ///< classes with large values, which are kept
    ProblemCost cost_;
};

ProblemDrawer::ProblemDrawer(const SupportedProblems& problems, WorkBudget budget)
    : problems_(&problems), budget_(budget), cost_(problems) {
    for (const RankDomain& domain : problems.domains()) {
        std::vector<ClassLevels>& levels = levels_.emplace_back();
        for (std::size_t which = 0; which < domain.classes.size(); ++which)
            levels.push_back(levels_of(problems.op().space, domain, static_cast<int>(which)));
    }
}

std::optional<Problem> ProblemDrawer::operator()(SplitMix64& random,
                                                 std::optional<Plan> plan) const {
    if (!plan) plan = draw_plan(random);
    const std::size_t domain = random.below(levels_.size());
    return Attempt(*this, random, domain, *plan).make();
}

std::optional<Problem> ProblemDrawer::of_sizes(SplitMix64& random, const GivenSizes& given) const {
    return Attempt(*this, random, given.domain, Plan::sized).make(given);
}

std::optional<Problem> ProblemDrawer::of_rank(SplitMix64& random, int rank) const {
    const auto at = problems_->domain_of(rank) - problems_->domains().data();
    return Attempt(*this, random, static_cast<std::size_t>(at), draw_plan(random)).make();
}

}  // namespace gradverify
