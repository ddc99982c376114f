// SPDX-License-Identifier: Apache-2.0
#include "harness/drafting/glue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/operators/tensor_text.hpp"

namespace gradverify {

namespace {

/// `f16` of `__half` and `half`; empty for float, and for types that gradverify does not know.
std::string_view storage_of(const std::string& type) {
    std::string element = type.substr(0, type.find('*'));
    if (element.starts_with("const ")) element.erase(0, 6);
    for (const DType dtype : all_dtypes) {
        const std::string_view name = traits_of(dtype).cpp_name;
        const bool is_it = element == name || "__" + element == name;
        if (is_it && is_floating(dtype) && dtype != DType::f32) return traits_of(dtype).name;
    }
    return {};
}

/// The declarations of types that are not float: `.storage("x", gradverify::DType::f16)`.
std::vector<std::string> declarations(const Operator& op, const Signature& launcher,
                                      const GlueMatch& match) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < match.arguments.size(); ++i) {
        const std::string& tensor = match.arguments[i].tensor;
        const std::string_view storage = storage_of(launcher.parameters[i].type);
        if (!tensor.empty() && !storage.empty() && !op.tensor_named(tensor).holds_whole_numbers())
            lines.push_back(
                fmt::format(".storage(\"{}\", gradverify::DType::{})", tensor, storage));
    }
    return lines;
}

std::string placeholder(const std::string& name, std::size_t position) {
    return fmt::format("{}_{}", fill_in, name.empty() ? std::to_string(position + 1) : name);
}

/// What stands before the arguments of a call.
std::string call_of(const Signature& launcher, std::string name) {
    std::vector<std::string> given;
    for (const auto& [argument, is_type] : launcher.template_arguments)
        given.push_back(is_type ? "float" : placeholder(argument, given.size()));
    if (!given.empty()) name += "<" + joined(given) + ">";
    if (launcher.is_kernel)
        name += fmt::format("<<<{0}_blocks, {0}_threads, 0, call.launch.stream>>>", fill_in);
    return name;
}

std::string struct_name(const std::string& pass) {
    std::string name;
    bool begins = true;
    for (const char c : pass) {
        if (c != '_') name += begins ? static_cast<char>(std::toupper(c)) : c;
        begins = c == '_';
    }
    return name;
}

/// A list in lines, behind an indentation of four; broken behind commas alone.
std::string listed(const std::string& head, std::vector<std::string> parts,
                   const std::string& tail) {
    constexpr char blank_inside = '\x1f';
    for (std::string& part : parts) std::ranges::replace(part, ' ', blank_inside);
    std::string text = "    " + wrapped(head + joined(parts) + tail, 8) + "\n";
    std::ranges::replace(text, blank_inside, ' ');
    return text;
}

/// A comment with each tensor's type, sizes and layout.
std::string tensors_in_words(const Operator& op, const PassSpec& pass) {
    std::string text = "// Each tensor is row-major: the last axis is the innermost.\n";
    for (const std::string& name : pass.tensors()) {
        const TensorSpec& spec = op.tensor_named(name);
        text += fmt::format("//   {:<8} {:<5} {:<24} {}", name, traits_of(spec.dtype).name,
                            print_sizes(op, name), role_of(op, pass, name));
        if (spec.orders.size() > 1)
            text += fmt::format("; or .layout(\"{}\", \"{}\")", name, spec.orders[1].name);
        text += '\n';
    }
    return text;
}

