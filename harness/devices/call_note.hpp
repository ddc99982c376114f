// SPDX-License-Identifier: Apache-2.0
// What a worker leaves for its driver to read: how many blocks of threads it has begun, as a sign
// of life; and, if it dies, whether a launcher was running, and which kernels beside the case's own
// were called. A page of memory that both share: writing to it costs nothing, and it outlives the
// worker. Also the kernels that a worker has been told not to call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradverify {

struct WorkerNote {
    /// Launchers called since the process began.
    std::atomic<std::uint32_t> launches{0};
    std::atomic<bool> in_launcher{false};
    /// Blocks of threads that kernels have begun on the CPU device since the process began.
    std::atomic<std::uint64_t> blocks{0};
    /// Names of other kernels that the case in hand has called, each with a space behind it; ends
    /// at a zero byte.
    std::array<char, 2000> partners{};
};

/// This process's note: shared with the driver after `share_worker_note`, private without.
WorkerNote& worker_note();
/// Puts the note into the shared memory behind the descriptor; false when it can't be mapped.
bool share_worker_note(int fd);

/// Another case begins.
void note_case();
/// The case calls a kernel that is not its own.
void note_partner(std::string_view kernel);

/// A launcher runs while this lives.
class NotedLaunch {
  public:
    NotedLaunch() {
        ++worker_note().launches;
        worker_note().in_launcher = true;
    }
    ~NotedLaunch() { worker_note().in_launcher = false; }
    NotedLaunch(const NotedLaunch&) = delete;
    NotedLaunch& operator=(const NotedLaunch&) = delete;
};

/// How a worker ends that answered its last case but has lost its device.
inline constexpr int worker_exit_device_lost = 75;

/// For a property that has called another kernel than its own, which cost the process its device:
/// ends a worker as that kernel's crash would, and the pool runs the case again without it.
///
/// **Errors** EnvironmentError with `why` where this process is no worker.
[[noreturn]] void end_without_device(const std::string& why);

/// Kernels that killed a worker when they were called on another kernel's behalf.
void distrust(std::string_view kernel);
bool is_distrusted(std::string_view kernel);

}  // namespace gradverify
