// SPDX-License-Identifier: Apache-2.0
// Which instructions of one result the CPU device has (gradverify_simt/ptx/), by their types and
// modifiers, and control flow; the other families have files of their own.
#include <algorithm>
#include <string>

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

constexpr std::string_view all_types =
    "u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 b128 f16 f16x2 bf16 bf16x2 f32 f64 tf32 e4m3x2 "
    "e5m2x2 pred";
constexpr std::string_view comparisons =
    "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";
constexpr std::string_view numbers = "u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view numbers_no_pairs =
    "u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64 b16 b32 b64";
constexpr std::string_view integers = "u16 u32 u64 s16 s32 s64";

/// An instruction with one result: `types` holds the first type, of `type_count`.
struct Form {
    std::string_view name, modifiers, types;
    std::size_t inputs;
    std::size_t type_count = 1, most_inputs = 0;
};

constexpr Form forms[] = {
    {"add", "rn rz rm rp ftz sat", numbers, 2},
    {"sub", "rn rz rm rp ftz sat", numbers, 2},
    {"mul", "rn rz rm rp ftz sat lo hi wide", numbers, 2},
    {"mad", "rn rz rm rp ftz sat lo hi wide", "u16 u32 u64 s16 s32 s64 f32 f64", 3},
    {"fma", "rn rz rm rp ftz sat relu", "f16 f16x2 bf16 bf16x2 f32 f64", 3},
    {"mul24", "lo hi", "u32 s32", 2},
    {"mad24", "lo hi sat", "u32 s32", 3},
    {"div", "rn rz rm rp ftz approx full", "u16 u32 u64 s16 s32 s64 f32 f64", 2},
    {"rem", "", integers, 2},
    {"sad", "", integers, 3},
    {"abs", "ftz", "s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", 1},
    {"neg", "ftz", "s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", 1},
    {"min", "ftz NaN xorsign abs relu", numbers, 2},
    {"max", "ftz NaN xorsign abs relu", numbers, 2},
    {"copysign", "", "f32 f64", 2},
    {"testp", "finite infinite number notanumber normal subnormal", "f32 f64", 1},
    {"rcp", "rn rz rm rp ftz approx", "f32 f64", 1},
    {"sqrt", "rn rz rm rp ftz approx", "f32 f64", 1},
    {"rsqrt", "ftz approx", "f32 f64", 1},
    {"sin", "ftz approx", "f32", 1},
    {"cos", "ftz approx", "f32", 1},
    {"lg2", "ftz approx", "f32", 1},
    {"ex2", "ftz approx", "f32 f16 f16x2 bf16 bf16x2", 1},
    {"tanh", "approx", "f32 f16 f16x2 bf16 bf16x2", 1},
    {"and", "", "b16 b32 b64 pred", 2},
    {"or", "", "b16 b32 b64 pred", 2},
    {"xor", "", "b16 b32 b64 pred", 2},
    {"not", "", "b16 b32 b64 pred", 1},
    {"cnot", "", "b16 b32 b64", 1},
    {"shl", "", "b16 b32 b64", 2},
    {"shr", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", 2},
    {"shf", "l r clamp wrap", "b32", 3},
    {"lop3", "", "b32", 4},
    {"prmt", "f4e b4e rc8 ecl ecr rc16", "b32", 3},
    {"bfe", "", "u32 u64 s32 s64", 3},
    {"bfi", "", "b32 b64", 4},
    {"bfind", "shiftamt", "u32 u64 s32 s64", 1},
    {"brev", "", "b32 b64", 1},
    {"popc", "", "b32 b64", 1},
    {"clz", "", "b32 b64", 1},
    {"fns", "", "b32", 3},
    {"dp4a", "", "u32 s32", 3, 2},
    {"selp", "", numbers_no_pairs, 3},
    {"slct", "ftz", numbers_no_pairs, 3, 2},
    {"set", comparisons, "u32 s32 f32 f16 bf16", 2, 2, 3},
    {"cvt", "rn rz rm rp rna rni rzi rmi rpi ftz sat satfinite relu", all_types, 1, 2, 2},
};

/// `<gvp::f32, gvp::m_rn | gvp::m_ftz>`
std::string template_arguments(const std::vector<std::string>& types,
                               const std::vector<std::string>& modifiers) {
    std::string text = "<";
    for (const std::string& type : types) text += (text.size() > 1 ? ", gvp::" : "gvp::") + type;
    for (std::size_t i = 0; i < modifiers.size(); ++i)
        text += (i == 0 ? ", gvp::m_" : " | gvp::m_") + modifiers[i];
    return text + (modifiers.empty() ? ", 0>" : ">");
}

/// The opcode's types and modifiers; all of the first must be last.
struct Opcode {
    std::vector<std::string> types, modifiers;
};
Opcode opcode_of(const PtxStatement& statement, std::string_view modifiers) {
    Opcode opcode;
    for (auto part = statement.parts.begin() + 1; part != statement.parts.end(); ++part) {
        if (is_word_of(modifiers, *part))
            opcode.modifiers.push_back(*part);
        else if (is_word_of(all_types, *part))
            opcode.types.push_back(*part);
        else
            unserved(statement);
    }
    return opcode;
}

std::string cpp_of_form(const PtxStatement& statement, const Form& form) {
    const Opcode opcode = opcode_of(statement, form.modifiers);
    const std::size_t inputs = statement.operands.size() - 1;
    if (statement.operands.empty() || opcode.types.size() != form.type_count ||
        inputs < form.inputs || inputs > std::max(form.inputs, form.most_inputs) ||
        !is_word_of(form.types, opcode.types[0]))
        unserved(statement);
    std::string call = "gvp::" + std::string(form.name) + "_" +
                       template_arguments(opcode.types, opcode.modifiers) + "(" +
                       values_from(statement, 1) + ")";
    if (form.name == "cvt") call = "gvp::extended<gvp::" + opcode.types[0] + ">(" + call + ")";
    return assignment_to(statement, 0) + call + ";";
}

/// setp.lt.and.s32 p|q, a, b, c: q has the comparison's opposite.
std::string cpp_of_setp(const PtxStatement& statement) {
    const Opcode opcode = opcode_of(statement, comparisons);
    if (opcode.types.size() != 1 || !is_word_of(numbers_no_pairs, opcode.types[0]) ||
        statement.operands.size() < 3 || statement.operands.size() > 4)
        unserved(statement);
    const std::string arguments = template_arguments(opcode.types, opcode.modifiers);
    const std::string inputs = values_from(statement, 1);
    const std::string& second = statement.operands[0].second;
    std::string text = assignment_to(statement, 0) + "gvp::setp_" + arguments + "(" + inputs + ");";
    if (second.empty() || second == "_") return text;
    // p may be an input.
    return "{ const bool gradverify_q = gvp::setp_opposite" + arguments + "(" + inputs + "); " +
           text + " " + second + " = gradverify_q; }";
}

std::string cpp_of_mov(const PtxStatement& statement) {
    if (statement.parts.size() != 2 || statement.operands.size() != 2 ||
        !is_word_of(all_types, statement.parts[1]))
        unserved(statement);
    const std::string type = "<gvp::" + statement.parts[1] + ">";
    using enum PtxOperand::Kind;
    const PtxOperand &to = statement.operands[0], &from = statement.operands[1];
    if (to.kind == vector && from.kind == vector) unserved(statement);
    if (from.kind == vector) {
        std::string parts;
        for (const std::string& part : parts_of(statement, 1))
            parts += (parts.empty() ? "" : ", ") + part;
        return assignment_to(statement, 0) + "gvp::pack" + type + "(" + parts + ");";
    }
    if (to.kind != vector)
        return assignment_to(statement, 0) + "gvp::mov_" + type + "(" + value_of(statement, 1) +
               ");";
    std::string sinks, parts;
    for (const PtxOperand& part : to.parts) {
        if (part.kind != sink && !part.is_register) unserved(statement);
        const std::string name = part.kind == sink ? "gradverify_sink" : part.text;
        if (part.kind == sink) sinks = "std::uint64_t gradverify_sink = 0; ";
        parts += ", " + name;
    }
    return "{ " + sinks + "gvp::unpack" + type + "(" + value_of(statement, 1) + parts + "); }";
}

/// cvt.pack.sat.u8.s32.b32 d, a, b, c.
std::string cpp_of_cvt_pack(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    modifiers.take("pack");
    const bool saturates = modifiers.take("sat");
    const std::string to = modifiers.take_any("u16 s16 u8 s8");
    const std::string from = modifiers.take_any("s32 u32");
    const bool has_third = modifiers.take("b32");
    modifiers.end();
    if (!saturates || to.empty() || from.empty() ||
        statement.operands.size() != (has_third ? 4 : 3))
        unserved(statement);
    return assignment_to(statement, 0) + "gvp::cvt_pack_<gvp::" + to + ", gvp::" + from + ">(" +
           values_from(statement, 1) + ");";
}

/// Hints and events without an effect on results.
bool has_no_effect(const PtxStatement& statement) {
    constexpr std::string_view names =
        "prefetch prefetchu applypriority pmevent brkpt setmaxnreg discard";
    return is_word_of(names, statement.parts[0]);
}

}  // namespace

