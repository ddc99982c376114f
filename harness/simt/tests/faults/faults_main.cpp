// SPDX-License-Identifier: Apache-2.0
// A fault outside of a kernel goes to the handler that was there before the CPU device's.
#include <unistd.h>
#include <csignal>

#include "harness/simt/simt.hpp"

int main() {
    struct sigaction action{};
    action.sa_handler = [](int) { _exit(write(STDOUT_FILENO, "handed on", 9) == 9 ? 0 : 3); };
    sigaction(SIGSEGV, &action, nullptr);
    gradverify::simt::turn_faults_into_errors();
    gradverify::simt::set_schedule({});  // this OS thread has an executor
    constexpr int floats = 64;
    void* const data = gradverify::simt::allocate_device(floats * sizeof(float));
    static_cast<volatile float*>(data)[floats] = 1;
    return 1;
}
