// SPDX-License-Identifier: Apache-2.0
#include "harness/testing/run_tests.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
// doctest would take the signals from the CPU device, which makes errors of them.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#include <doctest/doctest.h>

namespace gradverify {

int run_tests(int argc, char** argv) { return doctest::Context(argc, argv).run(); }

}  // namespace gradverify
