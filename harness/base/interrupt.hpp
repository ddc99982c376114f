// SPDX-License-Identifier: Apache-2.0
// Remembers the first Ctrl-C or request to end, to close result files; a second one ends at once.
#pragma once

#include <exception>

namespace gradverify {

/// Thrown where the driver waits for workers.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

/// Remembers SIGINT, SIGTERM and SIGHUP, and that time is up, while it lives. One at a time.
class InterruptScope {
  public:
    InterruptScope();
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
};

/// The signal that came, or 0.
int interrupt_signal();
/// From now on no wait goes on, as after a signal; what was seen by now holds. From any thread.
void say_that_time_is_up();
/// Whether either came.
bool is_interrupted();
/// **Errors** Interrupted where that is so.
void throw_if_interrupted();

}  // namespace gradverify
