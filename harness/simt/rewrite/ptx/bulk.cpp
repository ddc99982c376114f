// SPDX-License-Identifier: Apache-2.0
// Bulk copies of the asynchronous proxy of sm_90, and its fences (PTX ISA, 9.7.9.25.4).
#include <string>

#include "harness/simt/rewrite/ptx/bulk.hpp"

namespace gradverify::simt::rewrite {
namespace {

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

std::string bulk(const PtxStatement& statement, PtxModifiers& modifiers, bool reduces) {
    if (modifiers.take_last("commit_group")) return "gvp::cp_async_bulk_commit();";
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

/// cp.async.bulk and cp.reduce.async.bulk; others are none of this family.
std::optional<std::string> copy(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    const bool reduces = modifiers.take("reduce");
    if (!modifiers.take("async")) return std::nullopt;
    if (!modifiers.take("bulk")) return std::nullopt;
    return bulk(statement, modifiers, reduces);
}

/// fence.proxy.async{.space} orders a thread's own accesses before the asynchronous proxy's;
/// fence.proxy.tensormap::generic.release.scope, and .acquire.scope [map], 128.
std::optional<std::string> fence_proxy(const PtxStatement& statement) {
    PtxModifiers modifiers(statement);
    if (!modifiers.take("proxy")) return std::nullopt;
    const std::string proxy = modifiers.take_any(
        "async async.global async::global async.shared::cta tensormap::generic alias");
    if (proxy == "async") {
        const std::string space = modifiers.take_any("global shared::cta shared::cluster");
        modifiers.end();
        if (space.empty()) return "gvp::fence_proxy_async();";
        return std::string("gvp::fence_proxy<gvp::async_") +
               (space == "global" ? "global>();" : "shared>();");
    }
    const std::string order = modifiers.take_any(memory_orders);
    modifiers.take_any(memory_scopes);
    modifiers.end();
    require(statement, !proxy.empty());
    if (proxy == "tensormap::generic" && order == "acquire")
        return "gvp::fence_tensor_map_acquire(" + address_of(statement, 0) + ");";
    if (proxy == "tensormap::generic") return "gvp::fence_tensor_maps_release();";
    return "gvp::fence_();";
}

}  // namespace

std::size_t hints(const Bulk& bulk) {
    return (bulk.is_multicast ? 1u : 0u) + (bulk.has_policy ? 1u : 0u);
}

std::string mask_of(const PtxStatement& statement, const Bulk& bulk) {
    return value_of(statement, statement.operands.size() - hints(bulk));
}

std::string operation_of(const Bulk& bulk) {
    const bool is_word =
        bulk.operation == "and" || bulk.operation == "or" || bulk.operation == "xor";
    return "gvp::BulkOperation::" + bulk.operation + (is_word ? "_" : "");
}

std::optional<std::string> cpp_of_bulk(const PtxStatement& statement) {
    const std::string& name = statement.parts[0];
    if (name == "cp") return copy(statement);
    if (name == "fence") return fence_proxy(statement);
    if (name == "prefetch" || name == "prefetchu") return ";";
    return std::nullopt;
}

}  // namespace gradverify::simt::rewrite
