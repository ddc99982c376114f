// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/measurement.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gradverify {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasureRequest, what, device, kernel, problem, data, seed,
                                   repetitions, graph)

BenchData bench_data_named(std::string_view name) {
    for (const BenchData data : {BenchData::zeros, BenchData::integers, BenchData::decimals})
        if (name_of(data) == name) return data;
    throw std::invalid_argument("there is no data '" + std::string(name) +
                                "'; there are zeros, integers, decimals");
}

std::string MeasureRequest::to_json() const { return json(*this).dump(); }

MeasureRequest MeasureRequest::from_json(std::string_view line) {
    try {
        return json::parse(line).get<MeasureRequest>();
    } catch (const json::exception& wrong) {
        throw std::invalid_argument(std::string("measure: ") + wrong.what());
    }
}

}  // namespace gradverify
