// SPDX-License-Identifier: Apache-2.0
// Each operation and type of cp.reduce.async.bulk, by those of atom.
#include "harness/simt/ptx/bulk_reductions.hpp"

#include <cstring>
#include <type_traits>

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
const BulkReduction* one() {
    if constexpr (is_served<T>(operation)) {
        static constexpr BulkReduction reduction{&apply<T, operation>};
        return &reduction;
    }
    return nullptr;
}

template <class T>
const BulkReduction* of_type(BulkOperation operation) {
    switch (operation) {
        case BulkOperation::add:
            return one<T, BulkOperation::add>();
        case BulkOperation::min:
            return one<T, BulkOperation::min>();
        case BulkOperation::max:
            return one<T, BulkOperation::max>();
        case BulkOperation::and_:
            return one<T, BulkOperation::and_>();
        case BulkOperation::or_:
            return one<T, BulkOperation::or_>();
        case BulkOperation::xor_:
            return one<T, BulkOperation::xor_>();
        case BulkOperation::inc:
            return one<T, BulkOperation::inc>();
        case BulkOperation::dec:
            return one<T, BulkOperation::dec>();
    }
    return nullptr;
}

}  // namespace

const BulkReduction* bulk_reduction(BulkOperation operation, BulkType type) {
    switch (type) {
        case BulkType::u32:
        case BulkType::b32:
            return of_type<ptx::u32>(operation);
        case BulkType::s32:
            return of_type<ptx::s32>(operation);
        case BulkType::u64:
        case BulkType::b64:
            return of_type<ptx::u64>(operation);
        case BulkType::s64:
            return of_type<ptx::s64>(operation);
        case BulkType::f16:
            return of_type<ptx::f16>(operation);
        case BulkType::bf16:
            return of_type<ptx::bf16>(operation);
        case BulkType::f32:
            return of_type<ptx::f32>(operation);
        case BulkType::f64:
            return of_type<ptx::f64>(operation);
    }
    return nullptr;
}

}  // namespace gradverify::simt