/// The members of the pass struct: its tensors, and the parameters that have one value.
std::string members(const Operator& op, const PassSpec& pass) {
    std::string text;
    const auto group = [&](const std::string& type, const std::string& how,
                           const std::vector<std::string>& names) {
        if (names.empty()) return;
        std::vector<std::string> parts(names.size());
        std::ranges::transform(names, parts.begin(), [&](const std::string& name) {
            return fmt::format("{} = {}(\"{}\")", member_of(name), how, name);
        });
        text += listed(type + " ", std::move(parts), ";");
    };
    group("TensorView", "tensor", pass.tensors());
    std::vector<std::string> sizes, reals;
    for (const ParameterSpec& spec : op.space.parameters())
        if (spec.kind == ParameterKind::scalar)
            (spec.is_real() ? reals : sizes).push_back(spec.name);
    group("std::int64_t", "size", sizes);
    group("float", "attribute", reals);
    return text;
}

/// What takes the results of the call `called` into the pass's tensors, line by line. An output
/// that nothing yields is to be filled in.
std::string body_of(const Signature& launcher, const GlueMatch& match, const std::string& called,
                    std::vector<std::string> arguments) {
    std::string text;
    if (launcher.results == Results::tensor && !match.results.empty()) {
        text = listed(
            fmt::format("call.{}.tensor().copy_({}(", member_of(match.results.front()), called),
            std::move(arguments), "));");
    } else if (!match.results.empty()) {
        text = listed(fmt::format("const auto results = {}(", called), std::move(arguments), ");");
        for (std::size_t i = 0; i < match.results.size(); ++i)
            text += fmt::format(
                fmt::runtime(launcher.results == Results::tuple
                                 ? "    call.{}.tensor().copy_(std::get<{}>(results));\n"
                                 : "    call.{}.tensor().copy_(results[{}]);\n"),
                member_of(match.results[i]), i);
    } else if (launcher.gives_status && !launcher.is_kernel) {
        text =
            listed(fmt::format("if ({}(", called), std::move(arguments),
                   fmt::format(") != 0) throw std::runtime_error(\"{} failed\");", launcher.name));
    } else {
        text = listed(called + "(", std::move(arguments), ");");
    }
    for (const std::string& output : match.unmatched_outputs)
        text += fmt::format("    {}_{};\n", fill_in, output);
    return text;
}

/// Declares a variable for each `at::Tensor&`, which takes no temporary, and names it as argument.
std::string variables_of(const Signature& launcher, std::vector<std::string>& arguments) {
    std::string text;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& [type, name, has_default] = launcher.parameters[i];
        if (type.starts_with("const ") || !type.ends_with("Tensor&") ||
            !arguments[i].ends_with(".tensor()"))
            continue;
        text += fmt::format("    at::Tensor {} = {};\n", name, arguments[i]);
        arguments[i] = name;
    }
    return text;
}

}  // namespace

bool may_add_to(const std::string& draft, const Signature& launcher, const std::string& file) {
    return draft.find(fmt::format("#include \"{}\"\n", file)) != std::string::npos &&
           draft.find("GRADVERIFY_KERNEL(") != std::string::npos &&
           draft.find(fmt::format(", \"{}\", ", launcher.name)) == std::string::npos;
}

