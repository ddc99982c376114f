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

/// Where the word next stands in the text, as a word.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
    std::size_t at = text.find(word, from);
    for (; at != std::string_view::npos; at = text.find(word, at + 1)) {
        const bool ends = at + word.size() == text.size() || !is_word(text[at + word.size()]);
        if (ends && (at == 0 || !is_word(text[at - 1]))) break;
    }
    return at;
}
bool has_word(std::string_view text, std::string_view word) {
    return find_word(text, word) != std::string_view::npos;
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

/// Takes `template <...>` from the head of a function, and gives what stands in the brackets.
std::string_view take_template(std::string_view& head) {
    const std::size_t open = head.find('<');
    if (!has_word(head, "template") || open == std::string_view::npos) return {};
    std::size_t close = open;
    for (int depth = 0; close < head.size(); ++close) {
        depth += head[close] == '<' ? 1 : head[close] == '>' ? -1 : 0;
        if (depth == 0) break;
    }
    const std::string_view inside = head.substr(open + 1, close - open - 1);
    head.remove_prefix(std::min(close + 1, head.size()));
    return inside;
}

/// Takes float for each type of a template, and keeps what a call must say.
void read_template(std::string_view inside, Signature& signature) {
    std::size_t needed = 0;
    for (const std::string_view part : split_at_commas(inside)) {
        const auto [type, name, has_default] = parameter_of(part);
        const bool is_type = has_word(type, "typename") || has_word(type, "class");
        bool is_told = has_default;
        for (SignatureParameter& parameter : signature.parameters) {
            const std::size_t at = is_type ? find_word(parameter.type, name) : std::string::npos;
            if (at == std::string::npos) continue;
            parameter.type.replace(at, name.size(), "float");
            is_told = true;
        }
        if (is_type) signature.types_taken_for_float.push_back(name);
        signature.template_arguments.push_back({name, is_type});
        if (!is_told) needed = signature.template_arguments.size();
    }
    signature.template_arguments.resize(needed);
}

/// A function that begins somewhere, and what stands behind its parameters.
struct Found {
    Signature signature;
    int depth = 0;          ///< of braces that open no namespace
    std::string_view body;  ///< empty for a declaration
    bool is_for_device = false;
};

std::optional<Found> found_at(std::string_view text, std::size_t at, std::string_view name) {
    const std::size_t open = text.find_first_not_of(" \t\n\r", at + name.size());
    if (open == std::string_view::npos || text[open] != '(') return std::nullopt;
    std::string_view head = head_before(text, at);
    const std::size_t close = behind_bracket(text, open);
    if (!is_head(head) || close == std::string_view::npos) return std::nullopt;
    const std::string_view of_template = take_template(head);
    const std::size_t next = text.find_first_not_of(" \t\n\r", close);
    const bool is_function = next != std::string_view::npos &&
                             (text[next] == '{' || text[next] == ';' || is_word(text[next]));
    if (!is_function) return std::nullopt;
    Found found;
    found.signature.name = name;
    found.signature.is_kernel = has_word(head, "__global__");
    found.signature.gives_status = has_word(head, "cudaError_t") || has_word(head, "int");
    found.signature.results = results_of(head);
    found.signature.line = 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
    for (const std::string_view part : split_at_commas(text.substr(open + 1, close - open - 2)))
        if (part != "void") found.signature.parameters.push_back(parameter_of(part));
    read_template(of_template, found.signature);
    found.is_for_device = has_word(head, "__device__") && !has_word(head, "__host__");
    if (const std::size_t brace = text.find_first_of("{;", close);
        brace != std::string_view::npos && text[brace] == '{')
        found.body = text.substr(brace, behind_bracket(text, brace) - brace);
    found.signature.is_defined = !found.body.empty();
    return found;
}

/// What `namespace a::b {` puts before names; nothing for one without a name, and `extern "C"`.
std::string scope_of(std::string_view head) {
    head = trimmed(head);
    std::size_t begin = head.size();
    while (begin > 0 && (is_word(head[begin - 1]) || head[begin - 1] == ':')) --begin;
    const std::string_view name = head.substr(begin);
    return name == "namespace" || name == "extern" ? "" : std::string(name) + "::";
}

/// All functions of a text without comments and literals.
std::vector<Found> functions_of(std::string_view code) {
    std::vector<Found> functions;
    std::vector<std::optional<std::string>> open;  // for each brace what its namespace is called
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (code[i] == '{') {
            const std::string_view head = head_before(code, i);
            // Not the body of a function that is declared `extern "C"`.
            const bool is_scope = (has_word(head, "namespace") || has_word(head, "extern")) &&
                                  !trimmed(head).ends_with(')');
            open.push_back(is_scope ? std::optional(scope_of(head)) : std::nullopt);
        }
        if (code[i] == '}' && !open.empty()) open.pop_back();
        if (!is_word(code[i]) || (i > 0 && is_word(code[i - 1]))) continue;
        std::size_t end = i;
        while (end < code.size() && is_word(code[end])) ++end;
        auto found = found_at(code, i, code.substr(i, end - i));
        if (!found) continue;
        for (const auto& scope : open) {
            found->signature.scope += scope.value_or("");
            found->depth += scope ? 0 : 1;
        }
        functions.push_back(std::move(*found));
    }
    // Through functions that call one that launches.
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (Found& caller : functions) {
            const bool launches = caller.body.find("<<<") != std::string_view::npos ||
                                  caller.body.find("cudaLaunchKernel") != std::string_view::npos ||
                                  std::ranges::any_of(functions, [&](const Found& called) {
                                      return called.signature.launches &&
                                             has_word(caller.body, called.signature.name);
                                  });
            is_new |= launches && !caller.signature.launches;
            caller.signature.launches |= launches;
        }
    }
    return functions;
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
    const std::string blanked = Blanked(text).take();
    std::optional<Found> best;
    const auto rank = [](const Found& found) {
        return std::pair(found.depth > 0, found.body.empty());
    };
    for (Found& found : functions_of(blanked)) {
        const std::string whole = "::" + found.signature.scope + found.signature.name;
        const bool is_it = whole.ends_with("::" + std::string(name)) ||
                           found.signature.name == name.substr(name.rfind(':') + 1);
        if (!is_it) continue;
        if (!whole.ends_with("::" + std::string(name))) found.depth += 1;
        if (!best || rank(found) < rank(*best)) best = std::move(found);
    }
    if (!best) return std::nullopt;
    best->signature.lies_beside_torch = includes_torch(text);
    return best->signature;
}

