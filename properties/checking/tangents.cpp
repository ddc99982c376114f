// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/tangents.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

using Arrays = std::vector<Array<double>>;

constexpr int tangents_drawn = 2;
// Each element of a tangent is compared by itself up to this many.
constexpr std::size_t tangents_maximum = 24;
// Cotangents are whole numbers up to this size, which every type holds.
constexpr std::int64_t largest_cotangent = 8;

/// The operator that the case's kernel differentiates: "swiglu" of "swiglu.forward".
const Operator* differentiated(const CaseContext& context) {
    constexpr std::string_view suffix = ".forward";
    const std::string_view name = context.op().name;
    if (!name.ends_with(suffix)) return nullptr;
    return context.registry().find_operator(name.substr(0, name.size() - suffix.size()));
}

bool is_finite(const Bounded& element) { return std::isfinite(element.error()); }

/// The values of the operator's inputs.
Arrays inputs_of(CaseContext& context, const Operator& base) {
    Arrays inputs;
    for (const TensorSpec& input : base.inputs) inputs.push_back(context.inputs[input.name]);
    return inputs;
}

/// The tangent of an input that the kernel takes; nothing for one that does not move.
std::optional<Array<double>> tangent_of(CaseContext& context, const TensorSpec& input) {
    const std::string name = "t" + input.name;
    if (std::ranges::count(context.pass().inputs, name) == 0) return std::nullopt;
    return context.inputs[name];
}

/// What a call gave of the tangents of the operator's outputs, with bounds.
struct Tangents {
    std::vector<const TensorSpec*> of;
    Arrays values;
    std::vector<Array<Bounded>> bounds;
};

Tangents tangents_of(const CaseContext& context, const Operator& base, const Arrays& values,
                     const std::vector<Array<Bounded>>& bounds) {
    Tangents all;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& output = context.pass().outputs[i];
        const TensorSpec* y = find_named(base.outputs, std::string_view(output).substr(1));
        if (base.is_output(output) || !context.asks_for(i)) continue;
        all.of.push_back(y);
        all.values.push_back(values[i]);
        all.bounds.push_back(bounds[i]);
    }
    return all;
}

/// Zeros for each output that has a cotangent, but for one output these.
Arrays cotangents_with(const Operator& base, const Problem& problem, const TensorSpec& y,
                       const Array<double>& cotangent) {
    Arrays all;
    for (const TensorSpec& output : base.outputs)
        if (output.differentiable)
            all.push_back(&output == &y ? cotangent : filled<double>(output.sizes(problem)));
    return all;
}

/// d/dh <r, f(x + h t)>; nothing at a kink, where a kernel may have either side's.
std::optional<double> derivative_along(CaseContext& context, const Operator& base,
                                       const Arrays& cotangents) {
    double sum = 0.0;
    const Arrays inputs = inputs_of(context, base);
    for (std::size_t i = 0; i < base.inputs.size(); ++i) {
        const auto tangent = tangent_of(context, base.inputs[i]);
        if (!tangent) continue;
        const ValueAlong at = base.along(context.problem(), inputs, i, *tangent, cotangents);
        if (at.is_kink || !std::isfinite(at.derivative)) return std::nullopt;
        sum += at.derivative;
    }
    return sum;
}

/// Adds <r, t'>, which must be this within the tangents' bounds.
void expect(Expected& expected, std::vector<double>& got, const std::optional<double>& want,
            const Array<double>& cotangent, const Array<double>& tangent,
            const Array<Bounded>& bounds, double other_error = 0.0) {
    constexpr double of_double = 0x1p-40;  // the rounding of this file's own arithmetic
    double sum = 0.0, magnitude = 0.0, error = other_error;
    for (std::size_t i = 0; i < cotangent.data.size(); ++i) {
        if (cotangent.data[i] == 0.0) continue;
        sum += cotangent.data[i] * tangent.data[i];
        // A kernel's NaN must not become its own excuse.
        magnitude += std::abs(cotangent.data[i] * bounds.data[i].value());
        error += std::abs(cotangent.data[i]) * bounds.data[i].error();
    }
    got.push_back(sum);
    const bool is_limited = want && std::isfinite(error) && std::isfinite(magnitude);
    expected.values.push_back(is_limited ? *want : 0.0);
    expected.bounds.push_back(is_limited ? Bound(error + of_double * magnitude) : Bound::none());
}

Outcome no_operator() {
    return Outcome::skipped("the operator that it is the derivative of is not registered");
}

// ---- gradients of other kernels

