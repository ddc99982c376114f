// SPDX-License-Identifier: Apache-2.0
// Restores what a launcher may have changed and the harness's own arithmetic and text depend on:
// rounding mode, flush to zero and traps of the floating-point unit, locale, signal mask. Threads
// and other leftovers are in leftovers.hpp.
#pragma once

#include <cfenv>
#include <clocale>
#include <csignal>
#include <string>

namespace gradverify {

/// Restores what held when it was made.
class ScopedProcessState {
  public:
    ScopedProcessState() : locale_(std::setlocale(LC_ALL, nullptr)) {
        // On x86 the environment holds the whole of MXCSR: flush to zero and denormals are zero.
        std::fegetenv(&floating_point_);
        pthread_sigmask(SIG_SETMASK, nullptr, &signals_);
    }
    ~ScopedProcessState() {
        std::fesetenv(&floating_point_);
        pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
        if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
    }
    ScopedProcessState(const ScopedProcessState&) = delete;
    ScopedProcessState& operator=(const ScopedProcessState&) = delete;

  private:
    std::fenv_t floating_point_{};
    sigset_t signals_{};
    std::string locale_;
};

}  // namespace gradverify
