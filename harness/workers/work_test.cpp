// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/work.hpp"

#include <doctest/doctest.h>

#include "harness/testing/fake_rows.hpp"

using namespace gradverify;
using namespace gradverify::testing;

TEST_CASE("the work of a case knows of it what the driver's side asks") {
    Operator op = toy_operator();
    op.passes[0].multiply_adds = [](const Problem& problem) {
        return 10.0 * static_cast<double>(problem.on_axis("in", 0));
    };
    const Registry registry = registry_of({toy_kernel("any")}, op);
    const Kernel* kernel = registry.find_kernel("toy.forward/any");
    const Row row{kernel, property_called("repeatable"), "cpu"};
    Case checked = case_on(row, Problem::parse(kernel->op->space, "in=3"), 5);
    const Work work(checked, registry);
    CHECK(std::get<RunCase>(work.request).printed_case == checked.print());
    CHECK(work.kernel == kernel);
    CHECK(work.property == "repeatable");
    CHECK(work.device == "cpu");
    CHECK(work.multiply_adds == 30.0);
    CHECK_FALSE(work.is_large);
    checked.setting.copies = Copies{"n", 2};
    CHECK(Work(checked, registry).is_large);
    checked.kernel = "toy.forward/unknown";
    CHECK(Work(checked, registry).kernel == nullptr);
    CHECK(Work(checked, registry).multiply_adds == 0.0);
}
