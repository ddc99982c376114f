// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/protocol.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using namespace gradverify;

TEST_CASE("each kind of request is one line that reads back as it was") {
    const std::vector<Request> requests{
        RunCase{"v1:conv.forward/naive:matches_reference:cpu:in=1:seed=1"},
        MeasureRequest{.device = "cpu", .problem = "n=3,in=5x4", .seed = 7}, Probe{"cuda"},
        Distrust{"conv.forward/naive"}};
    REQUIRE(requests.size() == std::variant_size_v<Request>);
    for (std::size_t kind = 0; kind < requests.size(); ++kind) {
        REQUIRE(requests[kind].index() == kind);
        const std::string line = encode(requests[kind]);
        CAPTURE(line);
        CHECK(line.find('\n') == std::string::npos);
        const Request read = decode_request(line);
        CHECK(read.index() == kind);
        CHECK(encode(read) == line);
    }
    CHECK(std::get<RunCase>(decode_request(encode(requests[0]))).printed_case ==
          std::get<RunCase>(requests[0]).printed_case);
    CHECK(std::get<MeasureRequest>(decode_request(encode(requests[1]))).problem == "n=3,in=5x4");
    CHECK(std::get<Probe>(decode_request(encode(requests[2]))).device == "cuda");
    CHECK(std::get<Distrust>(decode_request(encode(requests[3]))).kernel == "conv.forward/naive");
}

TEST_CASE("each kind of answer is one line that reads back as it was, but for its line breaks") {
    const std::vector<Answer> answers{Ready{}, Outcome::failed("wrong\nthere"),
                                      Probed{"no driver\nand no GPU"}, Unreachable{"gone\n"}};
    REQUIRE(answers.size() == std::variant_size_v<Answer>);
    for (std::size_t kind = 0; kind < answers.size(); ++kind) {
        REQUIRE(answers[kind].index() == kind);
        const std::string line = encode(answers[kind]);
        CAPTURE(line);
        CHECK(line.find('\n') == std::string::npos);
        const Answer read = decode_answer(line);
        CHECK(read.index() == kind);
        CHECK(encode(read) == line);
    }
    const auto outcome = std::get<Outcome>(decode_answer(encode(answers[1])));
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.message == "wrong\nthere");
    CHECK(std::get<Probed>(decode_answer(encode(answers[2]))).why_not == "no driver and no GPU");
    CHECK(std::get<Unreachable>(decode_answer(encode(answers[3]))).why == "gone ");
    CHECK(std::get<Probed>(decode_answer(encode(Probed{}))).why_not.empty());
}

TEST_CASE("a line of another kind, or without what its kind needs, is refused") {
    for (const char* line : {"", "ready", "readyx ", "hello", "outcome ", "outcome {}",
                             "outcome this is no outcome", "case v1:a:b", "probe cuda"})
        CHECK_THROWS_AS(decode_answer(line), std::invalid_argument);
    for (const char* line : {"", "case", "measure {}", "v1:a:b:cpu:in=1:seed=1", "ready "})
        CHECK_THROWS_AS(decode_request(line), std::invalid_argument);
}
