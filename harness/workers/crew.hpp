// SPDX-License-Identifier: Apache-2.0
// Decides how tasks reach workers and answers come back: keeps a few tasks in each worker's pipe,
// watches the first, starts processes, and tells what was answered and which process ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "harness/workers/fork_server.hpp"
#include "harness/workers/history.hpp"
#include "harness/workers/owner.hpp"
#include "harness/workers/process.hpp"
#include "harness/workers/time_limit.hpp"
#include "harness/workers/work.hpp"

namespace gradverify {

struct WorkerPoolOptions {
    std::vector<std::string> command;  ///< of a worker, such as {"/proc/self/exe", "worker"}
    int jobs = 1;
    std::size_t depth = 6;  ///< cases in a worker's pipe; more than one hides its latency
    /// A case that takes more time, or resident memory, has failed, and its worker is ended.
    TimeLimitOptions time{};
    std::size_t memory_bytes = 0;  ///< 0: a share of this machine's
    double start_seconds = 60.0;
    /// A worker's first cases run with a checked heap, since most kernels that damage it always do.
    /// Then the worker's end is checked too, and it is replaced. Unless this is 0, an owner calls
    /// a kernel only after such a worker has answered a case of it, or twice as many for each
    /// case that has ended its process: its own heap is not checked, and its death keeps all
    /// clients waiting.
    std::int64_t strict_cases = 200;
    /// Null where the command starts another program than this one.
    std::shared_ptr<ForkServers> forks = std::make_shared<ForkServers>();
    /// A device that one process of its own owns, which makes the calls of twice as many workers,
    /// since these mostly wait for it; some more use the device themselves. Empty where all do, as
    /// one job alone does.
    std::string owned_device{};
    bool shows_prints = true;  ///< of every case; else only, and escaped, of those that fail
};

class Crew {
  public:
    struct Answered {
        Task task;
        Outcome outcome;
        bool is_first = false;   ///< its process had answered no other: it opened the device too
        WorkerHistory before{};  ///< what its process had answered, where a drawn case has failed
    };
    /// A worker's process did not end in good order, or not before it had answered.
    struct Ended {
        WorkerEnd end;
        WorkerHistory history;          ///< what the process had answered
        std::optional<Task> fatal{};    ///< what it had in hand; nothing if it was idle
        bool had_all_its_time = false;  ///< the fatal task, though it may be a trial
        /// It had several, and none of them was fatal alone.
        bool had_several = false;
    };
    using Event = std::variant<Answered, Ended>;

    /// **Ranges** the limits must outlive the crew; it does not read `options.time`.
    /// **Errors** EnvironmentError when a worker can't be started, in `give` and `next` as well;
    /// `next` also when several workers in a row can't reach their device, and Interrupted.
    Crew(WorkerPoolOptions options, const TimeLimits& limits,
         std::set<std::string> distrusted = {});
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// With the memory of each worker filled in.
    const WorkerPoolOptions& options() const { return options_; }
    bool has_room() const;
    /// Whether clients of an owner leave cases of this row to workers that use the device
    /// themselves; how often that has changed for a row; whether these workers have room.
    bool is_left(const WorkRow& row) const;
    std::int64_t changes_of_left() const { return changes_of_left_; }
    bool has_room_for_left() const;
    /// Gives a task to the worker with the fewest: a client, where a device has an owner, unless
    /// clients leave such cases to those that use the device themselves.
    void give(Task task);
    /// Gives a task to the first worker, before what waits for it.
    void give_first(Task task);
    /// Keeps the first worker for what `give_first` gives it: other tasks go to the others. An only
    /// worker takes both, by turns.
    void keep_first(bool is_kept) { keeps_first_ = is_kept; }
    bool withdraw(std::int64_t ticket);
    /// Whether a worker has a task, or there is an event.
    bool is_busy() const;
    /// Whether a worker runs it now, or has run it and `next` is yet to say so.
    bool is_being_run(std::int64_t ticket) const;
    /// Kernels that all workers are told not to call on another's behalf.
    const std::set<std::string>& distrusted() const { return distrusted_; }
    void distrust(const std::set<std::string>& kernels);
    /// Whether a process that ran a case of this kernel has ended in good order.
    bool has_left(const Kernel* kernel) { return known_[kernel].has_left; }
    /// This kernel's cases on the CPU device are the last ones of their process from now on, as it
    /// may leave a damaged heap. On a GPU a new process takes too long.
    void keep_apart(const Kernel& kernel) { known_[&kernel].is_kept_apart = true; }
    /// What happened next; nothing when nothing did for these seconds, or a little while.
    std::optional<Event> next(double seconds);
    /// Ends the workers, at once those that are not idle; returns the idle ones that did not end in
    /// good order. `meanwhile` is called now and then.
    std::vector<Ended> finish(double exit_seconds = WorkerProcess::exit_seconds,
                              const std::function<void()>& meanwhile = {});

  private:
    struct Worker;
    using Clock = std::chrono::steady_clock;

    using Workers = std::span<const std::unique_ptr<Worker>>;

    /// Those that `give` gives most tasks, and how many each has at most.
    Workers taking() const;
    std::size_t most_tasks() const;
    /// Those that use the owned device themselves and take this. The first alone takes what may use
    /// all of the device, and nothing else while it is kept, unless there is no other.
    Workers using_device(bool is_large) const;
    static Worker& least_busy(Workers workers);
    void note_left(const WorkerHistory& history);
    void note_fatal(const Task& task);
    void note_wrong(const Kernel* kernel);
    void note_answered(const Kernel* kernel);
    static bool opens_gpu(const Worker& worker);
    bool runs_again(const Worker& worker, const Task& task, const WorkerHistory& history);
    void put(Worker& worker, Task task);
    void start(Worker& worker);
    Worker& add(int client);
    void send(Worker& worker);
    void receive(Worker& worker);
    /// False for a line that a worker does not say at this point.
    bool take(Worker& worker, const std::string& line);
    void begin_next(Worker& worker);
    void await_device(const std::string& why);
    void watch(Worker& worker);
    void bury(Worker& worker, const std::string& overstepped = "");
    void see_end(Worker& worker);
    void replace(Worker& worker);
    void restart(Worker& worker);
    void take(DeviceOwner::Death death);
    WorkerAllowance allowance(const Worker& worker) const;
    void watch_owner();
    void poll_once(double seconds);

    WorkerPoolOptions options_;
    const TimeLimits& limits_;
    std::set<std::string> distrusted_;
    std::optional<DeviceOwner> owner_;
    /// With an owner the first ones use the device themselves, and the others are clients.
    std::vector<std::unique_ptr<Worker>> workers_;
    std::size_t using_device_ = 0;       ///< how many do beside an owner
    std::set<WorkRow> left_by_clients_;  ///< a client has left a case of such a row
    struct KnownKernel {
        bool is_kept_apart = false, has_left = false;
        /// On the owned device a case of it has failed or ended its process; as the first of one.
        bool is_wrong = false, fails_alone = false;
        /// Whether the owner may call it, and the cases that others have answered until then.
        bool may_be_owned = false;
        int answered = 0;
    };
    std::map<const Kernel*, KnownKernel> known_;
    int most_answered_ = 1;  ///< the cases that it takes now
    std::int64_t changes_of_left_ = 0;
    std::deque<Event> events_;
    /// By ticket what a case came to behind others, while it runs again as the first of a process.
    std::map<std::int64_t, Event> behind_others_;
    bool keeps_first_ = false;
    int unreachable_ = 0;  ///< workers in a row that could not reach their device
    Clock::time_point last_look_{};
};

}  // namespace gradverify
