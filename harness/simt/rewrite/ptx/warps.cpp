// SPDX-License-Identifier: Apache-2.0
// What the threads of a warp or a block do together (PTX ISA, 9.7.13): shuffles, votes, matches,
// reductions, elections and barriers.
#include <string>

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

/// `, &p` of d|p, or `, nullptr`.
std::string pointer_to_second(const PtxStatement& statement) {
    const std::string& second = statement.operands.at(0).second;
    return second.empty() || second == "_" ? "nullptr" : "&" + second;
}
/// d of d|p.
std::string assignment_to_first(const PtxStatement& statement) {
    PtxStatement first = statement;
    first.operands[0].second.clear();
    return assignment_to(first, 0);
}
/// shfl.sync.up.b32 d|p, a, b, c, membermask.
std::string shuffle(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool is_sync = modifiers.take("sync");
    const std::string mode = modifiers.take_any("up down bfly idx");
    const bool has_type = modifiers.take("b32");
    modifiers.end();
    require(statement, is_sync && !mode.empty() && has_type && statement.operands.size() == 5);
    return assignment_to_first(statement) + "gvp::shfl_" + mode + "(" + values_from(statement, 1) +
           ", " + pointer_to_second(statement) + ");";
}

/// vote.sync.ballot.b32 d, p, membermask.
std::string vote(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool is_sync = modifiers.take("sync");
    const std::string mode = modifiers.take_any("all any uni ballot");
    const std::string type = modifiers.take_any("pred b32");
    modifiers.end();
    require(statement, is_sync && !mode.empty() && (mode == "ballot") == (type == "b32") &&
                           statement.operands.size() == 3);
    return assignment_to(statement, 0) + "gvp::vote_" + mode + "(" + values_from(statement, 1) +
           ");";
}

std::string match(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const std::string mode = modifiers.take_any("any all");
    const bool is_sync = modifiers.take("sync");
    const std::string type = modifiers.take_any("b32 b64");
    modifiers.end();
    require(statement, is_sync && !mode.empty() && !type.empty() && statement.operands.size() == 3);
    const std::string call =
        "gvp::match_" + mode + "<gvp::" + type + ">(" + values_from(statement, 1);
    if (mode == "any") return assignment_to(statement, 0) + call + ");";
    return assignment_to_first(statement) + call + ", " + pointer_to_second(statement) + ");";
}

std::string reduce(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool is_sync = modifiers.take("sync");
    const std::string mode = modifiers.take_any("add min max and or xor");
    const std::string type = modifiers.take_any("u32 s32 b32");
    modifiers.end();
    require(statement, is_sync && !mode.empty() && !type.empty() && statement.operands.size() == 3);
    return assignment_to(statement, 0) + "gvp::redux_" + mode + "<gvp::" + type + ">(" +
           values_from(statement, 1) + ");";
}

std::string elect(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool is_sync = modifiers.take("sync");
    modifiers.end();
    require(statement, is_sync && statement.operands.size() == 2);
    return assignment_to_first(statement) + "gvp::elect_sync(" + value_of(statement, 1) + ", " +
           pointer_to_second(statement) + ");";
}

/// bar.sync a{, b}; bar.arrive a, b; bar.red.popc.u32 d, a{, b}, {!}c; bar.warp.sync membermask.
std::string barrier(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    if (modifiers.take("warp")) {
        require(statement, modifiers.take("sync") && statement.operands.size() == 1);
        return "__syncwarp(" + value_of(statement, 0) + ");";
    }
    modifiers.take("cta");
    modifiers.take("aligned");
    const std::string mode = modifiers.take_any("sync arrive red");
    const std::size_t count = statement.operands.size();
    if (mode == "red") {
        const std::string vote = modifiers.take_any("popc and or");
        const std::string type = modifiers.take_any("u32 pred");
        modifiers.end();
        require(statement, !vote.empty() && (vote == "popc") == (type == "u32") && count == 3 &&
                               statement.operands[1].text == "gvp::Integer{0u}");
        const char* const function = vote == "popc"  ? "__syncthreads_count("
                                     : vote == "and" ? "__syncthreads_and("
                                                     : "__syncthreads_or(";
        return assignment_to(statement, 0) + function + value_of(statement, 2) + ");";
    }
    modifiers.end();
    require(statement,
            mode == "arrive" ? count == 2 : mode == "sync" && (count == 1 || count == 2));
    return "gvp::bar_" + mode + "(" + values_from(statement, 0) + ");";
}

/// barrier.cluster.arrive{.release, .relaxed}{.aligned} and
/// barrier.cluster.wait{.acquire}{.aligned}.
std::string cluster_barrier(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    modifiers.take("cluster");
    const std::string mode = modifiers.take_any("arrive wait");
    const bool is_relaxed =
        modifiers.take_any(mode == "arrive" ? "release relaxed" : "acquire") == "relaxed";
    modifiers.take("aligned");
    modifiers.end();
    require(statement, !mode.empty() && statement.operands.empty());
    return "gvp::cluster_" + mode + (is_relaxed ? "_relaxed();" : "();");
}

}  // namespace

std::optional<std::string> cpp_of_warps(const PtxStatement& statement) {
    const std::string& name = statement.parts[0];
    if (name == "shfl") return shuffle(statement);
    if (name == "vote") return vote(statement);
    if (name == "match") return match(statement);
    if (name == "redux") return reduce(statement);
    if (name == "elect") return elect(statement);
    if (name == "activemask" && statement.opcode == "activemask.b32")
        return assignment_to(statement, 0) + "__activemask();";
    const bool of_cluster = statement.parts.size() > 1 && statement.parts[1] == "cluster";
    if (name == "barrier" && of_cluster) return cluster_barrier(statement);
    if (name == "bar" || (name == "barrier" && !of_cluster)) return barrier(statement);
    return std::nullopt;
}

}  // namespace gradverify::simt::rewrite
