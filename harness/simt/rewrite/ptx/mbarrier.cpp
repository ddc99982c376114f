// SPDX-License-Identifier: Apache-2.0
// mbarrier objects (PTX ISA, 9.7.13.15), and their arrival after copies.
#include <string>

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// `.sem.scope{.space}` in any order.
std::string mbarrier_space(PtxModifiers& modifiers, bool& is_relaxed) {
    is_relaxed = modifiers.take_any(memory_orders) == "relaxed";
    modifiers.take_any(memory_scopes);
    return modifiers.take_any(shared_spaces).empty() ? "<gvp::Space::generic"
                                                     : "<gvp::Space::shared";
}
std::string mbarrier_space(PtxModifiers& modifiers) {
    bool ignored = false;
    return mbarrier_space(modifiers, ignored);
}

/// mbarrier.arrive{.expect_tx}{.noComplete} state, [addr]{, count or bytes}.
std::string mbarrier_arrive(const PtxStatement& statement, PtxModifiers& modifiers, bool drops) {
    const bool expects = modifiers.take("expect_tx");
    const bool completes = !modifiers.take("noComplete");
    bool is_relaxed = false;
    const std::string space = mbarrier_space(modifiers, is_relaxed);
    require(statement, modifiers.take("b64"));
    modifiers.end();
    // A remote mbarrier gives no state.
    const std::size_t at =
        statement.operands.at(0).kind == PtxOperand::Kind::address ? std::size_t{0} : 1;
    const std::size_t count = statement.operands.size() - at;
    require(statement, count == 2 || (count == 1 && !expects));
    const std::string number = count == 2 ? value_of(statement, at + 1) : "1u";
    const std::string kind =
        drops ? (completes ? "drop" : "drop_no_complete") : (completes ? "plain" : "no_complete");
    return (at == 0 ? "" : assignment_to(statement, 0)) + "gvp::mbarrier_arrive" + space +
           ", gvp::MbarrierArrival::" + kind + (is_relaxed ? ", false>(" : ">(") +
           address_of(statement, at) + ", " + (expects ? "1u, " + number : number + ", 0u") + ");";
}

/// mbarrier.test_wait{.parity} p, [addr], state or parity; try_wait may have a time, too.
std::string mbarrier_wait(const PtxStatement& statement, PtxModifiers& modifiers, bool tries) {
    const bool has_parity = modifiers.take("parity");
    bool is_relaxed = false;
    const std::string space = mbarrier_space(modifiers, is_relaxed);
    require(statement, modifiers.take("b64"));
    modifiers.end();
    const std::size_t count = statement.operands.size();
    require(statement, count == 3 || (count == 4 && tries));
    return assignment_to(statement, 0) +
           (has_parity ? "gvp::mbarrier_wait_parity" : "gvp::mbarrier_wait_state") + space +
           (tries ? ", true" : ", false") + (is_relaxed ? ", false>(" : ">(") +
           address_of(statement, 1) + ", " + value_of(statement, 2) + ");";
}

std::string mbarrier(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    if (modifiers.take("arrive")) return mbarrier_arrive(statement, modifiers, false);
    if (modifiers.take("arrive_drop")) return mbarrier_arrive(statement, modifiers, true);
    if (modifiers.take("test_wait")) return mbarrier_wait(statement, modifiers, false);
    if (modifiers.take("try_wait")) return mbarrier_wait(statement, modifiers, true);
    const std::string name = modifiers.take_any("init inval expect_tx complete_tx pending_count");
    const std::string space = mbarrier_space(modifiers);
    require(statement, !name.empty() && modifiers.take("b64"));
    modifiers.end();
    require(statement, statement.operands.size() == (name == "inval" ? 1u : 2u));
    if (name == "pending_count")
        return assignment_to(statement, 0) + "gvp::mbarrier_pending_count(" +
               value_of(statement, 1) + ");";
    return "gvp::mbarrier_" + name + space + ">(" + address_of(statement, 0) +
           (name == "inval" ? "" : ", " + value_of(statement, 1)) + ");";
}

/// cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr].
std::string arrive_after_copies(const PtxStatement& statement, PtxModifiers& modifiers) {
    require(statement, modifiers.take("arrive"));
    const bool increments = !modifiers.take("noinc");
    const std::string space = mbarrier_space(modifiers);
    require(statement, modifiers.take("b64"));
    modifiers.end();
    return "gvp::cp_async_mbarrier_arrive" + space + ">(" + address_of(statement, 0) +
           (increments ? ", true);" : ", false);");
}

}  // namespace

std::optional<std::string> cpp_of_mbarrier(const PtxStatement& statement) {
    if (statement.parts[0] == "mbarrier") return mbarrier(statement);
    PtxModifiers modifiers(statement);
    if (statement.parts[0] != "cp" || !modifiers.take("async") || !modifiers.take("mbarrier"))
        return std::nullopt;
    return arrive_after_copies(statement, modifiers);
}

}  // namespace gradverify::simt::rewrite
