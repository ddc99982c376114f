// SPDX-License-Identifier: Apache-2.0
// What a case's values are taken for: whether integers stay exact, whether results may be NaN, and
// what accumulating kernels find in their outputs.
#include "properties/checking/inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// The sum of x, which may hold NaN, or is positive.
OperatorDeclaration total(const std::string& name) {
    return declare_operator(name)
        .parameter("n", {.minimum = 0})
        .input("x", {"n"}, name == "positive" ? positive_numbers() : Holds())
        .output("y", {})
        .reduction_length([](const Problem& problem) { return problem.scalar("n"); })
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.input("x").size(0); ++i)
                call.output("y")() += call.input("x")(i);
        });
}

const Registry& kernels() {
    static const auto registry = [] {
        Registry all;
        all.add(scaled());
        all.add(total("total").piecewise_linear().defined_for_nan("x"));
        all.add(total("positive").sum_of_products({{"x"}}));
        all.add(declare_operator("gate")
                    .parameter("n")
                    .input("x", {"n"}, numbers_between(-100.0, 100.0))
                    .output("y", {"n"})
                    .piecewise_polynomial()
                    .branches_decide()
                    .forward([]<class T>(const ForwardCall<T>& call) {
                        const auto x = call.input("x");
                        for (std::int64_t i = 0; i < x.size(0); ++i)
                            call.output("y")(i) = max(x(i), T(0.0));
                    }));
        for (const KernelDeclaration& kernel :
             {scaled_kernel("plain").with_empty_problems(),
              scaled_kernel("any_index").with_invalid_indices(),
              scaled_kernel("adds").adds_to_outputs(),
              host_kernel("total.forward/plain").with_empty_problems(),
              host_kernel("total.forward/half").storage(DType::f16),
              host_kernel("positive.forward/plain"), host_kernel("gate.forward/plain")})
            all.add(kernel);
        all.check();
        return all;
    }();
    return registry;
}

/// A case of an operator's kernel, as in `total/half`.
Scene scene_of(std::string kernel, const std::string& rest) {
    return {kernels(), kernel.replace(kernel.find('/'), 1, ".forward/"), rest};
}

std::string why_refused(const std::string& kernel, const std::string& rest) {
    return refusal([&] { scene_of(kernel, rest); });
}

}  // namespace

TEST_CASE("listed data must be integers, unless a domain may hold none") {
    for (const char* kernel : {"total/plain", "gate/plain", "scaled/plain"})
        CHECK(why_refused(kernel, "n=1:data=x[0]=0.5") == "data: matches_reference needs integers");
    CHECK(why_refused("positive/plain", "n=1:data=x[0]=0.5").empty());
    CHECK(why_refused("positive/plain", "n=1:data=x[0]=-1") ==
          "data: x[0] is outside of the tensor's values");
}

TEST_CASE("NaN adds nothing to a sum that must stay exact") {
    const std::string data = "n=2:data=x[0]=16777216,x[1]=";
    CHECK(why_refused("total/plain", data + "nan").empty());
    CHECK(why_refused("total/plain", data + "inf").empty());
    CHECK(why_refused("total/plain", data + "1") ==
          "data: its sums go beyond 2^24, where integers are no longer exact");
}

TEST_CASE("a result that is no number by definition is no sum that could be inexact") {
    CHECK(why_refused("scaled/any_index", "n=2:data=index[0]=-1").empty());
    CHECK(why_refused("scaled/plain", "n=2:data=index[0]=-1") ==
          "data: index[0] is outside of the tensor's values");
}

TEST_CASE("integers of a domain are exact as far as the data at hand is") {
    struct Line {
        std::string kernel, rest;
        bool stays;
    };
    for (const Line& line : {Line{"positive/plain", "n=2:data=x[0]=3,x[1]=2", true},
                             {"positive/plain", "n=1:data=x[0]=0.5", false},
                             {"positive/plain", "n=2:data=x[0]=16777216,x[1]=1", false},
                             // Drawn without a domain, terms of both signs cancel.
                             {"total/half", "n=100000:seed=1", true}}) {
        CAPTURE(line.rest);
        CHECK(scene_of(line.kernel, line.rest).inputs.stay_integers() == line.stays);
    }
}

TEST_CASE("results may be NaN where an input is, an index is invalid, or there is nothing") {
    struct Line {
        std::string kernel, rest;
        bool has_invalid, admits_nan;
    };
    for (const Line& line : {Line{"scaled/plain", "n=2:data=index[0]=0,x[0]=1", false, false},
                             {"scaled/any_index", "n=2:data=index[0]=0,x[0]=1", false, false},
                             {"scaled/any_index", "n=2:data=index[1]=1", true, true},
                             {"scaled/any_index", "n=2:data=index[0]=-1", true, true},
                             {"scaled/plain", "n=0:seed=1", false, true},
                             {"total/plain", "n=0:seed=1", false, true},
                             {"total/plain", "n=2:data=x[1]=nan", false, true},
                             {"total/plain", "n=2:data=x[1]=inf", false, false},
                             {"total/plain", "n=2:data=x[1]=1", false, false}}) {
        CAPTURE(line.kernel);
        CAPTURE(line.rest);
        Scene given = scene_of(line.kernel, line.rest);
        CHECK(given.inputs.have_invalid_indices() == line.has_invalid);
        CHECK(given.inputs.admit_nan() == line.admits_nan);
    }
}

TEST_CASE("an accumulating kernel finds integers in its outputs, which are added and taken away") {
    Scene given = scene_of("scaled/adds", "n=40:seed=1");
    const auto& initial = given.inputs.initial_outputs();
    REQUIRE(initial.size() == 2);
    for (const Array<double>& output : initial) {
        CHECK(output.sizes == Sizes{40});
        CHECK(std::ranges::all_of(output.data, [](double value) {
            return value == std::round(value) && std::abs(value) <= 64.0;
        }));
        CHECK(std::ranges::count(output.data, 0.0) < 10);
    }
    CHECK(initial[0].data != initial[1].data);

    std::vector<Array<double>> results(2, filled<double>({40}, 100.0));
    given.inputs.add_initial(results);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 40; ++j)
            CHECK(results[i].data[j] == 100.0 + initial[i].data[j]);
    given.inputs.add_initial(results, -1.0);
    for (const Array<double>& result : results)
        CHECK(result.data == std::vector<double>(40, 100.0));

    CHECK(scene_of("scaled/plain", "n=40:seed=1").inputs.initial_outputs().empty());
}

TEST_CASE("nothing is drawn of copies, whose tensors no host holds") {
    Case checked = case_of(kernels(), "scaled.forward/adds", "n=40:seed=1");
    checked.setting.copies = Copies{"n", 1000};
    const Subject subject(checked, kernels(), ValueKind::integers);
    CHECK(CaseInputs(subject).initial_outputs().empty());
}

}  // namespace gradverify
