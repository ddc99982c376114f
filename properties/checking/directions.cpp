// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/directions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "harness/base/random.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

constexpr int random_directions = 2;
// A large gradient has one direction more, which moves few elements and has as small a bound.
constexpr std::size_t elements_of_sparse_direction = 4;
// Each element is moved alone up to this many elements and multiply-adds in total.
constexpr std::size_t elementwise_maximum = 24;
constexpr double elementwise_work_maximum = 1 << 16;
// The most gradients that a case compares by values, by turns where a pass yields more.
constexpr std::size_t gradients_by_values = 3;
// Values and directions are of size one, but a function may change on a far smaller scale, as the
// root of a variance near zero does. Below the last step there is only rounding.
constexpr double first_step = 0.0625, last_step = 0x1p-24, step_ratio = 16.0;
// A derivative may change by this share over a step: its mean over the step, which a difference
// equals, is then known from five points (Boole's rule) far more closely.
// A step of the derivative between two of the points, as of one unit among many that turns, moves
// that mean by no more than a share of the step.
constexpr double change_share = 0.01, disagreement_share = 1e-3, turning_share = 0.2;
// The rounding of the function's values; differences show a random part of it.
constexpr double rounding_share = 0x1p-36, seen_rounding_factor = 100.0;

/// The forward map with one input moved along a direction.
class Line {
  public:
    Line(CaseContext& context, const std::string& tensor)
        : context_(context),
          inputs_(context.inputs.of(context.op().forward())),
          cotangents_(context.inputs.cotangents()),
          which_(static_cast<std::size_t>(
              std::ranges::find(context.op().inputs, tensor, &TensorSpec::name) -
              context.op().inputs.begin())) {}

    /// Nothing where the input leaves its domain.
    std::optional<ValueAlong> at(double step, const Array<double>& direction) const {
        auto moved = inputs_;
        auto& data = moved[which_].data;
        for (std::size_t i = 0; i < data.size(); ++i) {
            data[i] += step * direction.data[i];
            if (!context_.op().inputs[which_].admits(data[i], context_.problem()))
                return std::nullopt;
        }
        return context_.op().along(context_.problem(), moved, which_, direction, cotangents_);
    }

    /// A likely size of numbers on the way to the value, which may be small by cancelling.
    double size_on_the_way() const {
        double largest = 1.0, sum = 0.0;
        for (const Array<double>& input : inputs_)
            for (const double element : input.data)
                if (std::isfinite(element)) largest = std::max(largest, std::abs(element));
        for (const Array<double>& cotangent : cotangents_)
            for (const double element : cotangent.data) sum += std::abs(element);
        return largest * sum;
    }

  private:
    CaseContext& context_;
    std::vector<Array<double>> inputs_, cotangents_;
    std::size_t which_;
};

/// The rounding of values: how far they are off a line where any smooth function is one.
double rounding_seen(const Line& line, const Array<double>& direction, double step,
                     const ValueAlong& there) {
    double seen = 0.0;
    for (int i = 1; i <= 4; ++i) {
        const double near = step * (1.0 + i * 0x1p-20);
        const auto value = line.at(near, direction);
        if (!value) return std::numeric_limits<double>::infinity();
        seen =
            std::max(seen, std::abs(value->value - there.value - there.derivative * (near - step)));
    }
    return seen;
}

/// A difference over a short step, the derivative's mean there, and how far the two may differ.
struct Difference {
    double value, derivative, off;
};

/// Nothing where the derivative changes or the branch does, or a value is not finite.
std::optional<Difference> difference_over(const Line& line, const Array<double>& direction,
                                          const ValueAlong& here, double step) {
    double least = here.derivative, most = here.derivative;
    double mean = 12.0 / 90.0 * here.derivative;
    std::optional<ValueAlong> ends[2];
    for (const double at : {-step, -step / 2.0, step / 2.0, step}) {
        const bool is_end = std::abs(at) == step;
        const auto point = line.at(at, direction);
        if (!point || point->branches != here.branches || !std::isfinite(point->derivative) ||
            !std::isfinite(point->magnitude))
            return std::nullopt;
        least = std::min(least, point->derivative);
        most = std::max(most, point->derivative);
        mean += (is_end ? 7.0 : 32.0) / 90.0 * point->derivative;
        if (is_end) ends[at > 0.0] = point;
    }
    const double size = std::max(std::abs(least), std::abs(most));
    if (most - least > change_share * size) return std::nullopt;
    const double rounding =
        rounding_share * (here.magnitude + line.size_on_the_way()) +
        seen_rounding_factor * std::max(rounding_seen(line, direction, -step, *ends[0]),
                                        rounding_seen(line, direction, step, *ends[1]));
    return Difference{
        .value = (ends[1]->value - ends[0]->value) / (2.0 * step),
        .derivative = mean,
        .off = disagreement_share * size + turning_share * (most - least) + rounding / step};
}

