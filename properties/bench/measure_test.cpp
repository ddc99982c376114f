// SPDX-License-Identifier: Apache-2.0
// What `bench` asks of workers, asked of this process: times of correct kernels, agreement of
// kernels that are right and of seeded bugs; and how a kernel is verified before it is timed.
#include "properties/bench/measure.hpp"

#include <doctest/doctest.h>

#include "harness/bench/bench.hpp"
#include "properties/suite/suite.hpp"
#include "properties/tests/devices.hpp"

namespace {

using namespace gradverify;

Outcome ask(const MeasureRequest& request) {
    return measure(Registry::instance(), request.to_json());
}

MeasureRequest agreement(const std::string& device, const std::string& kernel,
                         const std::string& peer, const std::string& problem) {
    return {.what = MeasureRequest::What::agreement,
            .device = device,
            .kernel = kernel,
            .problem = problem,
            .peer = peer,
            .data = BenchData::integers};
}

BenchGroup group_of(const std::string& kernel, const std::string& problem) {
    const Kernel& found = *Registry::instance().find_kernel(kernel);
    return {.op = found.op,
            .pass = found.pass,
            .problem = Problem::parse(found.op->space, problem),
            .items = {}};
}

/// How a kernel is verified where the reference is asked up to so many multiply-adds.
Verification verified(const std::string& device, const std::string& kernel,
                      const std::string& problem, double largest, const char* data = "integers") {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool({.command = suite_worker_command()});
    const BenchArguments arguments{.seed = 3, .data = data};
    BenchVerifier verifier(suite, pool, arguments, device, largest);
    return verifier.verify(group_of(kernel, problem), *Registry::instance().find_kernel(kernel));
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
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
        const Ceilings ceilings = ceilings_from_json(outcome.measured);
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
            const Timing timing = timing_from_json(outcome.measured);
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
    CHECK(outcome.measured.empty());
}

TEST_CASE("a gradient whose inputs the reference would take hours to make is not timed") {
    const Outcome outcome = ask({.what = MeasureRequest::What::time,
                                 .device = "cpu",
                                 .kernel = "softmax_cross_entropy.backward/naive",
                                 .problem = "n=100000,v=100000"});
    CHECK(outcome.verdict == Verdict::skipped);
    CHECK(contains(outcome.message, "too large for the reference, which makes its input probs"));
}

TEST_CASE("kernels agree that are right, and a wrong one agrees with none") {
    const std::string general = "conv.grad_weight/general";
    for (const std::string& device : test_devices()) {
        const auto with_general = [&](const std::string& kernel, const std::string& problem) {
            return ask(agreement(device, kernel, general, problem));
        };
        const std::string problem = "n=2,c=2,k=3,in=5x4,filter=2x2";
        CHECK(with_general("conv.grad_weight/naive", problem).verdict == Verdict::passed);
        CHECK(with_general("conv.grad_weight/general_f64", problem).verdict == Verdict::passed);
        const Outcome wrong = ask(agreement(device, group_offset, "conv.grad_input/naive", groups));
        CHECK(wrong.verdict == Verdict::failed);
        CHECK(contains(wrong.message, "differs from conv.grad_input/naive"));
        CHECK(!wrong.worst.empty());
    }
}

// Integers whose sums a float holds, and half does not: neither kernel is wrong.
TEST_CASE("kernels agree of which one sums in a narrower type") {
    const std::string wide = "conv.grad_weight/general",
                      half = "conv.grad_weight/right_f16_sums_in_half";
    for (const std::string& device : test_devices())
        for (const auto& [kernel, peer] : {std::pair{wide, half}, {half, wide}}) {
            CAPTURE(kernel);
            const Outcome outcome = ask(agreement(device, kernel, peer, "n=2,c=4,k=4,in=8x8"));
            CHECK_MESSAGE(outcome.verdict == Verdict::passed, outcome.message);
        }
}

TEST_CASE("kernels agree of which one stores its sums in a narrower type") {
    const std::string problem = "c=32,in=8x8,filter=3x3";
    const std::string f32 = "conv.forward/naive", bf16 = f32 + "_bf16", f16 = f32 + "_f16";
    for (const std::string& device : test_devices()) {
        for (const auto& [kernel, peer] : {std::pair{f32, bf16}, {bf16, f32}, {f32, f16}}) {
            CAPTURE(kernel);
            const Outcome outcome = ask(agreement(device, kernel, peer, problem));
            CHECK_MESSAGE(outcome.verdict == Verdict::passed, outcome.message);
        }
        CHECK(ask(agreement(device, bf16, f16, problem)).verdict == Verdict::skipped);
    }
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

TEST_CASE("beyond, it is verified by another kernel where integers are exact, or is not") {
    const std::string problem = "n=2,c=2,in=5x4,filter=2x2";
    const Verification agreed = verified("cpu", "conv.grad_weight/naive", problem, never);
    CHECK(agreed.state == Verification::State::verified);
    CHECK(agreed.text ==
          "all 8 elements equal those of conv.grad_weight/direct, on integers; of both, 20 small "
          "problems match the reference");
    // It fails on a small problem already.
    const Verification wrong = verified("cpu", group_offset, groups, never);
    CHECK(wrong.state == Verification::State::failed);
    const Verification inexact =
        verified("cpu", "layer_norm.forward/naive", "rows=2,width=3", never);
    CHECK(inexact.state == Verification::State::not_verified);
    CHECK(contains(inexact.text, "too large for the reference"));
    CHECK(contains(inexact.text, "nor is it made of copies of one that is small enough"));
}

TEST_CASE("a kernel that transforms its data is verified by another's sums, within its bounds") {
    const std::string problem = "n=2,c=3,k=4,in=7x6,filter=3x3,padding=1",
                      winograd = "conv.forward/winograd";
    for (const std::string& device : test_devices()) {
        const Verification agreed = verified(device, winograd, problem, never);
        CAPTURE(agreed.report);
        CHECK(agreed.state == Verification::State::verified);
        CHECK(contains(agreed.text,
                       "all 336 elements are within their norm-wise bounds of those of conv."));
        const auto with = [&](const std::string& kernel, const std::string& peer) {
            return ask(agreement(device, kernel, peer, problem));
        };
        const std::string wrong = "conv.forward/bug_winograd_sign", naive = "conv.forward/naive";
        CHECK(with(winograd, naive).verdict == Verdict::passed);
        const Outcome failed = with(wrong, naive);
        CHECK(failed.verdict == Verdict::failed);
        CHECK(contains(failed.message, "further from conv.forward/naive than its transforms"));
    }
}

TEST_CASE("a bound that is wider than the results verifies nothing, and says so") {
    const Verification loose =
        verified("cpu", "conv.forward/winograd_declared_loosely", "c=64,in=4x4,filter=3x3", never);
    CAPTURE(loose.text);
    CHECK(loose.state == Verification::State::not_verified);
    CHECK(contains(loose.text,
                   "its transforms may be off by more than the results themselves; it "
                   "differs from conv.forward/"));
    CHECK(contains(loose.text, " of the largest"));
}

TEST_CASE("where no kernel's results are exact, one is verified as copies of a small problem") {
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
    // A small problem that the kernel does not take says nothing of it.
    const Verification refused =
        verified("cpu", "layer_norm.forward/folded_many_rows", "rows=1024,width=4", 2e5);
    CAPTURE(refused.report);
    CHECK(refused.state == Verification::State::not_verified);
    CHECK(contains(refused.text, "as copies along rows: "));
    CHECK(contains(refused.text, "needs rows multiple of 64"));
}
