// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/record.hpp"

#include <algorithm>
#include <fstream>

#include "harness/base/text.hpp"
#include "harness/cases/compare.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/report/files/json_numbers.hpp"
#include "harness/report/text/failure.hpp"
#include "harness/report/text/pattern.hpp"

namespace gradverify {

namespace {

// Lines of a source file on each side of one that a message names.
constexpr std::int64_t lines_around = 5;

void add_minimality(ordered_json& object, const Shrunk& failure) {
    const Minimality& minimality = failure.minimality;
    object["minimal"] = failure.minimal();
    if (minimality.kind == Minimality::Kind::none) return;
    object["minimality"] = minimality.kind == Minimality::Kind::certified ? "certified" : "boxed";
    object["smaller_passed"] = minimality.passed;
    object["smaller"] = minimality.of;
    if (minimality.silent > 0) object["smaller_silent"] = minimality.silent;
    if (minimality.of_is_least) object["smaller_is_least"] = true;
}

/// A rule that every problem agrees with is `rule`; anything less is `seen`.
void add_explanation(ordered_json& object, const Shrunk& failure) {
    const Generality& generality = failure.generality;
    if (!generality.text.empty()) {
        object[generality.is_rule ? "rule" : "seen"] = generality.text;
        object["problems_run"] = generality.problems;
    }
    if (!failure.values.empty()) object["values"] = failure.values;
    if (!failure.witnesses.empty()) object["witnesses"] = failure.witnesses;
}

const char* name_of(Side side) {
    return side == Side::none ? "none" : side == Side::left ? "left" : "right";
}

ordered_json listed_parameters_of(const Problem& problem) {
    ordered_json parameters = ordered_json::array();
    for (int i = 0; i < static_cast<int>(problem.values().size()); ++i) {
        const Slot& slot = problem.space().slot(problem.rank(), i);
        parameters.push_back({{"name", slot.name},
                              {"parameter", problem.space().spec(slot).name},
                              {"axis", slot.axis},
                              {"side", name_of(slot.side)},
                              {"value", json_of_parameter(problem, i)}});
    }
    return parameters;
}

ordered_json tensors_of(const Kernel& kernel, const Problem& problem) {
    ordered_json tensors = ordered_json::array();
    const auto add = [&](const std::string& name, const char* role) {
        tensors.push_back({{"name", name},
                           {"role", role},
                           {"dtype", storage_name(kernel.any(), *kernel.op, name)},
                           {"sizes", kernel.op->sizes_of(name, problem)}});
    };
    for (const std::string& name : kernel.pass->inputs) add(name, "input");
    for (const std::string& name : kernel.pass->outputs) add(name, "output");
    return tensors;
}

/// The elements of the inputs that are not zero; null where they are drawn.
ordered_json data_of(const Kernel& kernel, const Case& checked) {
    if (!checked.data.is_explicit) return nullptr;
    ordered_json elements = ordered_json::array();
    for (const DataElement& one : checked.data.elements)
        elements.push_back(
            {{"tensor", one.tensor},
             {"index", unflatten(one.index, kernel.op->sizes_of(one.tensor, checked.problem))},
             {"value", json_of_number(one.value)}});
    return elements;
}

void add_evidence(ordered_json& object, const Outcome& outcome) {
    if (outcome.is_of_two_calls) object["two_calls"] = true;
    for (const GivenNumbers& given : outcome.given)
        object["given"].push_back(
            {{"tensor", given.tensor}, {"first", given.first}, {"elements", given.total}});
    for (const WrongElement& element : outcome.worst)
        object["worst"].push_back(json_of_element(element));
    for (const WrongMap& map : outcome.maps) {
        ordered_json told{{"tensor", map.tensor},
                          {"sizes", map.sizes},
                          {"wrong", map.wrong},
                          {"total", map.total}};
        if (!map.marks.empty()) told["marks"] = map.marks;
        if (!map.got.empty()) {
            told["got"] = json_of_numbers(map.got);
            told["want"] = json_of_numbers(map.want);
        }
        if (const std::string pattern = pattern_of(map); !pattern.empty())
            told["pattern"] = pattern;
        object["maps"].push_back(std::move(told));
    }
}

/// The lines around `their.cu:12`; null where this machine hasn't the file.
ordered_json lines_at(const std::string& place) {
    const std::size_t colon = place.rfind(':');
    const std::string path = place.substr(0, colon);
    const std::int64_t line = parse_int(place.substr(colon + 1)).value_or(0);
    std::ifstream file(path);
    ordered_json lines = ordered_json::array();
    const std::int64_t first = std::max<std::int64_t>(line - lines_around, 1);
    std::int64_t number = 0;
    for (std::string text; number < line + lines_around && std::getline(file, text);)
        if (++number >= first) lines.push_back(text);
    if (number < line) return nullptr;
    return {{"file", path}, {"line", line}, {"first", first}, {"lines", std::move(lines)}};
}

void add_source(ordered_json& object, const std::string& message) {
    for (const std::string& place : source_lines_in(message))
        if (ordered_json lines = lines_at(place); !lines.is_null())
            object["source"].push_back(std::move(lines));
}

ordered_json failure_of(const RowResult& result, const std::string& program) {
    const Shrunk& failure = *result.failure;
    const Problem& problem = failure.smallest.problem;
    ordered_json object{{"case", failure.smallest.print()}, {"problem", problem.print()}};
    add_minimality(object, failure);
    add_explanation(object, failure);
    object["parameters"] = listed_parameters_of(problem);
    object["tensors"] = tensors_of(*result.row.kernel, problem);
    if (ordered_json data = data_of(*result.row.kernel, failure.smallest); !data.is_null())
        object["data"] = std::move(data);
    add_evidence(object, failure.outcome);
    add_source(object, failure.outcome.message);
    if (result.found && result.found->drawn.problem != problem) {
        object["found"] = {{"case", result.found->drawn.print()},
                           {"problem", result.found->drawn.problem.print()}};
        add_evidence(object["found"], result.found->outcome);
    }
    object["report"] = report_bug({&result}, program);
    return object;
}

ImpreciseRecord record_of(const ImpreciseCases& imprecise) {
    Case strict = imprecise.worst;
    strict.setting.is_strict = true;
    return {.cases = imprecise.cases,
            .printed_case = strict.print(),
            .worst = imprecise.found.worst,
            .largest = imprecise.found.largest};
}

}  // namespace

RowRecord record_of(const RowResult& result, const std::string& program) {
    RowRecord record{.kernel = result.row.kernel->name,
                     .property = result.row.property_name(),
                     .device = result.row.device,
                     .file = result.row.kernel->any().file,
                     .line = result.row.kernel->any().line,
                     .verdict = result.verdict,
                     .message = result.message,
                     .known = result.known,
                     .cases = result.cases,
                     .passed = result.passed,
                     .refused = result.refused,
                     .cut_of = result.cut_of,
                     .cut_short = result.cut_short,
                     .thin_of = result.thin_of,
                     .skips = result.skips,
                     .seconds = result.seconds,
                     .found_at = result.found_at,
                     .exhaustive = result.exhaustive,
                     .uncompared = result.uncompared,
                     .wrapping = result.wrapping,
                     .contiguous_alone = result.contiguous_alone,
                     .error_over_bound = result.error_over_bound,
                     .multiply_adds = result.multiply_adds,
                     .sensitivity = result.sensitivity,
                     .coverage = result.coverage,
                     .within_reach = result.within_reach,
                     .conditions = result.row.kernel->conditions(),
                     .left_out = result.left_out,
                     .not_compared = result.not_compared};
    if (result.failure) record.failure = failure_of(result, program);
    if (result.imprecise) record.imprecise = record_of(*result.imprecise);
    return record;
}

std::vector<RowRecord> records_of(const std::vector<RowResult>& results,
                                  const std::string& program) {
    std::vector<RowRecord> records;
    records.reserve(results.size());
    for (const RowResult& result : results) records.push_back(record_of(result, program));
    return records;
}

}  // namespace gradverify