struct Sides {
    double low, high;
};

/// The derivative that the branches give, which is right where they are the definition.
double along_branches(const BoundedGradient& gradient, const Array<double>& direction) {
    double sum = 0.0;
    for (std::size_t i = 0; i < direction.data.size(); ++i)
        if (direction.data[i] != 0.0) sum += direction.data[i] * gradient.by_branches[i];
    return sum;
}

/// A kernel chooses between the two one-sided derivatives for each element of an output by itself:
/// with cotangents of both signs, its sum may lie outside of both sides' sums.
Sides sides(const Line& line, const ValueAlong& forwards, const Array<double>& direction,
            const BoundedGradient& gradient) {
    if (!forwards.is_kink) return {forwards.derivative, forwards.derivative};
    Array<double> back = direction;
    for (double& element : back.data) element = -element;
    const ValueAlong backwards = *line.at(0.0, back);
    Sides between{0.0, 0.0};
    for (std::size_t i = 0; i < forwards.terms.size(); ++i) {
        const double right = forwards.terms[i];
        const double left = backwards.is_kink ? -backwards.terms[i] : right;
        between.low += std::min(left, right);
        between.high += std::max(left, right);
    }
    const double chosen = along_branches(gradient, direction);
    if (std::isfinite(chosen))
        between = {std::min(between.low, chosen), std::max(between.high, chosen)};
    return between;
}

/// The error that <g, v> may have, and the sum of its terms' magnitudes.
struct Tolerance {
    double bound = 0.0, magnitude = 0.0;
};

Tolerance tolerance(const BoundedGradient& gradient, const Array<double>& direction) {
    Tolerance sum;
    for (std::size_t i = 0; i < direction.data.size(); ++i) {
        if (direction.data[i] == 0.0) continue;
        sum.bound += std::abs(direction.data[i]) * gradient.bounds[i].most();
        const double term = std::abs(direction.data[i] * gradient.values.data[i]);
        // A kernel's NaN must not become its own excuse.
        if (std::isfinite(term)) sum.magnitude += term;
    }
    return sum;
}

/// Adds one expected number, without a limit where the forward function is no number.
void expect(Expected& expected, const Sides& between, const Tolerance& off) {
    if (!std::isfinite(between.low) || !std::isfinite(between.high)) {
        expected.values.push_back(0.0);
        expected.bounds.push_back(Bound::none());
        return;
    }
    // The rounding of this file's own arithmetic.
    constexpr double of_double = 0x1p-40;
    expected.values.push_back((between.low + between.high) / 2.0);
    expected.bounds.push_back((between.high - between.low) / 2.0 + off.bound +
                              of_double * off.magnitude);
}

/// Along a direction that moves equal numbers alike they stay equal, so that any choice among them
/// has the same derivative: shares that do not add up show there, and in no other direction.
std::optional<Comparison> compare_along_ties(CaseContext& context, const Line& line,
                                             const BoundedGradient& gradient) {
    auto direction = filled<double>(gradient.values.sizes);
    std::ranges::fill(direction.data, 1.0);
    leave_out_unbounded(gradient.bounds, direction);
    const ValueAlong exact = *line.at(0.0, direction);
    if (exact.is_kink) return std::nullopt;
    // The bound is of one choice, and those of others are as large.
    constexpr double choices = 16.0;
    Tolerance off = tolerance(gradient, direction);
    off.bound = 0.0;
    const auto& outputs = context.pass().outputs;
    const auto at = std::ranges::find(outputs, "d" + gradient.tensor) - outputs.begin();
    const auto bounded = context.oracle.bounded_on_one_branch()[static_cast<std::size_t>(at)];
    for (std::size_t i = 0; i < direction.data.size(); ++i)
        if (direction.data[i] != 0.0) off.bound += choices * bounded.data[i].error();
    if (!std::isfinite(off.bound)) return std::nullopt;
    Expected expected{"<d" + gradient.tensor + ", 1>", {}, {}, {}};
    expect(expected, {exact.derivative, exact.derivative}, off);
    const double got = inner_product(gradient.values, direction);
    return compare({&got, 1}, expected);
}

