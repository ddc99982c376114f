// SPDX-License-Identifier: Apache-2.0
// The operator grid_sample: an image at the places of a grid, bilinear between its pixels, as
// PyTorch's. A place is x and y, -1 and 1 at the image's ends: the outermost pixels' middles with
// align_corners, else their edges. Padding 0 reads zeros beyond the image, padding 1 its border.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// Where a coordinate lies in a row of pixels.
template <class T>
T place_of(const ForwardCall<T>& call, const T& at, double pixels) {
    const bool aligned = call.parameter("align_corners") == 1;
    if (aligned && pixels == 1.0) return 0.0;  // wherever the coordinate is
    const T place = aligned ? (at + 1.0) / 2.0 * (pixels - 1.0) : ((at + 1.0) * pixels - 1.0) / 2.0;
    return call.parameter("padding") == 1 ? min(max(place, T(0.0)), T(pixels - 1.0)) : place;
}

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto input = call.input("input"), grid = call.input("grid");
    const auto y = call.output("y");
    const auto pixel = [&](auto n, auto c, auto i, auto j) {
        const bool is_outside = i < 0 || i >= input.size(2) || j < 0 || j >= input.size(3);
        return is_outside ? T(0.0) : input(n, c, i, j);
    };
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t i = 0; i < y.size(2); ++i)
            for (std::int64_t j = 0; j < y.size(3); ++j) {
                const T down = place_of(call, grid(n, i, j, 1), input.size(2));
                const T across = place_of(call, grid(n, i, j, 0), input.size(3));
                const T b = down - floor(down), a = across - floor(across);
                const std::int64_t row = index_of(floor(down)), column = index_of(floor(across));
                for (std::int64_t k = 0; k < 4 * y.size(1); ++k)
                    y(n, k / 4, i, j) += (k / 2 % 2 ? b : 1.0 - b) * (k % 2 ? a : 1.0 - a) *
                                         pixel(n, k / 4, row + k / 2 % 2, column + k % 2);
            }
}

Operator describe() {
    return declare_operator("grid_sample")
        .parameter("n", {.minimum = 0})
        .parameter("c")
        .parameter("h")
        .parameter("w")
        .parameter("out_h")
        .parameter("out_w")
        .parameter("padding", {.default_value = 0, .minimum = 0, .maximum = 1})
        .parameter("align_corners", {.default_value = 0, .minimum = 0, .maximum = 1})
        .separable_along("n")
        .separable_along("c")
        .input("input", {"n", "c", "h", "w"})
        .input("grid", {"n", "out_h", "out_w", 2}, numbers_between(-2.0, 2.0))
        .output("y", {"n", "c", "out_h", "out_w"})
        .typical("w", 1, 16)
        .typical("out_w", 1, 16)
        .benchmark("n=8,c=64,h=128,w=128,out_h=128,out_w=128")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "input", "grid"}, {"dinput", "dgrid"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
