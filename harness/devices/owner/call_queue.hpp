// SPDX-License-Identifier: Apache-2.0
// Decides whose calls an owner begins next, of those that clients ask for, and whose wait.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/devices/owner/exchange.hpp"

namespace gradverify {

struct AskedCall {
    int client = 0;
    std::uint32_t turn = 0;
    bool is_alone = false;  ///< it is made beside no other
    bool operator==(const AskedCall&) const = default;
};

class CallQueue {
  public:
    /// **Ranges** the exchange must outlive it.
    explicit CallQueue(const Exchange& exchange)
        : exchange_(exchange), in_hand_(static_cast<std::size_t>(exchange.slots())) {}

    /// The next one to begin, each slot in its turn. A suspect waits until no other is in hand, and
    /// all others wait for it.
    std::optional<AskedCall> next();
    void finished(const AskedCall& asked);

  private:
    const Exchange& exchange_;
    std::vector<bool> in_hand_;  ///< by slot
    int count_ = 0;              ///< of those in hand
    int first_ = 0;
};

}  // namespace gradverify