/// How the forward function's values contradict its derivative, at the first step that tells; where
/// they agree at a smaller one, the function jumps within the first.
std::optional<Outcome> contradiction(const Line& line, const std::string& tensor,
                                     const Array<double>& direction, const ValueAlong& exact) {
    if (!std::isfinite(exact.derivative) || !std::isfinite(exact.magnitude)) return std::nullopt;
    std::optional<Difference> first;
    for (double step = first_step; step >= last_step; step /= step_ratio) {
        const auto by_values = difference_over(line, direction, exact, step);
        if (!by_values) continue;
        const bool agree = std::abs(by_values->value - by_values->derivative) <= by_values->off;
        if (!first && agree) return std::nullopt;
        if (!first) first = by_values;
        // Rounding makes all agree in the end, which tells nothing.
        if (agree && by_values->off < std::abs(first->value - first->derivative) / 2.0)
            return std::nullopt;
    }
    if (!first) return std::nullopt;
    return Outcome::errored("the forward function contradicts itself: along a direction of " +
                            tensor + " its values change by " + print_exactly(first->value) +
                            ", its derivative is " + print_exactly(first->derivative) +
                            "; it must compute with its T alone");
}

Comparison compare_elements(const Line& line, const BoundedGradient& gradient) {
    auto direction = filled<double>(gradient.values.sizes);
    Expected expected{"d" + gradient.tensor, gradient.values.sizes, {}, {}};
    for (double& element : direction.data) {
        element = 1.0;
        if (const Bound& bound = gradient.bounds[expected.values.size()]; !bound.is_limited()) {
            expected.values.push_back(0.0);
            expected.bounds.push_back(bound);
        } else {
            expect(expected, sides(line, *line.at(0.0, direction), direction, gradient),
                   tolerance(gradient, direction));
        }
        element = 0.0;
    }
    return compare(gradient.values.data, expected);
}

/// Along slopes of one sign none cancels another, as bounds never do: where these are wide, as of
/// gradients from saved outputs in bfloat16, random directions compare nothing but zero.
void follow_signs(Array<double>& direction, const std::vector<double>& slopes) {
    for (std::size_t i = 0; i < slopes.size(); ++i)
        if (!std::isnan(slopes[i])) direction.data[i] = std::copysign(direction.data[i], slopes[i]);
}

void keep_few(Array<double>& direction, std::uint64_t seed) {
    SplitMix64 random(mix_seed(seed, "few"));
    std::vector<double> kept(direction.data.size(), 0.0);
    for (std::size_t i = 0; i < elements_of_sparse_direction; ++i) {
        const std::size_t at = random.below(kept.size());
        kept[at] = direction.data[at];
    }
    direction.data = std::move(kept);
}

}  // namespace

void leave_out_unbounded(const std::vector<Bound>& bounds, Array<double>& values) {
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (!bounds[i].is_limited() && bounds[i].accepts(values.data[i], 0.0)) values.data[i] = 0.0;
}

bool moves_each_element(const CaseContext& context, const BoundedGradient& gradient) {
    const std::size_t elements = gradient.values.data.size();
    const double work = context.op().forward().multiply_adds(context.problem());
    return elements <= elementwise_maximum &&
           static_cast<double>(elements) * work <= elementwise_work_maximum;
}

Outcome matches_derivatives_along(CaseContext& context,
                                  const std::vector<BoundedGradient>& gradients) {
    std::vector<Comparison> comparisons;
    const std::size_t count = gradients.size();
    for (std::size_t which = 0; which < count; ++which) {
        const BoundedGradient& gradient = gradients[which];
        const bool is_by_values =
            (which + count - context.seed_for("by values") % count) % count < gradients_by_values;
        const Line line(context, gradient.tensor);
        const bool is_elementwise = moves_each_element(context, gradient);
        const int directions = random_directions + (is_elementwise ? 0 : 1);
        bool has_ties = false;
        for (int i = 0; i < directions; ++i) {
            const std::uint64_t seed = context.seed_for(gradient.tensor + std::to_string(i));
            auto direction = draw_smooth_direction(gradient.values, seed);
            if (i == 1) follow_signs(direction, gradient.by_branches);
            if (i == random_directions) keep_few(direction, seed);
            leave_out_unbounded(gradient.bounds, direction);
            const ValueAlong exact = *line.at(0.0, direction);
            has_ties |= exact.is_kink;
            if (!exact.is_kink && is_by_values)
                if (auto wrong = contradiction(line, gradient.tensor, direction, exact))
                    return *wrong;
            Expected expected{"<d" + gradient.tensor + ", v>", {}, {}, {}};
            expect(expected, sides(line, exact, direction, gradient),
                   tolerance(gradient, direction));
            const double got = inner_product(gradient.values, direction);
            comparisons.push_back(compare({&got, 1}, expected));
        }
        if (is_elementwise) comparisons.push_back(compare_elements(line, gradient));
        // A gradient by hand may be none of the derivatives.
        if (has_ties && !context.pass().derived)
            if (auto along_ties = compare_along_ties(context, line, gradient))
                comparisons.push_back(std::move(*along_ties));
    }
    return combine(comparisons, "is not the derivative of the forward function");
}

}  // namespace gradverify
