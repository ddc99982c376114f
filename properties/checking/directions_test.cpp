// SPDX-License-Identifier: Apache-2.0
// At a kink every subgradient passes and nothing else does, unless the operator defines the
// gradient there; no kernel is charged where a branch is undecided, nor for a wrong reference. What
// is saved at a tie may be what any branch gives.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/cases/case.hpp"
#include "properties/properties.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

// x is zero where it is not listed: the kink.
const std::string at_kink = "n=2:data=dy[0]=3,dy[1]=2,x[1]=1";

constexpr const char *differences = "matches_finite_differences", *bound = "within_rounding_bound",
                     *exactly = "matches_reference";

}  // namespace

TEST_CASE("at a kink every slope between the two sides' passes") {
    for (const char* kernel :
         {"ramp_by_max.grad_x/zero", "ramp_by_max.grad_x/half", "ramp_by_max.grad_x/one"})
        for (const char* property : {differences, bound})
            check_verdict(Verdict::passed, kernel, property, at_kink);
}

TEST_CASE("at a kink a slope beyond both sides' fails") {
    for (const char* property : {differences, bound}) {
        const Outcome outcome = run("ramp_by_max.grad_x/bug_two", property, at_kink);
        REQUIRE(outcome.verdict == Verdict::failed);
        const auto is_kink = [](const WrongElement& wrong) {
            return wrong.tensor == "dx" && wrong.index == std::vector<std::int64_t>{0} &&
                   wrong.got == 6.0;
        };
        CHECK(std::ranges::count_if(outcome.worst, is_kink) == 1);
    }
    // Away from it the kernel is right.
    check_verdict(Verdict::passed, "ramp_by_max.grad_x/bug_two", differences, "n=2:seed=1");
}

TEST_CASE("with kinks in several outputs each slope is free, whatever the cotangents' signs") {
    // Along (1, -1) both sides' sums of 3 and -2 are positive, and all slopes may be zero.
    for (const char* kernel : {"ramp_by_max.grad_x/zero", "ramp_by_max.grad_x/half",
                               "ramp_by_max.grad_x/one", "relu.grad_input/naive"})
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 8; ++j)
                if (i != j)
                    check_agrees(kernel, differences,
                                 fmt::format("n=8:data=dy[{}]=3,dy[{}]=-2", i, j));
    check_verdict(Verdict::failed, "ramp_by_max.grad_x/bug_two", differences,
                  "n=8:data=dy[0]=3,dy[1]=-2");
}

TEST_CASE("where branches choose among three ties what is no derivative, that choice passes") {
    // With x = 0, along v, the median changes by v's own: from either side the same.
    for (const char* rest : {"n=1:data=dy[0]=3", "n=3:data=dy[0]=3,dy[2]=-2,x[3]=1", "n=9:dense=5",
                             "n=9:dense=6", "n=40:seed=8"}) {
        for (const char* property : {differences, bound, exactly})
            check_agrees("median.grad_x/by_branches", property, rest);
        check_verdict(Verdict::failed, "median.grad_x/bug_twice", differences, rest);
    }
}

TEST_CASE("where the forward function is no number nothing is asked of a kernel") {
    // 0 / 0, 1 / 0 and 1 / 2.
    const std::string data = "n=3:data=a[1]=1,a[2]=1,b[2]=2", alone = data + ",dy[2]=1";
    for (const char* property : {"stays_in_bounds", "repeatable", bound})
        check_agrees("quotient.forward/plain", property, data);
    for (const std::string& rest :
         {data + ",dy[0]=3,dy[1]=1,dy[2]=2", alone, std::string("n=40:seed=3")}) {
        for (const char* property : {"stays_in_bounds", "repeatable", bound, differences})
            check_agrees("quotient.backward/plain", property, rest);
        // What is a number is still compared.
        check_verdict(Verdict::failed, "quotient.backward/bug_sign", bound, rest);
    }
    // So it is along steps that leave the others where they are.
    check_verdict(Verdict::failed, "quotient.backward/bug_sign", differences, alone);
}

TEST_CASE("a kernel that reads what it is to write at a tie alone is found") {
    for (const char* op : {"ramp_by_max", "ramp_by_branch"})
        check_verdict(Verdict::failed, fmt::format("{}.grad_x/bug_reads_old_at_zero", op),
                      "stays_in_bounds", at_kink);
}

