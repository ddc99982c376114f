// SPDX-License-Identifier: Apache-2.0
// Restores what a launcher may have changed: rounding mode, flush to zero and traps of the
// floating-point unit, locale, signal mask. Handlers, threads and descriptors can't be restored.
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
