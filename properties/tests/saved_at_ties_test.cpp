// SPDX-License-Identifier: Apache-2.0
// Saved outputs at ties: a place among equal numbers is open, and nothing else is.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "properties/tests/kinks/testing.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("at ties what is saved may be what any branch gives") {
    // Ties among two, among all, and none.
    const std::string data = "n=3,c=3:data=x[0]=2,x[2]=2,x[6]=1,x[7]=3,x[8]=2";
    for (const char* kernel : {"largest.forward/first", "largest.forward/last"})
        CHECK(agrees(run(kernel, "within_rounding_bound", data)));
    const Outcome wrong = run("largest.forward/bug_off_by_one", "within_rounding_bound", data);
    REQUIRE(wrong.verdict == Verdict::failed);
    REQUIRE(wrong.worst.size() == 1);
    CHECK(wrong.worst[0].tensor == "at");
    CHECK(wrong.worst[0].index == std::vector<std::int64_t>{2});
}

TEST_CASE("at ties of any kind, drawn ones too, the place that is saved is open") {
    struct Kernels {
        std::string op, right;
        std::vector<const char*> properties;
    };
    const char *bound = "within_rounding_bound", *exactly = "matches_reference";
    for (const auto& [op, right, properties] :
         {Kernels{"largest", "last", {bound}},
          Kernels{"largest_piecewise", "last", {bound, exactly}},
          Kernels{"largest_size", "last", {bound}}, Kernels{"largest_square", "last", {bound}},
          Kernels{"second_largest", "last_set_aside", {bound}}})
        for (const char* property : properties)
            for (const std::string rest :
                 {"n=8,c=3:data=zeros", "n=1,c=2:data=x[0]=1,x[1]=1", "n=2,c=4:data=x[3]=-1",
                  "n=7,c=9:seed=1", "n=7,c=9:dense=5"}) {
                CAPTURE(op);
                CAPTURE(std::string(property));
                CAPTURE(rest);
                const std::string kernel = op + ".forward/";
                const Outcome outcome = run(kernel + right, property, rest);
                CAPTURE(outcome.message);
                // Squares of equal numbers are rounded: which is larger is undecided.
                CHECK((agrees(outcome) || outcome.verdict == Verdict::skipped));
                if (rest.find("seed") == std::string::npos) continue;
                const Outcome wrong = run(kernel + "bug_off_by_one", property, rest);
                const bool has_ties = std::string(property) == exactly;
                CHECK_MESSAGE((has_ties || wrong.verdict == Verdict::failed), wrong.message);
            }
    CHECK(run("largest_piecewise.forward/bug_off_by_one", exactly, "n=2,c=2:data=x[0]=1").verdict ==
          Verdict::failed);
}

TEST_CASE("where a count of exact numbers ends, what is saved is compared all the same") {
    const std::string data = "n=2,c=4:seed=1";
    const Outcome right = run("mean_of_first.forward/naive", "within_rounding_bound", data);
    CHECK_MESSAGE(right.verdict == Verdict::passed, right.message);
    const Outcome wrong =
        run("mean_of_first.forward/bug_saves_mean", "within_rounding_bound", data);
    REQUIRE(wrong.verdict == Verdict::failed);
    REQUIRE(!wrong.worst.empty());
    CHECK(wrong.worst[0].tensor == "total");
    // A place, which is a whole number, as well; open where numbers of the row tie.
    const auto place = [](const char* variant, const char* rest) {
        return run(std::string("largest_of_first.forward/") + variant, "within_rounding_bound",
                   rest);
    };
    for (const char* rest : {"n=2,c=4:seed=1", "n=2,c=4:data=count[0]=3,count[1]=2,x[0]=1,x[2]=1"})
        CHECK(agrees(place("last", rest)));
    CHECK(place("bug_off_by_one", "n=2,c=4:seed=1").verdict == Verdict::failed);
}

}  // namespace gradverify
