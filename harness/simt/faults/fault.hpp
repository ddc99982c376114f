// SPDX-License-Identifier: Apache-2.0
// A signal that the processor raised in a kernel: the handler's notes, and the handler's stack. The
// executor ends the launch.
#pragma once

#include <sys/types.h>
#include <csignal>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

namespace gradverify::simt {

/// Plain data, filled in by a signal handler.
struct Fault {
    enum class Access { unknown, read, write };

    int signal = 0;  ///< 0: there was none
    /// Whether the processor names no address: a misaligned vector access, or one beyond all
    /// memory.
    bool is_without_address = false;
    Access access = Access::unknown;
    const void* address = nullptr;
    /// The faulting instruction, then its callers, each as an address within the call.
    static constexpr std::size_t frames_maximum = 8;
    std::array<const void*, frames_maximum> frames{};
    std::size_t frame_count = 0;

    /// `read past the end of w, w[6] of 6` and the like; `shared_place` is the answer of
    /// `SharedMemory::describe`.
    std::string what(const std::string& shared_place) const;
    /// The source line of the access, or of the call in the kernel's file that led to it; "" when
    /// unknown.
    std::string source() const;
};

/// While it lives, the stack on which an OS thread handles signals, since its own may have
/// overflowed.
class SignalStack {
  public:
    SignalStack();
    ~SignalStack();
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

    /// Call it when its frames were left for good.
    void forget_frames() noexcept;

  private:
    std::unique_ptr<char[]> memory_;
    stack_t before_{};
};

}  // namespace gradverify::simt
