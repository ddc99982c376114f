// SPDX-License-Identifier: Apache-2.0
// Which calls are made of a kernel on large tensors, and what their results come to; on tensors
// that are small enough for the host.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/devices/sanitized_process.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// The numbers of rows that a kernel was called with.
Sizes called;

void right(const PassCall& call) {
    called.push_back(call.problem.scalar("n"));
    run_dot_product(call);
}

template <std::int64_t rows>
void wrong_at(const PassCall& call) {
    right(call);
    if (call.problem.scalar("n") == rows) Elements(call, "y").add(0, 1.0);
}

void throws_when_large(const PassCall& call) {
    right(call);
    if (call.problem.scalar("n") > 1000) throw std::runtime_error("too many rows");
}

void slow_when_small(const PassCall& call) {
    right(call);
    if (call.problem.scalar("n") < 1000)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

bool is_not_32(const Problem& problem) { return problem.scalar("n") != 32; }

/// More than any machine has.
std::int64_t too_many_bytes(const Problem& problem) {
    return problem.scalar("n") > 1000 ? std::int64_t{1} << 60 : 0;
}

/// y[i] = x[i] w + b.
OperatorDeclaration shifted() {
    return declare_operator("shifted")
        .parameter("n")
        .input("x", {"n"})
        .input("w", {})
        .input("b", {})
        .output("y", {"n"})
        .sum_of_products({{"x", "w"}, {"b"}})
        .separable_along("n")
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                call.output("y")(i) = call.input("x")(i) * call.input("w")() + call.input("b")();
        });
}

/// As a transform leaves them: 4.00000477 for 4, where a copy holds no data of its own, too.
void slightly_off(const PassCall& call) {
    const Elements x(call, "x"), w(call, "w"), b(call, "b"), y(call, "y");
    for (std::int64_t i = 0; i < y.view.elements(); ++i)
        y.set(i, (x[i] * w[0] + b[0]) * (1.0 + 0x5p-22));
}

/// y[i] = log(1 + exp(x[i])), where that is small.
OperatorDeclaration small_softplus() {
    return declare_operator("softplus")
        .parameter("n")
        .input("x", {"n"}, numbers_between(-16.0, -8.0))
        .output("y", {"n"})
        .separable_along("n")
        .forward(by_element([](const auto& in, const auto& out) {
            using std::exp, std::log1p;
            out("y") = log1p(exp(in("x")));
        }));
}

/// As far off as a sum with one rounds, so many times.
template <int times>
void near_one(const PassCall& call) {
    const Elements x(call, "x"), y(call, "y");
    for (std::int64_t i = 0; i < y.view.elements(); ++i)
        y.set(i, std::log1p(std::exp(x[i])) + times * 0x1p-24);
}

/// Writes dx over, and adds to dw.
void adds_to_weights(const PassCall& call) {
    const Elements dw(call, "dw");
    std::vector<double> before;
    for (std::int64_t i = 0; i < dw.view.elements(); ++i) before.push_back(dw[i]);
    run_dot_product(call);
    for (std::int64_t i = 0; i < dw.view.elements(); ++i)
        dw.add(i, before[static_cast<std::size_t>(i)]);
}

Outcome run_copies(const KernelDeclaration& kernel, std::int64_t copies,
                   const Operator& op = dot_product()) {
    called.clear();
    const std::string count = std::to_string(copies);
    return run_among({kernel}, "holds_when_large", "n=" + count + ",c=1:dense=1:copies=n*" + count,
                     op);
}

}  // namespace

TEST_CASE("shares of the copies are run first, where these are at least 32") {
    const KernelDeclaration plain = dot_kernel("forward/plain", right);
    struct Line {
        KernelDeclaration kernel;
        std::int64_t copies;
        Sizes called;
    };
    for (const Line& line : std::vector<Line>{
             {plain, 2048, {32, 2048}},
             {plain, 2047, {2047}},
             {plain, 131'072, {32, 2048, 131'072}},
             {dot_kernel("forward/plain", right).only_if("n is not 32", is_not_32), 2048, {2048}},
             // The CPU device has no limit of time.
             {dot_kernel("forward/slow", slow_when_small), 2048, {32, 2048}}}) {
        const Outcome outcome = run_copies(line.kernel, line.copies);
        CAPTURE(line.kernel.full_name());
        CHECK(said(outcome) == "passed: ");
        CHECK(called == line.called);
        // A busy machine may make any call slow.
        CHECK(outcome.seconds_kernel > 0.0);
        if (line.kernel.variant == "slow") CHECK(outcome.seconds_kernel >= 0.1);
    }
}

TEST_CASE("a kernel may add to some of its outputs") {
    KernelDeclaration kernel = dot_kernel("backward/adds", adds_to_weights);
    CHECK(said(run_copies(kernel, 2048)) != "passed: ");
    CHECK(said(run_copies(kernel.adds_to("dw"), 2048)) == "passed: ");
}

