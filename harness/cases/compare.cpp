// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradverify {

namespace {

// A map of more elements than this is not drawn.
constexpr std::size_t map_elements_maximum = 4096;
// Of no more than these all numbers are told.
constexpr std::size_t numbers_maximum = 1024;
constexpr std::size_t worst_maximum = 3;

/// How wrong an element is, for ranking: infinite where the result is not a number.
double severity(double got, double want, const Bound& bound) {
    const double error = std::abs(got - want);
    if (!std::isfinite(error)) return INFINITY;
    return bound.most() > 0.0 ? error / bound.most() : error;
}

WrongElement element_of(std::span<const double> got, const Expected& expected, std::size_t i) {
    return {.tensor = expected.tensor,
            .index = unflatten(static_cast<std::int64_t>(i), expected.sizes),
            .got = got[i],
            .want = expected.values[i],
            .bound = expected.bound_at(i).is_limited() ? expected.bound_at(i).most() : INFINITY};
}

/// Takes those that another formula may give from the wrong elements; nothing where there is none.
std::optional<Imprecision> take_imprecise(std::span<const double> got, const Expected& expected,
                                          std::vector<std::size_t>& wrong) {
    const std::vector<Bound> bounds = expected.by_any_formula();
    const auto first = std::stable_partition(wrong.begin(), wrong.end(), [&](std::size_t i) {
        return !bounds[i].accepts(got[i], expected.values[i]);
    });
    if (first == wrong.end()) return std::nullopt;
    const auto worst = std::ranges::max_element(first, wrong.end(), {}, [&](std::size_t i) {
        return severity(got[i], expected.values[i], expected.bound_at(i));
    });
    Imprecision imprecision{.worst = element_of(got, expected, *worst),
                            .elements = wrong.end() - first};
    for (const double value : expected.values)
        if (std::isfinite(value))
            imprecision.largest = std::max(imprecision.largest, std::abs(value));
    wrong.erase(first, wrong.end());
    return imprecision;
}

}  // namespace

Sizes unflatten(std::int64_t flat, const Sizes& sizes) {
    Sizes index(sizes.size());
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
        const std::int64_t size = std::max<std::int64_t>(sizes[axis], 1);
        index[axis] = flat % size;
        flat /= size;
    }
    return index;
}

Expected Expected::exactly(std::string tensor, const Array<double>& values) {
    return {.tensor = std::move(tensor), .sizes = values.sizes, .values = values.data};
}

Expected Expected::within(std::string tensor, const Array<Bounded>& values) {
    Expected expected{.tensor = std::move(tensor), .sizes = values.sizes};
    expected.values.reserve(values.data.size());
    expected.bounds.reserve(values.data.size());
    for (const Bounded& element : values.data) {
        expected.values.push_back(element.value());
        expected.bounds.push_back(bound_of(element));
    }
    return expected;
}

Comparison compare(std::span<const double> got, const Expected& expected) {
    if (got.size() != expected.values.size())
        throw std::logic_error(fmt::format("compare: {} elements of {} where {} are expected",
                                           got.size(), expected.tensor, expected.values.size()));
    Comparison result;
    result.map = {.tensor = expected.tensor, .sizes = expected.sizes};
    result.map.total = static_cast<std::int64_t>(got.size());
    std::vector<std::size_t> wrong;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double want = expected.values[i];
        const Bound bound = expected.bound_at(i);
        if (is_admitted_nan(expected.admits_nan, got[i], want)) {
            result.saw_nonzero = true;
            continue;
        }
        result.saw_nonzero |= !bound.accepts(0.0, want);
        if (!bound.accepts(got[i], want))
            wrong.push_back(i);
        else if (bound.is_limited())
            // std::max ignores a quotient that is no number, such as 0 / 0.
            result.error_over_bound =
                std::max(result.error_over_bound, std::abs(got[i] - want) / bound.most());
    }
    if (!wrong.empty() && expected.by_any_formula)
        result.imprecision = take_imprecise(got, expected, wrong);
    if (wrong.empty()) return result;

    result.ok = false;
    result.map.wrong = static_cast<std::int64_t>(wrong.size());
    if (got.size() <= map_elements_maximum) {
        result.map.marks.assign(got.size(), '.');
        for (const std::size_t i : wrong) result.map.marks[i] = '#';
    }
    if (got.size() <= numbers_maximum) {
        result.map.got.assign(got.begin(), got.end());
        result.map.want = expected.values;
    }
    const auto severity_of = [&](std::size_t i) {
        return severity(got[i], expected.values[i], expected.bound_at(i));
    };
    const std::size_t named = std::min(worst_maximum, wrong.size());
    std::partial_sort(wrong.begin(), wrong.begin() + static_cast<std::ptrdiff_t>(named),
                      wrong.end(), [&](std::size_t a, std::size_t b) {
                          const double first = severity_of(a), second = severity_of(b);
                          return first != second ? first > second : a < b;
                      });
    for (std::size_t rank = 0; rank < named; ++rank) {
        result.worst.push_back(element_of(got, expected, wrong[rank]));
    }
    return result;
}

Outcome combine(std::span<const Comparison> comparisons, const std::string& failure) {
    Outcome outcome;
    bool ok = true, saw_nonzero = false;
    for (const Comparison& one : comparisons) {
        ok &= one.ok;
        saw_nonzero |= one.saw_nonzero;
        outcome.error_over_bound = std::max(outcome.error_over_bound, one.error_over_bound);
        if (!outcome.imprecision) outcome.imprecision = one.imprecision;
        if (one.ok) continue;
        outcome.worst.insert(outcome.worst.end(), one.worst.begin(), one.worst.end());
        outcome.maps.push_back(one.map);
    }
    outcome.verdict = !ok ? Verdict::failed : saw_nonzero ? Verdict::passed : Verdict::vacuous;
    if (!ok) outcome.message = failure;
    return outcome;
}

}  // namespace gradverify
