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
    }
    for (const std::string op : {"largest", "largest_piecewise", "largest_size", "second_largest"})
        check_verdict(Verdict::failed, op + ".forward/bug_off_by_one", bound, "n=7,c=9:seed=1");
    check_verdict(Verdict::failed, "largest_piecewise.forward/bug_off_by_one", exactly,
                  "n=2,c=2:data=x[0]=1");
}

}  // namespace gradverify
