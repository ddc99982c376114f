// SPDX-License-Identifier: Apache-2.0
// mbarrier objects and the asynchronous proxy of sm_90: bulk copies, tensor copies and their fences
// (PTX ISA, 9.7.9.25.4, 9.7.9.26 and 9.7.13.15).
#include <string>

#include "harness/simt/rewrite/ptx.hpp"

namespace gradverify::simt::rewrite {
namespace {

constexpr std::string_view orders = "relaxed acquire release acq_rel";
constexpr std::string_view scopes = "cta cluster gpu sys";
constexpr std::string_view shared_spaces = "shared shared::cta shared::cluster";

void require(const PtxStatement& statement, bool is_right) {
    if (!is_right) unserved(statement);
}

/// `.sem.scope{.space}` in any order.
std::string mbarrier_space(PtxModifiers& modifiers) {
    modifiers.take_any(orders);
    modifiers.take_any(scopes);
    return modifiers.take_any(shared_spaces).empty() ? "<gvp::Space::generic"
                                                     : "<gvp::Space::shared";
}

/// mbarrier.arrive{.expect_tx}{.noComplete} state, [addr]{, count or bytes}.
std::string mbarrier_arrive(const PtxStatement& statement, PtxModifiers& modifiers, bool drops) {
    const bool expects = modifiers.take("expect_tx");
    const bool completes = !modifiers.take("noComplete");
    const std::string space = mbarrier_space(modifiers);
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
           ", gvp::MbarrierArrival::" + kind + ">(" + address_of(statement, at) + ", " +
           (expects ? "1u, " + number : number + ", 0u") + ");";
}

/// mbarrier.test_wait{.parity} p, [addr], state or parity; try_wait may have a time, too.
std::string mbarrier_wait(const PtxStatement& statement, PtxModifiers& modifiers, bool tries) {
    const bool has_parity = modifiers.take("parity");
    const std::string space = mbarrier_space(modifiers);
    require(statement, modifiers.take("b64"));
    modifiers.end();
    const std::size_t count = statement.operands.size();
    require(statement, count == 3 || (count == 4 && tries));
    return assignment_to(statement, 0) +
           (has_parity ? "gvp::mbarrier_wait_parity" : "gvp::mbarrier_wait_state") + space + ">(" +
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

/// The modifiers and operands that all bulk copies have.
struct Bulk {
    std::string to, from, operation, type;
    bool has_mbarrier = false, is_im2col = false, is_multicast = false, has_policy = false;
    std::size_t dimensions = 0;  ///< of a tensor; 0: of none
    bool loads() const { return to.starts_with("shared"); }
};

Bulk bulk_modifiers(const PtxStatement& statement, PtxModifiers& modifiers) {
    Bulk bulk;
    if (modifiers.take("tensor")) {
        const std::string dimensions = modifiers.take_any("1d 2d 3d 4d 5d");
        require(statement, !dimensions.empty());
        bulk.dimensions = static_cast<std::size_t>(dimensions[0] - '0');
    }
    constexpr std::string_view spaces = "global shared::cta shared::cluster";
    bulk.to = modifiers.take_any(spaces);
    bulk.from = modifiers.take_any(spaces);
    if (bulk.dimensions > 0) {
        const std::string mode = modifiers.take_any("tile im2col im2col_no_offs");
        bulk.is_im2col = mode.starts_with("im2col");
    }
    bulk.has_mbarrier = modifiers.take("mbarrier::complete_tx::bytes");
    require(statement, modifiers.take("bulk_group") != bulk.has_mbarrier);
    bulk.is_multicast = modifiers.take("multicast::cluster");
    bulk.has_policy = modifiers.take("L2::cache_hint");
    bulk.operation = modifiers.take_any("add min max and or xor inc dec");
    modifiers.take("noftz");
    if (!bulk.operation.empty() && bulk.dimensions == 0)
        bulk.type = modifiers.take_any("u32 s32 u64 s64 b32 b64 f16 bf16 f32 f64");
    modifiers.end();
    require(statement, bulk.loads() == bulk.has_mbarrier && !bulk.from.empty());
    require(statement, bulk.from == "global" || !bulk.is_multicast);
    return bulk;
}

/// How many operands a mask of blocks and a policy are.
std::size_t hints(const Bulk& bulk) {
    return (bulk.is_multicast ? 1u : 0u) + (bulk.has_policy ? 1u : 0u);
}

/// The blocks of the cluster that a copy goes to.
std::string mask_of(const PtxStatement& statement, const Bulk& bulk) {
    return value_of(statement, statement.operands.size() - hints(bulk));
}

std::string operation_of(const Bulk& bulk) {
    const bool is_word =
        bulk.operation == "and" || bulk.operation == "or" || bulk.operation == "xor";
    return "gvp::BulkOperation::" + bulk.operation + (is_word ? "_" : "");
}

/// cp{.reduce}.async.bulk [to], [from], bytes{, [mbarrier]}{, policy}.
std::string copy_bulk(const PtxStatement& statement, const Bulk& bulk, bool reduces) {
    require(statement, statement.operands.size() == 3u + (bulk.loads() ? 1u : 0u) + hints(bulk));
    const std::string from =
        address_of(statement, 0) + ", " + address_of(statement, 1) + ", " + value_of(statement, 2);
    if (reduces) {
        require(statement, !bulk.loads() && !bulk.type.empty());
        return "gvp::cp_reduce_async_bulk<" + operation_of(bulk) + ", gvp::BulkType::" + bulk.type +
               ">(" + from + ");";
    }
    if (bulk.is_multicast)
        return "gvp::cp_async_bulk_multicast(" + from + ", " + address_of(statement, 3) + ", " +
               mask_of(statement, bulk) + ");";
    if (bulk.loads())
        return std::string("gvp::cp_async_bulk_load<gvp::Space::") +
               (bulk.from == "global" ? "global>(" : "shared>(") + from + ", " +
               address_of(statement, 3) + ");";
    return "gvp::cp_async_bulk_store(" + from + ");";
}

std::string list_of(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "{static_cast<std::int32_t>(" : ", static_cast<std::int32_t>(") +
                part + ")";
    return text.empty() ? "{}" : text + "}";
}

std::string coordinates_of(const PtxStatement& statement, std::size_t operand,
                           std::size_t dimensions) {
    std::vector<std::string> coordinates;
    for (const PtxOperand& part : statement.operands.at(operand).parts)
        coordinates.push_back(part.text);
    require(statement, coordinates.size() == dimensions);
    return list_of(coordinates);
}

/// cp.async.bulk.tensor [to], [map, coordinates], [mbarrier]{, offsets}{, policy}, and its inverse.
std::string copy_tensor(const PtxStatement& statement, const Bulk& bulk, bool reduces) {
    const std::size_t offsets = bulk.loads() && bulk.is_im2col ? 1 : 0;
    require(statement,
            statement.operands.size() == 2u + (bulk.loads() ? 1u : 0u) + offsets + hints(bulk));
    const std::size_t of_map = bulk.loads() ? 1 : 0;
    const std::string where = address_of(statement, of_map) + ", gvp::Coordinates{" +
                              coordinates_of(statement, of_map, bulk.dimensions) + ", " +
                              std::to_string(bulk.dimensions) + "u, " +
                              (bulk.is_im2col ? "true}" : "false}");
    if (bulk.loads()) {
        const std::string list =
            offsets == 0 ? "" : ", gvp::Offsets{" + list_of(parts_of(statement, 3)) + "}";
        return (bulk.is_multicast ? "gvp::tensor_multicast(" + mask_of(statement, bulk) + ", "
                                  : "gvp::tensor_load(") +
               address_of(statement, 0) + ", " + where + ", " + address_of(statement, 2) + list +
               ");";
    }
    return (reduces ? "gvp::tensor_reduce<" + operation_of(bulk) + ">(" : "gvp::tensor_store(") +
           where + ", " + address_of(statement, 1) + ");";
}

std::string bulk(const PtxStatement& statement, PtxModifiers& modifiers, bool reduces) {
    if (modifiers.take("commit_group")) {
        modifiers.end();
        return "gvp::cp_async_bulk_commit();";
    }
    if (modifiers.take("wait_group")) {
        const bool reads_only = modifiers.take("read");
        modifiers.end();
        return "gvp::cp_async_bulk_wait(" + value_of(statement, 0) +
               (reads_only ? ", true);" : ", false);");
    }
    // A hint for a cache that the CPU device does not have.
    if (modifiers.take("prefetch")) return ";";
    const Bulk all = bulk_modifiers(statement, modifiers);
    require(statement, reduces == !all.operation.empty());
    return all.dimensions > 0 ? copy_tensor(statement, all, reduces)
                              : copy_bulk(statement, all, reduces);
}

/// cp.async.bulk, cp.reduce.async.bulk and cp.async.mbarrier; others are none of this family.
std::optional<std::string> copy(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool reduces = modifiers.take("reduce");
    if (!modifiers.take("async")) return std::nullopt;
    if (!reduces && modifiers.take("mbarrier")) return arrive_after_copies(statement, modifiers);
    if (!modifiers.take("bulk")) return std::nullopt;
    return bulk(statement, modifiers, reduces);
}

/// tensormap.replace.tile.field [map], {ord, }value.
std::string replace_in_map(const PtxStatement& statement, PtxModifiers& modifiers) {
    require(statement, modifiers.take("replace") && modifiers.take("tile"));
    const std::string field = modifiers.take_any(
        "global_address rank box_dim global_dim global_stride element_stride swizzle_mode");
    const std::string space = modifiers.take_any("global shared::cta");
    require(statement,
            !field.empty() && modifiers.take("b1024") && !modifiers.take_any("b32 b64").empty());
    modifiers.end();
    const bool has_index = field.ends_with("_dim") || field.ends_with("_stride");
    require(statement, statement.operands.size() == (has_index ? 3u : 2u));
    return std::string("gvp::tensormap_replace<gvp::Space::") +
           (space == "global" ? "generic" : "shared") + ">(" + address_of(statement, 0) +
           ", gvp::TensorMapField::" + field + ", " + (has_index ? value_of(statement, 1) : "0u") +
           ", " + value_of(statement, has_index ? 2 : 1) + ");";
}

/// The same, or the copy of a map from shared memory into global memory.
std::string tensor_map(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    if (!modifiers.take("cp_fenceproxy")) return replace_in_map(statement, modifiers);
    for (const std::string_view part :
         {"global", "shared::cta", "tensormap::generic", "release", "gpu", "sync", "aligned"})
        require(statement, modifiers.take(part));
    modifiers.end();
    return "gvp::tensormap_copy(" + address_of(statement, 0) + ", " + address_of(statement, 1) +
           ", " + value_of(statement, 2) + ");";
}

/// fence.proxy.async orders a thread's own accesses before the asynchronous proxy's.
std::optional<std::string> fence_proxy(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    if (!modifiers.take("proxy")) return std::nullopt;
    const std::string proxy = modifiers.take_any(
        "async async.global async::global async.shared::cta tensormap::generic alias");
    if (proxy == "async") {
        modifiers.take_any("global shared::cta shared::cluster");
        modifiers.end();
        return "gvp::fence_proxy_async();";
    }
    modifiers.take_any(orders);
    modifiers.take_any(scopes);
    modifiers.end();
    require(statement, !proxy.empty());
    return "gvp::fence_();";
}

}  // namespace

std::optional<std::string> cpp_of_async(const PtxStatement& statement) {
    const std::string& name = statement.parts[0];
    if (name == "mbarrier") return mbarrier(statement);
    if (name == "cp") return copy(statement);
    if (name == "tensormap") return tensor_map(statement);
    if (name == "fence") return fence_proxy(statement);
    if (name == "prefetch" || name == "prefetchu") return ";";
    return std::nullopt;
}

}  // namespace gradverify::simt::rewrite
