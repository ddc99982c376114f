// SPDX-License-Identifier: Apache-2.0
// Decides how counts, parameters and wrong elements lie in result files.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/problems/problem.hpp"

namespace gradverify {

/// A number of cases, problems or elements, which is so small that a million can be added.
/// **Errors** ordered_json::exception or std::invalid_argument.
inline std::int64_t count_of(const ordered_json& value) {
    const auto count = value.get<std::int64_t>();
    if (count < 0 || count > std::int64_t{1} << 40)
        throw std::invalid_argument(value.dump() + " is no count");
    return count;
}

inline ordered_json json_of_numbers(const std::vector<double>& values) {
    ordered_json numbers = ordered_json::array();
    for (const double value : values) numbers.push_back(json_of_number(value));
    return numbers;
}

/// The number itself of a real parameter, not its place among its values.
inline ordered_json json_of_parameter(const Problem& problem, int slot) {
    const ParameterSpec& spec = problem.space().spec(problem.rank(), slot);
    const std::int64_t value = problem[slot];
    if (!spec.is_real()) return value;
    return spec.values.at(static_cast<std::size_t>(value));
}

inline ordered_json json_of_element(const WrongElement& element) {
    ordered_json object{{"tensor", element.tensor},
                        {"index", element.index},
                        {"got", json_of_number(element.got)},
                        {"want", json_of_number(element.want)},
                        {"bound", json_of_number(element.bound)}};
    if (element.dtype) object["dtype"] = traits_of(*element.dtype).name;
    return object;
}

/// **Errors** ordered_json::exception.
inline WrongElement element_from(const ordered_json& object) {
    WrongElement element{.tensor = object.at("tensor"),
                         .index = object.value("index", std::vector<std::int64_t>()),
                         .got = number_of(object.at("got")),
                         .want = number_of(object.at("want")),
                         .bound = number_of(object.at("bound"))};
    for (const DType dtype : all_dtypes)
        if (object.value("dtype", "") == traits_of(dtype).name) element.dtype = dtype;
    return element;
}

}  // namespace gradverify
