// SPDX-License-Identifier: Apache-2.0
// One worker process as its driver sees it, clean (fork and exec, never fork alone) and in a
// process group of its own: its pipes, how much it uses, what it printed, and what it died of.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/workers/spawn.hpp"
#include "harness/workers/watchdog.hpp"

namespace gradverify {

/// How a worker ended.
struct WorkerEnd {
    int status = 0;  ///< as waitpid gives it
    /// It lived on after it had closed its pipe, and was killed.
    bool closed_pipe = false;
    /// Why the driver killed it; empty when it ended by itself.
    std::string overstepped;
    /// What it printed last.
    std::string last_words;
    /// Whether a launcher was running, and whether one had been called at all.
    bool in_launcher = false, launched = false;
    /// Kernels that the case in hand had called beside its own.
    std::vector<std::string> partners;

    /// Whether it ended as a worker does that has nothing more to do.
    bool in_good_order() const;
    bool exited_with(int code) const;
    /// The signal that ended it, and that the driver did not send; 0 without one. Glibc raises
    /// SIGABRT when it finds its heap damaged, most processors SIGFPE for a division by zero.
    int killed_by() const;
    /// A signal that a kernel's mistake does not raise: somebody else ended the process.
    bool by_others() const;
    /// `the kernel's process was killed by SIGSEGV`.
    std::string cause() const;
};

/// Whether a process that should have ended these seconds ago is waited for: only while it is being
/// taken down, for which a busy GPU takes its time.
bool is_waited_for(double seconds_over, bool is_exiting);

class WorkerProcess {
  public:
    WorkerProcess() = default;
    ~WorkerProcess() { kill_now(); }
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    /// Starts the command. With a strict heap, glibc's malloc checks each block that is freed,
    /// where this machine has that library: 1.2 to 1.6 times slower.
    ///
    /// **Errors** EnvironmentError when it can't be started.
    void start(const std::vector<std::string>& command, bool strict_heap);
    bool runs() const { return worker_.pid > 0; }

    /// Queues lines for its request pipe, and writes what the pipe has room for.
    void send(const std::string& line);
    void flush();
    bool has_unsent() const { return !unsent_.empty(); }
    /// No more requests: it ends when it has answered those that it has.
    void close_requests();

    /// Reads what it says; false once its answers have ended.
    bool read_answers();
    std::optional<std::string> next_line();
    /// Reads what it prints, and passes it on to stderr if the case in hand is shown.
    void read_prints();
    /// What it printed before now is of no interest.
    void forget_prints() { prints_.clear(); }

    /// For poll; -1 when there is none.
    int request_fd() const { return worker_.request_fd; }
    int answer_fd() const { return worker_.answer_fd; }
    int print_fd() const { return worker_.print_fd; }

    /// Whether it has ended, even if something that it started still holds its pipes.
    bool has_ended() const;

    /// A case begins: its use counts from here, and what it prints is passed on, or only kept.
    void begin_case(bool shows_prints = true) {
        watchdog_.case_begins();
        shows_prints_ = shows_prints;
    }
    /// What the watchdog says of the case in hand.
    std::optional<std::string> why_kill(const WorkerAllowance& allowed);

    /// Waits until it has ended, for so long at most, then kills it with all that it started.
    WorkerEnd end(double grace_seconds, const std::string& overstepped = "");
    /// Ends one that has nothing to do; says how it ended if by itself and not in good order.
    std::optional<WorkerEnd> end_idle(double grace_seconds);
    void kill_now();

  private:
    using Clock = std::chrono::steady_clock;
    void close_all();

    SpawnedWorker worker_;
    std::string unsent_, received_, prints_;
    bool shows_prints_ = true;
    Watchdog watchdog_;
};

/// A worker's share of this machine's memory: three quarters of it divided by the jobs.
std::size_t memory_share_bytes(int jobs);

}  // namespace gradverify
