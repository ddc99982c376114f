// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace gradverify {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 5> names{"passed", "failed", "vacuous", "skipped",
                                                "errored"};

Verdict verdict_named(std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
        throw std::invalid_argument(fmt::format("outcome: there is no verdict '{}'", name));
    return static_cast<Verdict>(found - names.begin());
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

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorView, dtype, rank, sizes, strides)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timing, samples, calls_per_sample, copies, outgrows_cache,
                                   tensors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ArithmeticCeiling, name, flops)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ceilings, device_name, cache_bytes, copy_bytes_per_second,
                                   arithmetic)

static void to_json(json& object, const WrongMap& map) {
    object = {{"tensor", map.tensor},
              {"sizes", map.sizes},
              {"wrong", map.wrong},
              {"total", map.total},
              {"marks", map.marks}};
    for (const double value : map.got) object["got"].push_back(number(value));
    for (const double value : map.want) object["want"].push_back(number(value));
}

static void from_json(const json& object, WrongMap& map) {
    map = {.tensor = object.at("tensor"),
           .sizes = object.at("sizes"),
           .wrong = object.at("wrong"),
           .total = object.at("total"),
           .marks = object.at("marks")};
    for (const json& value : object.value("got", json::array()))
        map.got.push_back(number_of(value));
    for (const json& value : object.value("want", json::array()))
        map.want.push_back(number_of(value));
}

static void to_json(json& object, const WrongElement& element) {
    object = {{"tensor", element.tensor},
              {"index", element.index},
              {"numbers", {number(element.got), number(element.want), number(element.bound)}}};
    if (element.dtype) object["dtype"] = *element.dtype;
}

static void from_json(const json& object, WrongElement& element) {
    const json& numbers = object.at("numbers");
    element = {.tensor = object.at("tensor"),
               .index = object.at("index"),
               .got = number_of(numbers.at(0)),
               .want = number_of(numbers.at(1)),
               .bound = number_of(numbers.at(2))};
    if (object.contains("dtype")) element.dtype = object["dtype"].get<DType>();
}

std::string_view name_of(Verdict verdict) { return names[static_cast<std::size_t>(verdict)]; }

void Outcome::add_overflows(std::string noted) {
    overflows = std::move(noted);
    if (verdict == Verdict::failed && !overflows.empty()) message += "; " + overflows;
}

std::string Outcome::to_json() const {
    json object{{"verdict", name_of(verdict)}};
    if (!message.empty()) object["message"] = message;
    if (is_refusal) object["refusal"] = true;
    if (is_of_two_calls) object["two_calls"] = true;
    if (!worst.empty()) object["worst"] = worst;
    if (!maps.empty()) object["maps"] = maps;
    if (error_over_bound != 0.0) object["error_over_bound"] = number(error_over_bound);
    if (sensitivity)
        object["ulps"] = {number(sensitivity->least_ulps), number(sensitivity->median_ulps)};
    if (const auto* timing = std::get_if<Timing>(&measured)) object["timing"] = *timing;
    if (const auto* reached = std::get_if<Ceilings>(&measured)) object["ceilings"] = *reached;
    if (imprecision)
        object["imprecision"] = {{"worst", imprecision->worst},
                                 {"elements", imprecision->elements},
                                 {"largest", number(imprecision->largest)}};
    if (!overflows.empty()) object["overflows"] = overflows;
    object["work"] = {number(multiply_adds), seconds_kernel, seconds_reference, seconds_total,
                      seconds_cpu};
    // A message may quote a foreign library: bytes that are no UTF-8 are replaced, not refused.
    return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Outcome Outcome::from_json(std::string_view line) {
    try {
        const json object = json::parse(line);
        Outcome outcome;
        outcome.verdict = verdict_named(object.at("verdict").get<std::string>());
        outcome.message = object.value("message", "");
        outcome.is_refusal = object.value("refusal", false);
        outcome.is_of_two_calls = object.value("two_calls", false);
        outcome.worst = object.value("worst", outcome.worst);
        outcome.maps = object.value("maps", outcome.maps);
        if (object.contains("error_over_bound"))
            outcome.error_over_bound = number_of(object["error_over_bound"]);
        if (object.contains("ulps"))
            outcome.sensitivity = {.least_ulps = number_of(object["ulps"].at(0)),
                                   .median_ulps = number_of(object["ulps"].at(1))};
        if (object.contains("timing")) outcome.measured = object["timing"].get<Timing>();
        if (object.contains("ceilings")) outcome.measured = object["ceilings"].get<Ceilings>();
        if (object.contains("imprecision")) {
            const json& found = object["imprecision"];
            outcome.imprecision = {.worst = found.at("worst").get<WrongElement>(),
                                   .elements = found.at("elements"),
                                   .largest = number_of(found.at("largest"))};
        }
        outcome.overflows = object.value("overflows", "");
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

std::vector<std::string> source_lines_in(std::string_view message) {
    std::vector<std::string> lines;
    for (std::size_t dot = 0; (dot = message.find(".cu", dot)) != std::string_view::npos;) {
        const std::size_t colon = message.find_first_not_of("cuh", dot + 1);
        const std::size_t begin = message.substr(0, dot).find_last_of(" (,;");
        const std::size_t from = begin == std::string_view::npos ? 0 : begin + 1;
        dot += 3;
        if (colon == std::string_view::npos || message[colon] != ':') continue;
        const std::string_view ending = message.substr(dot - 3, colon - dot + 3);
        const std::size_t end =
            std::min(message.find_first_not_of("0123456789", colon + 1), message.size());
        if ((ending != ".cu" && ending != ".cuh") || end == colon + 1) continue;
        std::string line(message.substr(from, end - from));
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
    return lines;
}

std::string source_line_in(std::string_view message) {
    const std::vector<std::string> lines = source_lines_in(message);
    return lines.empty() ? std::string() : lines.front();
}

}  // namespace gradverify
