// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/oracle.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <ranges>

#include "harness/numbers/autodiff/decisions.hpp"
#include "harness/numbers/element_bits.hpp"

namespace gradverify {

namespace {

class Stopwatch {
  public:
    explicit Stopwatch(double& total) : total_(total) {}
    ~Stopwatch() {
        total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    double& total_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Ends the sums in the arithmetic that they were formed in. Where the kernel computes in double,
/// as the reference does, the reference's own error is as large. A sum whose terms are beyond the
/// largest number may be infinite, and so may a number that is near it.
void close_sums(std::vector<Array<Bounded>>& outputs) {
    const bool is_double = current_rounding.unit_roundoff <= traits_of(DType::f64).unit_roundoff;
    for (Array<Bounded>& output : outputs)
        for (Bounded& element : output.data) {
            const double error = (is_double ? 2.0 : 1.0) * element.error();
            const double reach = std::max(2.0 * std::abs(element.value()), element.magnitude());
            element =
                std::isfinite(error)
                    ? Bounded::within(element.value(), error)
                    : Bounded::unbounded(element.value(), !(reach <= current_rounding.largest));
        }
}

// A sum of products of inputs and slopes about 1 has slopes of no more than this together.
constexpr double slopes_maximum = 16.0;
// How much finer a double's digits are than a float's.
constexpr double of_doubles = 0x1p-28;

/// The next number of the type in a direction, or the value itself where it is one.
double towards(DType dtype, double value, double end) {
    const double near = rounded_to(dtype, value);
    if (!std::isfinite(near)) return near;
    return near == value || (near < value) == (end < value) ? near
                                                            : next_number_of(dtype, near, end);
}

/// The element rounded to its type. Where all that may be computed rounds to one number, the bound
/// is the distance to that, plus the reference's own error.
Bounded stored_in(DType dtype, const Bounded& element) {
    const Bounded stored = element.stored_in(dtype);
    return Bounded(Bounded::Sum{stored.value(), stored.error() + of_doubles * element.error(),
                                stored.magnitude(), 0.0});
}

/// The same where numbers beyond the type's ends are cut off, or are rounded to either neighbour.
/// An unbounded sum may still be NaN: its error counts, so it stays unbounded.
Bounded stored_in(DType dtype, const Bounded& element, bool saturates, bool is_stochastic) {
    if (!std::isfinite(element.error()) || !(saturates || is_stochastic))
        return stored_in(dtype, element);
    const double largest = traits_of(dtype).largest;
    const auto cut = [&](double value) {
        return saturates ? std::clamp(value, -largest, largest) : value;
    };
    const auto rounded = [&](double value, double end) {
        return is_stochastic ? towards(dtype, cut(value), end) : rounded_to(dtype, cut(value));
    };
    const double value = cut(element.value());
    const double low = rounded(element.value() - element.error(), -INFINITY);
    const double high = rounded(element.value() + element.error(), INFINITY);
    const double error = std::max(std::abs(value - low), std::abs(high - value));
    if (!std::isfinite(error)) return Bounded::unbounded(element.value(), true);
    return Bounded::within(value, error + of_doubles * element.error());
}

/// Each bound as wide as the other one where that is wider.
void widen(std::vector<Array<Bounded>>& outputs, const std::vector<Array<Bounded>>& others) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
        for (std::size_t j = 0; j < outputs[i].data.size(); ++j) {
            Bounded& here = outputs[i].data[j];
            here = here.off_by(std::max(0.0, others[i].data[j].error() - here.error()));
        }
}

double largest_error(const Array<Bounded>& output) {
    double largest = 0.0;
    for (const Bounded& element : output.data) largest = std::max(largest, element.error());
    return largest;
}

/// Each element as large as the largest of its tensor, since a transform mixes all of them.
std::vector<Array<double>> levelled(std::vector<Array<double>> inputs) {
    for (Array<double>& input : inputs) {
        double largest = 0.0;
        for (const double element : input.data) largest = std::max(largest, std::abs(element));
        std::ranges::fill(input.data, largest);
    }
    return inputs;
}

}  // namespace

Rounding rounding_of(const KernelDeclaration& kernel, DType computed) {
    Rounding rounding = Rounding::of(computed, kernel.arithmetic == Arithmetic::fast);
    if (const auto& split = kernel.split_factors; split)
        rounding = rounding.in_pieces(split->products, split->digits);
    else if (kernel.truncates_sums())
        rounding = rounding.on_tensor_cores(kernel.multiplies_in_tf32());
    rounding.types_by_name = kernel.roundings;
    return rounding;
}

std::vector<Expected> all_exactly(const PassSpec& pass, const std::vector<Array<double>>& outputs) {
    std::vector<Expected> expected;
    for (const Array<double>& output : outputs)
        expected.push_back(Expected::exactly(pass.outputs[expected.size()], output));
    return expected;
}

std::vector<Array<double>> Oracle::reference(const PassSpec& pass) {
    return reference(pass, inputs_.of_reference(pass));
}

std::vector<Array<double>> Oracle::reference(const PassSpec& pass,
                                             const std::vector<Array<double>>& taken) {
    const Stopwatch watch(seconds_);
    return reference_outputs(subject_.op(), pass, subject_.problem(), taken);
}

/// Sums are left open, so the rounding must stay as it is until they are closed.
std::vector<Array<Bounded>> Oracle::open_sums(const PassSpec& pass,
                                              const std::vector<Array<double>>& taken,
                                              Formula formula) {
    const Stopwatch watch(seconds_);
    return bounded_outputs(subject_.op(), pass, subject_.problem(), taken, formula);
}

std::vector<Array<Bounded>> Oracle::bounded(const PassSpec& pass) {
    const ScopedRounding rounding(rounding_of(pass));
    auto outputs = open_sums(pass, inputs_.of_reference(pass));
    close_sums(outputs);
    return outputs;
}

/// Lifts the bound of elements that a right kernel may compute by another branch.
void Oracle::admit_branches(const std::vector<Array<double>>& taken,
                            std::vector<Array<Bounded>>& outputs) {
    if (subject_.pass().admit_branches) {
        const Stopwatch watch(seconds_);
        subject_.pass().admit_branches(subject_.problem(), as_bounded(taken), outputs);
    }
}

const PassSpec* Oracle::pass_of_any_formula() const {
    const PassSpec& pass = subject_.pass();
    if (subject_.op().algebra == Algebra::products || subject_.declaration().norm_wise_growth ||
        subject_.checked().setting.is_strict)
        return nullptr;
    if (pass.any_formula_reference) return &pass;
    return pass.derived && pass.derived->outputs == pass.outputs ? pass.derived.get() : nullptr;
}

/// A reference by hand takes saved outputs as they are stored. Another formula need not take them,
/// so they may be off by their rounding.
void Oracle::admit_rounding_of_saved(const std::vector<Array<double>>& taken,
                                     std::vector<Array<Bounded>>& outputs) {
    try {
        widen(outputs, open_sums(subject_.pass(), taken, Formula::any));
    } catch (const UndecidedComparison&) {
        // The rounding of a saved output explains no branch.
    }
}

double Oracle::loss_of_saved() const {
    double loss = 0.0;
    for (const std::string& name : subject_.pass().inputs)
        if (subject_.op().is_output(name))
            loss =
                std::max(loss, traits_of(subject_.types().of(subject_.op(), name)).unit_roundoff);
    return loss;
}

std::vector<Array<Bounded>> Oracle::computed(Formula formula) {
    Rounding arithmetic = rounding_of(subject_.pass());
    // Rounding explains no branch: a gradient by hand has one slope at a kink.
    arithmetic.admits_all_slopes =
        admits_all_slopes_ &&
        (formula == Formula::operators || pass_of_any_formula() == &subject_.pass());
    if (formula == Formula::any) arithmetic.loss_of_saved = loss_of_saved();
    const ScopedRounding rounding(arithmetic);
    const std::vector<Array<double>> taken = inputs_.of_reference(subject_.pass());
    auto outputs = formula == Formula::operators
                       ? open_sums(subject_.pass(), taken)
                       : open_sums(*pass_of_any_formula(),
                                   inputs_.of_reference(*pass_of_any_formula()), formula);
    if (current_rounding.loss_of_saved > 0.0 && pass_of_any_formula() != &subject_.pass())
        admit_rounding_of_saved(taken, outputs);
    admit_branches(taken, outputs);
    for (std::size_t i = 0; i < inputs_.initial_outputs().size(); ++i)
        std::ranges::transform(outputs[i].data, inputs_.initial_outputs()[i].data,
                               outputs[i].data.begin(), std::plus<Bounded>());
    close_sums(outputs);
    if (subject_.declaration().norm_wise_growth) {
        const std::vector<double> errors = norm_wise_errors(taken, outputs);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            for (Bounded& element : outputs[i].data)
                element = Bounded::within(element.value(), errors[i]);
    }
    return outputs;
}

std::vector<double> Oracle::norm_wise_errors(const std::vector<Array<double>>& taken,
                                             const std::vector<Array<Bounded>>& outputs) {
    std::vector<Array<Bounded>> level;
    if (subject_.op().algebra == Algebra::products)
        level = open_sums(subject_.pass(), levelled(taken));
    close_sums(level);
    std::vector<double> errors;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        double largest = largest_error(outputs[i]);
        if (i < level.size()) largest = std::max(largest, largest_error(level[i]));
        const double of_whole = i < errors_of_whole_.size() ? errors_of_whole_[i] : 0.0;
        errors.push_back(std::max(*subject_.declaration().norm_wise_growth * largest, of_whole));
    }
    return errors;
}

void Oracle::is_part_of(Oracle& whole) {
    if (!subject_.declaration().norm_wise_growth) return;
    for (const Array<Bounded>& output : whole.computed(Formula::operators))
        errors_of_whole_.push_back(largest_error(output));
}

void Oracle::store(std::vector<Array<Bounded>>& outputs, bool saturates) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::string& name = subject_.pass().outputs[i];
        const DType stored = subject_.types().of(subject_.op(), name);
        if (!subject_.rounds_when_stored(name)) continue;
        const auto& stochastic = subject_.declaration().rounded_stochastically;
        const bool is_stochastic = std::ranges::find(stochastic, name) != stochastic.end();
        for (Bounded& element : outputs[i].data)
            if (!std::isnan(element.value()))
                element =
                    stored_in(stored, element, saturates && is_of_8_bits(stored), is_stochastic);
    }
}

