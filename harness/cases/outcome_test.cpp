// SPDX-License-Identifier: Apache-2.0
// That an outcome survives its way through the pipe, and that nothing else is taken for one.
#include "harness/cases/outcome.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <limits>

#include "harness/testing/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

constexpr double inf = std::numeric_limits<double>::infinity();

Outcome through_the_pipe(const Outcome& outcome) { return Outcome::from_json(outcome.to_json()); }

/// Any NaN is as good as another.
bool same(double a, double b) {
    if (std::isnan(a)) return std::isnan(b);
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

double any_number() {
    switch (*rc::gen::inRange(0, 6)) {
        case 0:
            return *rc::gen::element(0.0, -0.0, inf, -inf, std::nan(""), 5e-324, 1.0 / 3.0);
        case 1:
            return static_cast<double>(*rc::gen::arbitrary<float>());
        default:
            return *rc::gen::arbitrary<double>();
    }
}

Outcome any_outcome() {
    Outcome outcome;
    outcome.verdict = static_cast<Verdict>(*rc::gen::inRange(0, 5));
    outcome.message = *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
    outcome.is_refusal = *rc::gen::arbitrary<bool>();
    for (int count = *rc::gen::inRange(0, 3); count > 0; --count)
        outcome.worst.push_back({.tensor = "dw",
                                 .index = *rc::gen::arbitrary<std::vector<std::int64_t>>(),
                                 .got = any_number(),
                                 .want = any_number(),
                                 .bound = any_number(),
                                 .dtype = *rc::gen::element<std::optional<DType>>(
                                     std::nullopt, DType::f32, DType::bf16, DType::i64)});
    for (int count = *rc::gen::inRange(0, 3); count > 0; --count)
        outcome.maps.push_back({.tensor = "dw",
                                .sizes = *rc::gen::arbitrary<std::vector<std::int64_t>>(),
                                .wrong = *rc::gen::arbitrary<std::int64_t>(),
                                .total = *rc::gen::arbitrary<std::int64_t>(),
                                .marks = "#.#"});
    outcome.error_over_bound = any_number();
    if (*rc::gen::arbitrary<bool>()) outcome.sensitivity = {any_number(), any_number()};
    outcome.multiply_adds = any_number();
    outcome.seconds_kernel = 0.1;
    outcome.seconds_reference = 1e-9;
    outcome.seconds_total = 3.0;
    outcome.seconds_cpu = 0.25;
    return outcome;
}

}  // namespace

TEST_CASE("an outcome comes out of its JSON as it went in, NaN and infinities included") {
    int outcomes = 0;
    const bool holds = rc::check("Outcome::from_json(outcome.to_json()) == outcome", [&] {
        const Outcome in = any_outcome();
        const std::string line = in.to_json();
        RC_ASSERT(line.find('\n') == std::string::npos);
        const Outcome out = Outcome::from_json(line);
        RC_ASSERT(out.verdict == in.verdict);
        RC_ASSERT(out.message == in.message);
        RC_ASSERT(out.is_refusal == in.is_refusal);
        RC_ASSERT(out.worst.size() == in.worst.size());
        for (std::size_t i = 0; i < in.worst.size(); ++i) {
            RC_ASSERT(out.worst[i].tensor == in.worst[i].tensor);
            RC_ASSERT(out.worst[i].index == in.worst[i].index);
            RC_ASSERT(same(out.worst[i].got, in.worst[i].got));
            RC_ASSERT(same(out.worst[i].want, in.worst[i].want));
            RC_ASSERT(same(out.worst[i].bound, in.worst[i].bound));
            RC_ASSERT((out.worst[i].dtype == in.worst[i].dtype));
        }
        RC_ASSERT(out.maps == in.maps);
        RC_ASSERT(out.sensitivity.has_value() == in.sensitivity.has_value());
        if (in.sensitivity) {
            RC_ASSERT(same(out.sensitivity->least_ulps, in.sensitivity->least_ulps));
            RC_ASSERT(same(out.sensitivity->median_ulps, in.sensitivity->median_ulps));
        }
        RC_ASSERT(out.error_over_bound == in.error_over_bound ||
                  same(out.error_over_bound, in.error_over_bound));
        RC_ASSERT(same(out.multiply_adds, in.multiply_adds));
        RC_ASSERT(out.seconds_kernel == in.seconds_kernel);
        RC_ASSERT(out.seconds_reference == in.seconds_reference);
        RC_ASSERT(out.seconds_total == in.seconds_total);
        RC_ASSERT(out.seconds_cpu == in.seconds_cpu);
        ++outcomes;
    });
    CHECK(holds);
    CHECK(outcomes >= 100);
}

TEST_CASE("a message that is no UTF-8 arrives readable, and its rest unharmed") {
    const Outcome out = through_the_pipe(Outcome::failed("caf\xe9 \xff\xfe end\n\x01"));
    CHECK(out.message == "caf\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd end\n\x01");
    CHECK(through_the_pipe(Outcome::failed("gr\u00fc\u00df")).message == "gr\u00fc\u00df");
}

TEST_CASE("each verdict has a name of its own and comes back as itself") {
    for (const Verdict verdict :
         {Verdict::passed, Verdict::failed, Verdict::vacuous, Verdict::skipped, Verdict::errored})
        CHECK(through_the_pipe({.verdict = verdict}).verdict == verdict);
    CHECK(name_of(Verdict::passed) == "passed");
    CHECK(name_of(Verdict::failed) == "failed");
    CHECK(name_of(Verdict::vacuous) == "vacuous");
    CHECK(name_of(Verdict::skipped) == "skipped");
    CHECK(name_of(Verdict::errored) == "errored");
}

TEST_CASE("an outcome that nobody filled is not passed") {
    CHECK(Outcome{}.verdict == Verdict::vacuous);
}

TEST_CASE("what is no outcome is refused") {
    for (const char* line :
         {"", "garbage", "{", "null", "[]", "3", "{}", R"({"verdict":"passed"})",
          R"({"verdict":"fine","work":[0,0,0,0,0]})", R"({"verdict":3,"work":[0,0,0,0,0]})",
          R"({"verdict":"passed","work":[0,0,0,0]})",
          R"({"verdict":"passed","work":["a",0,0,0,0]})",
          R"({"verdict":"passed","work":["1e999",0,0,0,0]})",
          R"({"verdict":"passed","work":[null,0,0,0,0]})",
          R"({"verdict":"passed","error_over_bound":"big","work":[0,0,0,0,0]})",
          R"({"verdict":"failed","worst":[{"tensor":"x"}],"work":[0,0,0,0,0]})",
          R"({"verdict":"failed","message":7,"work":[0,0,0,0,0]})",
          R"({"verdict":"passed","work":[0,0,0,0,0]} {"verdict":"passed","work":[0,0,0,0,0]})"})
        CHECK_MESSAGE(refusal([&] { Outcome::from_json(line); }).starts_with("outcome: "), line);
    CHECK(refusal([] { Outcome::from_json(R"({"verdict":"fine","work":[0,0,0,0,0]})"); }) ==
          "outcome: there is no verdict 'fine'");
    CHECK(Outcome::from_json(R"({"verdict":"passed","work":[0,0,0,0,0]})").verdict ==
          Verdict::passed);
}
