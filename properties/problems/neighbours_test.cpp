// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/neighbours.hpp"

#include <doctest/doctest.h>

#include "properties/tests/test_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

struct WithNeighbours : Supported {
    explicit WithNeighbours(std::vector<Constraint> constraints = {})
        : Supported(test_kernel(),
                    small_operator(ParameterSpace({{.name = "a"},
                                                   {.name = "b", .maximum = 4},
                                                   real_parameter("eps", {0.5, 0.25})},
                                                  0, 0),
                                   std::move(constraints))) {}

    std::string neighbours(std::string_view text) const {
        std::string all;
        for (const Problem& problem : with_one_changed(problems, parse(text)))
            all += problem.print() + " ";
        return all;
    }
};

}  // namespace

TEST_CASE("each parameter is changed alone, attributes first, within what is supported") {
    const WithNeighbours space;
    CHECK(space.neighbours("a=2,b=3") == "a=2,b=3,eps=0.25 a=3,b=3 a=2,b=4 ");
    CHECK(space.neighbours("a=2,b=4,eps=0.25") == "a=2,b=4 a=3,b=4,eps=0.25 a=2,b=3,eps=0.25 ");
    const WithNeighbours related({where("a", multiple_of("b"))});
    CHECK(related.neighbours("a=6,b=3") == "a=6,b=3,eps=0.25 a=12,b=3 a=6,b=2 ");
}
