// SPDX-License-Identifier: Apache-2.0
// What `bench` prints, to the letter, and how requests and results travel.
#include <doctest/doctest.h>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/bench/bench_json.hpp"
#include "harness/report/files/json_lines.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// toy.forward/plain, f16, vendor and others, of an operator that multiplies tensors.
const Registry& registry_of_benches() {
    static const Registry registry = [] {
        Operator op = toy_operator();
        op.algebra = Algebra::products;
        op.products = {{"x", "w"}};
        for (PassSpec& pass : op.passes)
            pass.multiply_adds = [](const Problem& problem) {
                return 1e9 * static_cast<double>(problem.scalar("n"));
            };
        return registry_of(
            {toy_kernel("plain", "cuda"), toy_kernel("vendor", "cuda").yardstick("ACME"),
             toy_kernel("tf32", "cuda").on_tensor_cores(),
             toy_kernel("pieces", "cuda").splits_factors({.products = 3, .digits = 21}),
             toy_kernel("f16", "cuda").storage(DType::f16),
             toy_kernel("f64", "cuda").storage(DType::f64)},
            std::move(op));
    }();
    return registry;
}

const Kernel& kernel(const std::string& variant) {
    return *registry_of_benches().find_kernel("toy.forward/" + variant);
}

TensorView tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
    return view_of(nullptr, DType::f32, sizes, strides);
}

/// A group of toy.forward with one kernel.
struct Made {
    explicit Made(const std::string& variant)
        : group{.op = kernel(variant).op,
                .pass = kernel(variant).pass,
                .problem = Problem::parse(kernel(variant).op->space, "n=2,in=500000"),
                .items = {{.kernel = &kernel(variant)}}},
          result{.group = group, .item = group.items.front()} {
        result.state = BenchResult::State::timed;
        result.verification = {Verification::State::verified, "by hand", {}};
        result.timing.samples = {2.1e-3, 1.9e-3, 2e-3};
        result.timing.tensors = {tensor({2, 500000}, {500000, 1}), tensor({1}, {1}),
                                 tensor({2, 500000}, {500000, 1})};
        result.seconds = spread_of(result.timing.samples);
    }
    BenchGroup group;
    BenchResult result;
};

const Ceilings ceilings{.device_name = "GPU 9",
                        .cache_bytes = 50e6,
                        .copy_bytes_per_second = 40e9,
                        .arithmetic = {{ceiling_f32, 10e12}, {ceiling_f16, 100e12}}};

const BenchArguments no_arguments;
const BenchRun on_cuda{.arguments = no_arguments, .device = "cuda", .ceilings = ceilings};

}  // namespace

TEST_CASE("a timed kernel is printed with its rates, its ceilings and how it was verified") {
    Made made("plain");
    CHECK(print_result(made.result, on_cuda) == R"(  toy.forward/plain
      2.00 ms a call, the median of 3 samples; quartiles 1.95 ms and 2.05 ms
      2.00 TFLOP/s, 20.0 % of f32 fma; 4.00 GB/s, 10.0 % of copy
      on one copy of its tensors, which the cache may hold: too small a problem
      verified: by hand
)");
    made.result.timing.copies = 12;
    made.result.timing.outgrows_cache = true;
    made.result.timing.calls_per_sample = 7;
    made.result.yardstick = &kernel("vendor");
    made.result.ratio_to_yardstick = 2.5;
    made.result.verification = {Verification::State::not_verified, "too large", {}};
    CHECK(print_result(made.result, on_cuda) == R"(  toy.forward/plain
      2.00 ms a call, the median of 3 samples of 7 calls; quartiles 1.95 ms and 2.05 ms
      2.00 TFLOP/s, 20.0 % of f32 fma; 4.00 GB/s, 10.0 % of copy; 2.50 times as long as ACME
      (toy.forward/vendor)
      by turns on 12 copies of its tensors, too large for the cache
      not verified: too large
)");
}

TEST_CASE("a kernel that was not timed is printed with the reason") {
    Made made("plain");
    made.result.state = BenchResult::State::not_timed;
    made.result.why_not = "needs in = 1";
    CHECK(print_result(made.result, on_cuda) ==
          "  toy.forward/plain\n      not timed: needs in = 1\n");
    made.result.state = BenchResult::State::failed;
    made.result.why_not = "differs";
    made.result.verification.report = "worst y[0]\n";
    CHECK(print_result(made.result, on_cuda) ==
          "  toy.forward/plain\n      not timed, since it failed\n      worst y[0]\n");
    made.result.verification.report.clear();
    CHECK(print_result(made.result, on_cuda) ==
          "  toy.forward/plain\n      not timed, since it failed: differs\n");
}

TEST_CASE("tensors are printed with their types, sizes, strides and bytes") {
    Made made("plain");
    made.result.timing.tensors[1] = tensor({}, {});
    made.result.timing.tensors[2] = tensor({2, 3}, {3, 1});
    made.result.timing.tensors[2].dtype = DType::f8e4m3;
    CHECK(print_tensors(*made.group.pass, made.result.timing) ==
          R"(  x       f32  2x500000             strides 500000,1             4.00 MB
  w       f32  one number           strides none                 4.00 bytes
  y       f8e4m3 2x3                  strides 3,1                  6.00 bytes
  4.00 MB in all
)");
}

