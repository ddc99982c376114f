// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/derived_operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/base/random.hpp"
#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/operators/recorded_passes.hpp"

namespace gradverify {

namespace detail {

void refuse_index(const std::string& tensor, const Sizes& sizes,
                  std::span<const std::int64_t> index) {
    throw std::out_of_range(
        fmt::format("the forward function asks for {0}({1}), but {0} has the sizes ({2})", tensor,
                    fmt::join(index, ", "), fmt::join(sizes, ", ")));
}

std::size_t position_of(std::string_view name, const std::vector<TensorSpec>& tensors,
                        std::string_view kind) {
    if (const TensorSpec* found = find_named(tensors, name))
        return static_cast<std::size_t>(found - tensors.data());
    const std::vector<std::string> names = names_of(tensors);
    refuse(
        "the forward function asks for the {0} '{1}', but there is no such {0}{2}; there are {3}",
        kind, name, did_you_mean(name, names), joined(names));
}

std::string no_index(double value) {
    return fmt::format(
        "the forward function takes {} for an index; index_of() needs a whole number, as floor(), "
        "ceil(), trunc(), round() and rint() give{}",
        print_exactly(value), std::isnan(value) ? ": let it ask isnan() first" : "");
}

}  // namespace detail

namespace {

/// The arrays with each element replaced by `function(array's position, element's, element)`.
template <class T, class From, class Function>
std::vector<Array<T>> mapped(std::span<const Array<From>> arrays, Function function) {
    std::vector<Array<T>> results;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        Array<T>& result = results.emplace_back(Array<T>{arrays[i].sizes, {}});
        result.data.resize(arrays[i].data.size());
        for (std::size_t j = 0; j < arrays[i].data.size(); ++j)
            result.data[j] = function(i, j, arrays[i].data[j]);
    }
    return results;
}

/// Takes the bound from each element that is another number among `others`, or NaN in one alone.
void take_bounds(Array<Bounded>& output, const Array<Dual>& others) {
    constexpr double of_double = 0x1p-40;  // the two scalars' own arithmetic loses less
    for (std::size_t j = 0; j < output.data.size(); ++j) {
        const Bounded& here = output.data[j];
        const double there = others.data[j].value(), off = std::abs(there - here.value());
        // Nothing is alike at an infinite distance.
        const bool are_alike =
            std::isnan(here.value())
                ? std::isnan(there)
                : there == here.value() || off < here.error() + of_double * std::abs(there);
        if (!are_alike) output.data[j] = Bounded::within(here.value(), INFINITY);
    }
}

void open_whole_numbers(const Array<Bounded>& output, Array<Dual>& others) {
    for (std::size_t j = 0; j < output.data.size(); ++j)
        if (std::trunc(output.data[j].value()) == output.data[j].value())
            others.data[j] = Dual(NAN);
}

/// Takes the bound from saved outputs that depend on the branch at a tie, such as the place of the
/// largest of equal numbers: a kernel may compare in another order. Each pair of runs moves all
/// inputs apart by next to nothing, at random and the other way round, so that of two equal numbers
/// each is the larger once. Where equal numbers do not move, as squares of zeros, every saved whole
/// number is open: places are whole numbers, and any other number is the same in any order.
void admit_all_branches(const Operator& op, const ForwardFunctions& functions,
                        const Problem& problem, Inputs<Bounded> inputs, Outputs<Bounded> outputs) {
    constexpr std::uint64_t rounds = 16;
    for (std::uint64_t round = 0; round < rounds; ++round)
        for (const double way : {1.0, -1.0}) {
            SplitMix64 random(round);
            const auto move = [&](std::size_t i, std::size_t, const Bounded& element) {
                const auto apart = static_cast<double>(random.between(-(1 << 30), 1 << 30));
                // No kernel takes a whole number for another.
                if (op.inputs[i].holds_whole_numbers()) return Dual(element.value());
                return Dual(element.value(), way * apart);
            };
            const auto moving = mapped<Dual>(inputs, move);
            auto others = outputs_of<Dual>(op, problem);
            const ScopedDecisions decisions;
            functions.directions(ForwardCall<Dual>(op, problem, moving, others));
            const bool has_ties = decisions.made().ties > 0,
                       places_are_open = decisions.made().open > 0;
            if (!has_ties && !places_are_open) return;
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                if (op.outputs[i].differentiable) continue;
                if (places_are_open) open_whole_numbers(outputs[i], others[i]);
                take_bounds(outputs[i], others[i]);
            }
            if (!has_ties) return;
        }
}

