// SPDX-License-Identifier: Apache-2.0
// Decides what of the process a launcher may not change for those after it, and restores it:
// rounding mode, flush to zero and traps of the floating-point unit, locale, signal mask. What a
// process can't take back (handlers, threads, descriptors) is left: the worker's own affairs.
#pragma once

#include <cfenv>
#include <csignal>
#include <string>

namespace gradverify {

/// Restores what held when it was made.
class ScopedProcessState {
  public:
    ScopedProcessState();
    ~ScopedProcessState();
    ScopedProcessState(const ScopedProcessState&) = delete;
    ScopedProcessState& operator=(const ScopedProcessState&) = delete;

  private:
    std::fenv_t floating_point_{};
    sigset_t signals_{};
    std::string locale_;
};

}  // namespace gradverify
