// SPDX-License-Identifier: Apache-2.0
#include "properties/data/seeds.hpp"

#include "harness/base/random.hpp"

namespace gradverify {

std::uint64_t draw_seed(const CaseKey& key) {
    // A mix between the fields, so that neither "a" + "bc" and "ab" + "c" nor seed and index can
    // be exchanged.
    std::uint64_t hash = mix_seed(SplitMix64(key.seed).next(), key.kernel);
    hash = mix_seed(hash, key.property);
    return SplitMix64(hash ^ SplitMix64(static_cast<std::uint64_t>(key.index)).next()).next();
}

std::uint64_t draw_seed(std::uint64_t case_seed, std::string_view purpose) {
    return mix_seed(case_seed, purpose);
}

}  // namespace gradverify
