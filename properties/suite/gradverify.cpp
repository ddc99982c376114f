// SPDX-License-Identifier: Apache-2.0
// The main of gradverify, and of every executable that links gradverify::main.
#include <cstdio>
#include <exception>

#include "harness/cli/cli.hpp"
#include "harness/registry/registry.hpp"
#include "properties/suite/kernel_suite.hpp"

namespace gradverify {
/// Operators that this build leaves out; `fast/OPERATOR`: its fast kernels (GradverifyParts.cmake).
extern const char* const left_out;
}  // namespace gradverify

int main(int argc, char** argv) {
    auto& registry = gradverify::Registry::instance();
    registry.leave_out(gradverify::left_out);
    try {
        registry.check();
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "gradverify: %s\n", wrong.what());
        return 2;
    }
    return gradverify::gradverify_main(argc, argv, gradverify::KernelSuite(registry));
}
