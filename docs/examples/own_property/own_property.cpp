// SPDX-License-Identifier: Apache-2.0
// A property that gradverify has not: all of the output's gradient flows into the bias, so both
// have one sum. It needs no reference.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>
#include <string>

#include "properties/rapidcheck.hpp"

namespace {

double sum_of(const gradverify::Array<double>& values) {
    return std::accumulate(values.data.begin(), values.data.end(), 0.0);
}

bool keeps_the_sum(const std::string& kernel) {
    return rc::check(kernel + " keeps the sum", [&] {
        const auto drawn = *gradverify::gen::cases(kernel);
        RC_ASSERT(sum_of(drawn.call().at("db")) == sum_of(drawn.inputs().at("dy")));
    });
}

}  // namespace

TEST_CASE("the right kernel") { CHECK(keeps_the_sum("conv.grad_bias/right")); }

TEST_CASE("the kernel that forgets the channel") {
    CHECK(keeps_the_sum("conv.grad_bias/forgets_channel"));
}