/// A run of the forward function on a tape.
struct Recording {
    Tape tape;
    std::vector<Array<Traced>> inputs, outputs;

    Recording(Tape::Meetings* meetings, const Operator& op, const ForwardFunctions& functions,
              const Problem& problem, std::span<const Array<double>> values)
        : tape(meetings) {
        const ScopedDecisions decisions;
        inputs = mapped<Traced>(values, [&](std::size_t i, std::size_t, double value) {
            return op.inputs[i].differentiable ? tape.input(value) : Traced(value);
        });
        outputs = outputs_of<Traced>(op, problem);
        functions.gradients(ForwardCall<Traced>(op, problem, inputs, outputs));
        detail::work_seen += static_cast<std::int64_t>(tape.size());
        detail::require_decided(op, decisions.made(), functions.branches_decide);
    }

    /// `saved`: the outputs that a kernel takes.
    std::vector<Tape::Seed> seeds(const Operator& op, Inputs<double> cotangents,
                                  const std::vector<std::string>& saved = {}) const {
        std::vector<bool> is_saved;
        for (const std::string& y : op.differentiable_outputs())
            is_saved.push_back(std::ranges::count(saved, y) > 0);
        const double loss = current_rounding.loss_of_saved + current_rounding.loss_of_formula;
        std::vector<Tape::Seed> all;
        detail::for_each_cotangent<Traced>(
            op, outputs, [&](const Traced& y, std::size_t which, std::size_t j) {
                const double dy = cotangents[which].data[j];
                const double off = y.value().error() + loss * y.value().magnitude();
                const bool is_off = is_saved[which] && dy != 0.0;
                all.push_back({y.node(), dy, is_off ? std::abs(dy) * off : 0.0});
            });
        return all;
    }
};

}  // namespace

void set_references(PassSpec& pass, const std::shared_ptr<const Operator>& tensors,
                    const ForwardFunctions& functions, const std::string& undecided) {
    pass.reference = [tensors, function = functions.values](
                         const Problem& problem, Inputs<double> in, Outputs<double> out) {
        function(ForwardCall<double>(*tensors, problem, in, out));
    };
    pass.bounded_reference = [tensors, function = functions.bounds, undecided](
                                 const Problem& problem, Inputs<Bounded> in, Outputs<Bounded> out) {
        const ScopedDecisions decisions;
        function(ForwardCall<Bounded>(*tensors, problem, in, out));
        if (decisions.made().undecided > 0) throw UndecidedComparison(undecided);
    };
}

DerivedPasses::DerivedPasses(Operator op, ForwardFunctions functions)
    : parts_(std::make_shared<const Parts>(Parts{std::move(op), std::move(functions)})) {}