bool is_word_of(std::string_view words, std::string_view word) {
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        if (words.substr(at, end - at) == word) return true;
        at = end + 1;
    }
    return false;
}

void unserved(const PtxStatement& statement) { throw PtxUnserved(statement.opcode); }

bool PtxModifiers::take(std::string_view part) {
    const auto found = std::ranges::find(left_, part);
    if (found == left_.end()) return false;
    left_.erase(found);
    return true;
}

std::string PtxModifiers::take_any(std::string_view words) {
    for (auto part = left_.begin(); part != left_.end(); ++part) {
        if (!is_word_of(words, *part)) continue;
        std::string taken = *part;
        left_.erase(part);
        return taken;
    }
    return "";
}

std::string value_of(const PtxStatement& statement, std::size_t operand) {
    if (operand >= statement.operands.size()) unserved(statement);
    const PtxOperand& one = statement.operands[operand];
    if (one.kind != PtxOperand::Kind::value || !one.second.empty()) unserved(statement);
    return one.text;
}

std::string values_from(const PtxStatement& statement, std::size_t first) {
    std::string text;
    for (std::size_t i = first; i < statement.operands.size(); ++i)
        text += (i == first ? "" : ", ") + value_of(statement, i);
    return text;
}

std::string assignment_to(const PtxStatement& statement, std::size_t operand) {
    if (operand >= statement.operands.size()) unserved(statement);
    const PtxOperand& one = statement.operands[operand];
    if (one.kind == PtxOperand::Kind::sink) return "";
    if (one.kind != PtxOperand::Kind::value || !one.is_register) unserved(statement);
    return one.text + " = ";
}

