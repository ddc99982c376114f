// SPDX-License-Identifier: Apache-2.0
// `while (*(volatile int*)flag == 0);`: on a GPU another thread runs meanwhile; here a loop over
// volatile memory gives way in its condition, as atomics do.
#include <set>

#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

using Names = std::set<std::string_view>;

bool is_fundamental(const Token& token) {
    return token.is_any(
        {"bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "const"});
}

/// What this `volatile` declares: the last word before the declarator's end; empty in a cast.
std::string_view declared_by(const Stream& stream, std::size_t i) {
    std::size_t end = i + 1;
    while (end < stream.size() &&
           !stream.at(end).is_any({";", "=", ",", ")", "(", "[", "{", ">", ":"}))
        ++end;
    const Token& name = stream.at(end - 1);
    const bool is_name = end > i + 1 && name.kind == TokenKind::identifier &&
                         !is_fundamental(name) && !stream.is(end, ">");
    return is_name ? name.text : std::string_view();
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
    Names names;
    std::vector<std::size_t> braces;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream.is(i, "{")) braces.push_back(i);
        if (stream.is(i, "}") && !braces.empty()) braces.pop_back();
        if (!stream.is(i, "volatile") || stream.at(i).in_system_header) continue;
        if (stream.at(i - 1).is_any({"asm", "__asm__", "__asm"})) continue;
        names.insert(declared_by(stream, i));
        for (const std::size_t brace : braces) names.insert(function_at(stream, brace));
    }
    names.erase(std::string_view());
    return names;
}

bool mentions(const Stream& stream, Range range, const Names& names) {
    for (std::size_t i = range.begin; i < range.end; ++i)
        if ((stream.is(i, "volatile") && !stream.at(i - 1).is_any({"asm", "__asm__", "__asm"})) ||
            names.contains(stream.at(i).text))
            return true;
    return false;
}

/// Behind the statement that begins here: a block, or what a semicolon ends.
std::size_t end_of_statement(const Stream& stream, std::size_t i) {
    for (; i < stream.size() && !stream.is(i, ";"); ++i) {
        if (stream.is(i, "{")) return stream.matching(i) + 1;
        if (stream.at(i).opens()) i = stream.matching(i);
    }
    return i + 1;
}

/// `while (int left = ...)`: a declaration, not an expression.
bool declares(const Stream& stream, std::size_t i) {
    return stream.at(i).kind == TokenKind::identifier &&
           (stream.at(i + 1).kind == TokenKind::identifier ||
            (stream.at(i + 1).is_any({"*", "&"}) && stream.is(i + 3, "=")));
}

void give_way(Stream& stream, std::size_t before, bool is_empty = false) {
    stream.replace({{before, before + 1},
                    std::string(stream.at(before).text) +
                        "::gradverify::simt::unit::yield_point(), " + (is_empty ? "true" : "")});
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
        // The body of `do ... while (condition);` lies before it.
        const bool is_do = stream.is(close + 1, ";") && i > 0 && stream.is(i - 1, "}");
        const Range loop{is_do ? stream.matching(i - 1) : open,
                         end_of_statement(stream, close + 1)};
        if (!mentions(stream, loop, names)) continue;
        if (!is_for) {
            if (!declares(stream, open + 1)) give_way(stream, open);
            continue;
        }
        std::size_t first = open + 1;
        for (; first < close && !stream.is(first, ";"); ++first)
            if (stream.at(first).opens()) first = stream.matching(first);
        // None in a loop over a range.
        if (first < close) give_way(stream, first, stream.is(first + 1, ";"));
    }
}

}  // namespace gradverify::simt::rewrite
