// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage.hpp"

#include <algorithm>
#include <bit>

#include "harness/random.hpp"

namespace gradverify {

namespace {

std::uint64_t hash_of(const Problem& problem) {
    auto hash = static_cast<std::uint64_t>(problem.rank());
    for (const std::int64_t value : problem.values())
        hash = SplitMix64(hash ^ static_cast<std::uint64_t>(value)).next();
    return hash;
}

}  // namespace

int SlotCoverage::remainders_of(int block) const {
    std::uint32_t folded = remainders;
    for (int half = 16; half >= block; half /= 2) folded |= folded >> half;
    const std::uint32_t low = block == 32 ? ~0U : (1U << block) - 1;
    return std::popcount(folded & low);
}

RankCoverage::RankCoverage(const Problem& like)
    : slots_(like.values().size()), largest_(like.space(), like.rank()) {
    defaults_.assign(largest_.values().begin(), largest_.values().end());
    pairs_.resize(slots_.size() * slots_.size());
    together_.resize(pairs_.size());
}

std::size_t RankCoverage::class_of(std::int64_t value) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(value, 0, classes - 1));
}

std::size_t RankCoverage::position(int slot, int other) const {
    return static_cast<std::size_t>(std::min(slot, other)) * slots_.size() +
           static_cast<std::size_t>(std::max(slot, other));
}

void RankCoverage::add(const Problem& problem) {
    const auto count = static_cast<int>(slots_.size());
    const auto is_away = [&](int i) {
        return problem[i] != defaults_[static_cast<std::size_t>(i)];
    };
    for (int i = 0; i < count; ++i) {
        SlotCoverage& slot = slots_[static_cast<std::size_t>(i)];
        slot.values.insert(problem[i]);
        slot.remainders |= 1U << (static_cast<std::uint64_t>(problem[i]) % 32);
        largest_[i] = std::max(largest_[i], problem[i]);
        for (int j = i + 1; j < count; ++j) {
            const std::size_t at = position(i, j);
            pairs_[at].set(class_of(problem[i]) * classes + class_of(problem[j]));
            if (is_away(i) && is_away(j)) together_[at] = true;
        }
    }
}

bool RankCoverage::met_together(int slot, int other) const {
    return together_[position(slot, other)];
}

std::int64_t RankCoverage::pairs_of_values() const {
    std::int64_t sum = 0;
    for (const Pairs& pairs : pairs_) sum += static_cast<std::int64_t>(pairs.count());
    return sum;
}

void Coverage::add(const Problem& problem) {
    // What was met before adds nothing.
    if (!seen_.insert(hash_of(problem)).second) return;
    ranks_.try_emplace(problem.rank(), problem).first->second.add(problem);
}

std::vector<int> free_slots(const Kernel& kernel, int rank) {
    const ParameterSpace& space = kernel.op->space;
    std::vector<int> leader(space.slots(rank).size());
    for (std::size_t i = 0; i < leader.size(); ++i) leader[i] = static_cast<int>(i);
    std::vector<bool> is_fixed(leader.size());
    std::vector<Constraint> all = kernel.op->constraints;
    const auto& own = kernel.any().constraints;
    all.insert(all.end(), own.begin(), own.end());
    for (const Constraint& constraint : all)
        for (const auto& [slot, other] : slots_of(constraint, space, rank)) {
            if (constraint.kind == Constraint::Kind::range &&
                constraint.minimum == constraint.maximum)
                is_fixed[static_cast<std::size_t>(slot)] = true;
            if (constraint.kind != Constraint::Kind::same_as) continue;
            const auto [first, second] = std::minmax(leader[static_cast<std::size_t>(slot)],
                                                     leader[static_cast<std::size_t>(other)]);
            std::ranges::replace(leader, int{second}, int{first});
        }
    for (std::size_t i = 0; i < leader.size(); ++i)
        if (is_fixed[i]) is_fixed[static_cast<std::size_t>(leader[i])] = true;
    std::vector<int> free;
    for (std::size_t i = 0; i < leader.size(); ++i)
        if (leader[i] == static_cast<int>(i) && !is_fixed[i]) free.push_back(static_cast<int>(i));
    return free;
}

PairsCovered pairs_covered(const Kernel& kernel, const Coverage& coverage) {
    PairsCovered covered;
    for (const auto& [rank, met] : coverage.ranks()) {
        const auto& slots = kernel.op->space.slots(rank);
        const std::vector<int> free = free_slots(kernel, rank);
        for (std::size_t i = 0; i < free.size(); ++i)
            for (std::size_t j = i + 1; j < free.size(); ++j) {
                ++covered.of;
                if (met.met_together(free[i], free[j]))
                    ++covered.met;
                else
                    covered.missed.push_back(slots[static_cast<std::size_t>(free[i])].name +
                                             " with " +
                                             slots[static_cast<std::size_t>(free[j])].name);
            }
    }
    return covered;
}

}  // namespace gradverify
