// SPDX-License-Identifier: Apache-2.0
// `auto f() { auto x = ...; return view(&x); }`: nvcc inlines f and x stays a register, so files
// rely on it, but to g++ it is a dead variable. The address becomes that of a copy.
#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// Whether the brace `open` begins the body of a function whose type is deduced from its returns.
bool is_body_of_auto(const Stream& stream, std::size_t open) {
    std::size_t i = open;
    while (i > 0 && stream.at(i - 1).is_any({"const", "noexcept"})) --i;
    if (i == 0 || !stream.is(i - 1, ")")) return false;
    i = stream.matching(i - 1);
    while (i >= 3 && stream.is(i - 2, "::")) i -= 2;
    return i >= 2 && stream.at(i - 1).kind == TokenKind::identifier && stream.is(i - 2, "auto");
}

/// Whether this token, in a block, declares a variable of the block that is no reference.
bool declares_local(const Stream& stream, std::size_t i, std::size_t block) {
    const Token& type = stream.at(i - 1);
    if (!stream.at(i + 1).is_any({"=", ";", "(", "{"})) return false;
    if (type.kind != TokenKind::identifier && !type.is(">")) return false;
    if (type.is_any({"return", "new", "delete", "else", "goto", "throw"})) return false;
    for (std::size_t first = i; first > block && !stream.at(first).is_any({";", "}"}); --first)
        if (stream.at(first).is_any({"static", "extern", "thread_local", "__shared__"}))
            return false;
    return true;
}

bool is_local_of(const Stream& stream, std::string_view name, std::size_t block, std::size_t end) {
    for (std::size_t i = block + 1; i < end; ++i) {
        if (stream.is(i, name) && declares_local(stream, i, block)) return true;
        if (stream.at(i).opens()) i = stream.matching(i);
    }
    return false;
}

/// `*cast<T*>(&x)`, which takes a value, not an address.
bool is_dereferenced(const Stream& stream, std::size_t bracket) {
    std::size_t i = bracket;
    while (i > 0 && !stream.at(i - 1).is_any({"return", "(", ",", ";", "{"})) --i;
    return stream.is(i, "*");
}

void rewrite_return(Stream& stream, std::size_t begin, std::size_t block) {
    std::size_t bracket = begin;
    for (std::size_t i = begin + 1; i < stream.size() && !stream.at(i).is_any({";", "{"}); ++i) {
        if (stream.is(i, "(")) bracket = i;
        if (!stream.is(i, "&") || !stream.at(i - 1).is_any({"(", ",", "return"}) ||
            stream.at(i + 1).kind != TokenKind::identifier ||
            !stream.at(i + 2).is_any({")", ",", ";"}))
            continue;
        const std::string name(stream.at(i + 1).text);
        if (is_dereferenced(stream, bracket) || !is_local_of(stream, name, block, begin)) continue;
        stream.replace({{i, i + 2}, "::gradverify::simt::unit::left_local(&" + name + ")"});
    }
}

}  // namespace

void rewrite_left_locals(Stream& stream) {
    std::vector<std::size_t> blocks;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream.is(i, "{")) blocks.push_back(i);
        if (stream.is(i, "}") && !blocks.empty()) blocks.pop_back();
        if (stream.is(i, "return") && !blocks.empty() && is_body_of_auto(stream, blocks.back()))
            rewrite_return(stream, i, blocks.back());
    }
}

}  // namespace gradverify::simt::rewrite
