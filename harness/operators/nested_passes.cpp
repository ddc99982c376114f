// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/nested_passes.hpp"

#include <algorithm>

#include "harness/operators/recorded_passes.hpp"

namespace gradverify {

namespace {

using Number = DualOver<Traced>;

/// A run of the forward function on tangents that a tape records.
struct NestedRecording {
    Tape tape;
    std::vector<Array<Number>> inputs, outputs;

    NestedRecording(Tape::Meetings* meetings, const Operator& op, const NestedFunctions& functions,
                    const Problem& problem, std::span<const Array<double>> given,
                    const NestedPasses::Taken& taken)
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
        detail::require_decided(op, decisions.made(), functions.branches_decide);
    }

    std::vector<Tape::Seed> seeds(const Operator& op,
                                  std::span<const Array<double>> cotangents) const {
        std::vector<Tape::Seed> all;
        detail::for_each_cotangent<Number>(
            op, outputs, [&](const Number& y, std::size_t which, std::size_t j) {
                all.push_back({y.tangent().node(), cotangents[which].data[j]});
            });
        return all;
    }
};

}  // namespace

NestedPasses::NestedPasses(Operator op, NestedFunctions functions)
    : parts_(std::make_shared<const Parts>(Parts{std::move(op), std::move(functions)})) {}

void NestedPasses::set_references(PassSpec& pass, std::vector<Result> results, Taken taken) const {
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
                    return detail::number_of<T>(wanted);
                });
            }
        };
        detail::with_recording<NestedRecording>(formula, take, *parts, problem, given, taken);
    };
    detail::set_recorded_references(pass, run);
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
    detail::for_each_cotangent<Moving>(
        op, outputs, [&](const Moving& y, std::size_t which, std::size_t j) {
            const Dual dy(point.cotangents[which].data[j], point.cotangent_steps[which].data[j]);
            const Dual term = dy * y.tangent();
            detail::add_term(result, term.value(), term.tangent());
        });
    return result;
}

}  // namespace gradverify
