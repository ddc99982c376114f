// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/record.hpp"

#include <algorithm>
#include <fstream>

#include "harness/base/json_fields.hpp"
#include "harness/base/text.hpp"
#include "harness/cases/compare.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/report/text/failure.hpp"
#include "harness/report/text/pattern.hpp"

namespace gradverify {

namespace {

// Lines of a source file on each side of one that a message names.
constexpr std::int64_t lines_around = 5;

const char* name_of(Side side) {
    return side == Side::none ? "none" : side == Side::left ? "left" : "right";
}

/// The number itself of a real parameter, not its place among its values.
ordered_json value_of(const Problem& problem, int slot) {
    const ParameterSpec& spec = problem.space().spec(problem.rank(), slot);
    const std::int64_t value = problem[slot];
    if (!spec.is_real()) return value;
    return spec.values.at(static_cast<std::size_t>(value));
}

ordered_json listed_parameters_of(const Problem& problem) {
    ordered_json parameters = ordered_json::array();
    for (int i = 0; i < static_cast<int>(problem.values().size()); ++i) {
        const Slot& slot = problem.space().slot(problem.rank(), i);
        parameters.push_back({{"name", slot.name},
                              {"parameter", problem.space().spec(slot).name},
                              {"axis", slot.axis},
                              {"side", name_of(slot.side)},
                              {"value", value_of(problem, i)}});
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
    FieldWriter visit(object);
    visit("two_calls", outcome.is_of_two_calls);
    visit("given", outcome.given);
    visit("worst", outcome.worst);
    visit("maps", outcome.maps);
    for (std::size_t i = 0; i < outcome.maps.size(); ++i)
        if (const std::string pattern = pattern_of(outcome.maps[i]); !pattern.empty())
            object["maps"][i]["pattern"] = pattern;
}

/// The lines around one; null where this machine hasn't the file.
ordered_json lines_at(const SourceLine& place) {
    std::ifstream file(place.file);
    ordered_json lines = ordered_json::array();
    const std::int64_t first = std::max<std::int64_t>(place.line - lines_around, 1);
    std::int64_t number = 0;
    for (std::string text; number < place.line + lines_around && std::getline(file, text);)
        if (++number >= first) lines.push_back(text);
    if (number < place.line) return nullptr;
    return {{"file", place.file}, {"line", place.line}, {"first", first}, {"lines", lines}};
}

void add_source(ordered_json& object, const std::string& message) {
    for (const SourceLine& place : source_lines_in(message))
        if (ordered_json lines = lines_at(place); !lines.is_null())
            object["source"].push_back(std::move(lines));
}

/// What the page draws of it.
ordered_json drawn_of(const RowResult& result) {
    const Case& smallest = result.failure->smallest;
    const Outcome& outcome = result.failure->outcome;
    const Kernel& kernel = *result.row.kernel;
    ordered_json object{{"parameters", listed_parameters_of(smallest.problem)},
                        {"tensors", tensors_of(kernel, smallest.problem)}};
    if (ordered_json data = data_of(kernel, smallest); !data.is_null())
        object["data"] = std::move(data);
    add_evidence(object, outcome);
    add_source(object, outcome.message);
    if (result.found && result.found->drawn.problem != smallest.problem) {
        object["found"] = {{"case", result.found->drawn.print()},
                           {"problem", result.found->drawn.problem.print()}};
        add_evidence(object["found"], result.found->outcome);
    }
    return object;
}

Failure failure_of(const RowResult& result, const std::string& program) {
    const Shrunk& shrunk = *result.failure;
    return {shrunk, shrunk.smallest.print(), shrunk.smallest.problem.print(), drawn_of(result),
            report_bug({&result}, program)};
}

}  // namespace

RowRecord record_of(const RowResult& result, const std::string& program) {
    const Kernel& kernel = *result.row.kernel;
    RowRecord record{result.name(), result};
    record.file = kernel.any().file;
    record.line = kernel.any().line;
    record.conditions = kernel.conditions();
    if (result.failure) record.failure = failure_of(result, program);
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