std::vector<Signature> launchers_of(std::string_view text) {
    const std::string blanked = Blanked(text).take();
    std::vector<Signature> all;
    for (Found& found : functions_of(blanked)) {
        Signature& signature = found.signature;
        if (found.depth > 0 || !takes_data(signature) || signature.is_kernel ||
            found.is_for_device || signature.name == "main")
            continue;
        signature.lies_beside_torch = includes_torch(text);
        const auto known = std::ranges::find(all, signature.name, &Signature::name);
        if (known == all.end())
            all.push_back(std::move(signature));
        else if (!found.body.empty())
            *known = std::move(signature);
    }
    if (std::ranges::any_of(all, &Signature::launches))
        std::erase_if(all, [](const Signature& signature) { return !signature.launches; });
    return all;
}

std::optional<Placeholder> placeholder_in(std::string_view text) {
    const std::string blanked = Blanked(text).take();
    const std::size_t at = blanked.find(fill_in);
    if (at == std::string::npos) return std::nullopt;
    std::size_t end = at;
    while (end < blanked.size() && is_word(blanked[end])) ++end;
    return Placeholder{
        blanked.substr(at, end - at),
        1 + static_cast<int>(std::ranges::count(std::string_view(blanked).substr(0, at), '\n'))};
}

}  // namespace gradverify
