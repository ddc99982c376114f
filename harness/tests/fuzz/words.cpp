// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/cases/case.hpp"
#include "harness/run/selection.hpp"
#include "harness/run/shard.hpp"
#include "harness/testing/made_operator.hpp"
#include "harness/tests/fuzz/targets.hpp"
#include "harness/workers/compute_sanitizer.hpp"
#include "harness/workers/protocol.hpp"

namespace gradverify::fuzz {

namespace {

/// `toy` with every kind of parameter, of one to three axes.
Operator operator_with_axes() {
    Operator op = testing::toy_operator();
    op.space = ParameterSpace(
        {{.name = "n", .minimum = 0},
         {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
         {.name = "filter", .kind = ParameterKind::per_axis, .default_value = 3, .maximum = 64},
         testing::padding_parameter(),
         real_parameter("eps", {1e-5, 0.5, -2.0})},
        1, 3);
    op.constraints = {testing::where("n", between(0, 1 << 20))};
    op.separable = {{.name = "n", .parameters = {"n"}}};
    op.inputs[0].orders = {{.name = "nhwc", .axes = [](int rank) {
                                std::vector<int> axes(static_cast<std::size_t>(rank));
                                for (int i = 0; i < rank; ++i)
                                    axes[static_cast<std::size_t>(i)] = rank - 1 - i;
                                return axes;
                            }}};
    return op;
}

/// `flat`, without axes.
Operator operator_without_axes() {
    Operator op = testing::toy_operator("flat");
    op.space = ParameterSpace(
        {{.name = "rows", .minimum = 0, .carries_rank = true}, real_parameter("eps", {0.1, 0.0})},
        0, 0);
    const auto sizes = [](const Problem& problem) { return Sizes{problem.scalar("rows")}; };
    op.inputs[0].sizes = op.outputs[0].sizes = sizes;
    for (PassSpec& pass : op.passes)
        pass.multiply_adds = [=](const Problem& problem) {
            return static_cast<double>(element_count(sizes(problem)));
        };
    return op;
}

void require_in_range(const Problem& problem) {
    for (int i = 0; i < static_cast<int>(problem.values().size()); ++i) {
        const ParameterSpec& spec = problem.space().spec(problem.rank(), i);
        const std::int64_t most = spec.is_real() ? std::ssize(spec.values) - 1 : spec.maximum;
        const std::int64_t least = spec.is_real() ? 0 : spec.minimum;
        require(least <= problem[i] && problem[i] <= most, "a parameter is in its range");
    }
    require(problem.distance() >= 0 && problem.total_padding() >= 0, "distances are not negative");
}

/// Whether two numbers are the same, as NaN is to itself.
bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool has_nan(const Case& one) {
    return std::ranges::any_of(one.data.elements,
                               [](const DataElement& it) { return std::isnan(it.value); });
}

}  // namespace

const Registry& registry() {
    static const Registry all = [] {
        Registry made;
        made.add(operator_with_axes());
        made.add(operator_without_axes());
        made.add(testing::toy_kernel("plain"));
        made.add(testing::toy_kernel("any").blocks_of({64, 256}).strided("x").aligned_to(4));
        KernelDeclaration flat = testing::toy_kernel("plain");
        flat.operator_name = "flat";
        made.add(flat);
        made.check();
        return made;
    }();
    return all;
}

void problem(std::string_view text) {
    static const Operator* const operators[] = {registry().find_operator("toy"),
                                                registry().find_operator("flat")};
    const auto read = parsed<UsageError>([&] {
        return read_user_problem(std::string(text), "--problem", operators,
                                 [](const auto&, const auto&) { return std::nullopt; });
    });
    if (!read) return;
    for (const auto& [op, problem] : *read) {
        require_in_range(problem);
        require(!op->validate(problem), "a problem that is taken is one of its operator");
        require(Problem::parse(op->space, problem.print()) == problem,
                "a printed problem parses to the same");
    }
}

void printed_case(std::string_view text) {
    const auto read = parsed<std::invalid_argument>([&] { return Case::parse(text, registry()); });
    if (!read) return;
    require_in_range(read->problem);
    const std::string printed = read->print();
    const Case again = Case::parse(printed, registry());
    require(again.print() == printed, "one case has one text");
    require(again == *read || has_nan(*read), "a printed case parses to the same");
    const Kernel* kernel = registry().find_kernel(read->kernel);
    require(kernel != nullptr, "a case has a kernel");
    kernel->why_unsupported(read->problem);
    why_unsupported(*kernel, read->setting);
}

void layout(std::string_view text) {
    const auto read = parsed<std::invalid_argument>([&] { return parse_layout(text); });
    if (!read) return;
    require(parse_layout(print(*read)) == *read, "a printed layout parses to the same");
    const Kernel& kernel = *registry().find_kernel("toy.forward/any");
    parsed<std::invalid_argument>(
        [&] { return strides_of(*kernel.op, kernel.any(), "x", {2, 3, 5}, *read); });
}

void numbers(std::string_view text) {
    if (const auto value = parse_double(text))
        require(is_same(*parse_double(print_exactly(*value)), *value),
                "a printed number is the same one");
    const auto whole = parse_int(text);
    const auto count = parse_uint(text);
    if (whole && *whole > 0)
        require(count && static_cast<std::int64_t>(*count) == *whole, "a count is a whole number");
    if (const auto seconds = parsed<UsageError>([&] { return parse_duration(std::string(text)); }))
        require(*seconds > 0.0 && *seconds <= longest_seconds, "a time is one that can pass");
}

void shard(std::string_view text) {
    // The first line is the word, the others are variables.
    std::map<std::string, std::string> variables;
    const auto lines = split(text, '\n');
    for (const std::string_view line : lines)
        if (const std::size_t equals = line.find('='); equals != std::string_view::npos)
            variables.emplace(line.substr(0, equals), line.substr(equals + 1));
    const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
    for (const std::string& word : {std::string(lines.front()), std::string("auto")}) {
        const auto read = parsed<UsageError>([&] { return parse_shard(word, environment); });
        if (!read) continue;
        require(0 <= read->index && read->index < read->count && read->count <= Shard::most,
                "a shard is one of its count");
    }
}

void protocol(std::string_view text) {
    if (text.find('\n') != std::string_view::npos) return;  // it ends the line
    if (const auto request = parsed<std::invalid_argument>([&] { return decode_request(text); })) {
        const std::string line = encode(*request);
        require(encode(decode_request(line)) == line, "a request that is sent is read");
    }
    if (const auto answer = parsed<std::invalid_argument>([&] { return decode_answer(text); })) {
        const std::string line = encode(*answer);
        require(encode(decode_answer(line)) == line, "an answer that is sent is read");
    }
}

void sanitizer_log(std::string_view text) {
    const SanitizerFinding found = first_finding(text);
    require(found.text.size() <= text.size() + 8, "a finding is a part of the log");
    for (const SourceLine& place : source_lines_in(text))
        require(text.find(place.file + ":") != std::string_view::npos,
                "a place is a part of the message");
}

}  // namespace gradverify::fuzz