/// What a kernel may give, in its arithmetic and as it stores it, on what its reference takes.
/// Saved outputs that it takes in a coarser type count as computed in that.
std::vector<Array<Bounded>> stored_bounds(const Kernel& kernel, const Problem& problem,
                                          const Arrays& taken) {
    const KernelDeclaration& declared = kernel.any();
    DType coarsest = declared.accumulator();
    for (const std::string& name : kernel.pass->inputs)
        if (const DType saved = dtype_of(declared, *kernel.op, name);
            kernel.op->is_output(name) && is_floating(saved) && !holds_all_of(saved, coarsest))
            coarsest = saved;
    const ScopedRounding rounding(rounding_of(declared, coarsest));
    auto outputs = bounded_outputs(*kernel.op, *kernel.pass, problem, taken, Formula::any);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const DType stored = dtype_of(declared, *kernel.op, kernel.pass->outputs[i]);
        // In double the reference loses as much.
        for (Bounded& element : outputs[i].data)
            element = Bounded::within(element.value(), 2.0 * element.error()).stored_in(stored);
    }
    return outputs;
}

/// A kernel of a gradient, called for J^T r, and how far its result may be off.
struct PartnerResult {
    Array<double> gradient;
    Array<Bounded> bounds;
};

class Partner {
  public:
    Partner(CaseContext& context, const Operator& base, const Kernel& kernel)
        : context_(context), base_(base), kernel_(kernel) {}

    /// The gradient by an input, of cotangents by the operator's output; nothing where the kernel
    /// can't be called, or is not right.
    std::optional<PartnerResult> gradient_by(const TensorSpec& input, const Arrays& cotangents) {
        const PassSpec& pass = *kernel_.pass;
        const Arrays taken = named(pass.inputs, cotangents);
        if (!can_take(kernel_, taken)) return std::nullopt;
        const CallResult result = context_.caller.call(kernel_, taken);
        if (!result.complaint().empty()) return std::nullopt;
        const auto at = static_cast<std::size_t>(std::ranges::find(pass.outputs, "d" + input.name) -
                                                 pass.outputs.begin());
        const Array<Bounded> bounds = stored_bounds(
            kernel_, context_.problem(), named(pass.taken_by_reference(), cotangents))[at];
        for (std::size_t i = 0; i < bounds.data.size(); ++i) {
            const Bounded& element = bounds.data[i];
            const double off = std::abs(result.outputs[at].data[i] - element.value());
            if (!is_finite(element) || !(off <= element.error())) return std::nullopt;
        }
        return PartnerResult{result.outputs[at], bounds};
    }

  private:
    /// Cotangents, inputs of the case, and what the operator saves of them, as it is stored.
    Arrays named(const std::vector<std::string>& names, const Arrays& cotangents) {
        Arrays all;
        Arrays saved;
        for (const std::string& name : names)
            if (find_named(base_.inputs, name)) {
                all.push_back(context_.inputs[name]);
            } else if (base_.is_output(name)) {
                if (saved.empty())
                    saved = reference_outputs(base_, base_.forward(), context_.problem(),
                                              inputs_of(context_, base_));
                all.push_back(saved[static_cast<std::size_t>(find_named(base_.outputs, name) -
                                                             base_.outputs.data())]);
                const DType stored = dtype_of(kernel_.any(), base_, name);
                for (double& element : all.back().data) element = rounded_to(stored, element);
            } else {
                const auto outputs = base_.differentiable_outputs();
                all.push_back(cotangents[static_cast<std::size_t>(
                    std::ranges::find(outputs, name.substr(1)) - outputs.begin())]);
            }
        return all;
    }

    CaseContext& context_;
    const Operator& base_;
    const Kernel& kernel_;
};

/// Whether this kernel may tell the gradient by the input of a cotangent of y alone.
bool may_tell(const CaseContext& context, const Operator& base, const Kernel& kernel,
              const TensorSpec& input, const TensorSpec& y) {
    return kernel.op == &base && can_be_partner(context, kernel) &&
           std::ranges::count(kernel.pass->outputs, "d" + input.name) > 0 &&
           std::ranges::count(kernel.pass->inputs, "d" + y.name) > 0;
}

