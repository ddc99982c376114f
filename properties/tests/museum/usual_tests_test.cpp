// SPDX-License-Identifier: Apache-2.0
// The usual tests see a bug where their problem, their data and their tolerance show it, and not
// elsewhere. Kernels without a bug pass.
#include "properties/tests/museum/usual_tests.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "properties/tests/museum/pieces.hpp"

namespace gradverify {

TEST_CASE("allclose sees a bug on problems that have it") {
    const std::string piece = "avgpool.grad_input/museum_pixel_without_padding";
    UsualTest test{.problem = "n=1,c=2,in=8x8,window=3x3,stride=3x3,include_pad=1"};
    CHECK(draws_seen_by_allclose(piece, test) == 0);
    test.problem = "n=1,c=2,in=8x8,window=3x3,stride=3x3,padding=1x1,include_pad=1";
    CHECK(draws_seen_by_allclose(piece, test) == usual_draws);
    CHECK(draws_seen_by_allclose("avgpool.grad_input/fixed_museum", test) == 0);
    CHECK_THROWS_AS((draws_seen_by_allclose(piece, {.problem = "width=3"})), std::invalid_argument);
}

TEST_CASE("allclose sees an error beyond its tolerance") {
    const std::string piece = "layer_norm.forward/museum_variance_in_half";
    UsualTest test{.problem = "rows=16,width=128", .tolerance = Tolerance{.absolute = 0.02}};
    CHECK(draws_seen_by_allclose(piece, test) == 0);
    test.tolerance.reset();
    CHECK(draws_seen_by_allclose(piece, test) == usual_draws);
    CHECK(draws_seen_by_allclose("layer_norm.forward/fixed_variance_in_half", test) == 0);
}

TEST_CASE("a scale of ones hides which of its elements is taken") {
    const std::string piece = "layer_norm.backward/museum_gamma_by_row";
    UsualTest test{.problem = "rows=4,width=16", .tolerance = Tolerance{1e-4, 1e-4}};
    CHECK(draws_seen_by_allclose(piece, test) == usual_draws);
    CHECK(draws_seen_by_gradcheck(piece, test) == usual_draws);
    test.ones = "gamma";
    CHECK(draws_seen_by_allclose(piece, test) == 0);
}

TEST_CASE("indices that differ hide which of two is kept") {
    const std::string piece = "embedding.grad_weight/museum_last_of_duplicates";
    UsualTest test{.problem = "tokens=6,rows=8,width=4,padding=8"};
    CHECK(draws_seen_by_allclose(piece, test) > usual_draws / 2);
    test.distinct_indices = true;
    CHECK(draws_seen_by_allclose(piece, test) == 0);
}

TEST_CASE("gradcheck compares gradients alone, on its own problem") {
    const std::string piece = "conv.grad_input/museum_first_plane";
    UsualTest test{.problem = "c=1,in=3x3"};
    CHECK(draws_seen_by_gradcheck(piece, test) == 0);
    test.small = "c=2,in=3x3";
    CHECK(draws_seen_by_gradcheck(piece, test) == usual_draws);
    CHECK(draws_seen_by_gradcheck("conv.grad_input/fixed_museum", test) == 0);
    CHECK(!draws_seen_by_gradcheck("maxpool.forward/museum_dilated_from_edge", test));
}

TEST_CASE("each piece's usual tests can be run, and gradcheck has few calls to make") {
    for (const MuseumPiece& piece : museum) {
        const Kernel& kernel = *Registry::instance().find_kernel(piece.bug.kernel);
        const std::string problem(piece.usual.problem_of_gradcheck());
        CAPTURE(piece.bug.kernel);
        const Problem small = Problem::parse(kernel.op->space, problem);
        CHECK(kernel.why_unsupported(Problem::parse(kernel.op->space, piece.usual.problem)) ==
              std::nullopt);
        CHECK(kernel.why_unsupported(small) == std::nullopt);
        if (kernel.pass->is_forward()) continue;
        std::int64_t outputs = 0;
        for (const std::string& y : kernel.op->differentiable_outputs())
            outputs += element_count(kernel.op->sizes_of(y, small));
        CHECK(outputs > 0);
        CHECK(outputs <= 100);
    }
}

}  // namespace gradverify
