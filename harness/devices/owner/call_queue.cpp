// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/owner/call_queue.hpp"

namespace gradverify {

std::optional<AskedCall> CallQueue::next() {
    std::optional<AskedCall> found;
    for (int i = 0; i < exchange_.slots(); ++i) {
        const int client = (first_ + i) % exchange_.slots();
        const ExchangeSlot& slot = exchange_.slot(client);
        const AskedCall asked{.client = client, .turn = slot.turn, .is_alone = slot.is_suspect};
        if (!ExchangeSlot::is_asked(asked.turn) || in_hand_[static_cast<std::size_t>(client)])
            continue;
        if (asked.is_alone && count_ > 0) return std::nullopt;
        if (asked.is_alone || !found) found = asked;
        if (asked.is_alone) break;
    }
    if (!found) return std::nullopt;
    first_ = (found->client + 1) % exchange_.slots();
    in_hand_[static_cast<std::size_t>(found->client)] = true;
    ++count_;
    return found;
}

void CallQueue::finished(const AskedCall& asked) {
    in_hand_[static_cast<std::size_t>(asked.client)] = false;
    --count_;
}

}  // namespace gradverify