std::vector<Array<Bounded>> Oracle::stored(Formula formula, bool saturates) {
    try {
        auto outputs = computed(formula);
        store(outputs, saturates);
        return outputs;
    } catch (const UndecidedComparison&) {
        // What any formula may lose leaves a comparison open that the operator's own decides.
        if (formula == Formula::operators) throw;
        return stored(Formula::operators, saturates);
    }
}

std::vector<Array<Bounded>> Oracle::bounded() {
    if (!pass_of_any_formula()) return stored(Formula::operators, false);
    auto outputs = stored(Formula::any, false);
    if (pass_of_any_formula() == &subject_.pass()) return outputs;
    // A reference by hand may be a formula that loses more than any that was derived, and name
    // numbers that the derived one lacks.
    widen(outputs, stored(Formula::operators, false));
    return outputs;
}

std::vector<Array<Bounded>> Oracle::bounded_on_one_branch() {
    admits_all_slopes_ = false;
    auto outputs = bounded();
    admits_all_slopes_ = true;
    return outputs;
}

/// The rounding of the kernel's arithmetic, or of saved outputs that it takes in a coarser type. A
/// reference that takes them, too, takes them as they are stored.
Rounding Oracle::rounding_of(const PassSpec& pass) const {
    DType coarsest = subject_.declaration().accumulator();
    if (pass.reference_inputs.empty())
        return gradverify::rounding_of(subject_.declaration(), coarsest);
    for (const std::string& name : pass.inputs)
        if (const DType saved = subject_.types().of(subject_.op(), name);
            subject_.op().is_output(name) && is_floating(saved) && !holds_all_of(saved, coarsest))
            coarsest = saved;
    return gradverify::rounding_of(subject_.declaration(), coarsest);
}