TEST_CASE(
    "a failure says where it is wrong, how large its tensors are, and whether in few copies") {
    const std::string size = " (x has 2048 elements, 8 KiB)",
                      few = " (x has 32 elements, 128 bytes)";
    CHECK(said(run_copies(dot_kernel("forward/wrong", wrong_at<2048>), 2048)) ==
          "failed: differs from what the copies of a small problem give: y is wrong from element 0 "
          "to 0 in memory, bytes 0 to 3, of copies 0 to 2047 from 0 to 0" +
              size);
    CHECK(
        said(run_copies(dot_kernel("forward/wrong", wrong_at<32>), 2048)) ==
        "failed: with 32 copies: differs from what the copies of a small problem give: y is wrong "
        "from element 0 to 0 in memory, bytes 0 to 3, of copies 0 to 31 from 0 to 0" +
            few);
    CHECK(called == Sizes{32});
    CHECK(said(run_copies(dot_kernel("forward/throws", throws_when_large), 2048)) ==
          "failed: the launcher threw: too many rows" + size);
}

TEST_CASE("copies without data are held norm-wise where all elements of a tensor share a bound") {
    const auto held = [](const KernelDeclaration& kernel) {
        return run_among({kernel}, "holds_when_large", "n=100:dense=1:copies=n*100", shifted());
    };
    KernelDeclaration kernel = host_kernel("shifted.forward/transforms", slightly_off);
    CHECK(held(kernel).verdict == Verdict::failed);
    CHECK(said(held(kernel.norm_wise(80.0))) == "passed: ");
    CHECK(held(kernel.norm_wise(1.0)).verdict == Verdict::failed);
    // A bound beyond the largest result says nothing.
    CHECK(said(held(kernel.norm_wise(1e8))) == "vacuous: ");
}

TEST_CASE("what another formula may give is imprecise, in copies without data, too") {
    const auto outcome_of = [](KernelDeclaration::Thunk thunk, const std::string& setting) {
        return run_among({host_kernel("softplus.forward/made", thunk)}, "holds_when_large",
                         "n=100:dense=1" + setting + ":copies=n*100", small_softplus());
    };
    const Outcome imprecise = outcome_of(near_one<1>, "");
    CHECK(said(imprecise) == "passed: ");
    REQUIRE(imprecise.imprecision);
    CHECK(imprecise.imprecision->elements == 100);
    CHECK(imprecise.imprecision->worst.index == Sizes{0});
    CHECK(imprecise.imprecision->largest < 0x1p-11);
    CHECK(imprecise.imprecision->largest > 0x1p-20);
    CHECK(outcome_of(near_one<1>, ":precision=strict").verdict == Verdict::failed);
    const Outcome wrong = outcome_of(near_one<1000>, "");
    CHECK(wrong.verdict == Verdict::failed);
    CHECK_FALSE(wrong.imprecision);
    CHECK_FALSE(outcome_of(near_one<0>, "").imprecision);
}

TEST_CASE("what can't be called or expected is skipped, and says why") {
    const KernelDeclaration plain = dot_kernel("forward/plain", right),
                            hungry = dot_kernel("forward/hungry", right).workspace(too_many_bytes);
    CHECK(said(run_copies(hungry, 2048))
              .starts_with("skipped: needs 1073741824.0 GiB of device memory, of which "));
    // The largest tensor that the CPU device is given, and one element more.
    CHECK(said(run_copies(hungry, 1 << 24)).starts_with("skipped: with 4096 copies: needs "));
    CHECK(said(run_copies(hungry, (1 << 24) + 1)) ==
          "skipped: too large for the device cpu: x has 16777217 elements, 64.0 MiB");
    const Operator reversed = dot_product().forward([]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x"), w = call.input("w");
        for (std::int64_t i = 0; i < x.size(0); ++i)
            call.output("y")(i) = x(x.size(0) - 1 - i, 0) * w(0);
    });
    CHECK(said(run_copies(plain, 100, reversed)) ==
          "skipped: along n, y is not what its copies are");
    CHECK(called == Sizes{});
    CHECK_THROWS_WITH_AS(run_among({plain}, "holds_when_large", "n=2,c=1:dense=1"),
                         "holds_when_large needs a case with copies=..., as copies=n*9",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(run_among({plain}, "matches_reference", "n=6,c=1:dense=1:copies=n*3"),
                         "copies= is for holds_when_large, not for matches_reference",
                         std::invalid_argument);
}

TEST_CASE("compute-sanitizer watches no large tensors") {
    const char* const log = std::getenv(compute_sanitizer_log_variable);
    const std::optional<std::string> before = log ? std::optional(log) : std::nullopt;
    setenv(compute_sanitizer_log_variable, "log", 1);
    CHECK(said(run_copies(dot_kernel("forward/plain", right), 100)) ==
          "skipped: large tensors are not watched by compute-sanitizer");
    if (before)
        setenv(compute_sanitizer_log_variable, before->c_str(), 1);
    else
        unsetenv(compute_sanitizer_log_variable);
}

}  // namespace gradverify
