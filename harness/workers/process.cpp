// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/process.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <sstream>
#include <thread>

#include "harness/base/process_usage.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// Enough for a message of the C library or of an assert.
constexpr std::size_t last_words_bytes = 400;
// A kernel that prints at each of a million cases must not fill a log.
constexpr std::size_t prints_passed_on_bytes = std::size_t{1} << 20;

void pass_on(std::string_view text) {
    static std::size_t passed = 0;
    if (passed > prints_passed_on_bytes) return;
    passed += text.size();
    std::fwrite(text.data(), 1, text.size(), stderr);
    if (passed > prints_passed_on_bytes)
        std::fputs("\ngradverify: what kernels print from here on is not shown\n", stderr);
}

bool is_exiting(pid_t pid) {
    const auto usage = usage_of(pid);
    return usage && usage->is_exiting;
}

/// The end of a text, in one line.
std::string tail_of(const std::string& prints) {
    const bool is_cut = prints.size() > last_words_bytes;
    std::istringstream text(is_cut ? "..." + prints.substr(prints.size() - last_words_bytes)
                                   : prints);
    std::string line;
    for (std::string word; text >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
}

template <std::size_t size>
std::string text_in(const std::array<char, size>& noted) {
    return {noted.data(), strnlen(noted.data(), size)};
}

}  // namespace

bool is_waited_for(double seconds_over, bool is_exiting) {
    constexpr double longest_exit_seconds = 60.0;
    return seconds_over < (is_exiting ? longest_exit_seconds : 0.0);
}

bool WorkerEnd::in_good_order() const {
    return overstepped.empty() && !closed_pipe &&
           (exited_with(0) || exited_with(worker_exit_device_lost));
}

