// SPDX-License-Identifier: Apache-2.0
#include "properties/data/thinned.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "harness/base/random.hpp"
#include "harness/numbers/autodiff/decisions.hpp"
#include "properties/data/drawn_numbers.hpp"

namespace gradverify {

namespace {

/// How large the integers are, and which share of them is not zero.
struct Level {
    std::int64_t amplitude;
    double share;
};

std::vector<Level> levels_of(const Data& data) {
    constexpr std::int64_t amplitudes[] = {64, 16, 8, 4, 2, 1};
    // A random draw begins anywhere, so that small networks have small numbers too.
    const std::uint64_t skipped =
        data.is_dense ? 0 : SplitMix64(mix_seed(data.seed, "level")).below(std::size(amplitudes));
    std::vector<Level> levels;
    for (const std::int64_t amplitude : std::span(amplitudes).subspan(skipped))
        levels.push_back({amplitude, 1.0});
    for (double share = 0.7; share > 1e-4; share *= 0.7) levels.push_back({1, share});
    levels.push_back({1, 0.0});
    return levels;
}

bool fits(const Operator& op, const Problem& problem, const Values& values,
          const ElementTypes& types) {
    return std::ranges::all_of(op.passes, [&](const PassSpec& pass) {
        return sums_stay_exact(op, pass, problem,
                               pick(op, problem, values, pass.taken_by_reference(), types),
                               types.exact_bits());
    });
}

/// One tensor of a level. Cotangents have both signs, and no ties.
Array<double> draw(const Operator& op, const Problem& problem, const std::string& name,
                   const Data& data, const Level& level, const DenseRange& range) {
    const bool is_input = op.tensor_named(name).name == name;
    auto array = filled<double>(op.sizes_of(name, problem));
    SplitMix64 random(mix_seed(data.seed, name));
    if (is_input && meets_kinks(op, data, ValueKind::integers)) {
        // Sums of ones are often zero; matrices have no zeros, which would leave no gradient.
        const bool is_factor = array.sizes.size() > 1;
        for (double& element : array.data)
            element = is_factor ? (random.one_in(2) ? 1.0 : -1.0)
                                : static_cast<double>(random.between(-1, 1));
    } else if (data.is_dense) {
        fill_dense_integers(array, range, data.seed, level.amplitude);
    } else {
        for (double& element : array.data) {
            element = static_cast<double>(random.between(1, level.amplitude));
            if (random.one_in(2)) element = -element;
        }
    }
    if (is_input && inputs_are_positive(op, data))
        for (double& element : array.data) element = std::abs(element);
    SplitMix64 thinning(mix_seed(data.seed, "thinned " + name));
    for (double& element : array.data)
        if (static_cast<double>(thinning.below(1u << 24)) >= level.share * 0x1p24) element *= 0.0;
    return array;
}

}  // namespace

bool sums_stay_exact(const Operator& op, const PassSpec& pass, const Problem& problem,
                     const std::vector<Array<double>>& taken, int exact_bits) {
    const ScopedRounding integers(
        {.unit_roundoff = 0.0, .smallest_normal = 0.0, .largest = std::ldexp(1.0, exact_bits)});
    std::vector<Array<Bounded>> results;
    try {
        results = bounded_outputs(op, pass, problem, taken);
    } catch (const OpenTie&) {
        return true;  // no case compares it
    } catch (const UndecidedComparison&) {
        return false;  // what was compared was too large
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (op.tensor_named(pass.outputs[i]).holds_whole_numbers()) continue;
        for (const Bounded& element : results[i].data)
            // A NaN with a bound is one by definition, and no sum.
            if (!std::isfinite(element.error()) ||
                std::abs(element.value()) > current_rounding.largest)
                return false;
    }
    return true;
}

Values draw_thinned(const Operator& op, const Problem& problem, const Data& data,
                    const ElementTypes& types) {
    Values values;
    std::vector<std::string> numbers;
    std::int64_t total = 0;
    for (const std::string& name : drawn_tensors(op))
        if (op.tensor_named(name).holds_whole_numbers()) {
            values[name] = draw_tensor(op, problem, data, ValueKind::integers, types, name);
        } else {
            numbers.push_back(name);
            total += element_count(op.sizes_of(name, problem));
        }
    for (const Level& level : levels_of(data)) {
        DenseRange range{.total = total};
        for (const std::string& name : numbers) {
            const Level held{std::min(level.amplitude, types.largest_integer(op, name)),
                             level.share};
            values[name] = draw(op, problem, name, data, held, range);
            range.first += static_cast<std::int64_t>(values[name].data.size());
        }
        if (fits(op, problem, values, types)) return values;
    }
    throw std::logic_error(op.name + " has no integers on " + problem.print() +
                           " that stay exact: a constant of its formula is too large");
}

}  // namespace gradverify
