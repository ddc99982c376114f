// SPDX-License-Identifier: Apache-2.0
// Decides which kernels' launchers take so long on the host that an owner, which calls one after
// the other, would keep all clients waiting: those of libraries that make a plan for each problem.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>

namespace gradverify {

class LauncherTimes {
  public:
    static constexpr double slow_seconds = 300e-6;
    static constexpr std::size_t calls_kept = 8;

    /// Takes note of a call of a kernel's launcher; whether its latest calls were slow.
    bool is_slow(std::uint32_t kernel, double seconds) {
        Times& times = kernels_[kernel];
        // One that was interrupted, as one in eight may be, counts for little.
        times.latest[++times.calls % calls_kept] = std::min(seconds, 4.0 * slow_seconds);
        const double sum = std::accumulate(times.latest.begin(), times.latest.end(), 0.0);
        // The first call, which loads the kernel, never counts.
        return times.calls > calls_kept && sum / calls_kept > slow_seconds;
    }

  private:
    struct Times {
        std::size_t calls = 0;
        std::array<double, calls_kept> latest{};
    };
    std::map<std::uint32_t, Times> kernels_;
};

}  // namespace gradverify
