// SPDX-License-Identifier: Apache-2.0
#include "harness/base/interrupt.hpp"

#include <array>
#include <atomic>
#include <csignal>

namespace gradverify {

namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t came = 0;
std::atomic<bool> time_is_up = false;
std::array<struct sigaction, signals.size()> actions_before;

extern "C" void gradverify_remember_signal(int signal) {
    if (came != 0) {
        std::signal(signal, SIG_DFL);
        raise(signal);  // delivered when this handler returns
    }
    came = signal;
}

}  // namespace

InterruptScope::InterruptScope() {
    came = 0;
    time_is_up = false;
    struct sigaction action{};
    action.sa_handler = gradverify_remember_signal;  // without SA_RESTART: poll must return
    for (std::size_t i = 0; i < signals.size(); ++i) {
        sigaction(signals[i], nullptr, &actions_before[i]);
        // An ignored signal stays ignored, as nohup wants.
        if (actions_before[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
}

InterruptScope::~InterruptScope() {
    for (std::size_t i = 0; i < signals.size(); ++i)
        sigaction(signals[i], &actions_before[i], nullptr);
    came = 0;
    time_is_up = false;
}

int interrupt_signal() { return came; }

void say_that_time_is_up() { time_is_up = true; }

bool is_interrupted() { return came != 0 || time_is_up; }

void throw_if_interrupted() {
    if (is_interrupted()) throw Interrupted();
}

}  // namespace gradverify
