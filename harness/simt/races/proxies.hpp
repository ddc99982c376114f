// SPDX-License-Identifier: Apache-2.0
// Which writes of the generic proxy the async proxy may read (PTX ISA, 8.11): those that were
// followed by a fence.proxy.async, of the thread that wrote or of one that is ordered behind it.
#pragma once

#include <array>
#include <cstdint>

#include "harness/simt/races/shadow.hpp"

namespace gradverify::simt {

class ProxyFences {
  public:
    void begin_block() {
        ++now_;
        latest_segment_ = 0;
    }
    void fence(unsigned rank, std::uint32_t segment) {
        last_[rank] = {++now_, segment};
        latest_segment_ = segment;
    }
    /// What a write of the generic proxy leaves in its cell. Fences come later, or have a lower
    /// time.
    std::uint32_t now() const { return now_; }
    /// What a write of the async proxy leaves.
    static constexpr std::uint32_t of_async_proxy = 0;

    /// Whether a fence covers the write: one of its thread, or of any thread after a barrier.
    bool is_fenced(const Cell& cell) const {
        return cell.written_at == of_async_proxy || last_[cell.write.rank].time > cell.written_at ||
               latest_segment_ > cell.write.segment;
    }
    /// Whether this thread has fenced in the write's segment, after it.
    bool fenced_in_segment(unsigned rank, const Cell& cell) const {
        return last_[rank].time > cell.written_at && last_[rank].segment == cell.write.segment;
    }

  private:
    struct Fence {
        std::uint32_t time = 0, segment = 0;
    };
    std::array<Fence, 1024> last_{};
    std::uint32_t now_ = 1;
    std::uint32_t latest_segment_ = 0;
};

}  // namespace gradverify::simt
