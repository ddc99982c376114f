// SPDX-License-Identifier: Apache-2.0
// One worker process as its driver sees it: its pipes, how much it uses, what it printed, and what
// it died of. It is clean (fork and exec, never fork alone), and leads a process group of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/workers/spawn.hpp"
#include "harness/workers/watchdog.hpp"

namespace gradverify {

struct WorkerEnd {
    int status = 0;                 ///< as waitpid gives it
    bool closed_pipe = false;       ///< it lived on after it had closed its pipe, and was killed
    std::string overstepped;        ///< why the driver killed it; empty when it ended by itself
    std::string last_words;         ///< what it printed last
    std::string found;              ///< what the device had found in the running launcher
    bool found_not_served = false;  ///< the device does not serve that
    std::string overflows;          ///< where integers had overflowed in its last case
    /// Whether a launcher was running, in the call before the case's own, and whether one had been
    /// called at all.
    bool in_launcher = false, in_call_before = false, launched = false;
    std::vector<std::string> partners;  ///< kernels that its last case called beside its own

    /// Whether the driver killed it for its time.
    bool took_long() const { return overstepped.starts_with("no end"); }
    /// Whether it ended like a worker that has nothing more to do.
    bool in_good_order() const;
    bool exited_with(int code) const;
    /// The signal that ended it, unless the driver sent it; 0 without one.
    int killed_by() const;
    /// Whether the signal is none that a kernel's mistake raises: somebody else ended the process.
    bool by_others() const;
    /// `the kernel's process was killed by SIGSEGV`, behind what the device had found.
    std::string cause() const;
};

/// Whether to wait on for a process that should have ended these seconds ago: only while it exits,
/// which takes long on a busy GPU.
bool is_waited_for(double seconds_over, bool is_exiting);

class WorkerProcess {
  public:
    /// What a process gets to end in that closed its pipe, and an idle one to end in good order, as
    /// a sanitizer or profiler wants.
    static constexpr double death_seconds = 1.0, exit_seconds = 5.0;

    WorkerProcess() = default;
    ~WorkerProcess() { kill_now(); }
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    /// Starts the command. With a strict heap, glibc's malloc checks each block that is freed,
    /// where this machine has that library: 1.2 to 1.6 times slower.
    /// `exchange`: the descriptor of the memory shared with a device's owner, or -1.
    /// **Errors** EnvironmentError when it can't be started.
    void start(const std::vector<std::string>& command, bool strict_heap, int exchange,
               ForkServers* forks);
    bool runs() const { return worker_.pid > 0; }

    /// Queues a line for its request pipe, and writes what the pipe has room for. Returns its
    /// number.
    std::int64_t send(const std::string& line);
    void flush();
    bool has_unsent() const { return !unsent_.empty(); }
    /// No more requests: it ends when it has answered those that it has.
    void close_requests() { worker_.requests.close(); }

    /// Reads what it says; false once its answers have ended.
    bool read_answers();
    std::optional<std::string> next_line();
    /// The number of the line that this answers; -1 where it says none.
    std::int64_t number_answered() const { return number_answered_; }
    /// Reads what it prints, and passes it on to stderr if the case in hand is shown.
    void read_prints();
    void forget_prints() { prints_.clear(); }
    /// Passes on the end of what the case in hand has printed, with control characters escaped.
    void tell_prints() const;

    /// -1 when there is none.
    int request_fd() const { return worker_.requests.get(); }
    int answer_fd() const { return worker_.answers.get(); }
    int print_fd() const { return worker_.prints.get(); }

    /// Whether it has ended, even if something that it started still holds its pipes.
    bool has_ended() const;

    /// A case begins: its use counts from here. Its prints are shown on stderr, or only kept.
    void begin_case(bool shows_prints = true) {
        watchdog_.case_begins();
        shows_prints_ = shows_prints;
    }
    std::optional<std::string> why_kill(const WorkerAllowance& allowed) {
        return why_kill(allowed, watchdog_);
    }
    /// The same of what another watchdog looks at.
    std::optional<std::string> why_kill(const WorkerAllowance& allowed, Watchdog& watchdog) const;

    /// Has so long to end in; one that has overstepped a limit is killed at once. A process that
    /// used a GPU takes seconds to end, in which others go on.
    void begin_end(double grace_seconds, const std::string& overstepped = "");
    bool is_ending() const { return end_.has_value(); }
    /// Nothing until it has ended, or its time is up; then it is killed with all that it started.
    std::optional<WorkerEnd> try_end();
    /// Both; waits for it.
    WorkerEnd end(double grace_seconds, const std::string& overstepped = "");
    void kill_now();

  private:
    SpawnedWorker worker_;
    std::string unsent_, received_, prints_;
    std::int64_t lines_sent_ = 0, number_answered_ = -1;
    bool shows_prints_ = true;
    Watchdog watchdog_;
    struct Ending {
        std::chrono::steady_clock::time_point until;
        std::string overstepped;
    };
    std::optional<Ending> end_;
};

}  // namespace gradverify