TEST_CASE("a maximum's gradient passes at ties, and a ReLU's at zero, among NaN and infinities") {
    for (const std::string rest :
         {"dense=5", "dense=6", "dense=7", "dense=8", "seed=11", "seed=12", "seed=13"}) {
        check_agrees("maxpool.grad_input/gather", differences,
                     "c=2,in=4x4,window=3x2,padding=1x1:" + rest);
        check_agrees("relu.grad_input/naive", differences, "n=20:" + rest);
    }
}

TEST_CASE("where a division rounds, integers are compared within that, and no identity is asked") {
    const std::string thirds = "in=1x3,window=1x3:seed=1", halves = "in=1x2,window=1x2:seed=1";
    for (const std::string& rest : {thirds, halves}) {
        check_verdict(Verdict::passed, "avgpool.forward/naive", exactly, rest);
        check_verdict(Verdict::passed, "avgpool.grad_input/naive", exactly, rest);
    }
    check_verdict(Verdict::failed, "avgpool.grad_input/bug_swapped_strides", exactly,
                  "in=3x4,window=1x3,stride=2x1:seed=1");
    check_verdict(Verdict::passed, "avgpool.grad_input/naive", differences, thirds);
    const Outcome skipped = run("avgpool.grad_input/naive", "adjoint_identity", thirds);
    CHECK(skipped.verdict == Verdict::skipped);
    CHECK(skipped.message ==
          "exact only where every divisor is a power of two, of at most 2048 pixels");
    check_verdict(Verdict::passed, "avgpool.grad_input/naive", "adjoint_identity", halves);
}

TEST_CASE("on inputs with a range a kernel is held to what is exact there, and no more") {
    for (int draw = 1; draw <= 60; ++draw)
        for (const char* property : {exactly, "stays_in_bounds"})
            check_agrees("masked.forward/plain", property,
                         fmt::format("n=20:{}={}", draw % 2 == 0 ? "dense" : "seed", draw));
    for (const std::string data : {"x[0]=0.3,w[0]=0.7", "x[0]=0.1,w[0]=2"})
        check_verdict(Verdict::passed, "masked.forward/plain", exactly, "n=1:data=" + data);
}

TEST_CASE("NaN is compared where the operator defines it") {
    const std::string data = ":data=x[0]=nan,x[1]=-inf,x[2]=inf";
    for (const char* property : {exactly, bound, "stays_in_bounds", "repeatable"}) {
        check_verdict(Verdict::passed, "maxpool.forward/naive", property,
                      "in=1x3,window=1x2" + data);
        check_verdict(Verdict::passed, "relu.forward/vectorised", property, "n=3" + data);
    }
    for (const auto& [bug, at] : {std::pair("maxpool.forward/bug_skips_nan", "in=1x1"),
                                  std::pair("relu.forward/bug_loses_nan", "n=1")}) {
        const Outcome outcome = run(bug, bound, std::string(at) + ":data=x[0]=nan");
        REQUIRE(outcome.verdict == Verdict::failed);
        CHECK(std::isnan(outcome.worst[0].want));
    }
}

TEST_CASE("where a branch is undecided no kernel is charged") {
    const Outcome outcome = run("ramp_by_branch.grad_x/bug_two", bound, at_kink);
    CHECK(outcome.verdict == Verdict::skipped);
    CHECK(outcome.message.starts_with(
        "a comparison or an index in the forward function of ramp_by_branch lies within rounding, "
        "or is a tie"));
    check_verdict(Verdict::passed, "ramp_by_branch.grad_x/bug_two", bound, "n=2:seed=1");
}

TEST_CASE("where the branch is the definition, another subgradient is wrong") {
    check_verdict(Verdict::passed, "ramp_by_definition.grad_x/zero", bound, at_kink);
    check_verdict(Verdict::failed, "ramp_by_definition.grad_x/bug_one", bound, at_kink);
}

TEST_CASE("a reference that was written by hand is checked against the forward function") {
    check_verdict(Verdict::passed, "ramp_right_by_hand.grad_x/zero", differences, "n=2:seed=1");
    const auto message_on = [](const char* rest) {
        const Outcome outcome =
            run("ramp_wrong_by_hand.grad_x/bug_no_fault_of_its_own", differences, rest);
        CHECK(outcome.verdict == Verdict::errored);
        return outcome.message;
    };
    CHECK(message_on("n=2:data=dy[0]=3,x[0]=-1") ==
          "the reference of grad_x that was written by hand is not the gradient of the forward "
          "function: dx has an element of 1.5 that must be 0; correct the reference, "
          "or leave it out");
    // Numbers that differ far behind the point are told in full.
    CHECK(message_on("n=1:data=dy[0]=9.313225746154785e-10,x[0]=-1")
              .find("an element of 4.656612873077393e-10 that must be 0;") != std::string::npos);
}

