// SPDX-License-Identifier: Apache-2.0
// An outcome survives its way through the pipe, and nothing else is taken for one.
#include "harness/cases/outcome.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>

#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

constexpr double inf = std::numeric_limits<double>::infinity();

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
    return outcome;
}

}  // namespace

TEST_CASE("an outcome comes out of its JSON as it went in, NaN and infinities included") {
    int outcomes = 0;
    const bool holds = rc::check("Outcome::from_json(line).to_json() == line", [&] {
        const std::string line = any_outcome().to_json();
        RC_ASSERT(line.find('\n') == std::string::npos);
        RC_ASSERT(Outcome::from_json(line).to_json() == line);
        ++outcomes;
    });
    CHECK(holds);
    CHECK(outcomes >= 100);
}

TEST_CASE("every part of an outcome travels") {
    Outcome in = Outcome::refused("too large");
    in.worst = {{"dw", {1, 2}, 0.1, -inf, 1.0 / 3.0, DType::bf16}, {"y", {}, 1.0, 2.0, 0.0}};
    in.maps = {{.tensor = "dw", .sizes = {2, 3}, .wrong = 1, .total = 6, .marks = "#....."}};
    in.given = {{.tensor = "offsets", .first = {0, -1}, .total = 3}};
    in.error_over_bound = 0.25;
    in.sensitivity = {.least_ulps = 0.5, .median_ulps = inf};
    in.multiply_adds = std::nan("");
    in.add_overflows("int overflow");
    in.uncompared = {.elements = 3,
                     .total = 4,
                     .without_bound = 2,
                     .place = "x[1]",
                     .border = -1.5,
                     .is_upwards = false};
    in.values = {.least = 0.5, .greatest = 3e38};
    in.crowding = {.threads = 65536.0, .expected = 12.0, .seconds = 0.25};
    in.seconds_kernel = 0.1;
    in.seconds_reference = 1e-9;
    in.seconds_total = 3.0;
    in.seconds_cpu = 0.25;
    CHECK(
        in.to_json() ==
        R"({"verdict":"skipped","message":"too large","refusal":true,)"
        R"("worst":[{"tensor":"dw","index":[1,2],"got":0.1,"want":"-inf","bound":0.3333333333333333,"dtype":"bf16"},)"
        R"({"tensor":"y","index":[],"got":1.0,"want":2.0,"bound":0.0}],)"
        R"("maps":[{"tensor":"dw","sizes":[2,3],"wrong":1,"total":6,"marks":"#....."}],)"
        R"("given":[{"tensor":"offsets","first":[0,-1],"elements":3}],)"
        R"("error_over_bound":0.25,"ulps":{"least":0.5,"median":"inf"},)"
        R"("uncompared":{"elements":3,"of":4,"infinite":2,"place":"x[1]","border":-1.5,)"
        R"("upwards":false},"magnitudes":{"least":0.5,"greatest":3e+38},)"
        R"("crowding":{"threads":65536.0,"expected":12.0,"seconds":0.25},"overflows":"int overflow",)"
        R"("work":["nan",0.1,1e-09,3.0,0.25]})");
    const Outcome out = Outcome::from_json(in.to_json());
    CHECK(out.to_json() == in.to_json());
    // A mistake that writing and reading share would go unnoticed above.
    CHECK(out.worst.at(0).got == 0.1);
    CHECK(out.worst.at(0).want == -inf);
    CHECK(out.given == in.given);
    CHECK(out.overflows == "int overflow");
    CHECK(out.uncompared->border == -1.5);
    CHECK(out.values.greatest == 3e38);
    CHECK(out.seconds_kernel == 0.1);
    CHECK(out.seconds_reference == 1e-9);
    CHECK(out.seconds_total == 3.0);
}

