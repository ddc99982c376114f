// SPDX-License-Identifier: Apache-2.0
// The requests that `bench` sends to workers, answered in this process, and verification before it.
#include "properties/bench/measure.hpp"

#include <doctest/doctest.h>

#include "harness/bench/bench.hpp"
#include "harness/testing/made_operator.hpp"
#include "properties/tests/devices.hpp"

namespace {

using namespace gradverify;
using gradverify::testing::contains;

Outcome ask(const MeasureRequest& request) { return measure(Registry::instance(), request); }

/// How a kernel is verified where the reference is asked up to `largest` multiply-adds.
Verification verified(const std::string& device, const std::string& kernel,
                      const std::string& problem, double largest, const char* data = "integers") {
    WorkerPool pool({.command = suite_worker_command()});
    const BenchArguments arguments{.seed = 3, .data = data};
    const Kernel& found = *Registry::instance().find_kernel(kernel);
    const BenchGroup group{.op = found.op,
                           .pass = found.pass,
                           .problem = Problem::parse(found.op->space, problem),
                           .items = {}};
    return verify(pool, {.arguments = arguments, .device = device}, group, found, largest);
}

constexpr double always = 1e300, never = 0.0;

/// A seeded bug, and a problem that shows it without an access out of bounds.
constexpr const char* group_offset = "conv.grad_input/bug_a04_group_weight_offset";
constexpr const char* groups = "c=2,k=2,groups=2,in=3x3,filter=2x2";

}  // namespace

TEST_CASE("a device's ceilings are measured") {
    for (const std::string& device : test_devices()) {
        const Outcome outcome = ask({.what = MeasureRequest::What::ceilings, .device = device});
        REQUIRE(outcome.verdict == Verdict::passed);
        const Ceilings ceilings = std::get<Ceilings>(outcome.measured);
        CHECK(!ceilings.device_name.empty());
        CHECK(ceilings.copy_bytes_per_second > 1e8);
        CHECK(ceilings.copy_bytes_per_second < 1e14);
        REQUIRE(ceilings.find(ceiling_f32));
        CHECK(ceilings.find(ceiling_f32)->flops > 1e8);
        CHECK(ceilings.find(ceiling_f32)->flops < 1e15);
    }
}

TEST_CASE("a kernel is timed on each kind of data, as its launcher gets the tensors") {
    for (const std::string& device : test_devices())
        for (const BenchData data : {BenchData::zeros, BenchData::integers, BenchData::decimals}) {
            const Outcome outcome = ask({.what = MeasureRequest::What::time,
                                         .device = device,
                                         .kernel = "softmax_cross_entropy.backward/naive",
                                         .problem = "n=3,v=5",
                                         .data = data,
                                         .repetitions = 4});
            REQUIRE_MESSAGE(outcome.verdict == Verdict::passed, outcome.message);
            const Timing timing = std::get<Timing>(outcome.measured);
            CHECK(timing.samples.size() == 4);
            for (const double seconds : timing.samples) CHECK(seconds > 0.0);
            REQUIRE(timing.tensors.size() == 4);
            CHECK(timing.tensors[1].size(1) == 5);
            CHECK(timing.tensors[1].stride(0) == 5);
            CHECK(timing.tensors[2].dtype == DType::i32);
        }
}

TEST_CASE("a kernel that throws or writes where it must not is not timed") {
    const Outcome outcome = ask({.what = MeasureRequest::What::time,
                                 .device = "cpu",
                                 .kernel = "conv.grad_bias/bug_read_ahead",
                                 .problem = "k=2,in=3x3",
                                 .repetitions = 1});
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(contains(outcome.message, "read past the end of dy"));
    CHECK(std::holds_alternative<std::monostate>(outcome.measured));
}

TEST_CASE("a gradient whose inputs the reference would take hours to make is not timed") {
    const Outcome outcome = ask({.what = MeasureRequest::What::time,
                                 .device = "cpu",
                                 .kernel = "attention.backward/naive",
                                 .problem = "b=3,sq=1000000,sk=1000000,h=2,d=8"});
    CHECK(outcome.verdict == Verdict::skipped);
    CHECK(contains(outcome.message, "too large for the reference, which makes its input o"));
}

TEST_CASE("inputs of a large problem that is copies of a small one are copies of its inputs") {
    const MeasureRequest request{.what = MeasureRequest::What::time,
                                 .device = "cpu",
                                 .kernel = "attention.backward/naive",
                                 .problem = "b=3,sq=2,sk=3,h=2,d=4",
                                 .repetitions = 1};
    const double of_one_copy = 5.0 * 2 * 3 * 4;
    const Outcome outcome = measure(Registry::instance(), request, of_one_copy);
    REQUIRE_MESSAGE(outcome.verdict == Verdict::passed, outcome.message);
    const Timing timing = std::get<Timing>(outcome.measured);
    CHECK(timing.tensors[0].size(0) == 3);
    CHECK(timing.tensors[0].size(2) == 2);
    CHECK(measure(Registry::instance(), request, of_one_copy - 1).verdict == Verdict::skipped);
}

TEST_CASE("a kernel is verified by the reference on problems that are small enough for it") {
    for (const std::string& device : test_devices()) {
        const std::string kernel = "conv.grad_weight/naive", problem = "n=2,c=2,in=5x4,filter=2x2";
        const Verification exactly = verified(device, kernel, problem, always);
        CHECK(exactly.state == Verification::State::verified);
        CHECK(exactly.text == "all 8 elements equal the reference, on integers");
        const Verification within = verified(device, kernel, problem, always, "decimals");
        CHECK(within.state == Verification::State::verified);
        CHECK(within.text == "all 8 elements are within their rounding bounds, on decimals");
        const Verification wrong = verified(device, group_offset, groups, always);
        CHECK(wrong.state == Verification::State::failed);
        CHECK(contains(wrong.report, "worst      dx["));
        CHECK(contains(wrong.report, std::string("repro 'v1:") + group_offset + ":"));
    }
}

TEST_CASE("beyond, it is verified as copies of a small problem, or is not") {
    const auto backward = [](const char* variant) {
        return verified("cpu", std::string("layer_norm.backward/") + variant, "rows=1024,width=4",
                        2e5);
    };
    const Verification right = backward("columns");
    CAPTURE(right.report);
    CHECK(right.state == Verification::State::verified);
    CHECK(contains(right.text, " copies along rows, most of them without data of their own"));
    const Verification wrong = backward("bug_first_row_only");
    CHECK(wrong.state == Verification::State::failed);
    CHECK(contains(wrong.report, "holds_when_large:cpu:rows=1024,width=4"));
    const Verification exact = verified("cpu", "conv.grad_weight/naive", "n=1024,c=2,in=5x4", 2e4);
    CAPTURE(exact.text);
    CHECK(exact.state == Verification::State::verified);
    CHECK(contains(exact.text, " copies along n, most of them without data of their own"));
    const Verification none = verified("cpu", "layer_norm.forward/naive", "rows=2,width=3", never);
    CHECK(none.state == Verification::State::not_verified);
    CHECK(contains(none.text, "too large for the reference"));
    CHECK(contains(none.text, "nor is it made of copies of one that is small enough"));
    // A small problem that the kernel does not take says nothing of it.
    const Verification refused =
        verified("cpu", "layer_norm.forward/folded_many_rows", "rows=1024,width=4", 2e5);
    CAPTURE(refused.report);
    CHECK(refused.state == Verification::State::not_verified);
    CHECK(contains(refused.text, "as copies along rows: "));
    CHECK(contains(refused.text, "needs rows multiple of 64"));
}
