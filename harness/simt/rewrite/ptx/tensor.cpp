// SPDX-License-Identifier: Apache-2.0
// Tensor copies of the asynchronous proxy, and their maps (PTX ISA, 9.7.9.26).
#include <string>

#include "harness/simt/rewrite/ptx/bulk.hpp"

namespace gradverify::simt::rewrite {
namespace {

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

/// tensormap.replace, or the copy of a map from shared memory into global memory.
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

}  // namespace

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

std::optional<std::string> cpp_of_tensor_map(const PtxStatement& statement) {
    if (statement.parts[0] == "tensormap") return tensor_map(statement);
    return std::nullopt;
}

}  // namespace gradverify::simt::rewrite
