// SPDX-License-Identifier: Apache-2.0
// Decides the seed of case i: a function of the run's seed, the kernel, the property and i alone,
// so that a case stays the same whatever else is registered, selected or run beside it. Does not
// decide what is drawn from the seed.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradverify {

/// What tells one case of a run from another.
struct CaseKey {
    std::uint64_t seed = 0;   ///< of the run
    std::string_view kernel;  ///< full name
    std::string_view property;
    std::int64_t index = 0;
};

/// The seed of a case; the same on every machine and in every version that keeps this function.
std::uint64_t draw_seed(const CaseKey& key);

/// The seed of one of several purposes within a case: problem, data, setting.
std::uint64_t draw_seed(std::uint64_t case_seed, std::string_view purpose);

}  // namespace gradverify