TEST_CASE("a failure says where integers overflowed, and no other outcome does") {
    Outcome failed = Outcome::failed("differs"), skipped = Outcome::skipped("too large");
    failed.add_overflows("");
    CHECK(failed.message == "differs");
    failed.add_overflows("int overflow at a.cu:1: 2 * 3");
    skipped.add_overflows("int overflow at a.cu:1: 2 * 3");
    CHECK(failed.message == "differs; int overflow at a.cu:1: 2 * 3");
    CHECK(skipped.message == "too large");
}

TEST_CASE("a message that is no UTF-8 arrives readable, and its rest unharmed") {
    const Outcome failed = Outcome::failed("caf\xe9 \xff\xfe end gr\u00fc\u00df\n\x01");
    CHECK(Outcome::from_json(failed.to_json()).message ==
          "caf\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd end gr\u00fc\u00df\n\x01");
}

TEST_CASE("each verdict has a name of its own, and an outcome that nobody filled is not passed") {
    CHECK(Outcome{}.verdict == Verdict::vacuous);
    std::string names;
    for (const Verdict verdict :
         {Verdict::passed, Verdict::failed, Verdict::vacuous, Verdict::skipped, Verdict::errored})
        names += std::string(name_of(verdict)) + " ";
    CHECK(names == "passed failed vacuous skipped errored ");
}

TEST_CASE("the first line of a CUDA source that a message names is found") {
    CHECK(source_line_in("a.cu:12: write past the end of w, w[7] of 6; b.cu:9: launch") ==
          SourceLine{"a.cu", 12});
    CHECK(source_line_in("a race at kernels/x.cuh:7, then y.cuh:9") ==
          SourceLine{"kernels/x.cuh", 7});
    CHECK(source_line_in("ends at a.cu:345") == SourceLine{"a.cu", 345});
    CHECK_FALSE(source_line_in("differs from the reference.cu"));
}

TEST_CASE("what is no outcome is refused") {
    for (
        const char* line :
        {"",
         "garbage",
         "{",
         "null",
         "[]",
         "3",
         "{}",
         R"({"verdict":"passed"})",
         R"({"verdict":"fine","work":[0,0,0,0,0]})",
         R"({"verdict":3,"work":[0,0,0,0,0]})",
         R"({"verdict":"passed","work":[0,0,0,0]})",
         R"({"verdict":"passed","work":["a",0,0,0,0]})",
         R"({"verdict":"passed","work":["1e999",0,0,0,0]})",
         R"({"verdict":"passed","work":[null,0,0,0,0]})",
         R"({"verdict":"passed","error_over_bound":"big","work":[0,0,0,0,0]})",
         R"({"verdict":"failed","worst":[{"tensor":"x"}],"work":[0,0,0,0,0]})",
         R"({"verdict":"failed","message":7,"work":[0,0,0,0,0]})",
         R"({"verdict":"failed","worst":[{"tensor":"x","index":[1e300],"got":0,"want":0,"bound":0}],"work":[0,0,0,0,0]})",
         R"({"verdict":"failed","worst":[{"tensor":"x","index":[],"got":0,"want":0,"bound":0,"dtype":99}],"work":[0,0,0,0,0]})",
         R"({"verdict":"passed","timing":{"samples":[],"calls_per_sample":1,"copies":1,"outgrows_cache":true,"tensors":[{"dtype":0,"rank":7,"sizes":[1,1,1,1,1,1],"strides":[1,1,1,1,1,1]}]},"work":[0,0,0,0,0]})",
         R"({"verdict":"passed","work":[0,0,0,0,0]} {"verdict":"passed","work":[0,0,0,0,0]})"})
        CHECK_MESSAGE(refusal([&] { Outcome::from_json(line); }).starts_with("outcome: "), line);
    CHECK(refusal([] { Outcome::from_json(R"({"verdict":"fine","work":[0,0,0,0,0]})"); }) ==
          "outcome: there is no verdict 'fine'");
    CHECK(Outcome::from_json(R"({"verdict":"passed","work":[0,0,0,0,0]})").verdict ==
          Verdict::passed);
}
