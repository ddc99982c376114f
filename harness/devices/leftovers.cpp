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
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

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

Limits limits_now() {
    Limits now{};
    // The library's getrlimit makes a call that takes twice as long.
    for (std::size_t i = 0; i < now.size(); ++i) syscall(SYS_getrlimit, limits[i].limit, &now[i]);
    return now;
}
/// As they were when the first launcher was called.
const Limits& first_limits() {
    static const Limits first = limits_now();
    return first;
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

/// The number that the next file gets that is opened.
int next_file() {
    const int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
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

std::string changed_limit() {
    const Limits now = limits_now();
    for (std::size_t i = 0; i < now.size(); ++i) {
        const rlimit& before = first_limits()[i];
        if (now[i].rlim_cur == before.rlim_cur && now[i].rlim_max == before.rlim_max) continue;
        setrlimit(limits[i].limit, &before);
        return fmt::format("changes the process's limit of {}", limits[i].name);
    }
    return {};
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

/// The next timer's number as the last launcher left it; -1 before the first.
int timers_so_far = -1;

/// Whether there was a clock that raises a signal, or a timer from this number on.
bool end_timers(int first) {
    bool any = false;
    for (const auto clock : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
        const itimerval none{};
        itimerval was{};
        setitimer(clock, &none, &was);
        any |= timerisset(&was.it_value);
    }
    timers_so_far = next_timer();
    for (; first < timers_so_far; ++first) any |= syscall(SYS_timer_delete, first) == 0;
    return any;
}

}  // namespace

Leftovers::Leftovers(Kept kept)
    : kept_(kept),
      had_children_(has_children()),
      process_(getpid()),
      threads_(threads()),
      next_file_(next_file()),
      next_timer_(timers_so_far >= 0 ? timers_so_far : next_timer()) {
    first_limits();
}

std::string Leftovers::found(const void* launcher) const {
    // A launcher forked, and went on in both: this one would answer as well.
    if (getpid() != process_) _exit(0);
    if (!had_children_ && has_children()) {
        end_children();
        return "leaves another process running, or does not wait for its end";
    }
    if (std::string changed = changed_limit(); !changed.empty()) return changed;
    if (end_timers(next_timer_)) return "leaves an alarm or a timer that ends the process";
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

}  // namespace gradverify
