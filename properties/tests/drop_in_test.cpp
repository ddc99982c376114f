// SPDX-License-Identifier: Apache-2.0
// A CUDA file is used as it is; what the cpu device does not serve is skipped, with its line.
#include <doctest/doctest.h>

#include <string>

#include "harness/run/check_rows.hpp"
#include "harness/run/selection.hpp"
#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/devices.hpp"

namespace gradverify {

namespace {

std::vector<RowResult> check_all(const std::string& kernel, const std::string& device) {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool({.command = suite_worker_command(), .jobs = 2});
    const auto rows = select_rows(suite, Registry::instance(), {kernel}, "*", {device});
    return check_rows(suite, rows, {.cases = 40, .seed = 2}, pool, {});
}

void check_passes(const std::string& kernel, const std::string& device) {
    const auto results = check_all(kernel, device);
    CHECK(results.size() >= 5);
    for (const RowResult& result : results) {
        const std::string property = result.row.property_name();
        CAPTURE(device);
        CAPTURE(kernel);
        CAPTURE(property);
        CAPTURE(result.message);
        // The adjoint identity wants a forward kernel, which is not here.
        const bool is_skipped = result.verdict == Verdict::skipped;
        CHECK((result.verdict == Verdict::passed || is_skipped));
        CHECK((!is_skipped || property == "adjoint_identity"));
    }
}
/// The message of the kernel's row of this property, which fails.
std::string failure(const std::string& kernel, const std::string& of_property) {
    for (const RowResult& result : check_all(kernel, "cpu")) {
        const std::string property = result.row.property_name();
        CAPTURE(result.message);
        if (property != of_property) continue;
        CHECK(result.verdict == Verdict::failed);
        return result.message;
    }
    return "no such row";
}

}  // namespace

TEST_CASE("a launcher that allocates, uses the default stream and loads vectors passes as it is") {
    for (const std::string& device : test_devices()) {
        check_passes("conv.grad_bias/drop_in", device);
        check_passes("conv.grad_bias/drop_in_added", device);
    }
}

TEST_CASE("a PyTorch extension passes as it is") {
    // It is built for the device cuda where PyTorch is installed.
    check_passes("conv.grad_bias/extension", "cpu");
    check_passes("conv.grad_bias/extension_f64", "cpu");
    check_passes("conv.grad_bias/extension_bf16", "cpu");
}

TEST_CASE("CUB's storage that an extension uses again without a barrier is a race") {
    const std::string message = failure("conv.grad_bias/extension_that_races", "free_of_races");
    CAPTURE(message);
    CHECK(message.find("storage") != std::string::npos);
}

TEST_CASE("an extension that leaves PyTorch's current stream is found") {
    const std::string message = failure("conv.grad_bias/extension_on_another_stream", "repeatable");
    CAPTURE(message);
    CHECK(message.find("stream") != std::string::npos);
}

TEST_CASE("a kernel with inline PTX is skipped on the cpu device, and the line is named") {
    for (const RowResult& result : check_all("conv.grad_bias/drop_in_ptx", "cpu")) {
        const std::string property = result.row.property_name();
        CAPTURE(property);
        CAPTURE(result.message);
        CHECK(result.verdict == Verdict::skipped);
        if (property == "adjoint_identity") continue;
        CHECK(result.message.find("channel_sums.cu:55: inline PTX runs on cuda only") !=
              std::string::npos);
    }
}

}  // namespace gradverify
