// SPDX-License-Identifier: Apache-2.0
// A small set of digits that the project draws itself: seven segments as of a display, each digit
// moved, slanted, of another thickness and brightness, and under noise. Enough for a network to
// have something to learn, and nothing to download.
#pragma once

#include <cstdint>

#include "harness/operators/operator.hpp"

namespace gradverify {

struct Digits {
    Array<double> images;  ///< **Shapes** `n, 1, size, size`; numbers of float32 around [0, 1]
    Array<double> labels;  ///< **Shapes** `n`; 0 to 9
};

/// A function of the seed alone.
///
/// **Ranges** `size` from 8 on.
Digits draw_digits(std::int64_t n, std::int64_t size, std::uint64_t seed);

}  // namespace gradverify
