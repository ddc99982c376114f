// SPDX-License-Identifier: Apache-2.0
#include "properties/derivatives_along.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/differences.hpp"

namespace gradverify {

namespace {

constexpr int random_directions = 2;
constexpr std::size_t elementwise_maximum = 24;
// Values are of size one, and so are a direction's elements.
constexpr double first_step = 0.0625;
// Beyond these halvings a difference would be rounding alone.
constexpr int halvings_maximum = 20;
// A wrong derivative of a function differs by far more; differences are less exact near a pole.
constexpr double disagreement_share = 1e-3;

/// The forward map with one input moved along a direction.
class Line {
  public:
    Line(CaseContext& context, const std::string& tensor)
        : context_(context),
          inputs_(context.inputs_of(context.op().forward())),
          cotangents_(context.cotangents()) {
        const auto& inputs = context.op().inputs;
        which_ = static_cast<std::size_t>(std::ranges::find(inputs, tensor, &TensorSpec::name) -
                                          inputs.begin());
    }

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

  private:
    CaseContext& context_;
    std::vector<Array<double>> inputs_, cotangents_;
    std::size_t which_ = 0;
};

/// The derivative by differences on the branch taken at the point; nothing where no step stays on
/// it.
std::optional<Derivative> by_differences(const Line& line, const Array<double>& direction,
                                         std::uint64_t branches) {
    double step = first_step;
    for (int i = 0; i < halvings_maximum; ++i, step /= 2.0) {
        bool stays = true;
        const Derivative derivative = smooth_derivative(
            [&](double h) {
                const auto value = stays ? line.at(h, direction) : std::nullopt;
                stays = value && value->branches == branches;
                return stays ? value->value : 0.0;
            },
            step);
        if (stays) return derivative;
    }
    return std::nullopt;
}

/// The two one-sided derivatives, in order.
struct Sides {
    double low, high;
};

Sides sides(const Line& line, const ValueAlong& forwards, const Array<double>& direction) {
    if (!forwards.is_kink) return {forwards.derivative, forwards.derivative};
    Array<double> back = direction;
    for (double& element : back.data) element = -element;
    const double left = -line.at(0.0, back)->derivative;
    return {std::min(left, forwards.derivative), std::max(left, forwards.derivative)};
}

/// What <g, v> may be off by, and the sum of its terms' magnitudes.
struct Tolerance {
    double bound = 0.0, magnitude = 0.0;
};

Tolerance tolerance(const BoundedGradient& gradient, const Array<double>& direction) {
    Tolerance sum;
    for (std::size_t i = 0; i < direction.data.size(); ++i) {
        if (direction.data[i] == 0.0) continue;
        if (gradient.bounds[i] == no_bound) return {.bound = no_bound};
        sum.bound += std::abs(direction.data[i]) * gradient.bounds[i];
        const double term = std::abs(direction.data[i] * gradient.values.data[i]);
        // A kernel's NaN must not become its own excuse.
        if (std::isfinite(term)) sum.magnitude += term;
    }
    return sum;
}

/// The expectation of one inner product, or of one element.
void expect(Expected& expected, const Sides& between, const Tolerance& off) {
    // What this file's own double arithmetic loses.
    constexpr double of_double = 0x1p-40;
    if (off.bound == no_bound) {
        expected.values.push_back(between.low);
        expected.bounds.push_back(no_bound);
        return;
    }
    expected.values.push_back((between.low + between.high) / 2.0);
    expected.bounds.push_back((between.high - between.low) / 2.0 + off.bound +
                              of_double * off.magnitude);
}

std::optional<Outcome> contradiction(const Line& line, const BoundedGradient& gradient,
                                     const Array<double>& direction, const ValueAlong& exact) {
    const auto numeric = by_differences(line, direction, exact.branches);
    if (!numeric || !std::isfinite(numeric->value) || !std::isfinite(exact.derivative))
        return std::nullopt;
    const double scale =
        std::max(std::abs(exact.derivative), tolerance(gradient, direction).magnitude);
    if (std::abs(numeric->value - exact.derivative) <=
        disagreement_share * scale + 100.0 * numeric->error + 1e-9)
        return std::nullopt;
    return Outcome::errored(
        "the forward function contradicts itself: along a direction of " + gradient.tensor +
        " its values change by " + std::to_string(numeric->value) + ", its derivative is " +
        std::to_string(exact.derivative) + "; it must compute with its T alone");
}

Comparison compare_elements(const Line& line, const BoundedGradient& gradient) {
    Array<double> direction{gradient.values.sizes,
                            std::vector<double>(gradient.values.data.size(), 0.0)};
    Expected expected{"d" + gradient.tensor, gradient.values.sizes, {}, {}};
    for (double& element : direction.data) {
        element = 1.0;
        expect(expected, sides(line, *line.at(0.0, direction), direction),
               tolerance(gradient, direction));
        element = 0.0;
    }
    return compare(gradient.values.data, expected);
}

}  // namespace

Outcome matches_derivatives_along(CaseContext& context,
                                  const std::vector<BoundedGradient>& gradients) {
    std::vector<Comparison> comparisons;
    for (const BoundedGradient& gradient : gradients) {
        const Line line(context, gradient.tensor);
        for (int i = 0; i < random_directions; ++i) {
            const auto direction = draw_smooth_direction(
                gradient.values, context.seed_for(gradient.tensor + std::to_string(i)));
            const ValueAlong exact = *line.at(0.0, direction);
            if (!exact.is_kink)
                if (auto wrong = contradiction(line, gradient, direction, exact)) return *wrong;
            Expected expected{"<d" + gradient.tensor + ", v>", {}, {}, {}};
            expect(expected, sides(line, exact, direction), tolerance(gradient, direction));
            const double got = inner_product(gradient.values, direction);
            comparisons.push_back(compare({&got, 1}, expected));
        }
        if (gradient.values.data.size() <= elementwise_maximum)
            comparisons.push_back(compare_elements(line, gradient));
    }
    return combine(comparisons, "is not the derivative of the forward function");
}

}  // namespace gradverify
