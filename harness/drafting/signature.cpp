// SPDX-License-Identifier: Apache-2.0
#include "harness/drafting/signature.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "harness/base/text.hpp"
#include "harness/report/export/sources.hpp"

namespace gradverify {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The text with blanks for comments, literals and lines of the preprocessor.
class Blanked {
  public:
    explicit Blanked(std::string_view text) : text_(text), blanked_(text) {
        while (at_ < text_.size()) step();
    }
    std::string take() { return std::move(blanked_); }

  private:
    void step() {
        if (text_.substr(at_).starts_with("//")) return blank_until("\n", 0);
        if (text_.substr(at_).starts_with("/*")) return blank_until("*/", 2);
        if (text_[at_] == '#' && begins_line()) return blank_directive();
        if (text_[at_] == '"' || text_[at_] == '\'') return blank_literal(text_[at_]);
        ++at_;
    }
    bool begins_line() const {
        const std::size_t before = text_.substr(0, at_).find_last_not_of(" \t");
        return before == std::string::npos || text_[before] == '\n';
    }
    void blank(std::size_t end) {
        for (; at_ < std::min(end, text_.size()); ++at_)
            if (text_[at_] != '\n') blanked_[at_] = ' ';
    }
    void blank_until(std::string_view end, std::size_t behind) {
        const std::size_t found = text_.find(end, at_ + 2);
        blank(found == std::string_view::npos ? text_.size() : found + behind);
    }
    void blank_directive() {
        std::size_t end = text_.find('\n', at_);
        while (end != std::string_view::npos && text_[end - 1] == '\\')
            end = text_.find('\n', end + 1);
        blank(std::min(end, text_.size()));
    }
    void blank_literal(char quote) {
        // 1'000 is a number.
        if (quote == '\'' && at_ > 0 && is_word(text_[at_ - 1])) {
            ++at_;
            return;
        }
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
            end += text_[end] == '\\' ? 2 : 1;
        blank(end + 1);
    }

    std::string_view text_;
    std::string blanked_;
    std::size_t at_ = 0;
};

/// The position behind the bracket that closes the one at `open`; npos without one.
std::size_t behind_bracket(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (std::string_view("([{").find(text[i]) != std::string_view::npos) ++depth;
        if (std::string_view(")]}").find(text[i]) != std::string_view::npos && --depth == 0)
            return i + 1;
    }
    return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            if (!trimmed(text.substr(begin, i - begin)).empty())
                parts.push_back(trimmed(text.substr(begin, i - begin)));
            begin = i + 1;
        } else if (std::string_view("([{<").find(text[i]) != std::string_view::npos) {
            ++depth;
        } else if (std::string_view(")]}>").find(text[i]) != std::string_view::npos) {
            --depth;
        }
    }
    return parts;
}

/// Whether the word stands in the text, as a word.
bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const bool ends = at + word.size() == text.size() || !is_word(text[at + word.size()]);
        if (ends && (at == 0 || !is_word(text[at - 1]))) return true;
    }
    return false;
}

/// `const float *__restrict__` becomes `const float*`.
std::string plain_type(std::string_view text) {
    static constexpr std::array<std::string_view, 5> said_nothing{
        "__restrict__", "__restrict", "restrict", "struct", "__grid_constant__"};
    std::string type;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        if (end == i) {
            if (!std::isspace(static_cast<unsigned char>(text[i]))) type += text[i];
            ++i;
            continue;
        }
        const std::string_view word = text.substr(i, end - i);
        i = end;
        if (std::ranges::find(said_nothing, word) != said_nothing.end()) continue;
        if (!type.empty() && (is_word(type.back()) || type.back() == '>')) type += ' ';
        type += word;
    }
    return type;
}

SignatureParameter parameter_of(std::string_view text) {
    const bool has_default = text.find('=') != std::string_view::npos;
    text = trimmed(text.substr(0, text.find('=')));
    const std::size_t bracket = text.find('[');
    std::string_view declarator = trimmed(text.substr(0, bracket));
    std::size_t begin = declarator.size();
    while (begin > 0 && is_word(declarator[begin - 1])) --begin;
    std::string type = plain_type(declarator.substr(0, begin));
    if (bracket != std::string_view::npos) type += '*';
    if (type.empty()) return {std::string(declarator), "", has_default};  // `int`, without a name
    return {type, std::string(declarator.substr(begin)), has_default};
}

/// The text since the end of what stands before.
std::string_view head_before(std::string_view text, std::size_t at) {
    const std::size_t end = text.substr(0, at).find_last_of(";{}");
    return text.substr(end == std::string_view::npos ? 0 : end + 1,
                       at - (end == std::string_view::npos ? 0 : end + 1));
}

