// SPDX-License-Identifier: Apache-2.0
// Restores what a launcher may have changed: rounding mode, flush to zero and traps of the
// floating-point unit, locale, signal mask, handlers of faults. Threads and other leftovers are in
// leftovers.hpp.
#pragma once

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <iterator>
#include <string>

namespace gradverify {

/// Restores what held when it was made.
class ScopedProcessState {
  public:
    ScopedProcessState() : locale_(std::setlocale(LC_ALL, nullptr)) {
        // On x86 the environment holds the whole of MXCSR: flush to zero and denormals are zero.
        std::fegetenv(&floating_point_);
        pthread_sigmask(SIG_SETMASK, nullptr, &signals_);
        for (std::size_t i = 0; i < handlers_.size(); ++i)
            sigaction(handled[i], nullptr, &handlers_[i]);
    }
    ~ScopedProcessState() {
        std::fesetenv(&floating_point_);
        pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
        for (std::size_t i = 0; i < handlers_.size(); ++i)
            sigaction(handled[i], &handlers_[i], nullptr);
        if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
    }
    ScopedProcessState(const ScopedProcessState&) = delete;
    ScopedProcessState& operator=(const ScopedProcessState&) = delete;

  private:
    std::fenv_t floating_point_{};
    sigset_t signals_{};
    /// Of faults, which are told by them, and of what ends children and readers.
    static constexpr int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGCHLD, SIGPIPE};
    std::array<struct sigaction, std::size(handled)> handlers_{};
    std::string locale_;
};

}  // namespace gradverify