Exactness Oracle::exactness() {
    if (subject_.declaration().norm_wise_growth) return Exactness::norm_wise;
    if (!subject_.checked().data.files.empty()) return Exactness::bounded;
    if (!subject_.sums_integers_exactly() || !inputs_.stay_integers()) return Exactness::bounded;
    return are_numbers_of_their_types() ? Exactness::exact : Exactness::stored;
}

bool Oracle::are_numbers_of_their_types() {
    std::vector<Array<double>> results;
    for (std::size_t i = 0; i < subject_.pass().outputs.size(); ++i) {
        const DType stored = subject_.types().of(subject_.op(), subject_.pass().outputs[i]);
        if (!is_of_8_bits(stored)) continue;
        if (results.empty()) {
            results = reference(subject_.pass());
            inputs_.add_initial(results);
        }
        const bool are_numbers = std::ranges::all_of(results[i].data, [&](double value) {
            // Infinities are beyond the range of 8 bits, even of those that have them.
            if (std::isinf(value)) return false;
            return std::isnan(value) || rounded_to(stored, value) == value;
        });
        if (!are_numbers) return false;
    }
    return true;
}

std::vector<Expected> Oracle::expected() {
    if (exactness() != Exactness::exact) return within_rounding();
    auto results = reference(subject_.pass());
    auto admitted =
        as_bounded(subject_.pass().admit_branches ? results : std::vector<Array<double>>());
    admit_branches(inputs_.of_reference(subject_.pass()), admitted);
    inputs_.add_initial(results);
    auto expected = all_exactly(subject_.pass(), results);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (i < admitted.size())
            for (const Bounded& element : admitted[i].data)
                expected[i].bounds.push_back(bound_of(element).is_limited() ? Bound()
                                                                            : bound_of(element));
        expected[i].admits_nan = inputs_.admit_nan();
    }
    return expected;
}

