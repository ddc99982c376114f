// SPDX-License-Identifier: Apache-2.0
// at::numeric_limits: the bounds of floats are infinite.
#pragma once
#pragma GCC system_header

#include <limits>

#include "gradverify_torch/numbers.hpp"

namespace at {
template <class T>
struct numeric_limits {
    using Std = std::numeric_limits<T>;
    static constexpr T lowest() { return Std::lowest(); }
    static constexpr T max() { return Std::max(); }
    static constexpr T lower_bound() { return Std::has_infinity ? T(-Std::infinity()) : lowest(); }
    static constexpr T upper_bound() { return Std::has_infinity ? Std::infinity() : max(); }
};
}  // namespace at
