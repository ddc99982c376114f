// SPDX-License-Identifier: Apache-2.0
// `while (*(volatile int*)flag == 0);`: on a GPU another thread runs meanwhile; here a loop over
// volatile memory gives way in its condition, as atomics do.
#include <algorithm>
#include <optional>
#include <set>

#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

using Names = std::set<std::string_view>;

/// Not that of `asm volatile`.
bool is_volatile(const Stream& stream, std::size_t i) {
    return stream.at(i).is_any({"volatile", "__volatile__"}) &&
           !stream.at(i - 1).is_any({"asm", "__asm__", "__asm"});
}

bool is_fundamental(const Token& token) {
    return token.is_any(
        {"bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "const"});
}

/// The names that are declared from token `i` on: `int *a = c, *b;`, or a parameter's. None in a
/// cast.
void add_declarators(const Stream& stream, std::size_t i, Names& names) {
    bool is_value = false;
    for (; i < stream.size() && !stream.at(i).is_any({";", ")", "{", ">"}); ++i) {
        if (stream.at(i).opens()) i = stream.matching(i);
        const Token& token = stream.at(i);
        if (token.is_any({"=", ","})) is_value = token.text == "=";
        if (is_value || token.kind != TokenKind::identifier) continue;
        const bool is_last = stream.at(i + 1).is_any({";", "=", ",", ")", "(", "[", "{", ":"});
        if (!is_last && stream.is(i - 1, ",")) return;  // the next parameter's type
        if (is_last && !is_fundamental(token)) names.insert(token.text);
    }
}

/// `auto* f = (volatile int*)p`: what is left of the `=` before a cast.
void add_initialised(const Stream& stream, std::size_t i, Names& names) {
    while (i > 0 && !stream.at(i - 1).is_any({";", "{", "}", "="})) --i;
    if (i > 1 && stream.is(i - 1, "=") && stream.at(i - 2).kind == TokenKind::identifier)
        names.insert(stream.at(i - 2).text);
}

/// `typedef volatile int V;`, `using V = volatile int;`
bool is_of_alias(const Stream& stream, std::size_t i) {
    while (i > 0 && !stream.at(i - 1).is_any({";", "{", "}"})) --i;
    return stream.at(i).is_any({"typedef", "using"});
}

/// The function that the brace `open` begins the body of; empty for any other brace.
std::string_view function_at(const Stream& stream, std::size_t open) {
    std::size_t i = open;
    while (i > 0 && stream.at(i - 1).is_any({"const", "noexcept"})) --i;
    if (i == 0 || !stream.is(i - 1, ")")) return {};
    const std::size_t bracket = stream.matching(i - 1);
    const Token& name = stream.at(bracket == 0 ? stream.size() : bracket - 1);
    const bool is_name = name.kind == TokenKind::identifier &&
                         !name.is_any({"if", "for", "while", "switch", "catch"});
    return is_name ? name.text : std::string_view();
}

/// What is declared volatile, and functions that read through a volatile pointer.
Names volatile_names(const Stream& stream) {
    Names names, aliases;
    std::vector<std::size_t> braces;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream.is(i, "{")) braces.push_back(i);
        if (stream.is(i, "}") && !braces.empty()) braces.pop_back();
        if (stream.at(i).in_system_header) continue;
        const bool is_word = is_volatile(stream, i);
        if (!is_word && !aliases.contains(stream.at(i).text)) continue;
        if (is_word && is_of_alias(stream, i)) {
            add_declarators(stream, i + 1, aliases);
            add_initialised(stream, i, aliases);
            continue;
        }
        add_declarators(stream, i + 1, names);
        add_initialised(stream, i, names);
        for (const std::size_t brace : braces) names.insert(function_at(stream, brace));
    }
    names.merge(aliases);
    names.erase(std::string_view());
    return names;
}

bool mentions(const Stream& stream, Range range, const Names& names) {
    for (std::size_t i = range.begin; i < range.end; ++i)
        if (is_volatile(stream, i) || names.contains(stream.at(i).text)) return true;
    return false;
}

/// The first of these from `i` on that is in no bracket; `end` without one.
std::size_t next(const Stream& stream, std::size_t i, std::size_t end, std::string_view text) {
    for (; i < end && !stream.is(i, text); ++i)
        if (stream.at(i).opens()) i = stream.matching(i);
    return std::min(i, end);
}

/// Behind the statement that begins here: a block, or what a semicolon ends.
std::size_t end_of_statement(const Stream& stream, std::size_t i) {
    const std::size_t end = next(stream, i, stream.size(), ";");
    for (; i < end; ++i) {
        if (stream.is(i, "{")) return stream.matching(i) + 1;
        if (stream.at(i).opens()) i = stream.matching(i);
    }
    return end + 1;
}

/// `int left = ...`: no expression.
bool declares(const Stream& stream, Range condition) {
    for (std::size_t i = condition.begin + 2; i + 1 < condition.end; ++i)
        if (stream.is(i, "=") && !stream.is(i + 1, "=") &&
            stream.at(i - 1).kind == TokenKind::identifier &&
            (stream.at(i - 2).kind == TokenKind::identifier || stream.is(i - 2, ">") ||
             (i > condition.begin + 2 && stream.at(i - 2).is_any({"*", "&"}))))
            return true;
    return false;
}

/// Where the body of `do ... while (condition);` begins; nothing for another loop.
std::optional<std::size_t> body_of_do(const Stream& stream, std::size_t loop, std::size_t close) {
    if (loop == 0 || !stream.is(close + 1, ";")) return std::nullopt;
    std::size_t i = loop - 1;
    if (stream.is(i, "}"))
        i = stream.matching(i);
    else if (stream.is(i, ";"))
        while (i > 0 && !stream.at(i).is_any({"do"}) && !stream.at(i - 1).is_any({";", "{", "}"}))
            --i;
    if (i > 0 && stream.is(i - 1, "do")) return i;
    return stream.is(i, "do") ? std::optional(i) : std::nullopt;
}

/// `condition`: what stands between the token before it and the one behind.
void give_way(Stream& stream, Range condition) {
    if (declares(stream, condition)) return;
    stream.replace({{condition.begin - 1, condition.begin},
                    std::string(stream.at(condition.begin - 1).text) +
                        "::gradverify::simt::unit::yield_point(), " +
                        (condition.empty() ? "true" : "")});
}

}  // namespace

void rewrite_volatile_spins(Stream& stream) {
    const Names names = volatile_names(stream);
    for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
        const bool is_for = stream.is(i, "for");
        if (stream.at(i).in_system_header || !(is_for || stream.is(i, "while")) ||
            !stream.is(i + 1, "("))
            continue;
        const std::size_t open = i + 1, close = stream.matching(open);
        const Range loop{body_of_do(stream, i, close).value_or(open),
                         end_of_statement(stream, close + 1)};
        if (!mentions(stream, loop, names)) continue;
        if (!is_for) {
            give_way(stream, {open + 1, close});
            continue;
        }
        const std::size_t first = next(stream, open + 1, close, ";");
        const std::size_t second = next(stream, first + 1, close, ";");
        // A loop over a range has one at most.
        if (second < close) give_way(stream, {first + 1, second});
    }
}

}  // namespace gradverify::simt::rewrite
