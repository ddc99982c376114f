// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

/// The slots that are multiplied; empty where the problem's rank has not all of them.
static std::vector<int> slots_of(const SeparableSpec& along, const Problem& problem) {
    std::vector<int> slots;
    for (const std::string& parameter : along.parameters) {
        const auto found = problem.space().find(parameter, problem.rank());
        if (found.size() != 1) return {};
        slots.push_back(found.front());
    }
    return slots;
}

/// Whether a sum and a number, in double, may differ by the order of summing alone.
static bool is_same(const Bounded& sum, double other) {
    constexpr double rounding = 1e-9;
    const double value = sum.value();
    return value == other || (std::isnan(value) && std::isnan(other)) ||
           std::abs(value - other) <= rounding * (sum.magnitude() + std::abs(other));
}

static bool are_same(const std::vector<Bounded>& sums, const std::vector<double>& others) {
    return std::ranges::equal(sums, others, is_same);
}

std::vector<std::string> mistakes_in_separable(const Operator& op) {
    std::vector<std::string> mistakes;
    const RankRange ranks = op.space.ranks();
    for (const SeparableSpec& spec : op.separable) {
        const std::string what = fmt::format("separable_along(\"{}\")", spec.name);
        if (spec.parameters.empty()) mistakes.push_back(what + " names no parameter");
        for (const std::string& parameter : spec.parameters) {
            bool is_known = false;
            for (int rank = ranks.least; rank <= ranks.most; ++rank) {
                const auto slots = op.space.find(parameter, rank);
                is_known |= slots.size() == 1 && !op.space.spec(rank, slots.front()).is_real();
            }
            if (!is_known)
                add(mistakes,
                    "{} needs parameters that are one whole number, not '{}'; there are {}", what,
                    parameter, joined(op.space.names(ranks.most)));
        }
        if (std::ranges::count(op.separable, spec.name, &SeparableSpec::name) > 1)
            mistakes.push_back(what + " stands twice");
    }
    return mistakes;
}

std::optional<std::string> why_not_multiplied(const SeparableSpec& along, const Problem& problem) {
    if (slots_of(along, problem).empty())
        return "a problem with so many spatial axes has no " + along.name;
    if (along.holds_if && !along.holds_if(problem))
        return "copies of this problem along " + along.name + " touch each other";
    return std::nullopt;
}

Problem multiplied(const Problem& one, const SeparableSpec& along, std::int64_t copies) {
    Problem large = one;
    for (const int slot : slots_of(along, one)) large[slot] *= copies;
    return large;
}

std::optional<Problem> one_copy(const Problem& large, const SeparableSpec& along,
                                std::int64_t copies) {
    Problem one = large;
    for (const int slot : slots_of(along, large)) {
        if (one[slot] % copies != 0) return std::nullopt;
        one[slot] /= copies;
    }
    if (why_not_multiplied(along, one)) return std::nullopt;
    return one;
}

std::optional<std::size_t> axis_of_copies(const Operator& op, std::string_view tensor,
                                          const Problem& one, const SeparableSpec& along) {
    const Sizes once = op.sizes_of(tensor, one);
    std::optional<std::size_t> axis;
    for (const std::int64_t copies : {2, 3}) {
        const Sizes sizes = op.sizes_of(tensor, multiplied(one, along, copies));
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (sizes[i] == once[i]) continue;
            if (sizes[i] != copies * once[i] || found)
                refuse("along {}, {} is not copies behind each other", along.name, tensor);
            found = i;
        }
        if (copies == 2) axis = found;
        if (axis != found) refuse("along {}, the axes of {} change", along.name, tensor);
    }
    return axis;
}

Array<double> slice(const Array<double>& all, std::size_t axis, std::int64_t copies,
                    std::int64_t which) {
    Array<double> one{all.sizes, {}};
    one.sizes[axis] /= copies;
    std::int64_t inner = one.sizes[axis];
    for (std::size_t i = axis + 1; i < all.sizes.size(); ++i) inner *= all.sizes[i];
    one.data.reserve(all.data.size() / static_cast<std::size_t>(copies));
    for (std::int64_t at = which * inner; at < static_cast<std::int64_t>(all.data.size());
         at += copies * inner)
        one.data.insert(one.data.end(), all.data.begin() + at, all.data.begin() + at + inner);
    return one;
}

Array<double> repeated(const Array<double>& one, std::size_t axis, std::int64_t copies) {
    Array<double> all{one.sizes, {}};
    all.sizes[axis] *= copies;
    std::int64_t inner = 1;
    for (std::size_t i = axis; i < one.sizes.size(); ++i) inner *= one.sizes[i];
    all.data.reserve(one.data.size() * static_cast<std::size_t>(copies));
    for (auto from = one.data.begin(); from != one.data.end(); from += inner)
        for (std::int64_t copy = 0; copy < copies; ++copy)
            all.data.insert(all.data.end(), from, from + inner);
    return all;
}

std::optional<std::string> why_not_separable(const Operator& op, const PassSpec& pass,
                                             const Problem& one, const SeparableSpec& along,
                                             const std::vector<Array<double>>& taken,
                                             std::int64_t copies) try {
    const auto whole = reference_outputs(op, pass, multiplied(one, along, copies), taken);
    std::vector<std::vector<Bounded>> sums(whole.size());
    const auto axis_of = [&](const std::string& name) {
        return axis_of_copies(op, name, one, along);
    };
    for (std::int64_t which = 0; which < copies; ++which) {
        std::vector<Array<double>> inputs;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            const auto axis = axis_of(pass.taken_by_reference()[i]);
            inputs.push_back(axis ? slice(taken[i], *axis, copies, which) : taken[i]);
        }
        const auto results = reference_outputs(op, pass, one, inputs);
        for (std::size_t i = 0; i < results.size(); ++i) {
            const std::vector<double>& terms = results[i].data;
            const auto axis = axis_of(pass.outputs[i]);
            if (axis &&
                !are_same({terms.begin(), terms.end()}, slice(whole[i], *axis, copies, which).data))
                return fmt::format("along {}, {} is not what its copies are", along.name,
                                   pass.outputs[i]);
            sums[i].resize(terms.size());
            std::ranges::transform(sums[i], terms, sums[i].begin(), std::plus<Bounded>());
        }
    }
    for (std::size_t i = 0; i < whole.size(); ++i)
        if (!axis_of(pass.outputs[i]) && !are_same(sums[i], whole[i].data))
            return fmt::format("along {}, {} is not the sum of its copies", along.name,
                               pass.outputs[i]);
    return std::nullopt;
} catch (const std::invalid_argument& wrong) {
    return wrong.what();
}

}  // namespace gradverify
