// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/nested_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradverify {

namespace {

using Number = DualOver<Traced>;
using Arrays = std::vector<Array<double>>;

/// A run of the forward function on tangents that a tape records.
struct NestedRecording {
    Tape tape;
    std::vector<Array<Number>> inputs, outputs;

    NestedRecording(const Operator& op, const NestedFunctions& functions, const Problem& problem,
                    std::span<const Array<double>> given, const NestedPasses::Taken& taken,
                    Tape::Meetings* meetings = nullptr)
        : tape(meetings) {
        const ScopedDecisions decisions;
        const auto values = given.subspan(taken.inputs, op.inputs.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            Array<Number>& input = inputs.emplace_back(filled<Number>(values[i].sizes));
            for (std::size_t j = 0; j < input.data.size(); ++j) {
                const double value = values[i].data[j];
                const double tangent = taken.tangents[i] ? given[*taken.tangents[i]].data[j] : 0.0;
                input.data[j] = {op.inputs[i].differentiable ? tape.input(value) : Traced(value),
                                 Traced(tangent)};
            }
        }
        outputs = outputs_of<Number>(op, problem);
        functions.nested_gradients(ForwardCall<Number>(op, problem, inputs, outputs));
        const Decisions& made = decisions.made();
        const std::string text = fmt::format(
            "a comparison or an index in the forward function of {} lies within rounding, or is a "
            "tie: either branch is right (max, min and abs have a bound there)",
            op.name);
        if (made.undecided > 0) throw UndecidedComparison(text);
        if (made.ties_and_jumps() > 0 && !functions.branches_decide) throw OpenTie(text);
    }

    std::vector<Tape::Seed> seeds(const Operator& op,
                                  std::span<const Array<double>> cotangents) const {
        std::vector<Tape::Seed> all;
        std::size_t cotangent = 0;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (!op.outputs[i].differentiable) continue;
            const std::vector<double>& dy = cotangents[cotangent++].data;
            for (std::size_t j = 0; j < dy.size(); ++j)
                all.push_back({outputs[i].data[j].tangent().node(), dy[j]});
        }
        return all;
    }
};

double in(const Bounded& number, double) { return number.value(); }
Bounded in(const Bounded& number, const Bounded&) { return number; }

}  // namespace

NestedPasses::NestedPasses(Operator op, NestedFunctions functions)
    : parts_(std::make_shared<const Parts>(Parts{std::move(op), std::move(functions)})) {}

void NestedPasses::set_references(PassSpec& pass, std::vector<Result> results, Taken taken) const {
    // `sweep` is the Tape's member that gives the gradient by every node.
    const auto run = [parts = parts_, results = std::move(results),
                      taken = std::move(taken)]<class T>(
                         const Problem& problem, std::span<const Array<double>> given,
                         Outputs<T> outputs, auto sweep, Formula formula) {
        const auto take = [&](const NestedRecording& recording) {
            std::vector<T> gradients;
            if (std::ranges::any_of(results, [](const Result& result) {
                    return result.of == Result::Of::gradient;
                }))
                gradients = (recording.tape.*
                             sweep)(recording.seeds(parts->op, given.subspan(taken.cotangents)));
            for (std::size_t i = 0; i < results.size(); ++i) {
                const Result::Of of = results[i].of;
                const std::size_t at = results[i].at;
                const auto& numbers =
                    (of == Result::Of::gradient ? recording.inputs : recording.outputs)[at].data;
                std::ranges::transform(numbers, outputs[i].data.begin(), [&](const Number& number) {
                    if (of == Result::Of::gradient)
                        return gradients[static_cast<std::size_t>(number.value().node())];
                    const Traced& wanted =
                        of == Result::Of::value ? number.value() : number.tangent();
                    return in(wanted.value(), T());
                });
            }
        };
        if (formula == Formula::operators)
            return take(NestedRecording(parts->op, parts->functions, problem, given, taken));
        // The first run notes which numbers meet; see autodiff/tape.hpp.
        Tape::Meetings meetings;
        static_cast<void>(
            NestedRecording(parts->op, parts->functions, problem, given, taken, &meetings));
        const ScopedRounding any_formula(current_rounding.by_any_formula());
        take(NestedRecording(parts->op, parts->functions, problem, given, taken, &meetings));
    };
    pass.reference = [run](const Problem& problem, Inputs<double> given, Outputs<double> outputs) {
        run(problem, given, outputs, &Tape::gradients, Formula::operators);
    };
    const auto bounded = [run](Formula formula) {
        return [run, formula](const Problem& problem, Inputs<Bounded> given,
                              Outputs<Bounded> outputs) {
            Arrays values;
            for (const Array<Bounded>& array : given) {
                values.push_back(filled<double>(array.sizes));
                std::ranges::transform(array.data, values.back().data.begin(), &Bounded::value);
            }
            run(problem, values, outputs, &Tape::bounded_gradients, formula);
        };
    };
    pass.bounded_reference = bounded(Formula::operators);
    pass.any_formula_reference = bounded(Formula::any);
}

ValueAlong NestedPasses::along(const Problem& problem, const Point& point) const {
    using Moving = DualOver<Dual>;
    const Operator& op = parts_->op;
    std::vector<Array<Moving>> inputs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        Array<Moving>& input = inputs.emplace_back(filled<Moving>(point.inputs[i].sizes));
        for (std::size_t j = 0; j < input.data.size(); ++j) {
            const double value = point.inputs[i].data[j], tangent = point.tangents[i].data[j];
            input.data[j] = op.inputs[i].differentiable
                                ? Moving(Dual(value, point.input_steps[i].data[j]), Dual(tangent))
                                : Moving(Dual(value));
        }
    }
    auto outputs = outputs_of<Moving>(op, problem);
    const ScopedDecisions decisions;
    parts_->functions.directions(ForwardCall<Moving>(op, problem, inputs, outputs));
    ValueAlong result{.branches = decisions.made().trace, .is_kink = decisions.made().ties > 0};
    std::size_t cotangent = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!op.outputs[i].differentiable) continue;
        const auto &dy = point.cotangents[cotangent].data,
                   &step = point.cotangent_steps[cotangent].data;
        ++cotangent;
        for (std::size_t j = 0; j < dy.size(); ++j) {
            const Dual term = Dual(dy[j], step[j]) * outputs[i].data[j].tangent();
            result.value += term.value();
            result.magnitude += std::abs(term.value());
            result.derivative += term.tangent();
            if (result.is_kink) result.terms.push_back(term.tangent());
        }
    }
    return result;
}

}  // namespace gradverify
