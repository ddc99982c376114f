// SPDX-License-Identifier: Apache-2.0
// Of a kernel's fault the signal handler allocates nothing and takes no lock: it notes where the
// kernel was, and leaves for the executor, which makes the text on its own stack. A launcher's ends
// the process, so there the handler makes the text itself, as long as it may.
#include "harness/simt/execute/fault.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/findings.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/errors.hpp"
#include "harness/simt/runtime/host_access.hpp"
#include "harness/simt/runtime/host_memory.hpp"
#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/runtime/source_line.hpp"

namespace gradverify::simt {
namespace {

constexpr std::size_t signal_stack_bytes = std::size_t{256} * 1024;  // mapped as it is used
constinit std::atomic<bool (*)()> runs_launcher = nullptr;
/// The host's first use of device memory in the launcher that runs.
struct HostUse {
    Fault fault;
    DeviceAllocation of;  ///< none: a buffer
};
HostUse host_use_of_device;
constexpr std::array handled_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
std::array<struct sigaction, handled_signals.size()> actions_before;

std::uintptr_t program_counter(const ucontext_t& context) {
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#else
    return context.uc_mcontext.pc;
#endif
}

Fault::Access access_of(const ucontext_t& context) {
#if defined(__x86_64__)
    constexpr greg_t is_write = 2;  // of a page fault's error code
    const greg_t code = context.uc_mcontext.gregs[REG_ERR];
    return (code & is_write) != 0 ? Fault::Access::write : Fault::Access::read;
#else
    // The exception syndrome is one of the records behind the registers.
    const auto* record = context.uc_mcontext.__reserved;
    const auto* end = record + sizeof context.uc_mcontext.__reserved;
    while (record + sizeof(_aarch64_ctx) <= end) {
        _aarch64_ctx head;
        std::memcpy(&head, record, sizeof head);
        if (head.magic == 0 || head.size == 0) break;
        if (head.magic == ESR_MAGIC) {
            esr_context syndrome;
            std::memcpy(&syndrome, record, sizeof syndrome);
            constexpr unsigned is_write = 1u << 6;
            return (syndrome.esr & is_write) != 0 ? Fault::Access::write : Fault::Access::read;
        }
        record += head.size;
    }
    return Fault::Access::unknown;
#endif
}

/// From the handler outwards; frames are noted from the caller of the faulting one on.
struct Walk {
    Fault& fault;
    bool is_past_the_fault = false;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    Fault& fault = walk.fault;
    int is_exact = 0;  // not a return address
    const std::uintptr_t at = _Unwind_GetIPInfo(context, &is_exact);
    if (!walk.is_past_the_fault) {
        walk.is_past_the_fault = pointer_to(at) == fault.frames[0];
        return _URC_NO_REASON;
    }
    if (at == 0 || fault.frame_count == Fault::frames_maximum) return _URC_END_OF_STACK;
    fault.frames[fault.frame_count++] = pointer_to(is_exact != 0 ? at : at - 1);
    return _URC_NO_REASON;
}

Fault fault_of(int signal, const siginfo_t& info, const ucontext_t& context) {
    Fault fault;
    fault.signal = signal;
    fault.address = info.si_addr;
#if defined(__x86_64__)
    fault.is_without_address = signal == SIGSEGV && info.si_code == SI_KERNEL;
#endif
    fault.access = access_of(context);
    fault.frames[0] = pointer_to(program_counter(context));
    fault.frame_count = 1;
    Walk walk{fault};
    _Unwind_Backtrace(&note_frame, &walk);
    return fault;
}

/// Restores the former handler, which the faulting instruction meets when it runs again.
void act_as_before(int signal, const siginfo_t& info) {
    for (std::size_t i = 0; i < handled_signals.size(); ++i)
        if (handled_signals[i] == signal) sigaction(signal, &actions_before[i], nullptr);
    if (info.si_code <= 0) raise(signal);  // sent by someone: nothing would run again
}

bool is_in_launcher() {
    const auto ask = runs_launcher.load();
    return ask != nullptr && ask();
}

/// Where the fault is within the heap, to make a text may have no end.
void end_in_a_second(int signal) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    int timer = 0;  // the kernel's, as the C library's allocates
    const itimerspec second{.it_interval = {}, .it_value = {.tv_sec = 1, .tv_nsec = 0}};
    syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer);
    syscall(SYS_timer_settime, timer, 0, &second, nullptr);
}

bool is_of_stack(const void* address, const ucontext_t& context) {
#if defined(__x86_64__)
    const auto top = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
#else
    const std::uintptr_t top = context.uc_mcontext.sp;
#endif
    constexpr std::uintptr_t largest_frame = std::uintptr_t{1} << 16;
    return number(address) + largest_frame - top < 2 * largest_frame;
}