std::string glue_of(const Operator& op, const Signature& launcher, const GlueMatch& match,
                    const std::string& file, const std::string& before) {
    const auto stands = [&](const std::string& text) {
        return before.find(text) != std::string::npos;
    };
    // Drafts of two operators may have passes of one name, and two launchers one pass.
    std::string type = struct_name(match.pass->name);
    const std::string pass =
        fmt::format(" : gradverify::Pass<\"{}\", \"{}\"> {{\n", op.name, match.pass->name);
    if (stands("struct " + type + " : ") && !stands("struct " + type + pass))
        type = struct_name(op.name) + type;
    const std::string launch =
        stands("void launch(const " + type + "&") ? "launch_" + launcher.name : "launch";
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < match.arguments.size(); ++i)
        arguments.push_back(!match.arguments[i].text.empty()
                                ? match.arguments[i].text
                                : placeholder(launcher.parameters[i].name, i));
    const std::string variables = variables_of(launcher, arguments);
    const std::string body = body_of(
        launcher, match, call_of(launcher, launcher.scope + launcher.name), std::move(arguments));
    std::string headers, chain;
    for (const auto& [word, header] : {std::pair("std::sqrt", "#include <cmath>\n"),
                                       std::pair("std::runtime_error", "#include <stdexcept>\n")})
        if (body.find(word) != std::string::npos && !stands(header)) headers += header;
    for (const std::string& line : declarations(op, launcher, match)) chain += "\n    " + line;
    for (const std::string& line : match.conditions) chain += "\n    " + line;
    std::string text = headers.empty() ? "" : headers + "\n";
    if (before.empty())
        text += fmt::format(
            "#include \"harness/pass.hpp\"\n"
            "#include \"harness/{}.hpp\"\n"
            "\n"
            "#include \"{}\"\n",
            launcher.is_of_extension() ? "torch" : "kernel", file);
    text += before + "\n";
    if (!stands("struct " + type + pass))
        text += fmt::format(
            "{}"
            "struct {}{}"
            "    using Pass::Pass;\n"
            "{}"
            "}};\n",
            tensors_in_words(op, *match.pass), type, pass, members(op, *match.pass));
    return text + fmt::format(
                      "static void {}(const {}& call) {{\n"
                      "{}"
                      "}}\n"
                      "GRADVERIFY_KERNEL({}, \"{}\", {}){};\n",
                      launch, type, variables + body, type, launcher.name, launch, chain);
}

std::string member_of(const std::string& name) {
    static const std::set<std::string_view> taken{
        "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char",
        "class", "compl", "concept", "const", "continue", "default", "delete", "do", "double",
        "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
        "if", "inline", "int", "long", "mutable", "namespace", "new", "not", "nullptr", "operator",
        "or", "private", "protected", "public", "register", "requires", "return", "short", "signed",
        "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try",
        "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
        "volatile", "while", "xor",
        // Members of each pass struct.
        "attribute", "launch", "problem", "size", "tensor", "wants"};
    if (!taken.contains(name)) return name;
    return name.starts_with('d') ? "grad_" + name.substr(1) : name + "_";
}

std::vector<std::string> glue_notes(const Operator& op, const Signature& launcher,
                                    const GlueMatch& match) {
    std::vector<std::string> notes;
    const auto name_of = [&](std::size_t i) {
        const SignatureParameter& parameter = launcher.parameters[i];
        return parameter.type + " " + parameter.name;
    };
    for (std::size_t i = 0; i < match.arguments.size(); ++i)
        if (const auto& [text, tensor, parameter, is_guessed, score, why] = match.arguments[i];
            is_guessed)
            notes.push_back(fmt::format("guessed: {} is {}{}{}", name_of(i), text,
                                        why.empty() ? "" : ", ", why));
    for (const std::string& type : launcher.types_taken_for_float)
        notes.push_back("guessed: " + type + " is float");
    for (const std::string& condition : match.conditions)
        notes.push_back("guessed, since the launcher takes no such parameter: " + condition);
    const std::size_t guesses = notes.size();
    for (std::size_t i = 0; i < match.arguments.size(); ++i)
        if (match.arguments[i].text.empty()) notes.push_back("fill in: " + name_of(i));
    for (const auto& [name, is_type] : launcher.template_arguments)
        if (!is_type) notes.push_back("fill in: " + name + " of the template");
    if (launcher.is_kernel)
        notes.push_back("fill in: blocks and threads, since " + launcher.name + " is a kernel");
    if (notes.size() > guesses && !match.unused.empty())
        notes.push_back("not used yet: " + joined(match.unused));
    if (match.results.size() > 1)
        notes.push_back("guessed: the results are " + joined(match.results) + ", in this order");
    for (const std::string& output : match.unmatched_outputs)
        notes.push_back(fmt::format("nothing yields {} of {}.{}; its passes are {}", output,
                                    op.name, match.pass->name, print_passes(op)));
    return notes;
}

}  // namespace gradverify
