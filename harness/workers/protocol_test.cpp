// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/protocol.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "harness/testing/made_operator.hpp"

using namespace gradverify;
using gradverify::testing::said;

TEST_CASE("each kind of message is one line that reads back as it was, but for its line breaks") {
    const std::vector<Request> requests{
        RunCase{"v1:conv.forward/naive:matches_reference:cpu:in=1:seed=1"},
        MeasureRequest{.device = "cpu", .problem = "n=3,in=5x4", .seed = 7},
        Probe{"cuda"},
        Distrust{"conv.forward/naive"},
        ServeClients{.device = "cuda", .slots = 8},
        AskOwner{.device = "cuda", .slots = 8, .slot = 7}};
    const std::vector<Answer> answers{Ready{}, Outcome::failed("wrong\nthere"),
                                      Unreachable{"no driver\nand no GPU"}, Elsewhere{}};
    const auto check_all = [](const auto& messages, auto decode) {
        REQUIRE(messages.size() == std::variant_size_v<std::decay_t<decltype(messages[0])>>);
        for (std::size_t kind = 0; kind < messages.size(); ++kind) {
            REQUIRE(messages[kind].index() == kind);
            const std::string line = encode(messages[kind]);
            CAPTURE(line);
            CHECK(line.find('\n') == std::string::npos);
            const auto read = decode(line);
            CHECK(read.index() == kind);
            CHECK(encode(read) == line);
        }
    };
    check_all(requests, decode_request);
    check_all(answers, decode_answer);
    CHECK(encode(requests[0]) == "case v1:conv.forward/naive:matches_reference:cpu:in=1:seed=1");
    CHECK(encode(requests[2]) == "probe cuda");
    CHECK(encode(requests[3]) == "distrust conv.forward/naive");
    CHECK(encode(requests[4]) == "serve cuda 8");
    CHECK(encode(requests[5]) == "ask cuda 8 7");
    CHECK(std::get<MeasureRequest>(decode_request(encode(requests[1]))).problem == "n=3,in=5x4");
    CHECK(said(std::get<Outcome>(decode_answer(encode(answers[1])))) == "failed: wrong\nthere");
    CHECK(encode(answers[2]) == "unreachable no driver and no GPU");
}

TEST_CASE("a line of another kind, or without what its kind needs, is refused") {
    for (const char* line : {"", "ready", "readyx ", "hello", "outcome ", "outcome {}",
                             "outcome this is no outcome", "case v1:a:b", "probe cuda"})
        CHECK_THROWS_AS(decode_answer(line), std::invalid_argument);
    for (const char* line :
         {"", "case", "measure {}", "v1:a:b:cpu:in=1:seed=1", "ready ", "serve cuda",
          "serve cuda 8 7", "ask cuda 8", "serve cuda x", "ask cuda 8 4294967297"})
        CHECK_THROWS_AS(decode_request(line), std::invalid_argument);
}
