// SPDX-License-Identifier: Apache-2.0
// A product of matrices by a warp, as tensor cores form it: products exact, sums in float.
#pragma once

#include <array>
#include <cstdint>

namespace gradverify::simt {

/// Computes what the 32 lanes ask for, each by the address of its WarpProduct, and writes their
/// elements of the sum. False, and nothing done, where the lanes ask for different products.
bool multiply(const std::array<std::uint64_t, 32>& products);

}  // namespace gradverify::simt