TEST_CASE("a forward function that leaves its scalar is told, and no kernel charged") {
    const Outcome outcome = run("ramp_forgetful.grad_x/bug_no_fault_of_its_own", differences,
                                "n=2:data=dy[0]=3,x[0]=2");
    CHECK(outcome.verdict == Verdict::errored);
    CHECK(outcome.message.starts_with("the forward function contradicts itself: "));
    CHECK(outcome.message.ends_with("; it must compute with its T alone"));
}

TEST_CASE("differences that don't settle contradict nothing") {
    // Rows of almost no variance: a step is far too long; in the last it is lost in rounding.
    for (const char* rest : {"rows=15,width=2:seed=14020794", "rows=3,width=3:seed=4844191",
                             "rows=2,width=2,eps=1e-12:seed=13262994"})
        check_verdict(Verdict::passed, "layer_norm.backward/columns", differences, rest);
    // One SiLU of hundreds turns between two of the points.
    check_verdict(Verdict::passed, "causal_conv1d.backward/chunked", differences,
                  "total=5,seqs=2,channels=64,width=4,silu=1:seed=7593393");
    // Far down the tail of a gelu, 1 + erf(x) is the rounding of 1.
    check_verdict(Verdict::vacuous, "bias_gelu.backward/naive", differences,
                  "rows=33:seed=13595165");
}

TEST_CASE("a mask and a place are refused beyond what the kernel declares") {
    const auto why = [](const Kernel& kernel, const Setting& setting) {
        return why_unsupported(kernel, setting).value_or("");
    };
    const Kernel& masks = *Registry::instance().find_kernel("relu.grad_input/naive");
    CHECK(why(masks, {.place = 2}).empty());
    CHECK(why(masks, {.place = 3}) ==
          "place=same.3, but no output has so many inputs to lie in place of");
    const Kernel& backward = *Registry::instance().find_kernel("layer_norm.backward/columns");
    CHECK(why(backward, {.output_mask = 5}).empty());
    CHECK(why(backward, {.output_mask = 8}) == "mask=8, but it has 3 outputs");
    const std::string begin = "v1:bias_gelu.backward/naive:repeatable:cpu:rows=2:seed=1";
    for (const char* end : {":place=same:mask=2", ":mask=0"})
        CHECK(Case::parse(begin + end, Registry::instance()).print() == begin + end);
}

TEST_CASE("a probability that was saved as zero, and is none, makes no gradient wrong") {
    // exp(-295) is no float.
    for (const std::string kernel : {"naive", "warp"})
        check_verdict(Verdict::passed, "softmax_cross_entropy.backward/" + kernel, differences,
                      "n=1,v=3:data=dloss[0]=1,logits[1]=295");
}

TEST_CASE("at ties what is saved may be what any branch gives") {
    // Ties among two, among all, and none.
    const std::string data = "n=3,c=3:data=x[0]=2,x[2]=2,x[6]=1,x[7]=3,x[8]=2";
    for (const char* kernel : {"largest.forward/first", "largest.forward/last"})
        check_agrees(kernel, bound, data);
    const Outcome wrong = run("largest.forward/bug_off_by_one", bound, data);
    REQUIRE(wrong.verdict == Verdict::failed);
    REQUIRE(wrong.worst.size() == 1);
    CHECK(wrong.worst[0].tensor == "at");
    CHECK(wrong.worst[0].index == std::vector<std::int64_t>{2});
}

TEST_CASE("at ties of any kind, drawn ones too, the place that is saved is open") {
    for (const char* rest : {"n=8,c=3:data=zeros", "n=1,c=2:data=x[0]=1,x[1]=1",
                             "n=2,c=4:data=x[3]=-1", "n=7,c=9:seed=1", "n=7,c=9:dense=5"}) {
        for (const std::string op : {"largest", "largest_piecewise", "largest_size"})
            check_agrees(op + ".forward/last", bound, rest);
        check_agrees("second_largest.forward/last_set_aside", bound, rest);
        check_agrees("largest_piecewise.forward/last", exactly, rest);
    }
    for (const std::string op : {"largest", "largest_piecewise", "largest_size", "second_largest"})
        check_verdict(Verdict::failed, op + ".forward/bug_off_by_one", bound, "n=7,c=9:seed=1");
    check_verdict(Verdict::failed, "largest_piecewise.forward/bug_off_by_one", exactly,
                  "n=2,c=2:data=x[0]=1");
}

}  // namespace gradverify
