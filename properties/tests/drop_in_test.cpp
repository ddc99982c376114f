// SPDX-License-Identifier: Apache-2.0
// A CUDA file is used as it is; what the cpu device does not serve is skipped, with its line.
#include <doctest/doctest.h>

#include <string>

#include "harness/run/check.hpp"
#include "harness/run/selection.hpp"
#include "properties/suite/suite.hpp"
#include "properties/tests/devices.hpp"

namespace gradverify {

namespace {

std::vector<RowResult> check_all(const std::string& kernel, const std::string& device) {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool({.command = suite_worker_command(), .jobs = 2});
    const auto rows = select_rows(suite, Registry::instance(), {kernel}, "*", {device});
    return check_rows(suite, rows, {.cases = 40, .seed = 2}, pool, {});
}

}  // namespace

TEST_CASE("a launcher that allocates, uses the default stream and loads vectors passes as it is") {
    for (const std::string& device : test_devices()) {
        for (const std::string kernel :
             {"conv.grad_bias/drop_in", "conv.grad_bias/drop_in_added"}) {
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
    }
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
