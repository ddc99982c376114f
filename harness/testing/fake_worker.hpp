// SPDX-License-Identifier: Apache-2.0
// A fake worker: it speaks the real protocol, but instead of running a kernel it does what the
// case's property says ("pass", "crash", "hang"...).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gradverify {

/// The exit code, when this process was started as a test worker; main calls it first.
std::optional<int> run_as_test_worker(int argc, char** argv);

/// This test executable as a test worker.
std::vector<std::string> test_worker_command();
/// The same as an owner that ends in its first call, after so much time of a processor.
std::vector<std::string> dying_owner_command(double start_seconds = 0.0);

}  // namespace gradverify