PassSpec DerivedPasses::forward() const {
    PassSpec pass;
    pass.name = "forward";
    pass.inputs = names_of(parts_->op.inputs);
    pass.outputs = names_of(parts_->op.outputs);
    // The operator lives as long as all parts.
    set_references(pass, {parts_, &parts_->op}, parts_->functions,
                   detail::undecided_text(parts_->op));
    pass.any_formula_reference = [parts = parts_](const Problem& problem, Inputs<Bounded> in,
                                                  Outputs<Bounded> out) {
        const auto values = detail::values_of(in);
        const auto take = [&](const Recording& recording) {
            for (std::size_t i = 0; i < out.size(); ++i)
                std::ranges::transform(recording.outputs[i].data, out[i].data.begin(),
                                       &Traced::value);
        };
        detail::with_recording<Recording>(Formula::any, take, *parts, problem, values);
    };
    const bool has_saved = std::ranges::any_of(
        parts_->op.outputs, [](const TensorSpec& y) { return !y.differentiable; });
    if (has_saved && !parts_->functions.branches_decide)
        pass.admit_branches = [parts = parts_](const Problem& problem, Inputs<Bounded> inputs,
                                               Outputs<Bounded> outputs) {
            admit_all_branches(parts->op, parts->functions, problem, inputs, outputs);
        };
    return pass;
}

PassSpec DerivedPasses::gradient(std::string name, std::vector<std::string> inputs,
                                 const std::vector<std::string>& outputs) const {
    PassSpec pass;
    pass.name = std::move(name);
    pass.inputs = std::move(inputs);
    pass.outputs = outputs;
    for (const std::string& y : parts_->op.differentiable_outputs())
        pass.reference_inputs.push_back("d" + y);
    for (const TensorSpec& tensor : parts_->op.inputs) pass.reference_inputs.push_back(tensor.name);

    // A gradient by the input at a position, or an output of the forward function.
    struct Wanted {
        bool is_output;
        std::size_t at;
    };
    std::vector<Wanted> wanted;
    for (const std::string& output : outputs)
        if (parts_->op.is_gradient(output))
            wanted.push_back({false, detail::position_of(std::string_view(output).substr(1),
                                                         parts_->op.inputs, "input")});
        else
            wanted.push_back({true, detail::position_of(output, parts_->op.outputs, "output")});
    const auto run = [parts = parts_, wanted, taken = pass.inputs]<class T>(
                         const Problem& problem, std::span<const Array<double>> given,
                         Outputs<T> results, auto sweep, Formula formula) {
        const auto take = [&](const Recording& recording) {
            const auto gradients =
                (recording.tape.*sweep)(recording.seeds(parts->op, given, taken));
            for (std::size_t i = 0; i < wanted.size(); ++i)
                if (wanted[i].is_output)
                    std::ranges::transform(recording.outputs[wanted[i].at].data,
                                           results[i].data.begin(), &detail::number_of<T>);
                else
                    std::ranges::transform(
                        recording.inputs[wanted[i].at].data, results[i].data.begin(),
                        [&](const Traced& input) {
                            return gradients[static_cast<std::size_t>(input.node())];
                        });
        };
        // The cotangents come first, then the forward function's inputs.
        const auto values = given.last(parts->op.inputs.size());
        detail::with_recording<Recording>(formula, take, *parts, problem, values);
    };
    detail::set_recorded_references(pass, run);
    return pass;
}

ValueAlong DerivedPasses::along(const Problem& problem, Inputs<double> inputs, std::size_t which,
                                const Array<double>& direction, Inputs<double> cotangents) const {
    const Operator& op = parts_->op;
    const auto moving = mapped<Dual>(inputs, [&](std::size_t i, std::size_t j, double value) {
        return Dual(value, i == which ? direction.data[j] : 0.0);
    });
    auto outputs = outputs_of<Dual>(op, problem);
    const ScopedDecisions decisions;
    parts_->functions.directions(ForwardCall<Dual>(op, problem, moving, outputs));
    ValueAlong result{.branches = decisions.made().trace, .is_kink = decisions.made().ties > 0};
    const auto add_product = [&](const Dual& y, std::size_t output, std::size_t j) {
        const double dy = cotangents[output].data[j];
        detail::add_term(result, dy * y.value(), dy * y.tangent());
    };
    detail::for_each_cotangent<Dual>(op, outputs, add_product);
    return result;
}

}  // namespace gradverify
