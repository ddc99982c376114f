// SPDX-License-Identifier: Apache-2.0
// An asm statement becomes a block of C++: its operands as registers, its instructions as calls of
// gradverify_simt/ptx/. One that the CPU device lacks becomes a trap that names it and its line, so
// that the file's other kernels run. Left alone are asm labels, and what the host's assembler
// takes.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "harness/simt/rewrite/ptx/ptx.hpp"
#include "harness/simt/rewrite/rewrite.hpp"
#include "harness/simt/rewrite/stream.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// A label, as in `void f() asm("name");`, follows a declarator.
bool is_statement(const Stream& stream, std::size_t word, std::size_t open) {
    if (word == 0 || open != word + 1) return true;
    const Token& before = stream.at(word - 1);
    if (before.is_any({";", "{", "}", ":", "else", "do"})) return true;
    return before.is(")") && stream.at(open + 1).text.find(';') != std::string_view::npos;
}

/// The characters of a string literal.
void append_literal(std::string& text, std::string_view literal) {
    const std::size_t open = literal.find('"');
    if (literal.substr(0, open).ends_with('R')) {
        const std::size_t begin = literal.find('(') + 1;
        text += literal.substr(begin, literal.rfind(')') - begin);
        return;
    }
    for (std::size_t i = open + 1; i + 1 < literal.size(); ++i) {
        if (literal[i] != '\\') {
            text += literal[i];
            continue;
        }
        const char escaped = literal[++i];
        text += escaped == 'n' ? '\n' : escaped == 't' || escaped == 'r' ? ' ' : escaped;
    }
}

/// The tokens as they stand, on one line.
std::string one_line(const Stream& stream, Range range) {
    std::string text;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::string_view next = stream.at(i).text;
        const bool touches = i > range.begin && stream.at(i - 1).text.end() == next.begin();
        if (!text.empty() && !touches) text += ' ';
        text += next;
    }
    return text;
}

/// `"=r"(expression)`
struct Operand {
    std::string constraint, expression;
    bool is_output() const { return constraint.find_first_of("=+") != std::string::npos; }
    bool is_input() const { return constraint.find('=') == std::string::npos; }
    std::string register_type() const {
        switch (constraint.empty() ? ' ' : constraint.back()) {
            case 'r':
            case 'f':
                return "std::uint32_t";
            case 'l':
            case 'd':
                return "std::uint64_t";
            case 'h':
                return "std::uint16_t";
            case 'b':
                return "bool";
            case 'q':
                return "unsigned __int128";
            default:
                return "";
        }
    }
};

struct Asm {
    Range range;
    std::string text;
    std::vector<Operand> operands;
};

/// The operands from `at`, which is a `:`, to the second of their lists.
std::vector<Operand> operands_from(const Stream& stream, std::size_t at, std::size_t close) {
    std::vector<Operand> operands;
    for (int lists = 0; at < close && lists < 2; ++lists) {
        // `::` is one token, and one of the lists beside it is empty.
        if (stream.is(at, "::") && ++lists == 2) break;
        ++at;
        while (at < close && stream.at(at).kind == TokenKind::text) {
            Operand operand;
            for (; stream.at(at).kind == TokenKind::text; ++at)
                append_literal(operand.constraint, stream.at(at).text);
            const std::size_t end = stream.closing(at);
            operand.expression = one_line(stream, {at + 1, end});
            operands.push_back(std::move(operand));
            at = end + 1;
            if (stream.is(at, ",")) ++at;
        }
        if (!stream.at(at).is_any({":", "::"})) break;
    }
    return operands;
}

/// A PTX opcode has a point, unlike the host's (`rdtsc`, `lock; xaddl`): `mov.u32`.
bool is_ptx(std::string_view text) {
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
    };
    const auto skip_space = [&] {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\n{"), text.size()));
    };
    const auto word = [&] {
        const auto end = std::ranges::find_if_not(text, is_word);
        const auto found = text.substr(0, static_cast<std::size_t>(end - text.begin()));
        text.remove_prefix(found.size());
        return found;
    };
    for (;;) {
        skip_space();
        if (text.starts_with("//")) {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
        } else if (text.starts_with("/*")) {
            text.remove_prefix(std::min(text.find("*/"), text.size() - 2) + 2);
        } else if (text.starts_with('@')) {
            text.remove_prefix(text.starts_with("@!") ? 2 : 1);
            word();
        } else if (const std::string_view first = word(); !first.empty() && text.starts_with(':')) {
            text.remove_prefix(1);
        } else if (first.empty()) {
            return text.empty() || text[0] == '}' || text.starts_with(".reg") ||
                   text.starts_with(".pragma");
        } else {
            return text.starts_with('.') || is_word_of("trap exit ret brkpt bra", first);
        }
    }
}

