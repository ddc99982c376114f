// SPDX-License-Identifier: Apache-2.0
// Decides what Ctrl-C and a request to end do to a run: the first is remembered, so that results
// are closed in good order; the second ends the process as if nobody had asked.
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

/// The signal that came; 0 when none did.
int interrupt_signal();
/// **Errors** Interrupted when one came.
void throw_if_interrupted();

}  // namespace gradverify
