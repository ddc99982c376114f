// SPDX-License-Identifier: Apache-2.0
// The main of the tests over registered kernels, which is also a worker that knows the seeded bugs.
#include <cstdio>
#include <exception>
#include <string_view>

#include "harness/run_tests.hpp"
#include "harness/worker.hpp"
#include "properties/suite.hpp"

int main(int argc, char** argv) {
    auto& registry = gradverify::Registry::instance();
    try {
        registry.check();
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return 1;
    }
    if (argc == 2 && std::string_view(argv[1]) == "worker")
        return gradverify::worker_main(gradverify::make_suite(registry));
    return gradverify::run_tests(argc, argv);
}
