// SPDX-License-Identifier: Apache-2.0
// Rewrites `__shared__ D;` into a typedef, by renaming what it declares, and references to places
// in the block's arena; and `extern __shared__ T x[];` into one to the dynamic shared memory.
#include "harness/simt/rewrite/rewrite.hpp"
#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// A declaration without `__shared__` and the words that no typedef may have.
struct Declaration {
    Range range;  ///< all of it, `;` included
    bool is_extern = false;
    std::string alignment;            ///< attributes, kept for the tag
    std::vector<std::size_t> tokens;  ///< of the typedef
    std::vector<std::size_t> names;   ///< the tokens that are declared names
};

bool is_alignment_word(const Token& token) {
    return token.is_any({"alignas", "__attribute__", "__attribute"});
}

std::size_t begin_of_declaration(const Stream& stream, std::size_t shared) {
    std::size_t i = shared;
    while (i > 0) {
        const Token& token = stream.at(i - 1);
        if (token.is_any({";", "{", "}", ":"})) break;
        if (token.is(")")) {
            const std::size_t open = stream.matching(i - 1);
            if (!is_alignment_word(stream.at(open - 1))) break;
            i = open;
            continue;
        }
        --i;
    }
    return i;
}

std::size_t skip_angles(const Stream& stream, std::size_t i) {
    const std::size_t close = stream.closing_angle(i, stream.size());
    if (close == stream.size()) stream.fail(close, "unbalanced `<` in a __shared__ declaration");
    return close;
}

/// The name that the declarator in `range` declares: q in `(*q)[3]`, a in `float a[2]`.
std::size_t declared_name(const Stream& stream, Range range) {
    std::size_t name = stream.size();
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const Token& token = stream.at(i);
        if (is_alignment_word(token) || token.is("decltype")) {
            i = stream.closing(i + 1);
        } else if (token.is("(")) {
            // What is declared stands within, as often as it is nested.
            if (stream.at(i + 1).is_any({"*", "&"}))
                range = {i + 1, stream.matching(i)}, name = stream.size();
            else
                i = stream.matching(i);
        } else if (token.opens()) {
            i = stream.matching(i);
        } else if (token.is("<")) {
            i = skip_angles(stream, i);
        } else if (token.is("=")) {
            stream.fail(i, "a __shared__ variable cannot have an initializer");
        } else if (token.kind == TokenKind::identifier) {
            name = i;
        }
    }
    if (name == stream.size()) {
        stream.fail(range.begin, "no variable name found in this __shared__ declaration");
    }
    return name;
}

Declaration parse(const Stream& stream, std::size_t shared) {
    Declaration declaration;
    const std::size_t begin = begin_of_declaration(stream, shared);
    std::size_t segment = begin;
    std::size_t i = begin;
    for (;; ++i) {
        const Token& token = stream.at(i);
        if (i >= stream.size()) stream.fail(shared, "no `;` after this __shared__ declaration");
        if (token.is(",") || token.is(";")) {
            declaration.names.push_back(declared_name(stream, {segment, i}));
            segment = i + 1;
        }
        if (token.is(";")) break;
        if (token.is_any({"__shared__", "static", "inline"})) continue;
        if (token.is("extern")) {
            declaration.is_extern = true;
        } else if (is_alignment_word(token)) {
            const std::size_t close = stream.closing(i + 1);
            declaration.alignment += stream.flat({i, close + 1}) + " ";
            i = close;
        } else {
            std::size_t end = i;
            if (token.opens()) end = stream.matching(i);
            if (token.is("<")) end = skip_angles(stream, i);
            for (; i < end; ++i) declaration.tokens.push_back(i);
            declaration.tokens.push_back(end);
        }
    }
    declaration.range = {begin, i + 1};
    return declaration;
}

std::string unique(const std::string& what, std::size_t number, const Token& name) {
    return "gradverify_" + what + "_" + std::to_string(number) + "_" + std::string(name.text);
}

/// Whether these may be parts of one operator, such as the two of `>>`.
bool may_be_one_operator(const Token& first, const Token& second) {
    const auto is_operator = [](const Token& token) {
        return token.kind == TokenKind::punctuator && !token.opens() && !token.closes();
    };
    return is_operator(first) && is_operator(second) && first.text.end() == second.text.begin();
}

std::string typedef_text(const Stream& stream, const Declaration& declaration, std::size_t number) {
    std::string text = "typedef";
    for (const std::size_t i : declaration.tokens) {
        const auto& names = declaration.names;
        const bool is_declared = std::ranges::binary_search(names, i);
        if (!may_be_one_operator(stream.at(i - 1), stream.at(i))) text += ' ';
        text += is_declared ? unique("type", number, stream.at(i)) : std::string(stream.at(i).text);
    }
    return text + ";";
}

std::string rewritten(const Stream& stream, const Declaration& declaration, std::size_t number,
                      bool at_namespace_scope) {
    const std::string unit = "::gradverify::simt::unit::";
    std::string text = typedef_text(stream, declaration, number);
    for (const std::size_t i : declaration.names) {
        const Token& name = stream.at(i);
        const std::string type = unique("type", number, name);
        const std::string variable(name.text);
        if (declaration.is_extern && at_namespace_scope) {
            text += " [[maybe_unused]] static constexpr " + unit + "DynamicShared<" + type + "> " +
                    variable + "{};";
        } else if (declaration.is_extern) {
            text += " [[maybe_unused]] " + type + "& " + variable + " = " + unit +
                    "dynamic_shared<" + type + ">();";
        } else {
            const std::string tag = unique("tag", number, name);
            text += " struct " + declaration.alignment + tag + " {}; [[maybe_unused]] " + type +
                    "& " + variable + " = " + unit + "shared<" + type + ", " + tag + ">();";
        }
    }
    return text;
}

/// Whether the brace at `open` opens a namespace (or a linkage specification).
bool opens_namespace(const Stream& stream, std::size_t open) {
    std::size_t begin = open;
    while (begin > 0 && !stream.at(begin - 1).is_any({";", "{", "}"})) --begin;
    if (stream.is(begin, "inline")) ++begin;
    const bool linkage = stream.is(begin, "extern") && stream.at(begin + 1).kind == TokenKind::text;
    return stream.is(begin, "namespace") || (linkage && begin + 2 == open);
}

}  // namespace

void rewrite_shared_variables(Stream& stream) {
    std::size_t number = 0;
    std::size_t scopes_not_namespaces = 0;
    std::vector<bool> is_namespace;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream.is(i, "{")) {
            is_namespace.push_back(opens_namespace(stream, i));
            if (!is_namespace.back()) ++scopes_not_namespaces;
        } else if (stream.is(i, "}") && !is_namespace.empty()) {
            if (!is_namespace.back()) --scopes_not_namespaces;
            is_namespace.pop_back();
        } else if (stream.is(i, "__shared__")) {
            const Declaration declaration = parse(stream, i);
            const bool at_namespace_scope = scopes_not_namespaces == 0;
            if (at_namespace_scope && !declaration.is_extern) {
                stream.fail(i, "a __shared__ variable outside of a function runs on cuda only");
            }
            stream.replace(
                {declaration.range, rewritten(stream, declaration, number++, at_namespace_scope)});
            i = declaration.range.end - 1;
        }
    }
}

}  // namespace gradverify::simt::rewrite
