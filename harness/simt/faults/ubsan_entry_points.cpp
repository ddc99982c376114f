// SPDX-License-Identifier: Apache-2.0
// Code compiled with -fsanitize=alignment,object-size,signed-integer-overflow calls these in place
// of the sanitizer's runtime and the compiler's; GradverifyKernels.cmake renames the calls. A
// signed integer that overflows is told, and wraps, as it does on every GPU.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/findings.hpp"
#include "harness/simt/runtime/source_line.hpp"

namespace gradverify::simt {
namespace {

/// A check that failed, as GCC and clang describe it (alignment and size: version 1).
struct FailedCheck {
    const char* file;
    std::uint32_t line, column;
    const struct TypeDescription {
        std::uint16_t kind, info;  ///< of an integer, info >> 1 is the logarithm of its bits
        char name[1];
    }* type;
};

/// An operand, or its address where it has more than 64 bits.
using Operand = std::uintptr_t;

// More lines help nobody; a loop of overflows, as in a hash, must stay fast.
constexpr std::size_t lines_told = 3;
constinit std::array<std::atomic<const FailedCheck*>, lines_told> told{};
constinit std::atomic<void (*)(const char* text)> told_to = nullptr;

bool is_told(const FailedCheck& check) {
    for (const auto& slot : told) {
        const FailedCheck* const known = slot.load(std::memory_order_acquire);
        if (known == nullptr) return false;
        if (known->line == check.line && std::strcmp(known->file, check.file) == 0) return true;
    }
    return true;
}

std::string print(const FailedCheck& check, Operand operand) {
    const unsigned bits = 1u << (check.type->info >> 1);
    if (bits > 64) return "a number of " + std::to_string(bits) + " bits";
    const std::uint64_t at_the_top = std::uint64_t{operand} << (64 - bits);
    return std::to_string(static_cast<std::int64_t>(at_the_top) >> (64 - bits));
}

std::string place_of(const FailedCheck& check, const void* return_address) {
    if (!is_of_users(check.file))
        if (std::string line = source_of(static_cast<const char*>(return_address) - 1);
            !line.empty())
            return line;
    return short_place(check.file, static_cast<int>(check.line));
}

std::string who() {
    const unit::State& state = unit::state;
    if (!state.in_kernel) return " on the host";
    return " in block " + text_of(state.block_index) + ", thread " + text_of(state.thread.index);
}

/// Tells `int overflow at their.cu:12: 46341 * 46341 in block (0, 0, 0), thread (3, 0, 0)`.
[[gnu::cold, gnu::noinline]] void tell(const FailedCheck& check, const std::string& operation,
                                       const void* return_address) {
    static auto& mutex = *new std::mutex;
    const std::scoped_lock lock(mutex);
    if (is_told(check)) return;
    for (auto& slot : told) {
        if (slot.load() != nullptr) continue;
        slot.store(&check, std::memory_order_release);
        break;
    }
    std::string_view type = check.type->name;  // in quotes
    if (type.starts_with('\'') && type.ends_with('\'')) type = type.substr(1, type.size() - 2);
    const std::string text = std::string(type) + " overflow at " + place_of(check, return_address) +
                             ": " + operation + who();
    if (const auto note = told_to.load()) note(text.c_str());
}

void overflow(const FailedCheck& check, Operand left, const char* sign, Operand right,
              const void* return_address) {
    if (!is_told(check)) [[unlikely]]
        tell(check, print(check, left) + sign + print(check, right), return_address);
}

}  // namespace

void note_overflows(void (*note)(const char* text)) { told_to = note; }

void forget_overflows() {
    for (auto& slot : told) slot.store(nullptr);
}

}  // namespace gradverify::simt

namespace gradverify::simt::unit {
extern "C" {

[[noreturn]] void gradverify_simt_misaligned(const FailedCheck* access, const void*) {
    Executor::of_this_thread().trap(
        cudaErrorMisalignedAddress,
        {"an access to a ", access->type->name, " at an address that is not aligned for it"},
        {access->file, static_cast<int>(access->line)});
}

/// Goes on where the access itself is watched, and in a launcher, whose arrays are the host's.
void gradverify_simt_outside_object(const FailedCheck* access, const void* address) {
    constexpr std::uintptr_t frames = 1 << 16;
    const std::uintptr_t here = number(__builtin_frame_address(0));
    Executor& executor = Executor::of_this_thread();
    const bool is_near = number(address) + frames > here && number(address) < here + frames;
    if (!state.in_kernel || !(is_near || executor.has_stack(address))) return;
    executor.trap(cudaErrorIllegalAddress,
                  {"an access to a ", access->type->name, " beyond an array of the thread's own"},
                  {access->file, static_cast<int>(access->line)});
}

#define GRADVERIFY_SIMT_OVERFLOW(NAME, SIGN)                                       \
    void gradverify_simt_##NAME##_overflow(const FailedCheck* check, Operand left, \
                                           Operand right) {                        \
        overflow(*check, left, SIGN, right, __builtin_return_address(0));          \
    }
GRADVERIFY_SIMT_OVERFLOW(add, " + ")
GRADVERIFY_SIMT_OVERFLOW(sub, " - ")
GRADVERIFY_SIMT_OVERFLOW(mul, " * ")
// The processor ends this one then. A sanitizer of the user's may send divisions by zero here, too.
GRADVERIFY_SIMT_OVERFLOW(divrem, " / ")
#undef GRADVERIFY_SIMT_OVERFLOW
void gradverify_simt_negate_overflow(const FailedCheck* check, Operand operand) {
    if (!is_told(*check)) [[unlikely]]
        tell(*check, "-(" + print(*check, operand) + ")", __builtin_return_address(0));
}

// With -ftrapv GCC calls these where its sanitizer does not look, as in abs.
__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
// NOLINTBEGIN(bugprone-macro-parentheses): operators and types have none
#define GRADVERIFY_SIMT_WRAPS(NAME, T, U, SIGN) \
    T gradverify_simt_##NAME(T left, T right) { return static_cast<T>(U(left) SIGN U(right)); }
#define GRADVERIFY_SIMT_INTEGER(MODE, T, U)                                                  \
    GRADVERIFY_SIMT_WRAPS(addv##MODE##3, T, U, +)                                            \
    GRADVERIFY_SIMT_WRAPS(subv##MODE##3, T, U, -)                                            \
    GRADVERIFY_SIMT_WRAPS(mulv##MODE##3, T, U, *)                                            \
    T gradverify_simt_negv##MODE##2(T operand) { return static_cast<T>(U{0} - U(operand)); } \
    T gradverify_simt_absv##MODE##2(T operand) {                                             \
        return operand < 0 ? gradverify_simt_negv##MODE##2(operand) : operand;               \
    }
// NOLINTEND(bugprone-macro-parentheses)
GRADVERIFY_SIMT_INTEGER(si, std::int32_t, std::uint32_t)
GRADVERIFY_SIMT_INTEGER(di, std::int64_t, std::uint64_t)
GRADVERIFY_SIMT_INTEGER(ti, Int128, Unsigned128)
#undef GRADVERIFY_SIMT_INTEGER
#undef GRADVERIFY_SIMT_WRAPS

}  // extern "C"
}  // namespace gradverify::simt::unit