TEST_CASE("a share is told of the ceiling of the kernel's own arithmetic, where it was measured") {
    CHECK(ceiling_of(kernel("plain")) == std::string(ceiling_f32));
    CHECK(ceiling_of(kernel("f16")) == std::string(ceiling_f16));
    CHECK(ceiling_of(kernel("f64")) == std::string(ceiling_f64));
    for (const char* name : {"tf32", "pieces"})
        CHECK(ceiling_of(kernel(name)) == std::string(ceiling_tf32));
    CHECK(contains(print_result(Made("f16").result, on_cuda), "2.00 TFLOP/s, 2.00 % of f16 mma; "));
    CHECK(contains(print_result(Made("f64").result, on_cuda), " 2.00 TFLOP/s; 4.00 GB/s"));
}

TEST_CASE("numbers are printed with three digits that count") {
    CHECK(print_rounded(0.0) == "0.000");
    CHECK(print_rounded(0.00123) == "0.00123");
    CHECK(print_rounded(0.0123) == "0.0123");
    CHECK(print_rounded(0.123) == "0.123");
    CHECK(print_rounded(1.234) == "1.23");
    CHECK(print_rounded(123.4) == "123");
    CHECK(print_rounded(4321.0) == "4321");
    CHECK(print_rounded(4.9e10) == "4.9e+10");
    CHECK(print_time(31.2e-6) == "31.2 us");
    CHECK(print_time(2.5) == "2.50 s");
}

TEST_CASE("requests and measurements travel as they are") {
    const MeasureRequest request{.what = MeasureRequest::What::time,
                                 .device = "cuda",
                                 .kernel = "toy.forward/plain",
                                 .problem = "n=2,in=3",
                                 .data = BenchData::decimals,
                                 .seed = 18446744073709551615u,
                                 .repetitions = 7,
                                 .graph = true};
    const MeasureRequest read = MeasureRequest::from_json(request.to_json());
    CHECK(read.to_json() == request.to_json());
    CHECK(read.seed == request.seed);
    CHECK(refusal([] { MeasureRequest::from_json("{}"); }).starts_with("measure: "));
    CHECK(refusal([] { bench_data_named("ones"); }).ends_with("zeros, integers, decimals"));

    Outcome outcome = Outcome::passed();
    outcome.measured = Made("plain").result.timing;
    const auto timing = std::get<Timing>(Outcome::from_json(outcome.to_json()).measured);
    CHECK(timing.samples == std::vector<double>{2.1e-3, 1.9e-3, 2e-3});
    CHECK(timing.tensors.size() == 3);
    CHECK(timing.tensors[0].size(1) == 500000);
    CHECK(timing.tensors[2].stride(0) == 500000);
    outcome.measured = ceilings;
    const auto measured = std::get<Ceilings>(Outcome::from_json(outcome.to_json()).measured);
    CHECK(measured.device_name == "GPU 9");
    REQUIRE(measured.find(ceiling_f16));
    CHECK(measured.find(ceiling_f16)->flops == 100e12);
    CHECK(!measured.find(ceiling_f64));
}

TEST_CASE("what --json writes is read back, and nothing else is") {
    const TemporaryFile written;
    JsonLines lines(written.path);
    lines.write(json_of_run(on_cuda));
    Made timed("plain"), refused("f16");
    lines.write(json_of_result(timed.result, on_cuda));
    refused.result.state = BenchResult::State::not_timed;
    lines.write(json_of_result(refused.result, on_cuda));
    lines.write(
        json_of_summary({{BenchResult::State::timed, 1}, {BenchResult::State::not_timed, 1}}, 0.5));
    const BenchFile file = read_bench(written.path);
    CHECK(file.device_name == "GPU 9");
    REQUIRE(file.records.size() == 1);
    CHECK(file.records[0].kernel == "toy.forward/plain");
    CHECK(file.records[0].problem == "n=2,in=500000");
    CHECK(file.records[0].verified);
    CHECK(file.records[0].samples == std::vector<double>{2.1e-3, 1.9e-3, 2e-3});
    CHECK(file.records[0].is_like(file.records[0]));
    BenchRecord zeros = file.records[0];
    zeros.data = "zeros";
    CHECK(!zeros.is_like(file.records[0]));

    CHECK_THROWS_AS(read_bench("/no/such.json"), UsageError);
    const auto complaint = [](const char* text) {
        return refusal([&] { read_bench(TemporaryFile(text).path); });
    };
    CHECK(contains(complaint("{\"kind\":\"verdict\"}\n"), "line 1 of "));
    CHECK(contains(complaint("{\"kind\":\"summary\"}\nx\n"), "line 2 of "));
}

TEST_CASE("what was timed is compared in a table, and with a yardstick of its own types") {
    const Made plain("plain"), vendor("vendor"), half("f16"), double_("f64");
    std::vector<BenchResult> results{vendor.result, plain.result, half.result, double_.result};
    results[0].seconds.median = 4e-3;
    results[2].seconds.median = 1e-3;
    results[2].verification.state = Verification::State::not_verified;
    results[3].state = BenchResult::State::not_timed;
    for (const char* variant : {"plain", "vendor", "f16", "f64", "tf32"})
        CHECK(fastest_yardstick(results, kernel(variant)) ==
              (variant == std::string("plain") ? results.data() : nullptr));
    CHECK(print_comparison(results) == R"(
  toy.forward/plain   2.00 ms  2.00 TFLOP/s  4.00 GB/s  0.500 x ACME
  toy.forward/vendor  4.00 ms  1.00 TFLOP/s  2.00 GB/s
  toy.forward/f16     1.00 ms  4.00 TFLOP/s  8.00 GB/s                not verified
)");
    results[0].state = BenchResult::State::failed;
    CHECK(fastest_yardstick(results, kernel("plain")) == nullptr);
    results[2].state = BenchResult::State::not_timed;
    CHECK(print_comparison(results).empty());
}
