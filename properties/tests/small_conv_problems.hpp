// SPDX-License-Identifier: Apache-2.0
// Problems of conv for the tests of the rounding bound: small ones, whose outputs have few terms.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/random.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

inline const Operator& conv_operator() { return *Registry::instance().find_operator("conv"); }

struct SmallConvLimits {
    std::int64_t image_most = 8;   ///< on each axis
    std::int64_t terms_least = 0;  ///< of the longest sum
};

/// One with outputs, without padding, of at most 64 terms.
inline Problem small_conv_problem(SplitMix64& random, const PassSpec& pass,
                                  const SmallConvLimits& limits) {
    for (;;) {
        Problem problem(conv_operator().space, 2);
        for (int slot = 0; slot < static_cast<int>(problem.slots().size()); ++slot) {
            const std::string& name = problem.slots()[static_cast<std::size_t>(slot)].name;
            const bool is_step = name.starts_with("stride") || name.starts_with("filter");
            const std::int64_t most = name.starts_with("in_") ? limits.image_most
                                      : is_step               ? 3
                                      : name == "n" || name == "c" || name == "k" ? 4
                                                                                  : 1;
            if (!name.starts_with("padding")) problem[slot] = random.between(1, most);
        }
        if (conv_operator().validate(problem) || conv_operator().is_empty(problem)) continue;
        const std::int64_t terms = pass.reduction_length(problem);
        if (terms >= limits.terms_least && terms <= 64) return problem;
    }
}

}  // namespace gradverify
