// SPDX-License-Identifier: Apache-2.0
// Decides which kernels' launchers take so long on the host that an owner, which calls one after
// the other, would keep all clients waiting: those of libraries that make a plan for each problem.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace gradverify {

class LauncherTimes {
  public:
    static constexpr double slow_seconds = 300e-6;
    static constexpr std::size_t calls_kept = 8;

    /// Takes note of a call of a kernel's launcher; whether half of its latest calls were slow, as
    /// one or two may be that were interrupted, or have loaded a kernel.
    bool is_slow(std::uint32_t kernel, double seconds) {
        Times& times = kernels_[kernel];
        times.latest[++times.calls % calls_kept] = seconds;
        const auto slow = std::ranges::count_if(
            times.latest, [](double latest) { return latest > slow_seconds; });
        return times.calls > calls_kept && 2 * slow >= std::ssize(times.latest);
    }

  private:
    struct Times {
        std::size_t calls = 0;
        std::array<double, calls_kept> latest{};
    };
    std::map<std::uint32_t, Times> kernels_;
};

}  // namespace gradverify
