// SPDX-License-Identifier: Apache-2.0
// No grammar: a declaration ends at its `;`, or with the body of a function or a namespace, and the
// words before its first brace say which. Where that is wrong, it is wrong for both texts alike.
#include "harness/simt/rewrite/declarations.hpp"

namespace gradverify::simt::rewrite {
namespace {

bool takes_parentheses(const Token& token) {
    return token.is_any({"__attribute__", "__attribute", "alignas", "decltype", "noexcept",
                         "explicit", "requires", "__declspec", "__cluster_dims__"});
}
bool opens_class(const Token& token) { return token.is_any({"struct", "class", "union"}); }

/// Words that one of two texts may have, and the other not, before the same function.
bool is_specifier(const Token& token) {
    return is_mark(token) ||
           token.is_any({"inline", "static", "constexpr", "extern", "__inline__"});
}

class Parser {
  public:
    Parser(const Stream& stream, Range scope) : stream_(stream), scope_(scope) {}

    std::vector<Declaration> run() {
        std::vector<Declaration> found;
        for (std::size_t i = scope_.begin; i < scope_.end; i = found.back().range.end) {
            found.push_back(next(i));
        }
        return found;
    }

  private:
    /// What is known of a declaration while its tokens are passed.
    struct Head {
        std::size_t first = 0;       ///< behind `template <...>`, specifiers and `public:`
        std::size_t parameters = 0;  ///< the parenthesis of a function's parameters, if not 0
        std::size_t colon = 0;       ///< of bases or of a constructor's initialisers, if not 0
        bool has_value = false;      ///< `=` was passed
    };

    Declaration next(std::size_t begin) const {
        Declaration found;
        Head head;
        head.first = begin_of_words(begin);
        for (std::size_t i = head.first; i < scope_.end; ++i) {
            const Token& token = stream_.at(i);
            if (token.is(";")) return finish(found, begin, head, i + 1);
            if (token.is("<") && opens_class(stream_.at(head.first)) && head.parameters == 0) {
                // What a class is specialised for has no parameters: `<Ret (*)(Args...), f>`.
                i = std::min(stream_.closing_angle(i, scope_.end), scope_.end - 1);
            } else if (token.is("operator")) {
                while (i + 1 < scope_.end && !stream_.is(i + 1, "(")) ++i;
                if (stream_.is(i + 2, ")") && stream_.is(i + 3, "(")) i += 2;
            } else if (token.is("=")) {
                head.has_value = true;
            } else if (token.is(":")) {
                head.colon = i;
            } else if (token.is("{")) {
                if (found.open == 0) found.kind = kind_of(head, i);
                if (found.open == 0 && found.kind != DeclarationKind::other) found.open = i;
                i = stream_.matching(i);
                if (ends_at_brace(found, head)) return finish(found, begin, head, i + 1);
            } else if (token.opens()) {
                const bool is_list = token.is("(") && !takes_parentheses(stream_.at(i - 1));
                if (is_list && head.parameters == 0) head.parameters = i;
                i = stream_.matching(i);
            }
        }
        return finish(found, begin, head, scope_.end);
    }

    std::size_t begin_of_words(std::size_t i) const {
        for (; i < scope_.end; ++i) {
            if (stream_.is(i, "template") && stream_.is(i + 1, "<")) {
                i = std::min(stream_.closing_angle(i + 1, scope_.end), scope_.end - 1);
            } else if (takes_parentheses(stream_.at(i)) && stream_.is(i + 1, "(")) {
                i = stream_.matching(i + 1);
            } else if (stream_.is(i + 1, ":")) {
                ++i;  // public:
            } else if (!is_specifier(stream_.at(i)) || stream_.is(i, "extern")) {
                break;
            }
        }
        return i;
    }

    DeclarationKind kind_of(const Head& head, std::size_t brace) const {
        const Token& first = stream_.at(head.first);
        const bool linkage = first.is("extern") && stream_.at(brace - 1).kind == TokenKind::text;
        if (first.is("namespace") || linkage) return DeclarationKind::scope;
        const bool bases_come_first = head.colon != 0 && head.colon < head.parameters;
        const bool is_plain = head.parameters == 0 || bases_come_first;
        if (opens_class(first) && is_plain) return DeclarationKind::scope;
        if (head.has_value || is_plain) return DeclarationKind::other;
        // A constructor's `a{1}`, and the braces of `requires`, are before the body.
        const Token& before = stream_.at(brace - 1);
        const bool initialises =
            head.colon != 0 && (before.kind == TokenKind::identifier || before.is(">"));
        const bool constrains =
            before.is("requires") ||
            (before.is(")") && stream_.is(stream_.matching(brace - 1) - 1, "requires"));
        return initialises || constrains ? DeclarationKind::other : DeclarationKind::function;
    }

    bool ends_at_brace(const Declaration& found, const Head& head) const {
        if (found.kind == DeclarationKind::function) return true;
        return found.kind == DeclarationKind::scope && !opens_class(stream_.at(head.first));
    }

    Declaration finish(Declaration found, std::size_t begin, const Head& head,
                       std::size_t end) const {
        found.range = {begin, end};
        found.first = head.first;
        found.parameters = head.parameters;
        std::size_t key_end = found.open != 0 ? found.open : end;
        const bool is_function = found.kind == DeclarationKind::function;
        if (is_function && head.colon > head.parameters) key_end = head.colon;
        if (found.open != 0 || head.parameters != 0 || stream_.is(head.first, "using")) {
            if (stream_.is(head.first, "using") && stream_.is(head.first + 2, "="))
                key_end = head.first + 2;
            found.key = words({begin, key_end});
        } else {
            found.key = "name " + name({head.first, end});
        }
        return found;
    }

    /// Whether token `i` may be left out of a list of parameters: `x` in `(const float* x, T y)`.
    bool names_parameter(std::size_t i) const {
        if (stream_.at(i).kind != TokenKind::identifier) return false;
        const bool is_type = stream_.at(i).is_any({"bool", "char", "short", "int", "long", "float",
                                                   "double", "signed", "unsigned", "const"});
        if (is_type || !stream_.at(i + 1).is_any({",", ")", "=", "["})) return false;
        const Token& before = stream_.at(i - 1);
        return before.is_any({"*", "&", ">"}) || before.kind == TokenKind::identifier;
    }

    std::string words(Range range) const {
        std::string joined;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            if (stream_.is(i, "__attribute__") && stream_.is(i + 1, "(")) {
                i = stream_.matching(i + 1);
            } else if (!is_specifier(stream_.at(i)) && !names_parameter(i)) {
                joined += std::string(stream_.at(i).text) + " ";
            }
        }
        return joined;
    }

    /// Of a variable, a typedef or an enumeration: the last word before its value, or its braces.
    std::string name(Range range) const {
        std::string_view last;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Token& token = stream_.at(i);
            if (token.is_any({"=", "[", "{", ";"})) break;
            if (token.kind == TokenKind::identifier) last = token.text;
        }
        return std::string(last);
    }

    const Stream& stream_;
    Range scope_;
};

}  // namespace

std::vector<Declaration> declarations_in(const Stream& stream, Range scope) {
    return Parser(stream, scope).run();
}

}  // namespace gradverify::simt::rewrite
