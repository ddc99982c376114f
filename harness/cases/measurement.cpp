// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/measurement.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gradverify {

namespace {

using nlohmann::json;

/// Runs `read` on the object that the text is.
template <class Read>
auto read_object(std::string_view text, const Read& read) {
    try {
        return read(json::parse(text));
    } catch (const json::exception& wrong) {
        throw std::invalid_argument(std::string("measure: ") + wrong.what());
    }
}

json object_of(const TensorView& tensor) {
    const auto rank = static_cast<std::size_t>(tensor.rank);
    return {{"dtype", static_cast<int>(tensor.dtype)},
            {"sizes", std::vector(tensor.sizes.begin(), tensor.sizes.begin() + rank)},
            {"strides", std::vector(tensor.strides.begin(), tensor.strides.begin() + rank)}};
}

TensorView tensor_of(const json& object) {
    const auto sizes = object.at("sizes").get<std::vector<std::int64_t>>();
    const auto strides = object.at("strides").get<std::vector<std::int64_t>>();
    TensorView tensor{.dtype = static_cast<DType>(object.at("dtype").get<int>()),
                      .rank = static_cast<int>(sizes.size())};
    if (sizes.size() > tensor.sizes.size() || strides.size() != sizes.size())
        throw std::invalid_argument("measure: a tensor of too many axes");
    std::ranges::copy(sizes, tensor.sizes.begin());
    std::ranges::copy(strides, tensor.strides.begin());
    return tensor;
}

}  // namespace

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
    return read_object(line, [](const json& object) {
        return MeasureRequest{
            .what = static_cast<What>(object.at("what").get<int>()),
            .device = object.at("device"),
            .kernel = object.at("kernel"),
            .problem = object.at("problem"),
            .data = bench_data_named(object.at("data").get<std::string>()),
            .seed = object.at("seed"),
            .repetitions = object.at("repetitions"),
            .graph = object.at("graph"),
        };
    });
}

std::string to_json(const Timing& timing) {
    json object{{"samples", timing.samples},
                {"calls_per_sample", timing.calls_per_sample},
                {"copies", timing.copies},
                {"outgrows_cache", timing.outgrows_cache},
                {"tensors", json::array()}};
    for (const TensorView& tensor : timing.tensors) object["tensors"].push_back(object_of(tensor));
    return object.dump();
}

Timing timing_from_json(std::string_view text) {
    return read_object(text, [](const json& object) {
        Timing timing{.samples = object.at("samples").get<std::vector<double>>(),
                      .calls_per_sample = object.at("calls_per_sample"),
                      .copies = object.at("copies"),
                      .outgrows_cache = object.at("outgrows_cache")};
        for (const json& tensor : object.at("tensors")) timing.tensors.push_back(tensor_of(tensor));
        return timing;
    });
}

std::string to_json(const Ceilings& ceilings) {
    json object{{"device_name", ceilings.device_name},
                {"cache_bytes", ceilings.cache_bytes},
                {"copy_bytes_per_second", ceilings.copy_bytes_per_second},
                {"arithmetic", json::object()}};
    for (const ArithmeticCeiling& one : ceilings.arithmetic)
        object["arithmetic"][one.name] = one.flops;
    return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Ceilings ceilings_from_json(std::string_view text) {
    return read_object(text, [](const json& object) {
        Ceilings ceilings{.device_name = object.at("device_name"),
                          .cache_bytes = object.at("cache_bytes"),
                          .copy_bytes_per_second = object.at("copy_bytes_per_second")};
        for (const auto& [name, flops] : object.at("arithmetic").items())
            ceilings.arithmetic.push_back({name, flops.get<double>()});
        return ceilings;
    });
}

}  // namespace gradverify
