// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "properties/data/thinned.hpp"

namespace gradverify {

namespace {

/// Whether all numbers are integers. Makes NaN and infinities zero, to which nothing is added.
bool have_only_integers(std::vector<Array<double>>& arrays) {
    for (Array<double>& array : arrays)
        for (double& value : array.data) {
            if (!std::isfinite(value)) value = 0.0;
            if (value != std::round(value)) return false;
        }
    return true;
}

}  // namespace

CaseInputs::CaseInputs(const Subject& subject) : subject_(subject) {
    const Case& checked = subject_.checked();
    if (checked.setting.copies) return;  // whose values no host holds
    if (checked.data.is_explicit) {
        draw_all();
        if (subject_.kind() == ValueKind::integers && !have_domains()) require_exact();
    }
    if (!subject_.declaration().adds_to_some()) return;
    for (const std::string& name : subject_.pass().outputs) {
        if (!subject_.declaration().is_added_to(name)) {
            initial_outputs_.emplace_back();
            continue;
        }
        const auto like = filled<double>(subject_.op().sizes_of(name, subject_.problem()));
        initial_outputs_.push_back(
            subject_.direction_for("initial " + name, like, subject_.largest_step(name)));
    }
}

void CaseInputs::require_exact() {
    auto taken = of_reference(subject_.pass());
    if (!have_only_integers(taken))
        throw std::invalid_argument("data: " + subject_.checked().property + " needs integers");
    if (!sums_stay_exact(subject_.op(), subject_.pass(), subject_.problem(), taken,
                         subject_.exact_bits()))
        throw std::invalid_argument("data: its sums go beyond 2^" +
                                    std::to_string(subject_.exact_bits()) +
                                    ", where integers are no longer exact");
}

const Array<double>& CaseInputs::operator[](const std::string& name) {
    auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    if (subject_.op().is_output(name)) {
        const auto saved = saved_values(subject_.op(), subject_.problem(),
                                        values(subject_.op().forward().inputs), subject_.types());
        for (std::size_t i = 0; i < saved.size(); ++i)
            values_.emplace(subject_.op().outputs[i].name, saved[i]);
    } else if (are_drawn_together(subject_.op(), subject_.checked().data, subject_.kind())) {
        draw_all();
    } else {
        settle(name, values_[name] =
                         draw_tensor(subject_.op(), subject_.problem(), subject_.checked().data,
                                     subject_.kind(), subject_.types(), name));
    }
    return values_.at(name);
}

void CaseInputs::draw_all() {
    for (auto& [name, array] :
         draw_values(subject_.op(), subject_.problem(), subject_.checked().data, subject_.kind(),
                     subject_.types())) {
        settle(name, array);
        values_.emplace(name, std::move(array));
    }
}

void CaseInputs::settle(const std::string& name, Array<double>& array) const {
    if (const auto given = subject_.op().implied_cotangent(subject_.pass(), name))
        std::ranges::fill(array.data, *given);
    else if (std::ranges::count(subject_.declaration().always_zero, name) > 0)
        std::ranges::fill(array.data, 0.0);
    else
        expand(name, array);
}

// All elements along an axis that is expanded in memory are one: the first of them that is not
// zero, since zeros alone would compare nothing.
void CaseInputs::expand(const std::string& name, Array<double>& array) const {
    const TensorLayout layout = subject_.checked().setting.layout_of(name);
    std::size_t inner = array.data.size();
    for (std::size_t axis = 0; axis < array.sizes.size() && inner > 0; ++axis) {
        const auto size = static_cast<std::size_t>(array.sizes[axis]);
        inner /= size;
        if (!layout.is_expanded(axis)) continue;
        for (std::size_t first = 0; first < array.data.size(); ++first) {
            if (first / inner % size != 0) continue;
            double value = 0.0;
            for (std::size_t i = 0; i < size && value == 0.0; ++i)
                value = array.data[first + i * inner];
            for (std::size_t i = 0; i < size; ++i) array.data[first + i * inner] = value;
        }
    }
}

std::vector<Array<double>> CaseInputs::values(const std::vector<std::string>& names) {
    std::vector<Array<double>> all;
    all.reserve(names.size());
    for (const std::string& name : names) all.push_back((*this)[name]);
    return all;
}

void CaseInputs::add_initial(std::vector<Array<double>>& results, double sign) const {
    for (std::size_t i = 0; i < initial_outputs_.size(); ++i)
        std::ranges::transform(
            results[i].data, initial_outputs_[i].data, results[i].data.begin(),
            [sign](double result, double initial) { return result + sign * initial; });
}

std::vector<Array<double>> CaseInputs::cotangents() {
    std::vector<Array<double>> all;
    for (const std::string& y : subject_.op().differentiable_outputs())
        all.push_back((*this)["d" + y]);
    return all;
}

bool CaseInputs::have_invalid_indices() {
    return std::ranges::any_of(subject_.op().inputs, [&](const TensorSpec& tensor) {
        return subject_.types().may_be_invalid(tensor) &&
               !std::ranges::all_of((*this)[tensor.name].data, [&](double element) {
                   return tensor.admits(element, subject_.problem());
               });
    });
}

bool CaseInputs::admit_nan() {
    if (subject_.op().is_empty(subject_.problem()) || have_invalid_indices()) return true;
    return std::ranges::any_of(subject_.op().inputs, [&](const TensorSpec& input) {
        return input.may_be_nan &&
               std::ranges::any_of((*this)[input.name].data,
                                   [](double element) { return std::isnan(element); });
    });
}

// Integers of a piecewise polynomial are drawn whatever its domains.
bool CaseInputs::have_domains() const {
    if (subject_.op().algebra == Algebra::piecewise_polynomial) return false;
    return std::ranges::any_of(subject_.op().inputs, [](const TensorSpec& input) {
        return input.domain && !input.holds_whole_numbers();
    });
}

bool CaseInputs::stay_integers() {
    if (!have_domains()) return true;
    auto taken = of_reference(subject_.pass());
    return have_only_integers(taken) &&
           sums_stay_exact(subject_.op(), subject_.pass(), subject_.problem(), taken,
                           subject_.exact_bits());
}

}  // namespace gradverify
