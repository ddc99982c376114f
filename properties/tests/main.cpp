// SPDX-License-Identifier: Apache-2.0
// Runs the tests over registered kernels, or is their worker, or makes the table of seeded bugs.
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/testing/run_tests.hpp"
#include "harness/workers/worker.hpp"
#include "properties/suite/suite.hpp"
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
    if (argc == 2 && std::string_view(argv[1]) == "worker")
        return gradverify::worker_main(gradverify::KernelSuite(registry));
#ifdef GRADVERIFY_HAS_BUG_TABLE
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments.front() == "bug-table")
        return gradverify::bug_table_main(std::span(arguments).subspan(1));
#endif
    return gradverify::run_tests(argc, argv);
}
