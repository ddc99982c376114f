// SPDX-License-Identifier: Apache-2.0
// The main of the harness's tests, which is also the fake worker of the pool's tests.
#include "harness/registry/registry.hpp"
#include "harness/testing/fake_worker.hpp"
#include "harness/testing/run_tests.hpp"

int main(int argc, char** argv) {
    if (const auto worker = gradverify::run_as_test_worker(argc, argv)) return *worker;
    gradverify::Registry::instance().check();  // that none is registered
    return gradverify::run_tests(argc, argv);
}
