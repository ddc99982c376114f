// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/base/checked_json.hpp"

namespace gradverify {

namespace {

constexpr std::array<std::string_view, 5> verdict_names{"passed", "failed", "vacuous", "skipped",
                                                        "errored"};

DType dtype_of(const ordered_json& value) {
    const auto place = value.get<std::size_t>();
    if (place >= std::size(all_dtypes))
        throw std::invalid_argument(value.dump() + " is no element type");
    return static_cast<DType>(place);
}

}  // namespace

static void to_json(ordered_json& object, const TensorView& tensor) {
    object = {{"dtype", tensor.dtype},
              {"rank", tensor.rank},
              {"sizes", tensor.sizes},
              {"strides", tensor.strides}};
}

static void from_json(const ordered_json& object, TensorView& tensor) {
    tensor = {.dtype = dtype_of(object.at("dtype")),
              .rank = object.at("rank"),
              .sizes = object.at("sizes"),
              .strides = object.at("strides")};
    if (tensor.rank < 0 || tensor.rank > max_tensor_rank)
        throw std::invalid_argument(fmt::format("no tensor has {} axes", tensor.rank));
}

static void to_json(ordered_json& object, const Timing& timing) {
    object = {{"samples", timing.samples},
              {"calls_per_sample", timing.calls_per_sample},
              {"copies", timing.copies},
              {"outgrows_cache", timing.outgrows_cache},
              {"tensors", timing.tensors}};
}

static void from_json(const ordered_json& object, Timing& timing) {
    timing.samples = object.at("samples").get<std::vector<double>>();
    timing.calls_per_sample = object.at("calls_per_sample");
    timing.copies = object.at("copies");
    timing.outgrows_cache = object.at("outgrows_cache");
    timing.tensors = object.at("tensors").get<std::vector<TensorView>>();
}

static void to_json(ordered_json& object, const ArithmeticCeiling& ceiling) {
    object = {{"name", ceiling.name}, {"flops", ceiling.flops}};
}

static void from_json(const ordered_json& object, ArithmeticCeiling& ceiling) {
    ceiling = {.name = object.at("name"), .flops = object.at("flops")};
}

static void to_json(ordered_json& object, const Ceilings& ceilings) {
    object = {{"device_name", ceilings.device_name},
              {"cache_bytes", ceilings.cache_bytes},
              {"copy_bytes_per_second", ceilings.copy_bytes_per_second},
              {"arithmetic", ceilings.arithmetic}};
}

static void from_json(const ordered_json& object, Ceilings& ceilings) {
    ceilings = {.device_name = object.at("device_name"),
                .cache_bytes = object.at("cache_bytes"),
                .copy_bytes_per_second = object.at("copy_bytes_per_second"),
                .arithmetic = object.at("arithmetic").get<std::vector<ArithmeticCeiling>>()};
}

static void to_json(ordered_json& object, const WrongMap& map) {
    object = {{"tensor", map.tensor},
              {"sizes", map.sizes},
              {"wrong", map.wrong},
              {"total", map.total},
              {"marks", map.marks}};
    for (const double value : map.got) object["got"].push_back(json_of_number(value));
    for (const double value : map.want) object["want"].push_back(json_of_number(value));
}

static void from_json(const ordered_json& object, WrongMap& map) {
    map = {.tensor = object.at("tensor"),
           .sizes = object.at("sizes"),
           .wrong = object.at("wrong"),
           .total = object.at("total"),
           .marks = object.at("marks")};
    for (const ordered_json& value : object.value("got", ordered_json::array()))
        map.got.push_back(number_of(value));
    for (const ordered_json& value : object.value("want", ordered_json::array()))
        map.want.push_back(number_of(value));
}

static void to_json(ordered_json& object, const WrongElement& element) {
    object = {{"tensor", element.tensor},
              {"index", element.index},
              {"numbers",
               {json_of_number(element.got), json_of_number(element.want),
                json_of_number(element.bound)}}};
    if (element.dtype) object["dtype"] = *element.dtype;
}

static void from_json(const ordered_json& object, WrongElement& element) {
    const ordered_json& numbers = object.at("numbers");
    element = {.tensor = object.at("tensor"),
               .index = object.at("index"),
               .got = number_of(numbers.at(0)),
               .want = number_of(numbers.at(1)),
               .bound = number_of(numbers.at(2))};
    if (object.contains("dtype")) element.dtype = dtype_of(object["dtype"]);
}

static void to_json(ordered_json& object, const GivenNumbers& given) {
    object = {{"tensor", given.tensor}, {"first", given.first}, {"total", given.total}};
}

static void from_json(const ordered_json& object, GivenNumbers& given) {
    given = {.tensor = object.at("tensor"),
             .first = object.at("first").get<std::vector<std::int64_t>>(),
             .total = object.at("total")};
}

std::string_view name_of(Verdict verdict) {
    return verdict_names[static_cast<std::size_t>(verdict)];
}

Verdict verdict_named(const std::string& name) {
    const auto found = std::ranges::find(verdict_names, name);
    if (found == verdict_names.end())
        throw std::invalid_argument(fmt::format("there is no verdict '{}'", name));
    return static_cast<Verdict>(found - verdict_names.begin());
}

void Outcome::add_overflows(std::string noted) {
    overflows = std::move(noted);
    if (verdict == Verdict::failed && !overflows.empty()) message += "; " + overflows;
}

std::string Outcome::to_json() const {
    ordered_json object{{"verdict", name_of(verdict)}};
    if (!message.empty()) object["message"] = message;
    if (is_refusal) object["refusal"] = true;
    if (is_of_two_calls) object["two_calls"] = true;
    if (!worst.empty()) object["worst"] = worst;
    if (!maps.empty()) object["maps"] = maps;
    if (!given.empty()) object["given"] = given;
    if (error_over_bound != 0.0) object["error_over_bound"] = json_of_number(error_over_bound);
    if (sensitivity)
        object["ulps"] = {json_of_number(sensitivity->least_ulps),
                          json_of_number(sensitivity->median_ulps)};
    if (const auto* timing = std::get_if<Timing>(&measured)) object["timing"] = *timing;
    if (const auto* reached = std::get_if<Ceilings>(&measured)) object["ceilings"] = *reached;
    if (imprecision)
        object["imprecision"] = {{"worst", imprecision->worst},
                                 {"elements", imprecision->elements},
                                 {"largest", json_of_number(imprecision->largest)}};
    if (uncompared) object["uncompared"] = *uncompared;
    if (!overflows.empty()) object["overflows"] = overflows;
    if (!contiguous_alone.empty()) object["contiguous_alone"] = contiguous_alone;
    object["work"] = {json_of_number(multiply_adds), seconds_kernel, seconds_reference,
                      seconds_total, seconds_cpu};
    // A message may quote a foreign library: bytes that are no UTF-8 are replaced, not refused.
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Outcome Outcome::from_json(std::string_view line) {
    try {
        const ordered_json object = parse_json(line);
        Outcome outcome;
        outcome.verdict = verdict_named(object.at("verdict"));
        outcome.message = object.value("message", "");
        outcome.is_refusal = object.value("refusal", false);
        outcome.is_of_two_calls = object.value("two_calls", false);
        outcome.worst = object.value("worst", outcome.worst);
        outcome.maps = object.value("maps", outcome.maps);
        outcome.given = object.value("given", outcome.given);
        if (object.contains("error_over_bound"))
            outcome.error_over_bound = number_of(object["error_over_bound"]);
        if (object.contains("ulps"))
            outcome.sensitivity = {.least_ulps = number_of(object["ulps"].at(0)),
                                   .median_ulps = number_of(object["ulps"].at(1))};
        if (object.contains("timing")) outcome.measured = object["timing"].get<Timing>();
        if (object.contains("ceilings")) outcome.measured = object["ceilings"].get<Ceilings>();
        if (object.contains("imprecision")) {
            const ordered_json& found = object["imprecision"];
            outcome.imprecision = {.worst = found.at("worst").get<WrongElement>(),
                                   .elements = found.at("elements"),
                                   .largest = number_of(found.at("largest"))};
        }
        if (object.contains("uncompared"))
            outcome.uncompared = object["uncompared"].get<Uncompared>();
        outcome.overflows = object.value("overflows", "");
        outcome.contiguous_alone = object.value("contiguous_alone", "");
        const ordered_json& work = object.at("work");
        outcome.multiply_adds = number_of(work.at(0));
        outcome.seconds_kernel = work.at(1);
        outcome.seconds_reference = work.at(2);
        outcome.seconds_total = work.at(3);
        outcome.seconds_cpu = work.at(4);
        return outcome;
    } catch (const std::exception& wrong) {
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
    std::size_t from = 0, scanned = 0;
    for (std::size_t dot = 0; (dot = message.find(".cu", dot)) != std::string_view::npos;) {
        const std::size_t colon = message.find_first_not_of("cuh", dot + 1);
        const std::size_t begin = message.substr(scanned, dot - scanned).find_last_of(" (,;");
        if (begin != std::string_view::npos) from = scanned + begin + 1;
        scanned = dot;
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
