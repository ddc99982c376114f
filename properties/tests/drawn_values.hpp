// SPDX-License-Identifier: Apache-2.0
// An operator's tensors as a case draws them, and how many draws are of a kind.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/registry/registry.hpp"
#include "properties/data/values.hpp"

namespace gradverify::testing {

inline const Operator& operator_named(const char* name) {
    return *Registry::instance().find_operator(name);
}

inline Data dense(std::uint64_t seed) { return {.seed = seed, .is_dense = true}; }

inline Data listing(std::vector<DataElement> elements) {
    return {.is_explicit = true, .elements = std::move(elements)};
}

inline std::vector<double> drawn(const Operator& op, const std::string& problem, const char* tensor,
                                 const Data& data, ValueKind kind = ValueKind::mantissas,
                                 const ElementTypes& types = 24) {
    return draw_tensor(op, Problem::parse(op.space, problem), data, kind, types, tensor).data;
}

inline Values all_drawn(const Operator& op, const std::string& problem, const Data& data,
                        ValueKind kind = ValueKind::mantissas, const ElementTypes& types = 24) {
    return draw_values(op, Problem::parse(op.space, problem), data, kind, types);
}

/// Calls `check(kind, data)` for random and dense draws of both kinds.
template <class Check>
void for_each_draw(std::uint64_t seeds, Check check) {
    for (const ValueKind kind : {ValueKind::mantissas, ValueKind::integers})
        for (const bool is_dense : {false, true})
            for (std::uint64_t seed = 1; seed <= seeds; ++seed)
                check(kind, Data{.seed = seed, .is_dense = is_dense});
}

/// How many of the first random draws are of a kind.
template <class Predicate>
int count_draws(std::uint64_t draws, Predicate is_of_kind) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < draws; ++seed) count += is_of_kind(Data{.seed = seed});
    return count;
}

inline void add(std::uint64_t& digest, const Array<double>& values) {
    for (const double value : values.data)
        digest = SplitMix64(digest ^ std::bit_cast<std::uint64_t>(value)).next();
}

}  // namespace gradverify::testing
