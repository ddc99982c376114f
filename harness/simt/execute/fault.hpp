// SPDX-License-Identifier: Apache-2.0
// A signal that the processor raised in a kernel: the handler's notes and its stack.
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
    /// A misaligned vector access, or one beyond all memory, for which no address is known.
    bool is_without_address = false;
    Access access = Access::unknown;
    const void* address = nullptr;
    /// The faulting instruction, then its callers, each as an address within the call.
    static constexpr std::size_t frames_maximum = 8;
    std::array<const void*, frames_maximum> frames{};
    std::size_t frame_count = 0;

    /// `read past the end of w: w[6], but w has 6 elements`; `shared_place` is from
    /// `SharedMemory::describe`.
    std::string what(const std::string& shared_place) const;
    /// The line of the access, or of the call in the kernel's file that led to it; "" if unknown.
    std::string source() const;
};

/// While it lives, its OS thread handles signals on it, as the thread's stack may have overflowed.
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
