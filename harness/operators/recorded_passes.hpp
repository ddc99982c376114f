// SPDX-License-Identifier: Apache-2.0
// What references have in common that record a forward function on a tape.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/numbers/autodiff/tape.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify::detail {

inline std::string undecided_text(const Operator& op) {
    return fmt::format(
        "a comparison or an index in the forward function of {} lies within rounding, or is a tie: "
        "either branch is right (max, min and abs have a bound there)",
        op.name);
}

/// A run of the operator's own formula has decided all comparisons. What another one may lose
/// leaves some open, as that of a tiny number with 0, but its bounds are those on the operator's
/// branch.
inline thread_local bool is_decided = false;

/// **Errors** UndecidedComparison where rounding, or a tie, leaves a branch of the run open.
inline void require_decided(const Operator& op, const Decisions& made, bool branches_decide) {
    if (made.undecided > 0 && !is_decided) throw UndecidedComparison(undecided_text(op));
    if (made.ties_and_jumps() > 0 && !branches_decide) throw OpenTie(undecided_text(op));
}

/// Calls the function with each element that has a cotangent, and with the cotangent's place: which
/// one, and the element in it.
template <class T, class Function>
void for_each_cotangent(const Operator& op, Inputs<T> outputs, Function function) {
    std::size_t cotangent = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!op.outputs[i].differentiable) continue;
        const std::vector<T>& elements = outputs[i].data;
        for (std::size_t j = 0; j < elements.size(); ++j) function(elements[j], cotangent, j);
        ++cotangent;
    }
}

/// Adds a term, and how it changes.
inline void add_term(ValueAlong& along, double term, double change) {
    along.value += term;
    along.magnitude += std::abs(term);
    along.derivative += change;
    if (along.is_kink) along.terms.push_back(change);
}

/// Gives `use` a recording of the operator's formula, or one whose values, and so slopes, are off
/// by what any reasonable formula for them may lose.
template <class Recording>
void with_recording(Formula formula, auto use, const auto& parts, const auto&... given) {
    const auto record = [&](Tape::Meetings* meetings) {
        return Recording(meetings, parts.op, parts.functions, given...);
    };
    if (formula == Formula::operators) return use(record(nullptr));
    // The first run notes which numbers meet; see autodiff/tape.hpp.
    Tape::Meetings meetings;
    static_cast<void>(record(&meetings));
    const ScopedRounding any_formula(current_rounding.by_any_formula());
    struct Decided {
        Decided() { is_decided = true; }
        ~Decided() { is_decided = false; }
    } const decided;
    use(record(&meetings));
}

/// What was recorded, with its bound or without.
template <class T>
T number_of(const Traced& recorded) {
    if constexpr (std::is_same_v<T, Bounded>)
        return recorded.value();
    else
        return recorded.value().value();
}

inline std::vector<Array<double>> values_of(Inputs<Bounded> given) {
    std::vector<Array<double>> values;
    for (const Array<Bounded>& array : given) {
        values.push_back(filled<double>(array.sizes));
        std::ranges::transform(array.data, values.back().data.begin(), &Bounded::value);
    }
    return values;
}

/// Sets a pass's references by `run(problem, given, outputs, sweep, formula)`, where `sweep` is the
/// Tape's member that gives the gradient by every node.
template <class Run>
void set_recorded_references(PassSpec& pass, const Run& run) {
    pass.reference = [run](const Problem& problem, Inputs<double> given, Outputs<double> outputs) {
        run(problem, given, outputs, &Tape::gradients, Formula::operators);
    };
    const auto bounded = [run](Formula formula) {
        return [run, formula](const Problem& problem, Inputs<Bounded> given,
                              Outputs<Bounded> outputs) {
            run(problem, values_of(given), outputs, &Tape::bounded_gradients, formula);
        };
    };
    pass.bounded_reference = bounded(Formula::operators);
    pass.any_formula_reference = bounded(Formula::any);
}

}  // namespace gradverify::detail
