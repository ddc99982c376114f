// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/leftovers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>
#include <unordered_map>
#include <utility>

namespace gradverify {

namespace {

constexpr std::chrono::milliseconds longest_end{50};
// The files that calls of one kernel may leave open, each of them one.
constexpr int most_files = 8;

struct NamedLimit {
    int limit;
    const char* name;
};
constexpr NamedLimit limits[] = {
    {RLIMIT_AS, "address space"},
    {RLIMIT_CPU, "processor time"},
    {RLIMIT_DATA, "data"},
    {RLIMIT_FSIZE, "a file's size"},
    {RLIMIT_MEMLOCK, "locked memory"},
    {RLIMIT_NOFILE, "open files"},
    {RLIMIT_NPROC, "processes"},
    {RLIMIT_STACK, "the stack"},
};
using Limits = std::array<rlimit, std::size(limits)>;

/// Of faults, which are told by them, and of what ends children and readers.
constexpr int restored_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGCHLD, SIGPIPE};
using Handlers = std::array<struct sigaction, std::size(restored_signals)>;

Limits limits_now() {
    Limits now{};
    // The library's getrlimit makes a call that takes twice as long.
    for (std::size_t i = 0; i < now.size(); ++i) syscall(SYS_getrlimit, limits[i].limit, &now[i]);
    return now;
}
Handlers handlers_now() {
    Handlers now{};
    for (std::size_t i = 0; i < now.size(); ++i) sigaction(restored_signals[i], nullptr, &now[i]);
    return now;
}

/// Whether a thread has begun to end: one that was joined is counted for a moment yet.
bool is_ending(const std::filesystem::path& task) {
    std::ifstream file(task / "stat");
    std::string text;
    std::getline(file, text);
    constexpr unsigned long exiting = 0x4;  // PF_EXITING of Linux
    // The second field, a name in parentheses, may hold anything; the flags are the ninth.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return true;
    std::istringstream fields(text.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 9; ++field) fields >> skipped;
    unsigned long flags = 0;
    fields >> flags;
    return (flags & exiting) != 0;
}

int threads() {
    // Fails where there is another thread, and does nothing else. The folder takes ten times as
    // long.
    if (unshare(CLONE_THREAD) == 0) return 1;
    struct stat folder{};
    // A folder has a link for each folder in it, and two more.
    return stat("/proc/self/task", &folder) == 0 ? static_cast<int>(folder.st_nlink) - 2 : 1;
}

int threads_that_go_on() {
    std::error_code none;
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none))
        count += !is_ending(task.path());
    return count;
}

bool has_children() {
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// A number that no file has, and the next one gets that is opened, unless one was closed since.
int next_file() {
    static int next = -1;
    if (next >= 0 && fcntl(next, F_GETFD) < 0) return next;
    next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (next >= 0) close(next);
    return next;
}

void end_children() {
    std::error_code none;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
        std::ifstream children(task.path() / "children");
        for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
    }
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

/// The number that the process's next timer gets: Linux counts them.
int next_timer() {
    sigevent silent{};
    silent.sigev_notify = SIGEV_NONE;
    int timer = -1;  // the C library has pointers for some
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &silent, &timer) == 0)
        syscall(SYS_timer_delete, timer);
    return timer + 1;
}

/// What a process was before its first launcher.
struct FirstState {
    bool had_children = has_children();
    Limits limits = limits_now();
    Handlers handlers = handlers_now();
    int next_timer = gradverify::next_timer();

    void restore_handlers() const {
        const Handlers now = handlers_now();
        for (std::size_t i = 0; i < now.size(); ++i)
            if (now[i].sa_sigaction != handlers[i].sa_sigaction ||
                now[i].sa_flags != handlers[i].sa_flags)
                sigaction(restored_signals[i], &handlers[i], nullptr);
    }
    std::string restored_limit() const {
        const Limits now = limits_now();
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i].rlim_cur == limits[i].rlim_cur && now[i].rlim_max == limits[i].rlim_max)
                continue;
            setrlimit(gradverify::limits[i].limit, &limits[i]);
            return fmt::format("changes the process's limit of {}", gradverify::limits[i].name);
        }
        return {};
    }
    /// Whether there was a clock that raises a signal, or another timer.
    bool end_timers() {
        bool any = false;
        for (const auto clock : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
            const itimerval none{};
            itimerval was{};
            setitimer(clock, &none, &was);
            any |= timerisset(&was.it_value);
        }
        const int next = gradverify::next_timer();
        for (int timer = std::exchange(next_timer, next); timer < next; ++timer)
            any |= syscall(SYS_timer_delete, timer) == 0;
        return any;
    }
};
std::optional<FirstState> first_state;

}  // namespace

Leftovers::Leftovers(Kept kept)
    : kept_(kept), process_(getpid()), threads_(threads()), next_file_(next_file()) {
    if (!first_state) first_state.emplace();
}

std::string Leftovers::found(const void* launcher) const {
    // A launcher forked, and went on in both: this one would answer as well.
    if (getpid() != process_) _exit(0);
    if (kept_ == Kept::threads_and_files) return {};
    if (kept_ == Kept::nothing && threads() > threads_) {
        const auto until = std::chrono::steady_clock::now() + longest_end;
        int more = 0;
        while ((more = threads_that_go_on() - threads_) > 0 &&
               std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (more > 0)
            return fmt::format("leaves {} running, and does not declare keeps_threads()",
                               more == 1 ? "a host thread" : fmt::format("{} host threads", more));
    }
    if (next_file_ >= 0 && fcntl(next_file_, F_GETFD) >= 0) {
        static std::map<const void*, int> opened;
        if (++opened[launcher] > most_files)
            return fmt::format("leaves a file open, as {} of its calls before did", most_files);
    }
    return {};
}

void probe_heap(const void* launcher) {
    constexpr int first_calls = 3;
    static std::unordered_map<const void*, int> calls;
    if (int& count = calls[launcher]; count == first_calls)
        return;
    else
        ++count;
    // More than malloc keeps at hand of one size, and one that makes it join free blocks.
    constexpr std::size_t longest = 1040, step = 16, of_each = 9, large = 100'000;
    std::array<void*, longest / step * of_each + 1> blocks{};
    std::size_t count = 0;
    for (std::size_t bytes = step; bytes <= longest; bytes += step)
        for (std::size_t i = 0; i < of_each; ++i) blocks[count++] = std::malloc(bytes);
    blocks[count++] = std::malloc(large);
    asm volatile("" : : "r"(blocks.data()) : "memory");  // the blocks are not to be left out
    for (std::size_t i = 0; i < count; ++i) std::free(blocks[i]);
}

std::string restore_process() {
    if (!first_state) return {};
    first_state->restore_handlers();
    if (!first_state->had_children && has_children()) {
        end_children();
        return "leaves another process running, or does not wait for its end";
    }
    if (std::string changed = first_state->restored_limit(); !changed.empty()) return changed;
    if (first_state->end_timers()) return "leaves an alarm or a timer that ends the process";
    return {};
}

}  // namespace gradverify
