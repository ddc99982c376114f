// SPDX-License-Identifier: Apache-2.0
// Decides how long a call on more copies takes, by calls on fewer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gradverify {

class CopyTimes {
  public:
    /// **Ranges** more copies than before, or as many: then the earlier time does not count.
    void add(std::int64_t copies, double seconds) {
        if (copies != last_.copies) before_ = last_;
        last_ = {copies, seconds};
    }
    /// What was added last, and for each copy more as much as its copies took more than those
    /// before, so that what every call takes counts once.
    double seconds_for(std::int64_t copies) const {
        return last_.seconds + std::max(last_.seconds - before_.seconds, 0.0) *
                                   static_cast<double>(copies - last_.copies) /
                                   static_cast<double>(last_.copies - before_.copies);
    }

  private:
    struct Timed {
        std::int64_t copies = 0;
        double seconds = 0.0;
    };
    Timed before_, last_;
};

}  // namespace gradverify
