// SPDX-License-Identifier: Apache-2.0
// The parsers that are fuzzed: each is given any text, and aborts where it breaks its promise. A
// refusal is an exception of the type that the parser documents, with a message; what is accepted
// prints to a text that parses to the same.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace gradverify {
class Registry;
}

namespace gradverify::fuzz {

/// Ends the process where a parser broke its promise.
inline void require(bool holds, const char* promise) {
    if (holds) return;
    std::fprintf(stderr, "a promise is broken: %s\n", promise);
    std::abort();
}

/// What the parser gives; nothing where it refuses the text by this error, and says why.
template <class Error, class Parse>
auto parsed(const Parse& parse) -> std::optional<decltype(parse())> {
    try {
        return parse();
    } catch (const Error& refusal) {
        require(*refusal.what() != '\0', "a refusal says why");
        return std::nullopt;
    }
}

/// The path of a file that holds this text until the next call, for parsers that take a path.
std::string file_of(std::string_view text);

// What words of the command line and lines of text mean: words.cpp.
void problem(std::string_view text);
void printed_case(std::string_view text);
void layout(std::string_view text);
void numbers(std::string_view text);
void shard(std::string_view text);
void protocol(std::string_view text);
void sanitizer_log(std::string_view text);

// What whole files hold: files.cpp.
void corpus(std::string_view text);
void results(std::string_view text);
void baseline(std::string_view text);
void bench(std::string_view text);
void rewrite(std::string_view text);
void tensor_file(std::string_view text);

/// An operator and kernels whose problems, cases and corpus are parsed.
const Registry& registry();

}  // namespace gradverify::fuzz
