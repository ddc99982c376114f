// SPDX-License-Identifier: Apache-2.0
// Brackets are matched once for the whole file; edits are joined in order of their beginning.
#include "harness/simt/rewrite/stream.hpp"

#include <algorithm>
#include <cctype>

#include "harness/simt/rewrite/rewrite.hpp"

namespace gradverify::simt::rewrite {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool is_mark(const Token& token) {
    return token.text.size() > 7 && token.is_any({"__host__", "__device__", "__global__"});
}

Stream::Stream(std::string_view source, Marks marks) : tokens_(tokenize(source)) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
        Token& token = tokens_[i];
        // A macro's `#pragma` may be indented, which the compiler takes for no directive.
        if (token.kind == TokenKind::directive && i > 0) {
            std::string_view& space = tokens_[i - 1].text;
            space = space.substr(0, space.rfind('\n') + 1);
        }
        if (marks == Marks::dropped && is_mark(token)) {
            token.kind = TokenKind::space;
            token.text = " ";
        }
        if (token.kind == TokenKind::space || token.kind == TokenKind::directive) continue;
        const std::size_t number = significant_.size();
        significant_.push_back(i);
        partner_.push_back(none);
        if (token.kind != TokenKind::punctuator) continue;
        if (token.opens()) open.push_back(number);
        if (token.closes() && !open.empty()) {
            partner_[number] = open.back();
            partner_[open.back()] = number;
            open.pop_back();
        }
    }
}

const Token& Stream::at(std::size_t i) const {
    static const Token nothing;
    return i < significant_.size() ? tokens_[significant_[i]] : nothing;
}

bool Stream::is_triple(std::size_t i, char bracket) const {
    const std::string_view text(&bracket, 1);
    return is(i, text) && is(i + 1, text) && is(i + 2, text) &&
           at(i + 1).text.data() == at(i).text.data() + 1;
}

std::size_t Stream::matching(std::size_t bracket) const {
    if (bracket >= partner_.size() || partner_[bracket] == none)
        fail(bracket, "unbalanced bracket");
    return partner_[bracket];
}

std::size_t Stream::closing(std::size_t bracket) const {
    if (!at(bracket).opens()) fail(bracket, "expected an opening bracket");
    return matching(bracket);
}

std::size_t Stream::closing_angle(std::size_t angle, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = angle; i < end; ++i) {
        if (at(i).opens()) i = matching(i);
        if (is(i, "<")) ++depth;
        if (is(i, ">") && --depth == 0) return i;
    }
    return end;
}

std::string Stream::text(Range range) const {
    std::string joined;
    if (range.empty()) return joined;
    for (std::size_t i = significant_[range.begin]; i <= significant_[range.end - 1]; ++i) {
        joined += tokens_[i].text;
    }
    return joined;
}

std::string Stream::text_before(std::size_t i) const {
    std::string joined;
    const std::size_t end = i < size() ? significant_[i] : tokens_.size();
    for (std::size_t at = i == 0 ? 0 : significant_[i - 1] + 1; at < end; ++at)
        joined += tokens_[at].text;
    return joined;
}

std::string Stream::flat(Range range) const {
    std::string joined;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::string_view next = at(i).text;
        if (!joined.empty() && is_word(joined.back()) && is_word(next.front())) joined += ' ';
        joined += next;
    }
    return joined;
}

bool Stream::on_one_line(Range range) const { return text(range).find('\n') == std::string::npos; }

std::string Stream::marker(std::size_t i) const {
    const Token& token = at(i);
    return "\n# " + std::to_string(token.line) + " \"" + std::string(token.file) + "\"" +
           (token.in_system_header ? " 3" : "") + "\n";
}

std::string Stream::join() const {
    std::vector<Edit> ordered = edits_;
    std::ranges::sort(ordered, {}, [](const Edit& edit) { return edit.range.begin; });
    std::string joined;
    std::size_t at_token = 0;
    for (const auto& [range, text] : ordered) {
        const std::size_t first = significant_[range.begin];
        if (first < at_token) fail(range.begin, "one rewrite would lie within another");
        for (; at_token < first; ++at_token) joined += tokens_[at_token].text;
        joined += text;
        at_token = significant_[range.end - 1] + 1;
        const bool keeps_lines = on_one_line(range) && text.find('\n') == std::string::npos;
        if (keeps_lines || range.end >= size()) continue;
        // Only space lies between, so the next token may start a line of its own.
        for (; at_token < significant_[range.end]; ++at_token)
            if (tokens_[at_token].kind == TokenKind::directive)
                joined += "\n" + std::string(tokens_[at_token].text);
        joined += marker(range.end);
    }
    for (; at_token < tokens_.size(); ++at_token) joined += tokens_[at_token].text;
    return joined;
}

void Stream::fail(std::size_t i, const std::string& what) const {
    const Token& token = at(std::min(i, size() == 0 ? 0 : size() - 1));
    throw RewriteError(std::string(token.file) + ":" + std::to_string(token.line) +
                       ": error: " + what);
}

}  // namespace gradverify::simt::rewrite
