// SPDX-License-Identifier: Apache-2.0
// The gradient g of <dy, f(t)> by the tensor t satisfies <g, v> = d/dh <dy, f(t + h v)> for every
// direction v: each element's where the problem is small, else random ones. f is the reference's
// forward map. Where f is linear in t one integer step is exact; elsewhere directions.hpp takes
// exact derivatives.
#include <algorithm>
#include <cmath>

#include "harness/base/text.hpp"
#include "properties/checking/directions.hpp"
#include "properties/checking/tangents.hpp"
#include "properties/properties.hpp"

namespace gradverify {

namespace {

// A wrong element escapes a random direction only where errors cancel.
constexpr int random_directions = 2;

/// The derivative of <dy, f(t)>, which is linear in the tensor t: its change by one whole step.
class ForwardAlong {
  public:
    ForwardAlong(CaseContext& context, std::string tensor)
        : context_(context),
          tensor_(std::move(tensor)),
          at_rest_(value_of(context.inputs.of(context.op().forward()))) {}

    double derivative(const Array<double>& direction) const {
        return value_of(inputs_along(context_, tensor_, direction)) - at_rest_;
    }

  private:
    double value_of(const std::vector<Array<double>>& inputs) const {
        return with_cotangents(context_,
                               context_.oracle.reference(context_.op().forward(), inputs));
    }

    CaseContext& context_;
    std::string tensor_;
    double at_rest_;
};

Comparison compare_along(const BoundedGradient& gradient, const Array<double>& direction,
                         double derivative) {
    double bound = 0.0;
    for (std::size_t i = 0; i < gradient.bounds.size(); ++i)
        if (gradient.bounds[i].is_limited())
            bound += std::abs(direction.data[i]) * gradient.bounds[i].most();
    Expected expected{.tensor = "<d" + gradient.tensor + ", v>",
                      .sizes = {},
                      .values = {derivative},
                      .bounds = {bound}};
    const double got = inner_product(gradient.values, direction);
    return compare({&got, 1}, expected);
}

Comparison compare_elements(const BoundedGradient& gradient, const ForwardAlong& forward) {
    Expected expected{.tensor = "d" + gradient.tensor,
                      .sizes = gradient.values.sizes,
                      .values = {},
                      .bounds = {}};
    auto direction = filled<double>(gradient.values.sizes);
    for (std::size_t i = 0; i < direction.data.size(); ++i) {
        direction.data[i] = 1.0;
        expected.values.push_back(forward.derivative(direction));
        expected.bounds.push_back(gradient.bounds.empty() ? Bound() : gradient.bounds[i]);
        direction.data[i] = 0.0;
    }
    return compare(gradient.values.data, expected);
}

std::vector<Comparison> compare_directions(CaseContext& context, const BoundedGradient& gradient,
                                           const ForwardAlong& forward) {
    std::vector<Comparison> comparisons;
    for (int i = 0; i < random_directions; ++i) {
        auto direction = context.direction_for(gradient.tensor + std::to_string(i), gradient.values,
                                               context.largest_step(gradient.tensor));
        leave_out_unbounded(gradient.bounds, direction);
        comparisons.push_back(compare_along(gradient, direction, forward.derivative(direction)));
    }
    return comparisons;
}

/// The derived gradient of this output of the pass; null where none was derived.
const Array<Bounded>* derived_for(const CaseContext& context,
                                  const std::vector<Array<Bounded>>& derived,
                                  const std::string& output) {
    if (derived.empty()) return nullptr;
    const auto& outputs = context.pass().derived->outputs;
    const auto at = std::ranges::find(outputs, output);
    return at == outputs.end() ? nullptr : &derived[static_cast<std::size_t>(at - outputs.begin())];
}

/// How the reference that was written by hand contradicts the one derived from the forward
/// function; empty where they differ by no more than the kernel's arithmetic explains, in either.
std::string contradiction_of_references(CaseContext& context,
                                        const std::vector<Array<Bounded>>& derived) {
    if (derived.empty()) return {};
    const auto by_hand = context.oracle.bounded(context.pass());
    for (std::size_t i = 0; i < by_hand.size(); ++i) {
        const std::string& output = context.pass().outputs[i];
        const Array<Bounded>* gradient = derived_for(context, derived, output);
        if (!gradient) continue;
        Expected expected = Expected::within(output, *gradient);
        std::vector<double> values;
        for (std::size_t j = 0; j < by_hand[i].data.size(); ++j) {
            values.push_back(by_hand[i].data[j].value());
            expected.bounds[j] = expected.bounds[j] + bound_of(by_hand[i].data[j]);
        }
        const Comparison comparison = compare(values, expected);
        if (comparison.ok) continue;
        const WrongElement& worst = comparison.worst.front();
        return "the reference of " + context.pass().name +
               " that was written by hand is not the gradient of the forward function: " +
               worst.tensor + " has an element of " + print_exactly(worst.got) + " that must be " +
               print_exactly(worst.want) + "; correct the reference, or leave it out";
    }
    return {};
}

/// The gradients that the pass yields. Bounds allow for the kernel's distance to the reference, and
/// for the reference's own to the derived gradient. Without bounds the kernel's values are exact.
std::vector<BoundedGradient> gradients_of(const CaseContext& context, CallResult&& result,
                                          const std::vector<Array<Bounded>>& bounded,
                                          const std::vector<Array<Bounded>>& derived,
                                          const std::vector<Array<double>>& by_pass) {
    std::vector<BoundedGradient> gradients;
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
        const std::string& output = context.pass().outputs[i];
        if (!context.asks_for(i) || !context.op().is_gradient(output)) continue;
        gradients.push_back({output.substr(1), std::move(result.outputs[i]), {}, {}});
        if (bounded.empty()) continue;
        BoundedGradient& gradient = gradients.back();
        const Array<Bounded>* from_forward = derived_for(context, derived, output);
        for (std::size_t j = 0; j < bounded[i].data.size(); ++j) {
            gradient.bounds.push_back(bound_of(bounded[i].data[j]) +
                                      (from_forward ? bound_of(from_forward->data[j]) : Bound()));
            if (!by_pass.empty()) gradient.by_branches.push_back(by_pass[i].data[j]);
        }
        leave_out_unbounded(gradient.bounds, gradient.values);
    }
    return gradients;
}

}  // namespace

