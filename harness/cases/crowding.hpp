// SPDX-License-Identifier: Apache-2.0
// Decides what is told of calls that begin many times the threads that their kernel's cost model
// says, on the CPU device, which runs each.
#pragma once

namespace gradverify {

/// Such calls of a case, or of a row's passed cases.
struct Crowding {
    /// Of the call with most threads; a call that begins less than thirty times is none.
    double threads = 0.0, expected = 0.0;
    double seconds = 0.0;  ///< of all of them

    bool empty() const { return threads == 0.0; }
    void add(const Crowding& other) {
        seconds += other.seconds;
        if (other.threads <= threads) return;
        threads = other.threads;
        expected = other.expected;
    }

    static void fields(auto& self, auto& visit) {
        visit.needed("threads", self.threads);
        visit.needed("expected", self.expected);
        visit.needed("seconds", self.seconds);
    }
};

}  // namespace gradverify
