// SPDX-License-Identifier: Apache-2.0
// Decides the seed of case i: a function of the run's seed, the kernel, the property and i alone,
// so that a case stays the same whatever else is registered, selected or run beside it.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/base/random.hpp"

namespace gradverify {

struct CaseKey {
    std::uint64_t seed = 0;   ///< of the run
    std::string_view kernel;  ///< full name
    std::string_view property;
    std::int64_t index = 0;
};

/// The seed of a case; the same on every machine and in every version that keeps this function.
inline std::uint64_t draw_seed(const CaseKey& key) {
    // Each field is mixed in alone, so that "a" and "bc" differ from "ab" and "c".
    std::uint64_t hash = mix_seed(SplitMix64(key.seed).next(), key.kernel);
    hash = mix_seed(hash, key.property);
    return SplitMix64(hash ^ SplitMix64(static_cast<std::uint64_t>(key.index)).next()).next();
}

}  // namespace gradverify