std::optional<Asm> asm_at(const Stream& stream, std::size_t word) {
    std::size_t open = word + 1;
    while (stream.at(open).is_any({"volatile", "__volatile__", "__volatile", "inline", "goto"}))
        ++open;
    if (!stream.is(open, "(")) return std::nullopt;
    const std::size_t close = stream.matching(open);
    if (!is_statement(stream, word, open) || stream.at(open + 1).kind != TokenKind::text)
        return std::nullopt;
    Asm found{.range = {word, close + 1}, .text = "", .operands = {}};
    std::size_t at = open + 1;
    for (; stream.at(at).kind == TokenKind::text; ++at)
        append_literal(found.text, stream.at(at).text);
    if (!is_ptx(found.text)) return std::nullopt;
    found.operands = operands_from(stream, at, close);
    // A barrier for the compiler, which the host's takes if its operands are none of PTX alone.
    const bool is_of_ptx = std::ranges::any_of(found.operands, [](const Operand& one) {
        return !one.constraint.empty() &&
               std::string_view("fhd").find(one.constraint.back()) != std::string_view::npos;
    });
    if (found.text.empty() && !is_of_ptx) return std::nullopt;
    return found;
}

/// `%%` is a `%`, and `%=` a number that no other asm statement has.
std::string with_number(const std::string& text, const std::string& number) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%' || i + 1 == text.size() || (text[i + 1] != '%' && text[i + 1] != '=')) {
            result += text[i];
            continue;
        }
        result += text[++i] == '%' ? "%" : number;
    }
    return result;
}

/// **Errors** PtxUnserved and PtxUnknown.
std::string translated(const Asm& statement, const std::string& number) {
    std::vector<PtxOperand> operands;
    std::string begin = "do { namespace gvp = ::gradverify::simt::ptx; ", end;
    const bool has_products = statement.text.find("wgmma.mma_async") != std::string::npos;
    for (std::size_t i = 0; i < statement.operands.size(); ++i) {
        const Operand& operand = statement.operands[i];
        const std::string suffix = number + "_" + std::to_string(i);
        const std::string name = "gradverify_operand_" + suffix;
        const std::string type = operand.register_type();
        const char last = operand.constraint.empty() ? ' ' : operand.constraint.back();
        if (last == 'n') {
            operands.push_back(
                {.text = "gvp::Integer{static_cast<std::uint64_t>(" + operand.expression + ")}"});
            continue;
        }
        if (type.empty()) throw PtxUnserved("an operand \"" + operand.constraint + "\"");
        const std::string place = "gradverify_place_" + suffix;
        if (operand.is_output()) begin += "auto& " + place + " = " + operand.expression + "; ";
        // A product's sum is written to the user's variable when it has been waited for.
        if (operand.is_output() && has_products) {
            operands.push_back({.text = place,
                                .is_register = true,
                                .place = "gvp::place_of_register(" + place + ")"});
            continue;
        }
        operands.push_back({.text = name, .is_register = operand.is_output()});
        if (operand.is_output()) end += " gvp::put(" + place + ", " + name + ");";
        if (has_products) {
            begin += "const auto& " + place + " = (" + operand.expression + "); ";
            operands.back().place =
                "gvp::place_if_lvalue<decltype(" + operand.expression + ")>(" + place + ")";
        }
        const bool has_place = operand.is_output() || has_products;
        const std::string value = has_place ? place : "(" + operand.expression + ")";
        begin += type + " " + name + " = " +
                 (operand.is_input() ? "gvp::get<" + type + ">(" + value + ")"
                                     : "static_cast<" + type + ">(-1)") +
                 "; ";
    }
    const std::string text = with_number(statement.text, number);
    const PtxProgram program = parse_ptx(text, operands, number);
    for (const PtxStatement& one : program.statements)
        if (!one.opcode.empty()) check_opcode(one);
    for (const auto& [type, name] : program.registers)
        begin += "[[maybe_unused]] " + type + " " + name + " = static_cast<" + type + ">(-1); ";
    for (const PtxStatement& one : program.statements) {
        if (!one.label.empty()) begin += one.label + ": ; ";
        if (one.opcode.empty()) continue;
        const std::string cpp = cpp_of(one);
        begin += one.guard.empty() ? cpp + " " : "if (" + one.guard + ") { " + cpp + " } ";
    }
    return begin + end + " } while (false)";
}

/// A C++ string literal.
std::string quoted(const std::string& text) {
    std::string literal = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') literal += '\\';
        literal += c == '\n' ? ' ' : c;
    }
    return literal + "\"";
}

}  // namespace

void rewrite_inline_ptx(Stream& stream) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        const bool is_asm = stream.at(i).is_any({"asm", "__asm__", "__asm"});
        if (!is_asm) continue;
        const std::optional<Asm> found = asm_at(stream, i);
        if (!found) continue;
        std::string text;
        try {
            text = translated(*found, std::to_string(number++));
        } catch (const PtxUnknown& instruction) {
            stream.fail(i, std::string("PTX has no instruction ") + instruction.what());
        } catch (const PtxUnserved& instruction) {
            const std::string what = instruction.what();
            if (what.starts_with("tcgen05"))
                stream.fail(i, "inline PTX that the cpu device does not have: " + what);
            text = "::gradverify::simt::unit::inline_ptx(" + quoted(what) + ")";
        }
        stream.replace({found->range, std::move(text)});
        i = found->range.end - 1;
    }
}

}  // namespace gradverify::simt::rewrite
