// SPDX-License-Identifier: Apache-2.0
// What the four calls must have in common: two on the same buffers, one on other inputs, one with
// moved pointers.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr double ulp = 0x1p-23;  // of the product of 1.1 and 1.1

/// The kernel adds these to the products in the second call and in the last.
Outcome outcome_of(const KernelDeclaration& kernel, double in_second, double in_last) {
    const Script script = [=](const ScriptedElement& element) {
        const double added = element.call == 1 ? in_second : element.call == 3 ? in_last : 0.0;
        return static_cast<double>(static_cast<float>(element.product())) + added;
    };
    return testing::outcome_of(repeatable, product(false), kernel, script,
                               "n=1:data=a[0]=1.1,b[0]=1.1");
}

const KernelDeclaration same_bits;
const KernelDeclaration varies = KernelDeclaration().not_deterministic();

const std::string other_bits = "two calls on the same buffers differ; a kernel",
                  far_off = "two calls on the same buffers differ by more than rounding",
                  moved =
                      "moved pointers, another stream, block size or order of threads change "
                      "the result ",
                  by_little =
                      "by more than its sums can, which are declared to be in f32; sums of "
                      "fewer digits are declared by .accumulates_in(), a varying order, as "
                      "of atomics, by .not_deterministic()";

}  // namespace

TEST_CASE("the same call gives the same bits, or, where sums vary, differs by rounding alone") {
    struct Line {
        const KernelDeclaration& kernel;
        double in_second, in_last;
        Verdict verdict;
        std::string message;
    };
    for (const Line& line : {Line{same_bits, 0.0, 0.0, Verdict::passed, ""},
                             {same_bits, ulp, 0.0, Verdict::failed, other_bits},
                             {same_bits, 0.0, ulp, Verdict::passed, ""},
                             {same_bits, 0.0, 32 * ulp, Verdict::failed, moved},
                             {same_bits, 0.0, 8 * ulp, Verdict::failed, moved + by_little},
                             {varies, ulp, 0.0, Verdict::passed, ""},
                             {varies, 32 * ulp, 0.0, Verdict::failed, far_off},
                             {varies, 0.0, 32 * ulp, Verdict::failed, moved},
                             {varies, 32 * ulp, 32 * ulp, Verdict::failed, moved}}) {
        CAPTURE(line.in_second);
        CAPTURE(line.in_last);
        const Outcome outcome = outcome_of(line.kernel, line.in_second, line.in_last);
        CHECK(outcome.verdict == line.verdict);
        CHECK(outcome.message.substr(0, line.message.size()) == line.message);
        if (line.verdict == Verdict::failed) CHECK(outcome.is_of_two_calls);
    }
}

TEST_CASE("a result that is NaN each time is the same again") {
    const Script first_alone = [](const ScriptedElement& element) {
        return element.index == 0 ? element.product() : NAN;
    };
    CHECK(testing::outcome_of(repeatable, product(false), same_bits, first_alone,
                              "n=2:data=a[0]=1.1,b[0]=1.1")
              .verdict == Verdict::passed);
}

TEST_CASE("bits that differ where values do not are a failure") {
    const Script negates_zero = [](const ScriptedElement& element) {
        return element.call == 1 ? -0.0 : 0.0;
    };
    const Outcome outcome =
        testing::outcome_of(repeatable, product(false), same_bits, negates_zero, "n=1:data=zeros");
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.worst.empty());
}

TEST_CASE("between the calls is one on inputs that are times -3, or another order of their own") {
    const Operator op = declare_operator("saving")
                            .parameter("n")
                            .input("a", {"n"})
                            .input("b", {"n"}, numbers_between(0.0, 9.0))
                            .saved("s", {"n"})
                            .output("y", {"n"})
                            .gradient("grad_b", {"a", "b", "s", "dy"}, {"db"})
                            .forward(by_element([](const auto& in, const auto& out) {
                                out("s") = in("a") + in("b");
                                out("y") = in("a") * in("b");
                            }));
    std::vector<std::vector<double>> seen;  // at each call, the inputs' elements
    const Script script = [&](const ScriptedElement& element) {
        if (element.index == 0) seen.emplace_back();
        seen.back().insert(seen.back().end(), element.inputs.begin(), element.inputs.end());
        return element.inputs[0] * element.inputs[3];
    };
    const Outcome outcome =
        testing::outcome_of(repeatable, op, same_bits, script,
                            "n=2:data=a[0]=1,a[1]=2,b[0]=3,b[1]=4,dy[0]=5,dy[1]=6", "grad_b");
    CHECK(outcome.verdict == Verdict::passed);
    const std::vector<double> own{1, 3, 4, 5, 2, 4, 6, 6}, other{-3, 4, 6, -15, -6, 3, 4, -18};
    CHECK(seen == std::vector{own, own, other, own});
}

TEST_CASE("offsets and sorted indices are mirrored between the calls, and still ascend") {
    const Operator parts =
        declare_operator("shifted_offsets")
            .parameter("total", {.minimum = 0})
            .parameter("parts")
            .input("offsets", {one_more_than("parts")}, offsets_to("total"))
            .input("sorted", {one_more_than("parts")}, sorted_indices_below("parts"))
            .input("x", {one_more_than("parts")})
            .output("y", {one_more_than("parts")})
            .forward([]<class T>(const ForwardCall<T>& call) {
                for (std::int64_t i = 0; i < call.output("y").size(0); ++i)
                    call.output("y")(i) = call.input("offsets")(i) + call.input("x")(i);
            });
    std::vector<double> of_third_call, sorted;
    const Script reads = [&](const ScriptedElement& element) {
        if (element.call == 2) of_third_call.push_back(element.inputs[0]);
        if (element.call == 2) sorted.push_back(element.inputs[1]);
        return element.inputs[0] + element.inputs[2];
    };
    CHECK(testing::outcome_of(repeatable, parts, same_bits, reads,
                              "total=5,parts=2:data=offsets[1]=2,sorted[2]=1")
              .verdict == Verdict::passed);
    CHECK(of_third_call == std::vector<double>{0.0, 3.0, 5.0});
    CHECK(sorted == std::vector<double>{0.0, 1.0, 1.0});
}

}  // namespace gradverify
