// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics and fences of PTX (PTX ISA, 9.7.9 and 9.7.13). Cache operators
// and eviction cache_hints are taken and have no effect, as the CPU device has one memory; of
// scopes that of the block is kept, for the race detector.
#include <string>

#include "harness/simt/rewrite/ptx/memory.hpp"

namespace gradverify::simt::rewrite {
namespace {

constexpr std::string_view scalar_types =
    "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view cache_hints =
    "ca cg cs lu cv wb wt nc L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last "
    "L1::no_allocate L2::evict_normal L2::evict_first L2::evict_last L2::64B L2::128B L2::256B";

std::size_t width_of(const std::string& width) {
    return width.empty() ? 1 : static_cast<std::size_t>(width[1] - '0');
}

std::string arguments_of(const MemoryModifiers& memory) {
    return "<gvp::" + memory.type + ", " + memory.space + ", " +
           (memory.is_strong ? "true" : "false") + ">(";
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += ", " + part;
    return text;
}

std::string fence_of(const MemoryModifiers& memory) {
    return memory.is_of_block ? "gvp::fence_of_block(); " : "gvp::fence_(); ";
}

void require_operands(const PtxStatement& statement, const MemoryModifiers& memory,
                      std::size_t count) {
    if (memory.type.empty() || statement.operands.size() != count + (memory.has_policy ? 1 : 0))
        unserved(statement);
}

std::string load(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const MemoryModifiers memory = memory_modifiers(modifiers);
    modifiers.end();
    require_operands(statement, memory, 2);
    const std::string from = arguments_of(memory) + address_of(statement, 1);
    const std::string fence = memory.acquires ? " " + fence_of(memory) : "";
    if (memory.width.empty()) return assignment_to(statement, 0) + "gvp::ld_" + from + ");" + fence;
    std::string parts, sinks;
    const PtxOperand& to = statement.operands[0];
    if (to.kind != PtxOperand::Kind::vector || to.parts.size() != width_of(memory.width))
        unserved(statement);
    for (const PtxOperand& part : to.parts) {
        const bool is_sink = part.kind == PtxOperand::Kind::sink;
        if (!is_sink && !part.is_register) unserved(statement);
        if (is_sink) sinks = "std::uint64_t gradverify_sink = 0; ";
        parts += ", " + (is_sink ? "gradverify_sink" : part.text);
    }
    return "{ " + sinks + "gvp::ld_vector" + from + parts + ");" + fence + " }";
}

std::string store(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const MemoryModifiers memory = memory_modifiers(modifiers);
    modifiers.end();
    require_operands(statement, memory, 2);
    const std::vector<std::string> parts = parts_of(statement, 1);
    if (parts.size() != width_of(memory.width)) unserved(statement);
    return (memory.releases ? fence_of(memory) : "") + std::string("gvp::st_") +
           arguments_of(memory) + address_of(statement, 0) + joined(parts) + ");";
}

/// atom d, [a], b and red [a], b; both with a further operand for cas.
std::string atomic(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const std::string operation = modifiers.take_any("add and or xor min max exch cas inc dec");
    modifiers.take("noftz");
    modifiers.take("ftz");
    const MemoryModifiers memory = memory_modifiers(modifiers);
    modifiers.end();
    const bool has_result = statement.parts[0] == "atom", is_cas = operation == "cas";
    const std::size_t address = has_result ? 1 : 0;
    require_operands(statement, memory, address + (is_cas ? 3 : 2));
    const std::vector<std::string> parts = parts_of(statement, address + 1);
    if (operation.empty() || parts.size() != width_of(memory.width) || memory.type == "b128" ||
        (parts.size() > 1 && (operation == "cas" || operation == "exch")))
        unserved(statement);
    const std::string call = "gvp::atom_" + operation + "<gvp::" + memory.type + ", " +
                             memory.space + (memory.is_of_block ? ", true>(" : ">(") +
                             address_of(statement, address);
    const std::string fence = memory.releases ? fence_of(memory) : "";
    if (parts.size() == 1)
        return fence + (has_result ? assignment_to(statement, 0) : "") + call + ", " + parts[0] +
               (is_cas ? ", " + value_of(statement, address + 2) : "") + ");";
    std::string all = "{ " + fence;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (has_result) {
            const std::vector<std::string> to = parts_of(statement, 0);
            if (to.size() != parts.size()) unserved(statement);
            all += to[i] + " = ";
        }
        all += call + " + " + std::to_string(i) + " * sizeof(gvp::Bits<gvp::" + memory.type +
               ">), " + parts[i] + "); ";
    }
    return all + "}";
}

std::string fence(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    modifiers.take("mbarrier_init");
    modifiers.take_any("sc acq_rel acquire release");
    modifiers.take_any("sync_restrict::shared::cta sync_restrict::shared::cluster");
    MemoryModifiers memory;
    memory.is_of_block = modifiers.take_any("cta cluster gpu sys gl") == "cta";
    modifiers.end();
    return fence_of(memory);
}

/// cvta.shared.u64 a generic address, cvta.to.shared.u64 one within the space.
std::string convert_address(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool to = modifiers.take("to");
    const std::string space = modifiers.take_any(
        "global shared shared::cta shared::cluster local const param param::entry");
    const std::string type = modifiers.take_any("u32 u64");
    modifiers.end();
    if (space.empty() || type.empty() || statement.operands.size() != 2) unserved(statement);
    const std::string value = value_of(statement, 1);
    if (!space.starts_with("shared")) return assignment_to(statement, 0) + value + ";";
    return assignment_to(statement, 0) + (to ? "gvp::to_shared(" : "gvp::from_shared(") + value +
           ");";
}

std::string is_in_space(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const std::string space =
        modifiers.take_any("global shared shared::cta shared::cluster local const");
    modifiers.end();
    if (space.empty() || statement.operands.size() != 2) unserved(statement);
    const bool is_own = space == "shared" || space == "shared::cta";
    const std::string call = std::string(is_own ? "gvp::is_own_shared(" : "gvp::is_shared(") +
                             value_of(statement, 1) + ")";
    if (space.starts_with("shared")) return assignment_to(statement, 0) + call + ";";
    return assignment_to(statement, 0) + (space == "global" ? "!" + call : "false") + ";";
}

/// mapa.shared::cluster.u32 d, a, rank; getctarank.shared::cluster.u32 d, a; both without the space
/// for generic addresses.
std::string of_cluster(const PtxStatement& statement, std::size_t operands) {
    PtxModifiers modifiers(statement);
    const bool is_shared = modifiers.take("shared::cluster");
    const std::string type = modifiers.take_any("u32 u64");
    modifiers.end();
    if (type.empty() || statement.operands.size() != operands) unserved(statement);
    return assignment_to(statement, 0) + "gvp::" + statement.parts[0] +
           (is_shared ? "_shared(" : "(") + values_from(statement, 1) + ");";
}

/// A policy of the cache: a number that no instruction reads.
std::string create_policy(const PtxStatement& statement) {
    return assignment_to(statement, 0) + "0;";
}

}  // namespace

