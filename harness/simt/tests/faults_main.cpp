// SPDX-License-Identifier: Apache-2.0
// Runs one launcher that faults, and prints what `describe_address` says in the signal handler.
// With `caught` as a second argument the CPU device takes the signals after that.
#include <unistd.h>
#include <csignal>

#include <cstdio>
#include <cstring>

#include "harness/simt/simt.hpp"
#include "harness/simt/tests/launcher.hpp"

namespace simt_test {

std::map<std::string, Launcher>& launchers() {
    static std::map<std::string, Launcher> all;
    return all;
}

bool add_launcher(const char* device, const char* name, Launcher launcher) {
    return launchers().emplace(std::string(device) + "/" + name, launcher).second;
}

}  // namespace simt_test

namespace {

void say(int, siginfo_t* info, void*) {
    const char* text = gradverify::simt::describe_address(info->si_addr);
    if (write(STDOUT_FILENO, text, std::strlen(text)) < 0) _exit(3);
    _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
    static char stack[64 * 1024];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action{};
    action.sa_sigaction = &say;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    if (argc == 3 && std::strcmp(argv[2], "caught") == 0)
        gradverify::simt::turn_faults_into_errors();
    else if (argc != 2)
        return 2;
    auto* data = static_cast<float*>(gradverify::simt::allocate_device(256));
    simt_test::launchers().at(std::string("cpu/") + argv[1])({data, 64, 1});
    std::printf("no fault; %s\n", gradverify::simt::take_error().c_str());
    return 1;
}
