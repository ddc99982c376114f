// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/base/json_fields.hpp"
#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

constexpr std::array<std::string_view, 5> verdict_names{"passed", "failed", "vacuous", "skipped",
                                                        "errored"};

}  // namespace

static void to_json(ordered_json& object, const TensorView& tensor) {
    object = {{"dtype", tensor.dtype},
              {"rank", tensor.rank},
              {"sizes", tensor.sizes},
              {"strides", tensor.strides}};
}

static void from_json(const ordered_json& object, TensorView& tensor) {
    const std::size_t place = object.at("dtype");
    if (place >= std::size(all_dtypes)) refuse("there is no such type");
    tensor = {.dtype = all_dtypes[place],
              .rank = object.at("rank"),
              .sizes = object.at("sizes"),
              .strides = object.at("strides")};
    if (tensor.rank < 0 || tensor.rank > max_tensor_rank)
        refuse("no tensor has {} axes", tensor.rank);
}

std::string_view name_of(Verdict verdict) {
    return verdict_names[static_cast<std::size_t>(verdict)];
}

void Outcome::add_overflows(std::string noted) {
    overflows = std::move(noted);
    if (verdict == Verdict::failed && !overflows.empty()) message += "; " + overflows;
}

std::string Outcome::to_json() const {
    ordered_json object;
    FieldWriter visit(object);
    fields(*this, visit);
    if (const auto* timing = std::get_if<Timing>(&measured)) object["timing"] = *timing;
    if (const auto* reached = std::get_if<Ceilings>(&measured)) object["ceilings"] = *reached;
    object["work"] = {json_of_number(multiply_adds), seconds_kernel, seconds_reference,
                      seconds_total, seconds_cpu};
    // A message may quote a foreign library: bytes that are no UTF-8 are replaced, not refused.
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Outcome Outcome::from_json(std::string_view line) {
    try {
        const ordered_json object = parse_json(line);
        Outcome outcome;
        FieldReader visit(object);
        fields(outcome, visit);
        if (object.contains("timing")) outcome.measured = object["timing"].get<Timing>();
        if (object.contains("ceilings")) outcome.measured = object["ceilings"].get<Ceilings>();
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

/// Whether both names are of one tensor, or one is an inner product with the other: a gradient of
/// many elements is compared along directions, as "<dx, v>".
static bool are_of_one_tensor(std::string_view a, std::string_view b) {
    const auto is_factor = [](std::string_view tensor, std::string_view product) {
        return product.starts_with(fmt::format("<{}, ", tensor)) ||
               product.ends_with(fmt::format(", {}>", tensor));
    };
    return a == b || is_factor(a, b) || is_factor(b, a);
}

bool fails_likewise(const Outcome& a, const Outcome& b) {
    const auto gives_nan = [](const Outcome& outcome) {
        return std::ranges::any_of(outcome.worst, [](const WrongElement& wrong) {
            return std::isnan(wrong.got) && !std::isnan(wrong.want);
        });
    };
    const auto is_wrong_in_a = [&](const WrongElement& wrong) {
        return std::ranges::any_of(a.worst, [&](const WrongElement& of_a) {
            return are_of_one_tensor(of_a.tensor, wrong.tensor);
        });
    };
    return is_of_one_kind(a, b) && gives_nan(a) == gives_nan(b) &&
           a.worst.empty() == b.worst.empty() &&
           (a.worst.empty() || std::ranges::any_of(b.worst, is_wrong_in_a));
}

std::vector<SourceLine> source_lines_in(std::string_view message) {
    std::vector<SourceLine> lines;
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
        SourceLine line{std::string(message.substr(from, colon - from)),
                        parse_int(message.substr(colon + 1, end - colon - 1)).value_or(1)};
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
    return lines;
}

std::optional<SourceLine> source_line_in(std::string_view message) {
    std::vector<SourceLine> lines = source_lines_in(message);
    return lines.empty() ? std::nullopt : std::optional(std::move(lines.front()));
}

}  // namespace gradverify