void note_launchers_fault(int signal, const siginfo_t& info, const ucontext_t& context) {
    end_in_a_second(signal);
    const Fault fault = fault_of(signal, info, context);
    const std::string source = fault.source();
    note_error((source.empty() ? "" : source + ": ") + "the launcher's host code: " +
                   (signal == SIGSEGV && is_of_stack(info.si_addr, context) ? "its stack overflowed"
                                                                            : fault.what("")),
               false);
}

void handle(int signal, siginfo_t* info, void* context) {
    static thread_local bool is_handling = false;
    if (info->si_code > 0 && !is_handling && is_closed(number(info->si_addr))) {
        is_handling = true;
        const std::uintptr_t at = number(info->si_addr);
        host_use_of_device = {fault_of(signal, *info, *static_cast<const ucontext_t*>(context)),
                              find_allocation(at, at + 1)};
        is_handling = false;
        return open_device_memory();  // the instruction runs again
    }
    Executor* executor = executor_of_thread;
    const bool is_of_kernel = info->si_code > 0 && executor != nullptr && unit::state.in_kernel;
    if (!is_of_kernel && !is_handling && info->si_code > 0 && is_in_launcher()) {
        is_handling = true;
        note_launchers_fault(signal, *info, *static_cast<const ucontext_t*>(context));
    }
    if (!is_of_kernel || is_handling) return act_as_before(signal, *info);
    is_handling = true;  // a second fault, as on a broken stack, ends the process
    const Fault fault = fault_of(signal, *info, *static_cast<const ucontext_t*>(context));
    is_handling = false;
    executor->abandon_at(fault);
}

// Linux maps nothing below for a process that does not ask: a field or element of a null pointer.
constexpr std::uintptr_t null_page_bytes = 65536;

}  // namespace

std::string Fault::what(const std::string& shared_place) const {
    if (signal == SIGFPE) return "an integer division by zero, or one that overflows";
    if (signal == SIGILL)
        return "an instruction that the processor refuses, as after undefined code";
    if (is_without_address)
        return "a vector access at an address that is not aligned for it, or an access where no "
               "memory can be";
    const std::uintptr_t at = number(address);
    const std::string verb = access == Access::read    ? "read"
                             : access == Access::write ? "write"
                                                       : "access";
    if (at < null_page_bytes)
        return verb + " through a null pointer" + (at == 0 ? "" : ", at address " + hex_text(at));
    if (const std::string text = element_text(address); !text.empty())
        return verb + " " + text +
               (access == Access::write && input_in(address, 1) != nullptr
                    ? ", an input, which nothing may write to, not even what it holds"
                    : "");
    if (const std::string text = host_memory_text(at); !text.empty()) return verb + " " + text;
    if (!shared_place.empty()) return verb + " " + shared_place;
    if (const std::string known = describe_address(address); !known.empty())
        return verb + " at " + known;
    return verb + " at address " + hex_text(at) + ", where no buffer is";
}

std::string end_launcher() {
    open_device_memory();
    const auto [fault, allocation] = std::exchange(host_use_of_device, HostUse());
    if (fault.signal == 0) return "";
    const std::string source = fault.source();
    return (source.empty() ? "" : source + ": ") + "the launcher " +
           (fault.access == Fault::Access::write ? "wrote" : "read") +
           " device memory on the host: " +
           (allocation.bytes == 0
                ? element_text(fault.address)
                : "byte " +
                      std::to_string(static_cast<const char*>(fault.address) - allocation.begin) +
                      " of the " + std::to_string(allocation.bytes) + " of an allocation");
}

std::string Fault::source() const {
    for (std::size_t i = 0; i < frame_count; ++i) {
        std::string found = source_of(frames[i]);
        // Not in the system's libraries, as in memset.
        if (!found.empty() && !found.starts_with("/usr/")) return found;
    }
    return "";
}

void turn_faults_into_errors(bool (*ask)()) {
    if (ask != nullptr) runs_launcher = ask;
    [[maybe_unused]] thread_local const SignalStack stack;
    [[maybe_unused]] static const bool once = [] {
        struct sigaction action{};
        action.sa_sigaction = &handle;
        // SA_NODEFER, as the handler is left by a switch of stacks, which restores no signal mask.
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (std::size_t i = 0; i < handled_signals.size(); ++i)
            sigaction(handled_signals[i], &action, &actions_before[i]);
        return true;
    }();
}

SignalStack::SignalStack() : memory_(std::make_unique_for_overwrite<char[]>(signal_stack_bytes)) {
    stack_t own{};
    own.ss_sp = memory_.get();
    own.ss_size = signal_stack_bytes;
    sigaltstack(&own, &before_);
}

SignalStack::~SignalStack() { sigaltstack(&before_, nullptr); }

void SignalStack::forget_frames() noexcept {
#ifdef GRADVERIFY_SIMT_ASAN
    __asan_unpoison_memory_region(memory_.get(), signal_stack_bytes);
#endif
}

}  // namespace gradverify::simt
