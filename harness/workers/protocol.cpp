// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// The first word of a line is its kind, in the order of the variant's; the rest is the text.
constexpr std::string_view request_kinds[] = {"case",     "measure", "probe",
                                              "distrust", "serve",   "ask"};
constexpr std::string_view answer_kinds[] = {"ready", "outcome", "unreachable", "elsewhere"};
static_assert(std::size(request_kinds) == std::variant_size_v<Request>);
static_assert(std::size(answer_kinds) == std::variant_size_v<Answer>);

std::string text_of(const RunCase& request) { return request.printed_case; }
std::string text_of(const MeasureRequest& request) { return request.to_json(); }
std::string text_of(const Probe& request) { return request.device; }
std::string text_of(const Distrust& request) { return request.kernel; }
std::string text_of(const ServeClients& request) {
    return fmt::format("{} {}", request.device, request.slots);
}
std::string text_of(const AskOwner& request) {
    return fmt::format("{} {} {}", request.device, request.slots, request.slot);
}
std::string text_of(const Ready&) { return {}; }
std::string text_of(const Outcome& outcome) { return outcome.to_json(); }
std::string text_of(const Unreachable& answer) { return answer.why; }
std::string text_of(const Elsewhere&) { return {}; }

std::string line_of(std::string_view kind, const auto& message) {
    std::string line = std::string(kind) + " ";
    line += std::visit([](const auto& one) { return text_of(one); }, message);
    std::ranges::replace(line, '\n', ' ');
    return line;
}

/// A line's place among the kinds, and its text.
std::pair<std::size_t, std::string> parts_of(std::string_view line, const auto& kinds) {
    const std::size_t blank = line.find(' ');
    const auto kind = std::ranges::find(kinds, line.substr(0, blank));
    if (kind == std::end(kinds) || blank == std::string_view::npos)
        throw std::invalid_argument("a worker's pipe: '" + std::string(line) + "' is of no kind");
    return {static_cast<std::size_t>(kind - std::begin(kinds)),
            std::string(line.substr(blank + 1))};
}

}  // namespace

std::string encode(const Request& request) {
    return line_of(request_kinds[request.index()], request);
}

std::string encode(const Answer& answer) { return line_of(answer_kinds[answer.index()], answer); }

Request decode_request(std::string_view line) {
    auto [kind, text] = parts_of(line, request_kinds);
    if (kind == 0) return RunCase{std::move(text)};
    if (kind == 1) return MeasureRequest::from_json(text);
    if (kind == 2) return Probe{std::move(text)};
    if (kind == 3) return Distrust{std::move(text)};
    const std::vector<std::string_view> words = split(text, ' ');
    const bool asks = kind == 5;
    const std::string no_request = "no request: " + text;
    if (words.size() != (asks ? 3 : 2)) throw std::invalid_argument(no_request);
    const auto number = [&](std::size_t word) {
        const auto value = parse_int(words[word]);
        if (!value || !std::in_range<int>(*value)) throw std::invalid_argument(no_request);
        return static_cast<int>(*value);
    };
    if (asks) return AskOwner{std::string(words[0]), number(1), number(2)};
    return ServeClients{std::string(words[0]), number(1)};
}

Answer decode_answer(std::string_view line) {
    auto [kind, text] = parts_of(line, answer_kinds);
    if (kind == 0) return Ready{};
    if (kind == 1) return Outcome::from_json(text);
    if (kind == 2) return Unreachable{std::move(text)};
    return Elsewhere{};
}

}  // namespace gradverify
