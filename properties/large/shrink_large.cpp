// SPDX-License-Identifier: Apache-2.0
#include "properties/large/shrink_large.hpp"

#include <algorithm>

#include "properties/large/large_plan.hpp"
#include "properties/shrinking/shrink_case.hpp"

namespace gradverify {

namespace {

constexpr RunBudget budget{.runs = 80, .seconds = 120.0};

class LargeShrinking {
  public:
    LargeShrinking(const Kernel& kernel, const Case& found, ShrinkTrials& trials)
        : kernel_(kernel),
          trials_(trials),
          along_(*find_named(kernel.op->separable, found.setting.copies->along)) {}

    void run() {
        shrink_setting(trials_);
        fewest_copies();
        for (bool is_smaller = true; is_smaller && trials_.may_go_on();) is_smaller = simplify();
        fewest_copies();
    }

  private:
    const Case& smallest() const { return trials_.smallest(); }
    std::int64_t copies() const { return smallest().setting.copies->count; }
    Problem one() const { return *one_copy(smallest().problem, along_, copies()); }

    /// Whether `count` copies of the problem are supported, smaller than the smallest, and fail.
    bool try_copies(const Problem& of, std::int64_t count) {
        if (count < 2 || !trials_.may_go_on() || why_not_multiplied(along_, of)) return false;
        Case candidate = smallest();
        candidate.problem = multiplied(of, along_, count);
        candidate.setting.copies->count = count;
        if (!(candidate.problem < smallest().problem) || !is_supported(candidate, of, count))
            return false;
        return trials_.fails(candidate);
    }

    bool is_supported(const Case& candidate, const Problem& of, std::int64_t count) const try {
        const KernelDeclaration& declaration = *kernel_.on(candidate.device);
        return !why_unsupported(
            kernel_, large_shape(kernel_, declaration, of, along_, count, candidate.setting));
    } catch (const std::invalid_argument&) {
        return false;
    }

    /// Halves the copies as long as they fail.
    void fewest_copies() {
        const Problem of = one();
        std::int64_t too_few = 1;
        for (std::int64_t fewest = copies(); fewest - too_few > 1 && trials_.may_go_on();) {
            const std::int64_t middle = too_few + (fewest - too_few) / 2;
            if (try_copies(of, middle))
                fewest = middle;
            else
                too_few = middle;
        }
    }

    /// Moves each parameter to its default, or half way, with as many copies or tensors as large.
    bool simplify() {
        bool is_smaller = false;
        for (int slot = 0; slot < static_cast<int>(one().slots().size()); ++slot)
            for (const int share : {0, 2}) {
                const Problem from = one();
                const Slot& spec = from.slots()[static_cast<std::size_t>(slot)];
                const std::int64_t simplest = from.space().spec(spec).default_value;
                Problem to = from;
                to[slot] = share == 0 ? simplest : simplest + (from[slot] - simplest) / share;
                if (to == from || kernel_.op->validate(to)) continue;
                is_smaller |= try_copies(to, copies()) || try_copies(to, as_large(from, to));
            }
        return is_smaller;
    }

    std::int64_t as_large(const Problem& from, const Problem& to) const {
        std::int64_t most = 0;
        for (const std::string& tensor : kernel_.pass->tensors()) {
            const std::int64_t before =
                element_count(kernel_.op->sizes_of(tensor, multiplied(from, along_, copies())));
            const std::int64_t now = element_count(kernel_.op->sizes_of(tensor, to));
            if (now > 0) most = std::max(most, (before - 1) / now);
        }
        return most;
    }

    const Kernel& kernel_;
    ShrinkTrials& trials_;
    const SeparableSpec& along_;
};

}  // namespace

Shrunk shrink_large(const Kernel& kernel, const Case& found, const Outcome& outcome,
                    const CaseRunner& runner) {
    ShrinkTrials trials(found, outcome, runner);
    trials.start(budget);
    LargeShrinking(kernel, found, trials).run();
    return {{}, trials.smallest(), trials.outcome(), trials.runs()};
}

}  // namespace gradverify
