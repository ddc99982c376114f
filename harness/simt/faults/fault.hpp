// SPDX-License-Identifier: Apache-2.0
// A signal that the processor raised in a kernel: what the handler notes of it, and where the
// handler runs. Ending the launch is the executor's, the sentence is in fault_text.cpp.
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
    /// The processor names no address: a misaligned vector access, or an address beyond all memory.
    bool is_without_address = false;
    Access access = Access::unknown;
    const void* address = nullptr;
    /// The faulting instruction, then its callers, each as an address within the call.
    static constexpr std::size_t frames_maximum = 8;
    std::array<const void*, frames_maximum> frames{};
    std::size_t frame_count = 0;

    /// What happened: `read past the end of w, w[6] of 6`. The buffers are those of the call;
    /// `shared_place` is what `SharedMemory::describe` says of the address.
    std::string what(const std::string& shared_place) const;
    /// The source line of the access, or of the call in the kernel's file that led to it; "" when
    /// unknown.
    std::string source() const;
};

/// The stack on which an OS thread handles signals, for a stack that overflowed. As long as it
/// lives; then the thread has the one that it had before.
class SignalStack {
  public:
    SignalStack();
    ~SignalStack();
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

    /// When its frames were left for good.
    void forget_frames() noexcept;

  private:
    std::unique_ptr<char[]> memory_;
    stack_t before_{};
};

}  // namespace gradverify::simt
