// SPDX-License-Identifier: Apache-2.0
// Decides what Ctrl-C and a request to end do to a run: the first is remembered, so that result
// files are closed; the second ends the process at once.
#pragma once

#include <exception>

namespace gradverify {

/// Thrown where the driver waits for workers.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

/// Remembers SIGINT, SIGTERM and SIGHUP while it lives. One at a time.
class InterruptScope {
  public:
    InterruptScope();
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
};

/// The signal that came, or 0.
int interrupt_signal();
/// **Errors** Interrupted when one came.
void throw_if_interrupted();

}  // namespace gradverify
