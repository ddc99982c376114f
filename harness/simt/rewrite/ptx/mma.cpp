// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of a warp (PTX ISA, 9.7.14): mma, ldmatrix, stmatrix and movmatrix. Which
// shapes a product of mma may have is decided here.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

struct Shape {
    int m, n, k;
};
/// A type of factors, its size, and the shapes that PTX has for it.
struct Factors {
    std::string_view type;
    int bits;
    std::string_view shapes, sums;
};
constexpr Factors factors[] = {
    {"f16", 16, "m16n8k8 m16n8k16", "f16 f32"},
    {"bf16", 16, "m16n8k8 m16n8k16", "f32"},
    {"tf32", 32, "m16n8k4 m16n8k8", "f32"},
    {"f64", 64, "m8n8k4 m16n8k4 m16n8k8 m16n8k16", "f64"},
    {"s8", 8, "m8n8k16 m16n8k16 m16n8k32", "s32"},
    {"u8", 8, "m8n8k16 m16n8k16 m16n8k32", "s32"},
    {"s4", 4, "m8n8k32 m16n8k32 m16n8k64", "s32"},
    {"u4", 4, "m8n8k32 m16n8k32 m16n8k64", "s32"},
    {"b1", 1, "m8n8k128 m16n8k128 m16n8k256", "s32"},
    {"e4m3", 8, "m16n8k16 m16n8k32", "f16 f32"},
    {"e5m2", 8, "m16n8k16 m16n8k32", "f16 f32"},
};

const Factors* factors_of(std::string_view type) {
    const auto* const found = std::ranges::find(factors, type, &Factors::type);
    return found == std::end(factors) ? nullptr : found;
}

Shape shape_of(const std::string& text) {
    Shape shape{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (int* const size : {&shape.m, &shape.n, &shape.k})
        at = std::from_chars(at + 1, end, *size).ptr;
    return shape;
}

/// How many registers a lane holds of a matrix.
int registers_of(int elements, int bits) { return elements * bits / 32 / (bits == 64 ? 64 : 32); }

std::string array(const char* name, const PtxStatement& statement, std::size_t operand,
                  const char* type) {
    std::string text = std::string(type) + " gradverify_" + name + "[] = {";
    for (const std::string& part : parts_of(statement, operand)) text += part + ", ";
    return text + "}; ";
}

/// Both factors are of 8-bit integers, of 4-bit integers, of 8-bit floats, or of one type.
bool may_be_multiplied(std::string_view a, std::string_view b) {
    for (const std::string_view group : {"s8 u8", "s4 u4", "e4m3 e5m2"})
        if (is_word_of(group, a)) return is_word_of(group, b);
    return a == b;
}

std::string multiply(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    bool is_known = modifiers.take("sync") && modifiers.take("aligned");
    const std::string shape_text = modifiers.take_any(
        "m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 "
        "m16n8k256");
    is_known = is_known && modifiers.take("row") && modifiers.take("col");
    const bool saturates = modifiers.take("satfinite");
    modifiers.take("kind::f8f6f4");
    const bool has_and = modifiers.take("and"), has_xor = modifiers.take("xor");
    const bool counts = modifiers.take("popc");
    const std::vector<std::string>& types = modifiers.left();
    if (!is_known || shape_text.empty() || types.size() != 4 || statement.operands.size() != 4)
        unserved(statement);
    const Factors *const a = factors_of(types[1]), *const b = factors_of(types[2]);
    if (a == nullptr || b == nullptr || !may_be_multiplied(types[1], types[2]) ||
        !is_word_of(a->shapes, shape_text) || !is_word_of(a->sums, types[0]) ||
        !is_word_of(a->sums, types[3]) || counts != (a->bits == 1) ||
        (has_and || has_xor) != counts)
        unserved(statement);
    const Shape shape = shape_of(shape_text);
    const auto sum_bits = [](const std::string& type) {
        return type == "f64" ? 64 : type == "f16" ? 16 : 32;
    };
    const int sizes[] = {registers_of(shape.m * shape.n, sum_bits(types[0])),
                         registers_of(shape.m * shape.k, a->bits),
                         registers_of(shape.k * shape.n, b->bits),
                         registers_of(shape.m * shape.n, sum_bits(types[3]))};
    for (std::size_t i = 0; i < 4; ++i)
        if (parts_of(statement, i).size() != static_cast<std::size_t>(sizes[i]))
            unserved(statement);
    const char* const type = a->bits == 64 ? "std::uint64_t" : "std::uint32_t";
    std::string text = "{ const " + array("a", statement, 1, type) + "const " +
                       array("b", statement, 2, type) + "const " + array("c", statement, 3, type) +
                       type + " gradverify_d[" + std::to_string(sizes[0]) + "]; gvp::mma({" +
                       std::to_string(shape.m) + ", " + std::to_string(shape.n) + ", " +
                       std::to_string(shape.k);
    for (const std::size_t i : {1, 2, 3, 0}) text += ", gvp::MatrixElement::" + types[i];
    text += std::string(saturates ? ", true" : ", false") + (has_and ? ", true" : ", false");
    text += "}, gradverify_a, gradverify_b, gradverify_c, gradverify_d); ";
    const std::vector<std::string> sums = parts_of(statement, 0);
    for (std::size_t i = 0; i < sums.size(); ++i)
        text += sums[i] + " = gradverify_d[" + std::to_string(i) + "]; ";
    return text + "}";
}

/// ldmatrix {r, ...}, [p] and stmatrix [p], {r, ...}.
std::string move_matrices(const PtxStatement& statement, bool is_load) {
    PtxModifiers modifiers(statement);
    bool is_known = modifiers.take("sync") && modifiers.take("aligned") && modifiers.take("m8n8");
    const std::string count = modifiers.take_any("x1 x2 x4");
    const bool is_transposed = modifiers.take("trans");
    modifiers.take_any("shared shared::cta");
    is_known = is_known && !count.empty() && modifiers.take("b16");
    modifiers.end();
    if (!is_known || statement.operands.size() != 2) unserved(statement);
    const std::vector<std::string> registers = parts_of(statement, is_load ? 0 : 1);
    if (registers.size() != static_cast<std::size_t>(count[1] - '0')) unserved(statement);
    std::string text = (is_load ? "gvp::ldmatrix<" : "gvp::stmatrix<") +
                       std::string(is_transposed ? "true" : "false") + ">(" +
                       address_of(statement, is_load ? 1 : 0);
    for (const std::string& one : registers) text += ", " + one;
    return text + ");";
}

}  // namespace

std::optional<std::string> cpp_of_mma(const PtxStatement& statement) {
    const std::string& name = statement.parts[0];
    if (name == "mma" && statement.parts.size() > 1 && statement.parts[1] == "sync")
        return multiply(statement);
    if (name == "ldmatrix") return move_matrices(statement, true);
    if (name == "stmatrix") return move_matrices(statement, false);
    if (statement.opcode == "movmatrix.sync.aligned.m8n8.trans.b16")
        return assignment_to(statement, 0) + "gvp::movmatrix(" + value_of(statement, 1) + ");";
    return std::nullopt;
}

}  // namespace gradverify::simt::rewrite