/// The identity as one input moves along its tangent; nothing where no kernel tells.
std::vector<Comparison> compare_with_gradients(CaseContext& context, const Operator& base,
                                               const TensorSpec& input) {
    const std::string own = "t" + input.name;
    const auto with_own_tangent = [&](const std::vector<std::string>& names, Arrays arrays) {
        for (std::size_t i = 0; i < arrays.size(); ++i)
            if (!find_named(base.inputs, names[i]) && !base.is_output(names[i]) && names[i] != own)
                std::ranges::fill(arrays[i].data, 0.0);
        return arrays;
    };
    const PassSpec& pass = context.pass();
    CallResult result = context.caller.call(context.kernel(),
                                            with_own_tangent(pass.inputs, context.inputs.of(pass)));
    if (!result.complaint().empty()) return {};
    context.inputs.add_initial(result.outputs, -1.0);
    const auto bounds = stored_bounds(
        context.kernel(), context.problem(),
        with_own_tangent(pass.taken_by_reference(), context.inputs.of_reference(pass)));
    const Tangents tangents = tangents_of(context, base, result.outputs, bounds);
    const Array<double> moved = context.inputs[own];
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < tangents.of.size(); ++i) {
        const TensorSpec& y = *tangents.of[i];
        const Array<double> cotangent = context.direction_for(
            "adjoint " + y.name + " " + input.name, tangents.values[i], largest_cotangent);
        for (const Kernel& kernel : context.registry().kernels()) {
            if (!may_tell(context, base, kernel, input, y)) continue;
            const auto gradient =
                Partner(context, base, kernel)
                    .gradient_by(input, cotangents_with(base, context.problem(), y, cotangent));
            if (!gradient) continue;
            double error = 0.0;
            for (std::size_t j = 0; j < moved.data.size(); ++j)
                error += std::abs(moved.data[j]) * gradient->bounds.data[j].error();
            Expected expected{"<dy, t" + y.name + ">", {}, {}, {}};
            std::vector<double> got;
            expect(expected, got, inner_product(gradient->gradient, moved), cotangent,
                   tangents.values[i], tangents.bounds[i], error);
            comparisons.push_back(compare(got, expected));
            break;
        }
    }
    return comparisons;
}

}  // namespace

bool yields_gradients(const Operator& op, const PassSpec& pass) {
    return std::ranges::any_of(pass.outputs,
                               [&](const std::string& output) { return op.is_gradient(output); });
}
bool yields_tangents(const Operator& op, const PassSpec& pass) {
    return !pass.is_forward() && !yields_gradients(op, pass);
}

Outcome tangents_match_derivatives(CaseContext& context) {
    const Operator* base = differentiated(context);
    if (!base || !base->along) return no_operator();
    const auto inputs = context.inputs.of(context.pass());
    CallResult result = context.caller.call(context.kernel(), inputs);
    if (const auto failure = failed_call(result)) return *failure;
    context.inputs.add_initial(result.outputs, -1.0);
    const Tangents tangents = tangents_of(context, *base, result.outputs, context.oracle.bounded());
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < tangents.of.size(); ++i) {
        const TensorSpec& y = *tangents.of[i];
        const Array<double>& values = tangents.values[i];
        Expected expected{"<dy, t" + y.name + ">", {}, {}, {}};
        std::vector<double> got;
        const auto follow = [&](const Array<double>& cotangent) {
            const auto want = derivative_along(
                context, *base, cotangents_with(*base, context.problem(), y, cotangent));
            expect(expected, got, want, cotangent, values, tangents.bounds[i]);
        };
        for (int k = 0; k < tangents_drawn; ++k) {
            auto cotangent =
                draw_smooth_direction(values, context.seed_for(y.name + std::to_string(k)));
            for (std::size_t j = 0; j < cotangent.data.size(); ++j)
                if (!is_finite(tangents.bounds[i].data[j])) cotangent.data[j] = 0.0;
            follow(cotangent);
        }
        if (values.data.size() <= tangents_maximum) {
            auto cotangent = filled<double>(values.sizes);
            for (double& element : cotangent.data) {
                element = 1.0;
                follow(cotangent);
                element = 0.0;
            }
        }
        comparisons.push_back(compare(got, expected));
    }
    return combine(comparisons, "is not the derivative of the forward function along the tangents");
}

Outcome tangents_match_gradients(CaseContext& context) {
    const Operator* base = differentiated(context);
    if (!base) return no_operator();
    const CallResult result =
        context.caller.call(context.kernel(), context.inputs.of(context.pass()));
    if (const auto failure = failed_call(result)) return *failure;
    std::vector<Comparison> comparisons;
    for (const TensorSpec& input : base->inputs)
        if (tangent_of(context, input))
            std::ranges::move(compare_with_gradients(context, *base, input),
                              std::back_inserter(comparisons));
    if (comparisons.empty())
        return Outcome::skipped("no registered gradient kernel takes the problem and is right");
    return combine(
        comparisons,
        "is not the adjoint of the gradient kernels: <dy, J t> differs from <J^T dy, t>");
}

}  // namespace gradverify