Outcome matches_finite_differences(CaseContext& context) {
    if (context.inputs.have_invalid_indices())
        return Outcome::skipped("what comes of an invalid index is no derivative");
    if (yields_tangents(context.op(), context.pass())) return tangents_match_derivatives(context);
    // A whole step is exact on integers, which recorded tensors are not.
    const bool multilinear = context.op().algebra == Algebra::products &&
                             context.op().is_exact_at(context.problem()) &&
                             context.checked().data.files.empty();
    if (!multilinear && !context.op().along)
        return Outcome::skipped(
            !context.checked().data.files.empty() && context.op().algebra == Algebra::products
                ? "a sum of products is derived by whole steps, which need integers"
                : "the operator has neither a forward function nor a sum of products to derive");
    const auto inputs = context.inputs.of(context.pass());
    CallResult result = context.caller.call(context.kernel(), inputs);
    if (const auto failure = failed_call(result)) return *failure;
    const auto derived = context.pass().derived ? context.oracle.bounded(*context.pass().derived)
                                                : std::vector<Array<Bounded>>();
    if (const std::string wrong = contradiction_of_references(context, derived); !wrong.empty())
        return Outcome::errored(wrong);
    const bool is_exact = multilinear && context.oracle.exactness() == Exactness::exact;
    const auto bounded = is_exact ? std::vector<Array<Bounded>>() : context.oracle.bounded();
    const CallResult as_returned = result;
    context.inputs.add_initial(result.outputs, -1.0);

    if (!multilinear)
        return matches_derivatives_along(context,
                                         gradients_of(context, std::move(result), bounded, derived,
                                                      context.oracle.reference(context.pass())));
    std::vector<Comparison> comparisons;
    for (const BoundedGradient& gradient :
         gradients_of(context, std::move(result), bounded, {}, {})) {
        const ForwardAlong forward(context, gradient.tensor);
        if (moves_each_element(context, gradient))
            comparisons.push_back(compare_elements(gradient, forward));
        else
            std::ranges::move(compare_directions(context, gradient, forward),
                              std::back_inserter(comparisons));
    }
    Outcome outcome = combine(comparisons, "is not the derivative of the reference's forward map");
    if (outcome.verdict != Verdict::failed || !is_right(context, as_returned)) return outcome;
    return Outcome::errored("the kernel agrees with the reference's gradient, but " +
                            outcome.message + ": the operator's reference contradicts itself");
}

}  // namespace gradverify
