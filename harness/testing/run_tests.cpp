// SPDX-License-Identifier: Apache-2.0
#include "harness/testing/run_tests.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
// doctest would take the signals from the CPU device, which makes errors of them.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#include <doctest/doctest.h>

#include <cstdio>

namespace gradverify {

namespace {

unsigned tests_run = 0;

struct CountTests : doctest::IReporter {
    explicit CountTests(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override {
        tests_run = stats.numTestCasesPassingFilters;
    }
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("count_tests", 1, CountTests);

}  // namespace

int run_tests(int argc, char** argv) {
    doctest::Context context(argc, argv);
    const int result = context.run();
    if (context.shouldExit()) return result;
    if (tests_run == 0) {
        std::fprintf(stderr, "no test was selected\n");
        return 1;
    }
    return result;
}

}  // namespace gradverify