std::vector<Expected> Oracle::within_rounding() {
    const bool saturates = subject_.declaration().saturates_results;
    std::vector<Expected> expected;
    for (const Array<Bounded>& output : stored(Formula::operators, saturates)) {
        const std::size_t i = expected.size();
        expected.push_back(Expected::within(subject_.pass().outputs[i], output));
        expected.back().admits_nan = inputs_.admit_nan();
        if (pass_of_any_formula())
            expected.back().by_any_formula = [this, i, saturates] {
                return by_any_formula(i, saturates);
            };
    }
    return expected;
}

double Oracle::size_of_terms(const PassSpec& pass, std::size_t output) {
    double size = 1.0, elements = 0.0;
    for (const std::string& name : pass.taken_by_reference()) {
        const Array<double>& input = inputs_[name];
        if (!subject_.op().tensor_named(name).differentiable) continue;
        double largest = 1.0;
        for (const double element : input.data)
            if (std::isfinite(element)) largest = std::max(largest, std::abs(element));
        size *= largest;
        elements = std::max(elements, static_cast<double>(input.data.size()));
    }
    const Sizes sizes = subject_.op().sizes_of(pass.outputs[output], subject_.problem());
    return size * std::max(1.0, elements / static_cast<double>(element_count(sizes)));
}

std::vector<bool> Oracle::keep_digits(std::size_t output, const std::vector<double>& values,
                                      double last) {
    const PassSpec& pass = *pass_of_any_formula();
    const Rounding arithmetic = rounding_of(subject_.pass());
    const double half = std::sqrt(last);
    double size = size_of_terms(pass, output);
    for (const double value : values)
        if (std::isfinite(value)) size = std::max(size, std::abs(value));
    const auto errors = [&](Rounding rounding, Formula formula) {
        rounding.admits_all_slopes = false;
        const ScopedRounding scope(rounding);
        auto outputs = open_sums(pass, inputs_.of_reference(pass), formula);
        close_sums(outputs);
        return std::move(outputs[output].data);
    };
    Rounding halved = arithmetic;
    halved.loss_of_formula = half;
    const Rounding moved{.unit_roundoff = 0.0,
                         .smallest_normal = 0.0,
                         .largest = arithmetic.largest,
                         .loss_of_inputs = last};
    std::vector<bool> keep(values.size(), false);
    try {
        const auto by_half = errors(halved, Formula::any);
        const auto by_inputs = errors(moved, Formula::operators);
        for (std::size_t i = 0; i < values.size(); ++i)
            keep[i] = !(by_half[i].error() <= slopes_maximum * half * size) &&
                      by_inputs[i].error() <= half * std::abs(values[i]);
    } catch (const UndecidedComparison&) {
        // Numbers of half their digits may take another branch, which tells nothing.
    }
    return keep;
}

std::vector<Bound> Oracle::by_any_formula(std::size_t output, bool saturates) {
    const auto own = Expected::within("", stored(Formula::operators, saturates)[output]);
    const auto any = Expected::within("", stored(Formula::any, saturates)[output]);
    auto bounds = any.bounds;
    const DType type = subject_.types().of(subject_.op(), subject_.pass().outputs[output]);
    const double last =
        std::max(rounding_of(subject_.pass()).unit_roundoff, traits_of(type).unit_roundoff);
    std::vector<bool> keep;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        // A reference by hand takes saved outputs as they are stored, the derived one does not. On
        // another branch it is further off than their rounding, and that of the result, explain.
        const double apart = std::abs(any.values[i] - own.values[i]);
        if (apart > 0.0 && apart <= bounds[i].most() + last * std::abs(own.values[i]))
            bounds[i] = bounds[i] + Bound(apart);
        bounds[i] = std::ranges::max(bounds[i], own.bounds[i], {}, &Bound::most);
        const double half = std::sqrt(last) * std::abs(own.values[i]);
        if (bounds[i].most() <= half || bounds[i] == Bound::none()) continue;
        if (keep.empty()) keep = keep_digits(output, own.values, last);
        if (keep[i]) bounds[i] = std::max(half, own.bounds[i].most());
    }
    return bounds;
}

}  // namespace gradverify
