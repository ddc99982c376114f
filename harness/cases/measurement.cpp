// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/measurement.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gradverify {

using nlohmann::json;

BenchData bench_data_named(std::string_view name) {
    for (const BenchData data : {BenchData::zeros, BenchData::integers, BenchData::decimals})
        if (name_of(data) == name) return data;
    throw std::invalid_argument("there is no data '" + std::string(name) +
                                "'; there are zeros, integers, decimals");
}

std::string MeasureRequest::to_json() const {
    return json{{"what", static_cast<int>(what)},
                {"device", device},
                {"kernel", kernel},
                {"problem", problem},
                {"data", name_of(data)},
                {"seed", seed},
                {"repetitions", repetitions},
                {"graph", graph}}
        .dump();
}

MeasureRequest MeasureRequest::from_json(std::string_view line) {
    try {
        const json object = json::parse(line);
        return {.what = static_cast<What>(object.at("what").get<int>()),
                .device = object.at("device"),
                .kernel = object.at("kernel"),
                .problem = object.at("problem"),
                .data = bench_data_named(object.at("data").get<std::string>()),
                .seed = object.at("seed"),
                .repetitions = object.at("repetitions"),
                .graph = object.at("graph")};
    } catch (const json::exception& wrong) {
        throw std::invalid_argument(std::string("measure: ") + wrong.what());
    }
}

}  // namespace gradverify
