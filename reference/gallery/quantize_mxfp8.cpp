// SPDX-License-Identifier: Apache-2.0
// The operator quantize_mxfp8: each block of 32 numbers along a row as elements in E4M3 and a
// scale in E8M0, a power of two, as section 6.3 of the OCP Microscaling Formats (MX) specification,
// version 1.0, has it. Where that leaves something open, this holds:
//
//   scale = 2^e,  e = floor(log2 amax) - 8, no less than -127;  -127 for a block of zeros
//   q = x / scale, rounded to nearest, ties to even; beyond 448 the nearer end of the range
//
// where amax is the block's largest magnitude. The last block of a row may be shorter. Nothing is
// said of NaN and infinities. Kernels give these very numbers: nothing rounds but q itself.
#include <algorithm>
#include <cmath>

#include "harness/declare_operator.hpp"
#include "harness/numbers/element_bits.hpp"

namespace gradverify {
namespace {

constexpr std::int64_t block = mxfp8.length;
constexpr double largest = traits_of(DType::f8e4m3).largest;

/// Numbers as they are stored are exact on every scalar.
template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), q = call.output("q"), scale = call.output("scale");
    for (std::int64_t row = 0; row < x.size(0); ++row)
        for (std::int64_t first = 0; first < x.size(1); first += block) {
            const std::int64_t end = std::min(first + block, x.size(1));
            double amax = 0.0;
            for (std::int64_t i = first; i < end; ++i)
                amax = std::max(amax, std::abs(detached(x(row, i))));
            const int exponent = amax == 0.0 ? -127 : std::max(std::ilogb(amax) - 8, -127);
            scale(row, first / block) = std::ldexp(1.0, exponent);
            for (std::int64_t i = first; i < end; ++i) {
                const double element = std::ldexp(detached(x(row, i)), -exponent);
                q(row, i) = rounded_to(DType::f8e4m3, std::clamp(element, -largest, largest));
            }
        }
}

Operator describe() {
    return declare_operator("quantize_mxfp8")
        .parameter("rows", {.minimum = 0})
        .parameter("width")
        .separable_along("rows")
        .input("x", {"rows", "width"})
        .output("q", {"rows", "width"})
        .output("scale",
                [](const Problem& p) {
                    return Sizes{p.scalar("rows"), mxfp8.blocks_in(p.scalar("width"))};
                })
        .forward_alone()
        .typical("rows", 1, 64)
        .typical("width", 1, 256)
        .benchmark("rows=8192,width=8192")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); });
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
