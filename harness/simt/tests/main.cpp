// SPDX-License-Identifier: Apache-2.0
// The test programs' main, and the table of launchers that the .cu files fill.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// doctest would take the signals from the CPU device, which makes errors of them.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#include <doctest/doctest.h>

#include <stdexcept>

#include "harness/simt/tests/launcher.hpp"

namespace simt_test {

std::map<std::string, Launcher>& launchers() {
    static std::map<std::string, Launcher> all;
    return all;
}

bool add_launcher(const char* device, const char* name, Launcher launcher) {
    const std::string full_name = std::string(device) + "/" + name;
    if (!launchers().emplace(full_name, launcher).second) {
        throw std::logic_error("two launchers named " + full_name);
    }
    return true;
}

}  // namespace simt_test
