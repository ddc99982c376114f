// SPDX-License-Identifier: Apache-2.0
// Splits preprocessed C++ into tokens, whose texts joined are the input, with the user's lines.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify::simt::rewrite {

enum class TokenKind { space, identifier, number, text, punctuator, directive };

struct Token {
    TokenKind kind = TokenKind::space;
    std::string_view text;
    int line = 0;           ///< in `file`, as the line markers say
    std::string_view file;  ///< the line marker's text between the quotes
    bool in_system_header = false;

    bool is(std::string_view spelled) const { return text == spelled; }
    bool is_any(std::initializer_list<std::string_view> of) const {
        return std::ranges::find(of, text) != of.end();
    }
    bool opens() const { return is_any({"(", "[", "{"}); }
    bool closes() const { return is_any({")", "]", "}"}); }
};

/// `source` must outlive the tokens. Angle brackets are always single tokens.
std::vector<Token> tokenize(std::string_view source);

}  // namespace gradverify::simt::rewrite
