// SPDX-License-Identifier: Apache-2.0
// The products of a warpgroup (PTX ISA, 9.7.15): wgmma and its groups, and the hints that come with
// it: setmaxnreg and griddepcontrol. Which shapes and types a product may have is decided here.
#include <algorithm>
#include <charconv>
#include <string>

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// A type of factors, how many of them a row of 32 bytes holds, and the sums that it may have.
struct Factors {
    std::string_view type, partners, sums;
    int depth;
};
constexpr Factors factors[] = {
    {"f16", "f16", "f16 f32", 16},        {"bf16", "bf16", "f32", 16},
    {"tf32", "tf32", "f32", 8},           {"e4m3", "e4m3 e5m2", "f16 f32", 32},
    {"e5m2", "e4m3 e5m2", "f16 f32", 32}, {"s8", "s8 u8", "s32", 32},
    {"u8", "s8 u8", "s32", 32},
};

/// The number behind `prefix`, or -1.
int number_behind(std::string_view prefix, std::string_view text) {
    int number = -1;
    if (text.starts_with(prefix))
        std::from_chars(text.data() + prefix.size(), text.data() + text.size(), number);
    return number;
}

/// `m64n128k16`: its columns, or 0.
int columns_of(const std::string& shape, int depth, bool of_integers) {
    const int n = number_behind("m64n", shape);
    const std::string text = "m64n" + std::to_string(n) + "k" + std::to_string(depth);
    const bool is_served = n >= 8 && n <= 256 && n % 8 == 0;
    // Of integers there are n = 8, 24 and the multiples of 16.
    const bool is_shape = !of_integers || n % 16 == 0 || n == 8 || n == 24;
    return shape == text && is_served && is_shape ? n : 0;
}

std::string number_of(const PtxStatement& statement, std::size_t operand) {
    return "static_cast<int>(static_cast<std::int32_t>(" + value_of(statement, operand) + "))";
}

/// `{address, ...}` of the user's variables.
std::string places_of(const PtxStatement& statement, const PtxOperand& registers) {
    std::string text;
    for (const PtxOperand& one : registers.parts) {
        if (!one.is_register || one.place.empty()) unserved(statement);
        text += one.place + ", ";
    }
    return text;
}
std::string registers_of(const PtxStatement& statement, const PtxOperand& registers) {
    std::string text;
    for (const PtxOperand& one : registers.parts) {
        if (one.kind != PtxOperand::Kind::value) unserved(statement);
        text += "{" + one.text + ", " + (one.place.empty() ? "nullptr" : one.place) + "}, ";
    }
    return text;
}

/// wgmma.mma_async.sync.aligned.m64nNkK.d.a.b d, a, b, scale-d{, imm-scale-a, imm-scale-b{,
/// imm-trans-a, imm-trans-b}}, with a in registers or, like b, by a descriptor.
std::string multiply(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool is_known =
        modifiers.take("mma_async") && modifiers.take("sync") && modifiers.take("aligned");
    const bool saturates = modifiers.take("satfinite");
    const std::vector<std::string>& left = modifiers.left();
    if (!is_known || left.size() != 4 || statement.operands.size() < 4) unserved(statement);
    const auto* const a = std::ranges::find(factors, left[2], &Factors::type);
    if (a == std::end(factors) || !is_word_of(a->partners, left[3]) ||
        !is_word_of(a->sums, left[1]))
        unserved(statement);
    const bool of_integers = a->sums == "s32", may_transpose = a->depth == 16;
    const int n = columns_of(left[0], a->depth, of_integers);
    const PtxOperand &sums = statement.operands[0], &of_a = statement.operands[1];
    const bool in_registers = of_a.kind == PtxOperand::Kind::vector;
    const std::size_t negations = of_integers ? 0 : 2;
    const std::size_t transpositions = !may_transpose ? 0 : in_registers ? 1 : 2;
    const int sum_count = left[1] == "f16" ? n / 4 : n / 2;
    if (n == 0 || (saturates && !of_integers) ||
        sums.parts.size() != static_cast<std::size_t>(sum_count) ||
        (in_registers && of_a.parts.size() != 4) ||
        statement.operands.size() != 4 + negations + transpositions)
        unserved(statement);
    const auto sign = [&](std::size_t i) {
        return i < negations ? number_of(statement, 4 + i) : "1";
    };
    const auto transposition = [&](std::size_t i) {
        return i < transpositions ? number_of(statement, 4 + negations + i) : "0";
    };
    std::string text = "{ void* const gradverify_sums[] = {" + places_of(statement, sums) + "}; ";
    text += "const gvp::MatrixRegister gradverify_a[4] = {" +
            (in_registers ? registers_of(statement, of_a) : "") + "}; gvp::wgmma({" +
            std::to_string(n) + ", " + std::to_string(a->depth);
    for (const std::size_t i : {2, 3, 1}) text += ", gvp::MatrixElement::" + left[i];
    text += std::string(saturates ? ", true" : ", false") + (in_registers ? ", true" : ", false");
    text += ", " + sign(0) + ", " + sign(1);
    text += ", " + (in_registers ? "0" : transposition(0)) + ", " +
            transposition(transpositions - 1) + "}, gradverify_sums, gradverify_a, " +
            (in_registers ? "0" : value_of(statement, 1)) + ", " + value_of(statement, 2) + ", " +
            value_of(statement, 3) + "); }";
    return text;
}

std::string product_or_wait(const PtxStatement& statement) {
    if (statement.opcode == "wgmma.fence.sync.aligned") return "gvp::wgmma_fence();";
    if (statement.opcode == "wgmma.commit_group.sync.aligned") return "gvp::wgmma_commit();";
    if (statement.opcode == "wgmma.wait_group.sync.aligned")
        return "gvp::wgmma_wait(" + value_of(statement, 0) + ");";
    return multiply(statement);
}

/// The number of registers changes no result; a wrong number is refused by ptxas as well.
std::string set_registers(const PtxStatement& statement) {
    const bool is_known = is_word_of(
        "setmaxnreg.inc.sync.aligned.u32 setmaxnreg.dec.sync.aligned.u32", statement.opcode);
    if (!is_known || statement.operands.size() != 1) unserved(statement);
    return "gvp::setmaxnreg<static_cast<int>(" + value_of(statement, 0) + ")>();";
}

}  // namespace

std::optional<std::string> cpp_of_wgmma(const PtxStatement& statement) {
    const std::string& name = statement.parts[0];
    if (name == "wgmma") return product_or_wait(statement);
    if (name == "setmaxnreg") return set_registers(statement);
    if (statement.opcode == "griddepcontrol.wait")
        return "gradverify::simt::unit::gradverify_simt_wait_for_grids();";
    if (statement.opcode == "griddepcontrol.launch_dependents")
        return "gradverify::simt::unit::gradverify_simt_launch_dependents();";
    return std::nullopt;
}

}  // namespace gradverify::simt::rewrite