/// A function's head has a type before the name; a call has an operator, a bracket or nothing.
bool is_head(std::string_view head) {
    head = trimmed(head);
    if (head.empty() || has_word(head, "return") || has_word(head, "else")) return false;
    if (head.find('=') != std::string_view::npos && !has_word(head, "template")) return false;
    return is_word(head.back()) ||
           std::string_view("*&>").find(head.back()) != std::string_view::npos;
}

Results results_of(std::string_view head) {
    if (!has_word(head, "Tensor")) return Results::none;
    if (has_word(head, "tuple") || has_word(head, "pair")) return Results::tuple;
    return has_word(head, "vector") || has_word(head, "array") ? Results::list : Results::tensor;
}

std::optional<Signature> signature_at(std::string_view text, std::size_t at,
                                      std::string_view name) {
    const std::size_t open = text.find_first_not_of(" \t\n\r", at + name.size());
    if (open == std::string_view::npos || text[open] != '(') return std::nullopt;
    const std::string_view head = head_before(text, at);
    const std::size_t close = behind_bracket(text, open);
    if (!is_head(head) || close == std::string_view::npos) return std::nullopt;
    const std::size_t next = text.find_first_not_of(" \t\n\r", close);
    const bool is_function = next != std::string_view::npos &&
                             (text[next] == '{' || text[next] == ';' || is_word(text[next]));
    if (!is_function) return std::nullopt;
    Signature signature{.name = std::string(name),
                        .parameters = {},
                        .is_kernel = has_word(head, "__global__"),
                        .is_template = has_word(head, "template"),
                        .gives_status = has_word(head, "cudaError_t") || has_word(head, "int"),
                        .results = results_of(head)};
    for (const std::string_view part : split_at_commas(text.substr(open + 1, close - open - 2)))
        if (part != "void") signature.parameters.push_back(parameter_of(part));
    return signature;
}

/// What follows the parameters: `;` of a declaration.
std::size_t behind_bracket_of_parameters(std::string_view text, std::size_t name) {
    return text.find_first_not_of(" \t\n\r", behind_bracket(text, text.find('(', name)));
}

bool takes_data(const Signature& signature) {
    return std::ranges::any_of(signature.parameters, [](const SignatureParameter& parameter) {
        return parameter.type.find('*') != std::string::npos || has_word(parameter.type, "Tensor");
    });
}

}  // namespace

bool Signature::is_of_extension() const {
    return lies_beside_torch || results != Results::none ||
           std::ranges::any_of(parameters, [](const SignatureParameter& parameter) {
               return has_word(parameter.type, "Tensor");
           });
}

bool includes_torch(std::string_view text) {
    constexpr std::array<std::string_view, 4> headers{"torch/", "ATen/", "c10/",
                                                      "harness/torch.hpp"};
    return std::ranges::any_of(split(text, '\n'), [&](std::string_view line) {
        const std::string included = included_in(line).value_or("");
        return std::ranges::any_of(headers, [&](std::string_view header) {
            return included.substr(included.empty() ? 0 : 1).starts_with(header);
        });
    });
}

std::optional<Signature> signature_of(std::string_view text, std::string_view name) {
    if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos)
        name.remove_prefix(colon + 1);
    const std::string blanked = Blanked(text).take();
    const std::string_view code = blanked;
    std::optional<Signature> declared;
    for (std::size_t at = code.find(name); at != std::string_view::npos && !name.empty();
         at = code.find(name, at + 1)) {
        if (at > 0 && is_word(code[at - 1])) continue;
        if (at + name.size() < code.size() && is_word(code[at + name.size()])) continue;
        auto signature = signature_at(code, at, name);
        if (!signature) continue;
        signature->lies_beside_torch = includes_torch(text);
        if (code[behind_bracket_of_parameters(code, at)] != ';') return signature;
        if (!declared) declared = std::move(signature);
    }
    return declared;
}

std::vector<std::string> launcher_names(std::string_view text) {
    const std::string blanked = Blanked(text).take();
    const std::string_view code = blanked;
    std::vector<std::string> names;
    int depth = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
        // A namespace and `extern "C"` open a scope of the same kind.
        const bool is_scope = code[i] == '{' && (has_word(head_before(code, i), "namespace") ||
                                                 has_word(head_before(code, i), "extern"));
        if (code[i] == '{' && !is_scope) ++depth;
        if (code[i] == '}' && depth > 0) --depth;
        if (depth > 0 || !is_word(code[i]) || (i > 0 && is_word(code[i - 1]))) continue;
        std::size_t end = i;
        while (end < code.size() && is_word(code[end])) ++end;
        const std::string name(code.substr(i, end - i));
        const auto signature = signature_at(code, i, name);
        if (signature && takes_data(*signature) && !signature->is_kernel && name != "main" &&
            std::ranges::find(names, name) == names.end())
            names.push_back(name);
    }
    return names;
}

}  // namespace gradverify
