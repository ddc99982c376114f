// SPDX-License-Identifier: Apache-2.0
// A page of memory that a worker shares with its driver. It tells how many blocks of threads the
// worker has begun, as a sign of life; and, if it dies, whether a launcher was running, what the
// device had found by then, where integers had overflowed, and which kernels beside the case's own
// were called. Also the kernels that a worker must not call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradverify {

struct WorkerNote {
    /// Launchers called since the process began.
    std::atomic<std::uint32_t> launches{0};
    std::atomic<bool> in_launcher{false};
    /// The call in hand is made for what it leaves behind alone.
    std::atomic<bool> in_call_before{false};
    /// Blocks of threads that kernels have begun on the CPU device since the process began.
    std::atomic<std::uint64_t> blocks{0};
    std::uint64_t threads = 0;  ///< likewise, of calls that have ended
    /// What the CPU device found first since the last launcher was called; whether it is something
    /// that it does not serve.
    std::array<char, 2000> found{};
    std::atomic<bool> found_not_served{false};
    /// Where integers have overflowed on the CPU device since the case in hand began.
    std::array<char, 1000> overflows{};
    /// The other kernels that the case in hand has called, each with a space behind its name.
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

/// The device found an error in the running launcher, or something that it does not serve. An
/// empty text takes it back.
void note_found(const char* text, bool is_not_served);

/// From now on faults are noted so: a kernel's on the CPU device, and a launcher's on any.
void note_faults();

/// An integer overflowed on the CPU device.
void note_overflow(const char* text);

/// A launcher runs while this lives.
class NotedLaunch {
  public:
    NotedLaunch() {
        ++worker_note().launches;
        worker_note().found[0] = '\0';
        worker_note().in_launcher = true;
    }
    ~NotedLaunch() { worker_note().in_launcher = false; }
    NotedLaunch(const NotedLaunch&) = delete;
    NotedLaunch& operator=(const NotedLaunch&) = delete;
};

/// The exit code of a worker that answered its last case but has lost its device, or what it was
/// asked next.
inline constexpr int worker_exit_device_lost = 75;

/// Ends a worker that lost its device in a kernel that is not its case's, as that kernel's crash
/// would: the pool runs the case again without it.
/// **Errors** EnvironmentError with `why` where this process is no worker.
[[noreturn]] void end_without_device(const std::string& why);

/// Kernels that killed a worker when they were called on another kernel's behalf.
void distrust(std::string_view kernel);
bool is_distrusted(std::string_view kernel);

}  // namespace gradverify
