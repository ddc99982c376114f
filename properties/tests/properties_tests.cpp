// SPDX-License-Identifier: Apache-2.0
#include "harness/testing/run_tests.hpp"

int main(int argc, char** argv) { return gradverify::run_tests(argc, argv); }
