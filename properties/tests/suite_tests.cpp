// SPDX-License-Identifier: Apache-2.0
// Runs the tests over registered kernels, or makes the table of bugs, or is gradverify over the
// kernels of the tests: `gradverify_suite_tests check 'relu.*/bug_*'`. So it is their worker.
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "harness/cli/cli.hpp"
#include "harness/testing/run_tests.hpp"
#include "properties/suite/kernel_suite.hpp"
#ifdef GRADVERIFY_HAS_BUG_TABLE
#include "properties/tests/seeded_bugs/bug_table.hpp"
#endif

int main(int argc, char** argv) {
    auto& registry = gradverify::Registry::instance();
    try {
        registry.check();
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return 1;
    }
#ifdef GRADVERIFY_HAS_BUG_TABLE
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments.front() == "bug-table")
        return gradverify::bug_table_main(std::span(arguments).subspan(1));
#endif
    if (argc > 1 && argv[1][0] != '-')
        return gradverify::gradverify_main(argc, argv, gradverify::KernelSuite(registry));
    return gradverify::run_tests(argc, argv);
}
