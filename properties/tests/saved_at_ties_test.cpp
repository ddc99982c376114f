// SPDX-License-Identifier: Apache-2.0
// Saved outputs at ties: only a place among equal numbers is open.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {
constexpr const char *bound = "within_rounding_bound", *exactly = "matches_reference";
}  // namespace

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
        // Squares of equal numbers are rounded: which is larger is undecided.
        check_no_alarm("largest_square.forward/last", bound, rest);
    }
    for (const std::string op :
         {"largest", "largest_piecewise", "largest_size", "largest_square", "second_largest"})
        check_verdict(Verdict::failed, op + ".forward/bug_off_by_one", bound, "n=7,c=9:seed=1");
    check_verdict(Verdict::failed, "largest_piecewise.forward/bug_off_by_one", exactly,
                  "n=2,c=2:data=x[0]=1");
}

TEST_CASE("where a count of exact numbers ends, what is saved is compared all the same") {
    const std::string data = "n=2,c=4:seed=1";
    check_verdict(Verdict::passed, "mean_of_first.forward/naive", bound, data);
    const Outcome wrong = run("mean_of_first.forward/bug_saves_mean", bound, data);
    REQUIRE(wrong.verdict == Verdict::failed);
    REQUIRE(!wrong.worst.empty());
    CHECK(wrong.worst[0].tensor == "total");
    // So is a place, which is open where numbers of the row tie.
    for (const std::string& rest :
         {data, std::string("n=2,c=4:data=count[0]=3,count[1]=2,x[0]=1,x[2]=1")})
        check_agrees("largest_of_first.forward/last", bound, rest);
    check_verdict(Verdict::failed, "largest_of_first.forward/bug_off_by_one", bound, data);
}

}  // namespace gradverify
