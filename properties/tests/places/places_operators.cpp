// SPDX-License-Identifier: Apache-2.0
// Operators whose numbers become places, for the tests: an image of one row, sampled between its
// pixels or at the nearest one; and dropout, whose mask is random bits at a thread's place.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// Where a number from -1 to 1 lies in a row of pixels, as grid_sample has it.
template <class T>
T place_of(const T& at, std::int64_t width) {
    return ((at + 1.0) * width - 1.0) / 2.0;
}

/// Pixels beyond the ends are zero.
template <class T>
T pixel(const TensorOf<const T>& image, std::int64_t place) {
    return place >= 0 && place < image.size(0) ? image(place) : T(0.0);
}

OperatorDeclaration of_row(const char* name, const Holds& places) {
    return declare_operator(name)
        .parameter("width")
        .parameter("n")
        .input("image", {"width"})
        .input("at", {"n"}, places)
        .output("y", {"n"});
}

Operator sampled() {
    return of_row("sampled", numbers_between(-1.5, 1.5))
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto image = call.input("image"), at = call.input("at");
            for (std::int64_t i = 0; i < at.size(0); ++i) {
                const T place = place_of(at(i), image.size(0)), left = floor(place);
                const std::int64_t first = index_of(left);
                const T share = place - left;
                call.output("y")(i) =
                    pixel(image, first) * (1.0 - share) + pixel(image, first + 1) * share;
            }
        });
}

Operator nearest() {
    return of_row("nearest", constant(numbers_between(-1.5, 1.5)))
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto image = call.input("image"), at = call.input("at");
            for (std::int64_t i = 0; i < at.size(0); ++i)
                call.output("y")(i) = pixel(image, index_of(rint(place_of(at(i), image.size(0)))));
        });
}

/// y = x / keep where the thread's random number is at most keep, else 0; the words are saved.
Operator dropout() {
    const Holds any_number = whole_numbers(0, (std::int64_t{1} << 53) - 1, DType::i64);
    return declare_operator("dropout")
        .parameter("n")
        .attribute("keep", {0.5, 0.875})
        .input("x", {"n"})
        .input("seed", {}, any_number)
        .input("offset", {}, any_number)
        .output("y", {"n"})
        .saved("words", {"n", 4}, whole_numbers(0, UINT32_MAX, DType::i64))
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto seed = call.indices("seed"), offset = call.indices("offset");
            const T keep = call.attribute("keep");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                const auto words = call.philox(seed(), offset(), i);
                for (std::size_t word = 0; word < words.size(); ++word)
                    call.output("words")(i, word) = T(words[word]);
                if (call.uniform(words[0]) <= keep) call.output("y")(i) = x(i) / keep;
            }
        })
        .gradient("grad_x", {"dy", "seed", "offset"}, {"dx"});
}

GRADVERIFY_OPERATOR(sampled);
GRADVERIFY_OPERATOR(nearest);
GRADVERIFY_OPERATOR(dropout);

}  // namespace
}  // namespace gradverify
