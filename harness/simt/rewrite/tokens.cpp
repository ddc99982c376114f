// SPDX-License-Identifier: Apache-2.0
// Preprocessed C++ has no comments, line splices or macros, but line markers and pragmas.
#include "harness/simt/rewrite/tokens.hpp"

#include <cctype>
#include <charconv>

namespace gradverify::simt::rewrite {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool starts_identifier(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
           (static_cast<unsigned char>(c) & 0x80u) != 0;
}
bool continues_identifier(char c) { return starts_identifier(c) || is_digit(c); }

/// More than a file has; the lines behind it fit an int, too.
constexpr int most_lines = 1'000'000'000;

class Tokenizer {
  public:
    explicit Tokenizer(std::string_view source) : source_(source) {}

    std::vector<Token> run() {
        while (at_ < source_.size()) next();
        return std::move(tokens_);
    }

  private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }

    void push(TokenKind kind, std::size_t end) {
        const std::string_view text = source_.substr(at_, end - at_);
        tokens_.push_back({kind, text, line_, file_, in_system_header_});
        line_ += static_cast<int>(std::ranges::count(text, '\n'));
        at_ = end;
        line_start_ =
            kind == TokenKind::space && (line_start_ || text.find('\n') != std::string_view::npos);
    }

    /// The end of the characters from here on that are all of a kind.
    std::size_t end_of(bool (*is_of_kind)(char)) const {
        const auto* end = std::find_if_not(source_.begin() + at_, source_.end(), is_of_kind);
        return static_cast<std::size_t>(end - source_.begin());
    }

    void next() {
        const char c = peek();
        if (is_space(c)) {
            push(TokenKind::space, end_of(&is_space));
        } else if (c == '#' && line_start_) {
            directive();
        } else if (starts_identifier(c)) {
            identifier();
        } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
            number();
        } else if (c == '"' || c == '\'') {
            quoted(c, at_);
        } else {
            const bool two = (c == ':' && peek(1) == ':') || (c == '-' && peek(1) == '>');
            push(TokenKind::punctuator, at_ + (two ? 2 : 1));
        }
    }

    void directive() {
        std::size_t end = source_.find('\n', at_);
        if (end == std::string_view::npos) end = source_.size();
        const std::string_view text = source_.substr(at_, end - at_);
        push(TokenKind::directive, end);
        line_marker(text);
    }

    /// `# 12 "file" 1 3`: the line after it is line 12 of file; flag 3 marks a system header.
    void line_marker(std::string_view text) {
        std::size_t at = text.find_first_not_of(" \t", 1);
        if (at == std::string_view::npos) return;
        if (text.substr(at, 5) == "line ") at += 5;
        int line = 0;
        const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), line);
        if (parsed.ec != std::errc() || line < 1 || line > most_lines) return;
        const std::size_t open = text.find('"', at), close = text.rfind('"');
        line_ = line - 1;  // the newline that ends the directive adds one
        if (open == std::string_view::npos || close <= open) return;
        file_ = text.substr(open + 1, close - open - 1);
        in_system_header_ = text.substr(close).find('3') != std::string_view::npos;
    }

    void identifier() {
        const std::size_t end = end_of(&continues_identifier);
        const std::string_view word = source_.substr(at_, end - at_);
        const char after = end < source_.size() ? source_[end] : '\0';
        const bool encoding = word == "u8" || word == "u" || word == "U" || word == "L";
        const bool raw =
            word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
        if (raw && after == '"') return raw_string(end);
        if (encoding && (after == '"' || after == '\'')) return quoted(after, end);
        push(TokenKind::identifier, end);
    }

    void raw_string(std::size_t quote) {
        const std::size_t open = source_.find('(', quote);
        if (open == std::string_view::npos) return push(TokenKind::text, source_.size());
        const std::string close =
            ")" + std::string(source_.substr(quote + 1, open - quote - 1)) + "\"";
        const std::size_t end = source_.find(close, open);
        push(TokenKind::text, end == std::string_view::npos ? source_.size() : end + close.size());
    }

    void quoted(char quote, std::size_t open) {
        std::size_t end = open + 1;
        while (end < source_.size() && source_[end] != quote && source_[end] != '\n') {
            end += source_[end] == '\\' ? 2 : 1;
        }
        push(TokenKind::text, end < source_.size() ? end + 1 : source_.size());
    }

    void number() {
        std::size_t end = at_;
        while (end < source_.size()) {
            const char c = source_[end];
            const char previous = end > at_ ? source_[end - 1] : '\0';
            const bool exponent_sign =
                (c == '+' || c == '-') &&
                (previous == 'e' || previous == 'E' || previous == 'p' || previous == 'P');
            const bool separator =
                c == '\'' && end + 1 < source_.size() && continues_identifier(source_[end + 1]);
            if (!continues_identifier(c) && c != '.' && !exponent_sign && !separator) break;
            ++end;
        }
        push(TokenKind::number, end);
    }

    std::string_view source_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::string_view file_ = "<input>";
    bool in_system_header_ = false;
    bool line_start_ = true;
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Tokenizer(source).run(); }

}  // namespace gradverify::simt::rewrite