std::string address_of(const PtxStatement& statement, std::size_t operand) {
    if (operand >= statement.operands.size()) unserved(statement);
    const PtxOperand& one = statement.operands[operand];
    if (one.kind != PtxOperand::Kind::address) unserved(statement);
    return "gvp::address(" + one.text + (one.offset.empty() ? "" : ", ") + one.offset + ")";
}

std::vector<std::string> parts_of(const PtxStatement& statement, std::size_t operand) {
    if (operand >= statement.operands.size()) unserved(statement);
    const PtxOperand& one = statement.operands[operand];
    if (one.kind != PtxOperand::Kind::vector) return {value_of(statement, operand)};
    std::vector<std::string> parts;
    for (const PtxOperand& part : one.parts) {
        if (part.kind != PtxOperand::Kind::value) unserved(statement);
        parts.push_back(part.text);
    }
    return parts;
}

std::string cpp_of(const PtxStatement& statement) {
    const std::string& name = statement.parts[0];
    if (name == "bra") return "goto " + value_of(statement, 0) + ";";
    if (has_no_effect(statement)) return ";";
    if (name == "trap") return "__trap();";
    if (name == "nanosleep") return "__nanosleep(" + value_of(statement, 0) + ");";
    if (name == "mov") return cpp_of_mov(statement);
    if (name == "setp") return cpp_of_setp(statement);
    if (name == "cvt" && statement.parts.size() > 1 && statement.parts[1] == "pack")
        return cpp_of_cvt_pack(statement);
    for (const Form& form : forms)
        if (form.name == name) return cpp_of_form(statement, form);
    for (auto* const family : {&cpp_of_mbarrier, &cpp_of_bulk, &cpp_of_tensor_map, &cpp_of_cp_async,
                               &cpp_of_memory, &cpp_of_warps, &cpp_of_mma, &cpp_of_wgmma})
        if (const auto text = family(statement)) return *text;
    unserved(statement);
}

}  // namespace gradverify::simt::rewrite
