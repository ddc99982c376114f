// SPDX-License-Identifier: Apache-2.0
// Each operation and type of cp.reduce.async.bulk, by those of atom.
#include "harness/simt/ptx/bulk_reductions.hpp"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gradverify_simt/ptx/floats.hpp"

namespace gradverify::simt {
namespace {

using ptx::BulkOperation;
using ptx::BulkType;

template <class T, BulkOperation operation>
ptx::Bits<T> reduced(ptx::Bits<T> a, ptx::Bits<T> b) {
    if constexpr (operation == BulkOperation::add) return ptx::add_<T, 0>(a, b);
    if constexpr (operation == BulkOperation::min) return ptx::min_<T, 0>(a, b);
    if constexpr (operation == BulkOperation::max) return ptx::max_<T, 0>(a, b);
    if constexpr (operation == BulkOperation::and_) return a & b;
    if constexpr (operation == BulkOperation::or_) return a | b;
    if constexpr (operation == BulkOperation::xor_) return a ^ b;
    if constexpr (operation == BulkOperation::inc) return a >= b ? 0 : a + 1;
    if constexpr (operation == BulkOperation::dec) return a == 0 || a > b ? b : a - 1;
}

template <class T, BulkOperation operation>
void apply(std::byte* to, const std::byte* from, std::uint32_t bytes) {
    using Bits = ptx::Bits<T>;
    for (std::uint32_t at = 0; at < bytes; at += sizeof(Bits)) {
        Bits a, b;
        std::memcpy(&a, to + at, sizeof a);
        std::memcpy(&b, from + at, sizeof b);
        a = reduced<T, operation>(a, b);
        std::memcpy(to + at, &a, sizeof a);
    }
}

template <class T>
constexpr bool is_served(BulkOperation operation) {
    const bool is_add = operation == BulkOperation::add;
    const bool is_order = operation == BulkOperation::min || operation == BulkOperation::max;
    const bool is_step = operation == BulkOperation::inc || operation == BulkOperation::dec;
    if (std::is_same_v<T, ptx::f32> || std::is_same_v<T, ptx::f64>) return is_add;
    if (std::is_same_v<T, ptx::f16> || std::is_same_v<T, ptx::bf16>) return is_add || is_order;
    return std::is_same_v<T, ptx::u32> || !is_step;
}

template <class T, BulkOperation operation>
constexpr BulkReduction reduction{&apply<T, operation>};
template <class T, BulkOperation operation>
constexpr const BulkReduction* one() {
    if constexpr (is_served<T>(operation)) return &reduction<T, operation>;
    return nullptr;
}

constexpr std::size_t operations = 8;
using Row = std::array<const BulkReduction*, operations>;
/// Of one type, by the number of a BulkOperation.
template <class T>
constexpr Row row = []<std::size_t... i>(std::index_sequence<i...>) {
    return Row{one<T, static_cast<BulkOperation>(i)>()...};
}(std::make_index_sequence<operations>());
static_assert(static_cast<std::size_t>(BulkOperation::dec) + 1 == operations);

/// By the number of a BulkType.
constexpr const Row* rows[] = {&row<ptx::u32>, &row<ptx::s32>, &row<ptx::u64>, &row<ptx::s64>,
                               &row<ptx::u32>, &row<ptx::u64>, &row<ptx::f16>, &row<ptx::bf16>,
                               &row<ptx::f32>, &row<ptx::f64>};
static_assert(static_cast<std::size_t>(BulkType::f64) + 1 == std::size(rows));

}  // namespace

const BulkReduction* bulk_reduction(BulkOperation operation, BulkType type) {
    return rows[static_cast<std::size_t>(type)]->at(static_cast<std::size_t>(operation));
}

}  // namespace gradverify::simt