bool WorkerEnd::exited_with(int code) const {
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

int WorkerEnd::killed_by() const {
    return overstepped.empty() && !closed_pipe && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool WorkerEnd::by_others() const {
    // Signals of a wrong program's own instructions, and of abort.
    constexpr std::array own{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    const int signal = killed_by();
    return signal != 0 && std::ranges::find(own, signal) == own.end();
}

std::string WorkerEnd::cause() const {
    if (!overstepped.empty()) return overstepped;
    // A worker that finds its requests ended leaves in good order.
    if (closed_pipe || (exited_with(0) && launched && !in_launcher))
        return "the kernel closed descriptors of the harness";
    std::string text =
        found.empty() ? "the kernel's process " : found + "; then the kernel's process ";
    if (WIFEXITED(status)) {
        text += fmt::format("called exit({})", WEXITSTATUS(status));
    } else if (const int signal = killed_by(); signal == SIGABRT) {
        text += "called abort()";
    } else {
        const char* name = sigabbrev_np(signal);
        text += "was killed by SIG" + (name ? std::string(name) : fmt::to_string(signal));
        if (!found.empty()) return text;  // the cause is told
        if (signal == SIGSEGV) text += " (a wild pointer, or recursion without end)";
        if (signal == SIGFPE) text += " (an integer division by zero, or one that overflows)";
    }
    if (!last_words.empty()) text += "; its last words: " + with_relative_paths(last_words);
    return text;
}

void WorkerProcess::start(const std::vector<std::string>& command, bool strict_heap, int exchange,
                          ForkServers* forks) {
    kill_now();
    worker_ = spawn_worker(command, strict_heap, exchange, forks);
    unsent_.clear();
    lines_sent_ = 0;
    received_.clear();
    prints_.clear();
    begin_case();
}

std::int64_t WorkerProcess::send(const std::string& line) {
    unsent_ += fmt::format("{} {}\n", ++lines_sent_, line);
    flush();
    return lines_sent_;
}

void WorkerProcess::flush() {
    while (!unsent_.empty() && request_fd() >= 0) {
        const ssize_t count = write(request_fd(), unsent_.data(), unsent_.size());
        if (count <= 0) return;  // the pipe is full, or the worker has died
        unsent_.erase(0, static_cast<std::size_t>(count));
    }
}

bool WorkerProcess::read_answers() {
    std::array<char, 65536> buffer;
    for (bool any = false;; any = true) {
        const ssize_t count = read(answer_fd(), buffer.data(), buffer.size());
        if (count < 0 && errno == EAGAIN) return true;
        if (count <= 0) return any;
        received_.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

std::optional<std::string> WorkerProcess::next_line() {
    const std::size_t end = received_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    const std::size_t blank = line.find(' ');
    const auto number = parse_int(std::string_view(line).substr(0, blank));
    number_answered_ = number.value_or(-1);
    return number && blank != std::string::npos ? line.substr(blank + 1) : line;
}

void WorkerProcess::read_prints() {
    if (print_fd() < 0) return;
    std::array<char, 65536> buffer;
    for (;;) {
        const ssize_t count = read(print_fd(), buffer.data(), buffer.size());
        if (count == 0) worker_.prints.close();
        if (count <= 0) return;
        const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
        if (shows_prints_) pass_on(text);
        prints_ += text;
        if (prints_.size() > 2 * last_words_bytes)
            prints_.erase(0, prints_.size() - 2 * last_words_bytes);
        if (text.size() < buffer.size()) return;
    }
}

void WorkerProcess::tell_prints() const {
    std::string text;
    for (const char c : prints_)
        text += std::iscntrl(static_cast<unsigned char>(c)) != 0 && c != '\n' && c != '\t'
                    ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c))
                    : std::string(1, c);
    if (!text.empty() && text.back() != '\n') text += '\n';
    pass_on(text);
}

std::optional<std::string> WorkerProcess::why_kill(const WorkerAllowance& allowed,
                                                   Watchdog& watchdog) const {
    return watchdog.why_kill(worker_.pid, worker_.note->blocks, allowed);
}

bool WorkerProcess::has_ended() const {
    siginfo_t info{};
    // WNOWAIT: until it is reaped, no other process or group gets its number.
    const int failed =
        waitid(P_PID, static_cast<id_t>(worker_.pid), &info, WEXITED | WNOHANG | WNOWAIT);
    return failed != 0 || info.si_pid != 0;
}

void WorkerProcess::begin_end(double grace_seconds, const std::string& overstepped) {
    close_requests();
    if (!overstepped.empty()) {
        kill(-worker_.pid, SIGKILL);
        grace_seconds = death_seconds;
    }
    end_ = {std::chrono::steady_clock::now() +
                std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                    std::chrono::duration<double>(grace_seconds)),
            overstepped};
}

WorkerEnd WorkerProcess::end(double grace_seconds, const std::string& overstepped) {
    begin_end(grace_seconds, overstepped);
    for (;;) {
        if (auto ended = try_end()) return std::move(*ended);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

std::optional<WorkerEnd> WorkerProcess::try_end() {
    read_prints();  // a full pipe would keep it from ending
    WorkerEnd ended{.overstepped = end_->overstepped};
    if (!has_ended()) {
        const std::chrono::duration<double> over = std::chrono::steady_clock::now() - end_->until;
        if (over.count() < 0.0 || is_waited_for(over.count(), is_exiting(worker_.pid)))
            return std::nullopt;
        ended.closed_pipe = ended.overstepped.empty();
    }
    kill(-worker_.pid, SIGKILL);
    waitpid(worker_.pid, &ended.status, 0);
    read_prints();
    ended.last_words = tail_of(prints_);
    const WorkerNote& note = *worker_.note;
    ended.in_launcher = note.in_launcher;
    ended.in_call_before = note.in_launcher && note.in_call_before;
    ended.launched = note.launches != 0;
    ended.overflows = text_in(note.overflows);
    if (ended.in_launcher) {
        ended.found = text_in(note.found);
        ended.found_not_served = note.found_not_served;
    }
    const std::string partners = text_in(note.partners);
    for (const std::string_view partner : split(partners, ' '))
        if (!partner.empty()) ended.partners.emplace_back(partner);
    worker_ = {};
    end_.reset();
    return ended;
}

void WorkerProcess::kill_now() {
    if (runs()) {
        kill(-worker_.pid, SIGKILL);
        waitpid(worker_.pid, nullptr, 0);
    }
    worker_ = {};
    end_.reset();
}

}  // namespace gradverify
