// SPDX-License-Identifier: Apache-2.0
// cp.async and its groups (PTX ISA, 9.7.9.25.3).
#include <string>

#include "harness/simt/rewrite/ptx/memory.hpp"

namespace gradverify::simt::rewrite {

std::optional<std::string> cpp_of_cp_async(const PtxStatement& statement) {
    if (statement.parts[0] != "cp" || statement.parts.size() < 3 || statement.parts[1] != "async")
        return std::nullopt;
    PtxModifiers modifiers(statement);
    modifiers.take("async");
    if (modifiers.take_last("commit_group")) return "gvp::cp_async_commit();";
    if (modifiers.take_last("wait_all")) return "gvp::cp_async_wait_all();";
    if (modifiers.take_last("wait_group"))
        return "gvp::cp_async_wait(" + value_of(statement, 0) + ");";
    const std::string cache = modifiers.take_any("ca cg");
    const MemoryModifiers memory = memory_modifiers(modifiers);
    modifiers.take("global");  // after .shared
    modifiers.end();
    const std::size_t count = statement.operands.size() - (memory.has_policy ? 1 : 0);
    if (cache.empty() || memory.space != "gvp::Space::shared" || count < 3 || count > 4)
        unserved(statement);
    return (cache == "cg" ? "gvp::cp_async_cg(" : "gvp::cp_async(") + address_of(statement, 0) +
           ", " + address_of(statement, 1) + ", " + value_of(statement, 2) +
           (count == 4 ? ", " + value_of(statement, 3) : "") + ");";
}

}  // namespace gradverify::simt::rewrite
