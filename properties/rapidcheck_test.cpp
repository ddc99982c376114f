// SPDX-License-Identifier: Apache-2.0
// The generators of users' own property tests, over registered kernels and a seeded bug.
#include "properties/rapidcheck.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>
#include <sstream>

#include "harness/testing/made_operator.hpp"

namespace gradverify {

using namespace testing;

namespace {

const std::string right = "conv.grad_bias/general";

/// What rapidcheck finds of a property, without printing.
rc::detail::TestResult result_of(const std::function<void()>& property) {
    rc::detail::TestParams params;
    params.seed = 7;
    params.maxSuccess = 30;
    return rc::detail::checkProperty(rc::detail::toProperty(property), rc::detail::TestMetadata(),
                                     params);
}

double sum_of(const Array<double>& values) {
    return std::accumulate(values.data.begin(), values.data.end(), 0.0);
}

}  // namespace

TEST_CASE("a drawn case is called and compared, and its line is the case again") {
    CHECK(rc::check("a right kernel", [] {
        const DrawnCase drawn = *gen::cases(right);
        const Tensors outputs = drawn.call();
        RC_ASSERT(outputs.at("db").data == drawn.expected().at("db").data);
        RC_ASSERT(drawn.difference(outputs) == "");
        RC_ASSERT(sum_of(outputs.at("db")) == sum_of(drawn.inputs().at("dy")));
        const std::string word = drawn.as_case().print();
        std::ostringstream line;
        showValue(drawn, line);
        RC_ASSERT(line.str() == "gradverify repro '" + word + "'");
        RC_ASSERT(DrawnCase::parse(word).as_case() == drawn.as_case());
        RC_ASSERT(DrawnCase::parse(word).inputs().at("dy").data == drawn.inputs().at("dy").data);
    }));
}

TEST_CASE("the kernel is called on other inputs than the case's") {
    const DrawnCase drawn =
        DrawnCase::parse("v1:" + right + ":matches_reference:cpu:k=2,in=1x2:data=dy[3]=4");
    Tensors inputs = drawn.inputs();
    CHECK(drawn.call().at("db").data == std::vector{0.0, 4.0});
    for (double& element : inputs.at("dy").data) element += 1.0;
    const Tensors outputs = drawn.call(inputs);
    CHECK(outputs.at("db").data == std::vector{2.0, 6.0});
    CHECK(drawn.difference(outputs).starts_with("differs from the reference"));
    CHECK(drawn.expected().at("db").data == std::vector{0.0, 4.0});
}

TEST_CASE("full mantissas are compared within their rounding") {
    CHECK(rc::check("a right kernel on real data", [] {
        const DrawnCase drawn = *gen::cases(right, "within_rounding_bound");
        Tensors outputs = drawn.call();
        RC_ASSERT(drawn.difference(outputs) == "");
        RC_PRE(!outputs.at("db").data.empty());
        outputs.at("db").data.front() += 1e30;
        RC_ASSERT(drawn.difference(outputs) != "");
    }));
}

TEST_CASE("what fails shrinks to the smallest problem, the simplest data and its replay line") {
    const auto shown_of = [](const std::string& kernel, auto holds) {
        const auto result = result_of([&] { RC_ASSERT(holds(*gen::cases(kernel))); });
        rc::detail::FailureResult failure;
        REQUIRE(result.match(failure));
        REQUIRE(failure.counterExample.size() == 1);
        return failure.counterExample.front().second;
    };
    const std::string wrong = "conv.grad_bias/bug_a07_next_channel";
    // It reads behind the last channel, whatever the others hold.
    CHECK(shown_of(wrong, [](const DrawnCase& drawn) {
              return drawn.difference(drawn.call()).empty();
          }) == "gradverify repro 'v1:" + wrong + ":matches_reference:cpu:k=2,in=1x1:data=zeros'");
    CHECK(
        shown_of(right, [](const DrawnCase& drawn) {
            return drawn.problem().scalar("k") < 3 || sum_of(drawn.inputs().at("dy")) == 0.0;
        }) == "gradverify repro 'v1:" + right + ":matches_reference:cpu:k=3,in=1x1:data=dy[0]=1'");
}

TEST_CASE("generators of problems, data and settings compose") {
    CHECK(rc::check("by hand", [] {
        const Problem problem = *gen::problems(right);
        const Data data = *gen::data(right, problem);
        const Setting setting = *gen::settings(right, problem);
        const DrawnCase drawn({right, "matches_reference", "cpu", problem, data, setting});
        RC_ASSERT(drawn.difference(drawn.call()) == "");
    }));
}

TEST_CASE("what there is not is said, with what there is") {
    CHECK(contains(refusal([] { gen::problems("conv.grad_bias/none"); }), " " + right));
    CHECK(contains(refusal([] { gen::cases(right, "is_nice"); }), " repeatable"));
    CHECK(contains(refusal([] { gen::cases(right, "repeatable", "tpu"); }), "device tpu"));
    CHECK(refusal([] { DrawnCase::parse("v1:conv.grad_bias"); }) != "");
}

}  // namespace gradverify
