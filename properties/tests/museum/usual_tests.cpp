// SPDX-License-Identifier: Apache-2.0
#include "properties/tests/museum/usual_tests.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"
#include "properties/checking/context.hpp"
#include "properties/data/whole_numbers.hpp"

namespace gradverify {

namespace {

/// From the standard normal distribution, as torch.randn draws them (Box and Muller, 1958).
double normal_number(SplitMix64& random) {
    const auto uniform = [&] { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; };
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Array<double> draw_whole_numbers(const TensorSpec& tensor, const Problem& problem,
                                 const UsualTest& test, SplitMix64 random) {
    auto array = filled<double>(tensor.sizes(problem));
    const ValueDomain range = tensor.domain_at(problem);
    const auto arrangement = test.distinct_indices ? Arrangement::distinct : tensor.arrangement;
    if (arrangement != Arrangement::free) {
        fill_indices(array, arrangement, range, true, random);
        return array;
    }
    for (double& index : array.data)
        index = static_cast<double>(random.between(static_cast<std::int64_t>(range.lowest),
                                                   static_cast<std::int64_t>(range.highest)));
    return array;
}

/// Numbers outside of an input's domain are drawn again.
Array<double> draw_numbers(const TensorSpec& tensor, const std::string& name,
                           const Problem& problem, DType dtype, SplitMix64 random) {
    auto array = filled<double>(tensor.sizes(problem));
    const bool is_cotangent = tensor.name != name;
    for (double& element : array.data) do {
            element = rounded_to(dtype, normal_number(random));
        } while (!is_cotangent && !tensor.admits(element, problem));
    return array;
}

Data drawn_data(const Kernel& kernel, const Problem& problem, const UsualTest& test, int draw) {
    const ElementTypes types(kernel.any(), *kernel.op);
    Data data{.is_explicit = true, .elements = {}};
    for (const std::string& name : drawn_tensors(*kernel.op)) {
        const TensorSpec& tensor = kernel.op->tensor_named(name);
        const SplitMix64 random(mix_seed(static_cast<std::uint64_t>(draw), name));
        const Array<double> array =
            name == test.ones ? filled<double>(tensor.sizes(problem), 1.0)
            : tensor.holds_whole_numbers()
                ? draw_whole_numbers(tensor, problem, test, random)
                : draw_numbers(tensor, name, problem, types.of(*kernel.op, name), random);
        for (std::size_t i = 0; i < array.data.size(); ++i)
            data.elements.push_back({name, static_cast<std::int64_t>(i), array.data[i]});
    }
    return data;
}

/// A call of a kernel as a test makes it: on drawn data, without a watch on where it writes.
class UsualCall {
  public:
    UsualCall(const std::string& name, const UsualTest& test, int draw)
        : kernel(kernel_named(Registry::instance(), name)),
          case_{.kernel = name,
                .property = "matches_reference",
                .device = "cpu",
                .problem = Problem::parse(kernel.op->space, test.problem),
                .data = {},
                .setting = {}} {
        case_.data = drawn_data(kernel, case_.problem, test, draw);
        context_.emplace(case_, Registry::instance(), ValueKind::mantissas);
    }

    CaseContext& context() { return *context_; }
    std::vector<Array<double>> inputs() { return context_->inputs.of(*kernel.pass); }

    /// What the kernel leaves in its outputs; nothing where a launch fails.
    std::optional<CallResult> make(const std::vector<Array<double>>& inputs) {
        // The page behind a tensor of a few bytes is not unmapped in other people's tests.
        constexpr Surroundings readable{.edge = Edge::begin};
        CallResult result = context_->caller.call(kernel, inputs, {}, readable);
        return result.ran() ? std::optional(std::move(result)) : std::nullopt;
    }

    const Kernel& kernel;

  private:
    Case case_;
    std::optional<CaseContext> context_;
};

/// That of torch.testing.assert_close.
Tolerance default_tolerance(DType dtype) {
    if (!is_floating(dtype)) return {};
    switch (dtype) {
        case DType::f64:
            return {.relative = 1e-7, .absolute = 1e-7};
        case DType::f32:
            return {.relative = 1.3e-6, .absolute = 1e-5};
        case DType::bf16:
            return {.relative = 1.6e-2, .absolute = 1e-5};
        default:
            return {.relative = 1e-3, .absolute = 1e-5};
    }
}

/// NaN is close to nothing.
bool is_close(double got, double want, const Tolerance& tolerance) {
    return got == want ||
           std::abs(got - want) <= tolerance.absolute + tolerance.relative * std::abs(want);
}

bool are_close(const std::vector<double>& got, const std::vector<double>& want,
               const Tolerance& tolerance) {
    return std::ranges::equal(got, want,
                              [&](double a, double b) { return is_close(a, b, tolerance); });
}

bool is_close_to_reference(UsualCall& call, const UsualTest& test) {
    const auto result = call.make(call.inputs());
    if (!result) return false;
    const auto reference = call.context().oracle.reference(*call.kernel.pass);
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const DType dtype = result->output_types[i];
        const Tolerance tolerance =
            is_floating(dtype) && test.tolerance ? *test.tolerance : default_tolerance(dtype);
        if (!are_close(result->outputs[i].data, reference[i].data, tolerance)) return false;
    }
    return true;
}

/// The slopes of one input's elements, by element and then by element of a forward output.
using Slopes = std::vector<std::vector<double>>;

/// By central differences, for each element of `input`.
Slopes slopes_by(CaseContext& context, const std::string& input, std::size_t output) {
    const PassSpec& forward = context.op().forward();
    auto taken = context.inputs.of(forward);
    const auto which = std::ranges::find(forward.inputs, input) - forward.inputs.begin();
    Slopes slopes;
    for (double& element : taken[static_cast<std::size_t>(which)].data) {
        const double value = element;
        const auto at = [&](double moved) {
            element = moved;
            return context.oracle.reference(forward, taken)[output].data;
        };
        std::vector<double> difference = at(value + gradcheck_step);
        const std::vector<double> below = at(value - gradcheck_step);
        element = value;
        for (std::size_t i = 0; i < difference.size(); ++i)
            difference[i] = (difference[i] - below[i]) / (2.0 * gradcheck_step);
        slopes.push_back(std::move(difference));
    }
    return slopes;
}

/// Compares the Jacobians by one cotangent, that of a forward output.
bool is_close_by_cotangent(UsualCall& call, std::size_t cotangent, std::size_t output) {
    const PassSpec& pass = *call.kernel.pass;
    std::vector<Slopes> slopes;  // of each gradient
    for (const std::string& gradient : pass.outputs)
        slopes.push_back(slopes_by(call.context(), gradient.substr(1), output));
    auto inputs = call.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (call.kernel.op->is_cotangent(pass.inputs[i])) std::ranges::fill(inputs[i].data, 0.0);
    for (std::size_t row = 0; row < inputs[cotangent].data.size(); ++row) {
        inputs[cotangent].data[row] = 1.0;
        const auto result = call.make(inputs);
        inputs[cotangent].data[row] = 0.0;
        if (!result) return false;
        for (std::size_t i = 0; i < slopes.size(); ++i)
            for (std::size_t j = 0; j < slopes[i].size(); ++j)
                if (!is_close(result->outputs[i].data[j], slopes[i][j][row], gradcheck_tolerance))
                    return false;
    }
    return true;
}

bool passes_gradcheck(UsualCall& call) {
    const Operator& op = *call.kernel.op;
    for (std::size_t output = 0; output < op.outputs.size(); ++output) {
        const auto& inputs = call.kernel.pass->inputs;
        const auto found = std::ranges::find(inputs, "d" + op.outputs[output].name);
        if (found != inputs.end() &&
            !is_close_by_cotangent(call, static_cast<std::size_t>(found - inputs.begin()), output))
            return false;
    }
    return true;
}

}  // namespace

int draws_seen_by_allclose(const std::string& kernel, const UsualTest& test) {
    int seen = 0;
    for (int draw = 1; draw <= usual_draws; ++draw) {
        UsualCall call(kernel, test, draw);
        seen += !is_close_to_reference(call, test);
    }
    return seen;
}

std::optional<int> draws_seen_by_gradcheck(const std::string& kernel, const UsualTest& test) {
    if (kernel_named(Registry::instance(), kernel).pass->is_forward()) return std::nullopt;
    // It draws all numbers, and takes any indices.
    const UsualTest drawn{.problem = test.problem_of_gradcheck()};
    int seen = 0;
    for (int draw = 1; draw <= usual_draws; ++draw) {
        UsualCall call(kernel, drawn, draw);
        seen += !passes_gradcheck(call);
    }
    return seen;
}

}  // namespace gradverify
