// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/outcome.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gradverify {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> names{"passed", "failed", "vacuous", "skipped",
                                                "errored"};

Verdict verdict_of(std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return static_cast<Verdict>(i);
    throw std::invalid_argument("outcome: there is no verdict '" + std::string(name) + "'");
}

/// JSON has no NaN and no infinity: they travel as text.
json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

double number_of(const json& value) {
    if (!value.is_string()) return value.get<double>();
    for (const double special : {std::nan(""), HUGE_VAL, -HUGE_VAL})
        if (value == number(special)) return special;
    throw std::invalid_argument("outcome: " + value.dump() + " is not a number");
}

json to_object(const WrongElement& element) {
    json object{{"tensor", element.tensor},
                {"index", element.index},
                {"got", number(element.got)},
                {"want", number(element.want)},
                {"bound", number(element.bound)}};
    if (element.dtype) object["dtype"] = traits_of(*element.dtype).name;
    return object;
}

std::optional<DType> dtype_in(const json& element) {
    if (!element.contains("dtype")) return std::nullopt;
    const auto name = element["dtype"].get<std::string>();
    for (const DType dtype : all_dtypes)
        if (traits_of(dtype).name == name) return dtype;
    throw std::invalid_argument("outcome: there is no type '" + name + "'");
}

json to_object(const WrongMap& map) {
    return {{"tensor", map.tensor},
            {"sizes", map.sizes},
            {"wrong", map.wrong},
            {"total", map.total},
            {"marks", map.marks}};
}

json to_object(const TensorView& tensor) {
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
        throw std::invalid_argument("outcome: a tensor of too many axes");
    std::ranges::copy(sizes, tensor.sizes.begin());
    std::ranges::copy(strides, tensor.strides.begin());
    return tensor;
}

json to_object(const Timing& timing) {
    json object{{"samples", timing.samples},
                {"calls_per_sample", timing.calls_per_sample},
                {"copies", timing.copies},
                {"outgrows_cache", timing.outgrows_cache},
                {"tensors", json::array()}};
    for (const TensorView& tensor : timing.tensors) object["tensors"].push_back(to_object(tensor));
    return object;
}

Timing timing_of(const json& object) {
    Timing timing{.samples = object.at("samples").get<std::vector<double>>(),
                  .calls_per_sample = object.at("calls_per_sample"),
                  .copies = object.at("copies"),
                  .outgrows_cache = object.at("outgrows_cache")};
    for (const json& tensor : object.at("tensors")) timing.tensors.push_back(tensor_of(tensor));
    return timing;
}

json to_object(const Ceilings& ceilings) {
    json object{{"device_name", ceilings.device_name},
                {"cache_bytes", ceilings.cache_bytes},
                {"copy_bytes_per_second", ceilings.copy_bytes_per_second},
                {"arithmetic", json::object()}};
    for (const ArithmeticCeiling& one : ceilings.arithmetic)
        object["arithmetic"][one.name] = one.flops;
    return object;
}

Ceilings ceilings_of(const json& object) {
    Ceilings ceilings{.device_name = object.at("device_name"),
                      .cache_bytes = object.at("cache_bytes"),
                      .copy_bytes_per_second = object.at("copy_bytes_per_second")};
    for (const auto& [name, flops] : object.at("arithmetic").items())
        ceilings.arithmetic.push_back({name, flops.get<double>()});
    return ceilings;
}

}  // namespace

std::string_view name_of(Verdict verdict) { return names[static_cast<std::size_t>(verdict)]; }

std::string Outcome::to_json() const {
    json object{{"verdict", name_of(verdict)}};
    if (!message.empty()) object["message"] = message;
    if (is_refusal) object["refusal"] = true;
    for (const WrongElement& element : worst) object["worst"].push_back(to_object(element));
    for (const WrongMap& map : maps) object["maps"].push_back(to_object(map));
    if (error_over_bound != 0.0) object["error_over_bound"] = number(error_over_bound);
    if (sensitivity)
        object["ulps"] = {number(sensitivity->least_ulps), number(sensitivity->median_ulps)};
    if (const auto* timing = std::get_if<Timing>(&measured)) object["timing"] = to_object(*timing);
    if (const auto* reached = std::get_if<Ceilings>(&measured))
        object["ceilings"] = to_object(*reached);
    object["work"] = {number(multiply_adds), seconds_kernel, seconds_reference, seconds_total,
                      seconds_cpu};
    // A message may quote a foreign library: bytes that are no UTF-8 are replaced, not refused.
    return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Outcome Outcome::from_json(std::string_view line) {
    try {
        const json object = json::parse(line);
        Outcome outcome;
        outcome.verdict = verdict_of(object.at("verdict").get<std::string>());
        outcome.message = object.value("message", "");
        outcome.is_refusal = object.value("refusal", false);
        for (const json& element : object.value("worst", json::array()))
            outcome.worst.push_back({.tensor = element.at("tensor"),
                                     .index = element.at("index"),
                                     .got = number_of(element.at("got")),
                                     .want = number_of(element.at("want")),
                                     .bound = number_of(element.at("bound")),
                                     .dtype = dtype_in(element)});
        for (const json& map : object.value("maps", json::array()))
            outcome.maps.push_back({.tensor = map.at("tensor"),
                                    .sizes = map.at("sizes"),
                                    .wrong = map.at("wrong"),
                                    .total = map.at("total"),
                                    .marks = map.at("marks")});
        if (object.contains("error_over_bound"))
            outcome.error_over_bound = number_of(object.at("error_over_bound"));
        if (object.contains("ulps"))
            outcome.sensitivity = {.least_ulps = number_of(object["ulps"].at(0)),
                                   .median_ulps = number_of(object["ulps"].at(1))};
        if (object.contains("timing")) outcome.measured = timing_of(object["timing"]);
        if (object.contains("ceilings")) outcome.measured = ceilings_of(object["ceilings"]);
        const json& work = object.at("work");
        outcome.multiply_adds = number_of(work.at(0));
        outcome.seconds_kernel = work.at(1);
        outcome.seconds_reference = work.at(2);
        outcome.seconds_total = work.at(3);
        outcome.seconds_cpu = work.at(4);
        return outcome;
    } catch (const json::exception& wrong) {
        throw std::invalid_argument(std::string("outcome: ") + wrong.what());
    }
}

bool is_of_one_kind(const Outcome& a, const Outcome& b) {
    const auto kind = [](const Outcome& outcome) {
        return outcome.discovery == Discovery::damaged ? Discovery::died : outcome.discovery;
    };
    return kind(a) == kind(b);
}

}  // namespace gradverify