MemoryModifiers memory_modifiers(PtxModifiers& modifiers) {
    MemoryModifiers memory;
    const std::string order =
        modifiers.take_any("weak volatile relaxed acquire release acq_rel mmio");
    memory.is_strong = !order.empty() && order != "weak";
    memory.acquires = order == "acquire" || order == "acq_rel";
    memory.releases = order == "release" || order == "acq_rel";
    memory.is_of_block = modifiers.take_any("cta cluster gpu sys") == "cta";
    const std::string space = modifiers.take_any(
        "global shared shared::cta shared::cluster local param param::entry param::func const");
    memory.space = space.starts_with("shared") ? "gvp::Space::shared"
                   : space == "global"         ? "gvp::Space::global"
                                               : "gvp::Space::generic";
    while (!modifiers.take_any(cache_hints).empty()) {
    }
    memory.has_policy = modifiers.take("L2::cache_hint");
    memory.width = modifiers.take_any("v2 v4 v8");
    memory.type = modifiers.take_any(scalar_types);
    return memory;
}

std::optional<std::string> cpp_of_memory(const PtxStatement& statement) {
    const std::string& name = statement.parts[0];
    if (name == "ld" || name == "ldu") return load(statement);
    if (name == "st") return store(statement);
    if (name == "atom" || name == "red") return atomic(statement);
    if (name == "fence" || name == "membar") return fence(statement);
    if (name == "cvta") return convert_address(statement);
    if (name == "mapa") return of_cluster(statement, 3);
    if (name == "getctarank") return of_cluster(statement, 2);
    if (name == "isspacep") return is_in_space(statement);
    if (name == "createpolicy") return create_policy(statement);
    return std::nullopt;
}

}  // namespace gradverify::simt::rewrite
