// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/crew.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/base/process_usage.hpp"

namespace gradverify {

namespace {

constexpr double look_interval_seconds = 0.05;
// A process that closed its pipe gets this time to end.
constexpr double death_seconds = 1.0;
// An idle worker gets this time to end in good order, as a sanitizer or profiler wants.
constexpr double exit_seconds = 5.0;
constexpr int device_attempts = 3;
// What goes on beside a lone worker is looked after this often.
constexpr double meanwhile_seconds = 0.005;
constexpr auto device_pause = std::chrono::milliseconds(500);

/// Nothing for a line that is no answer: a kernel wrote it.
std::optional<Answer> answer_in(const std::string& line) {
    try {
        return decode_answer(line);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

}  // namespace

struct Crew::Worker {
    WorkerProcess process;
    bool greeted = false;
    bool retiring = false;         ///< to be replaced once it has answered what it has
    bool is_unreachable = false;   ///< it could not reach its device, and ends
    std::int64_t strict_left = 0;  ///< cases yet to be run with a checked heap
    std::deque<Task> waiting;      ///< not yet written to the pipe
    std::deque<Task> running;      ///< written, not yet answered; the first one is being run
    WorkerHistory history;         ///< answered by this process

    std::size_t load() const { return waiting.size() + running.size(); }
    /// The first task runs from now on. Prints of shrinking's trials are not shown.
    void begin_first() {
        process.begin_case(running.empty() || running.front().patience == Patience::full);
    }
};

Crew::Crew(WorkerPoolOptions options, const TimeLimits& limits, std::set<std::string> distrusted)
    : options_(std::move(options)), limits_(limits), distrusted_(std::move(distrusted)) {
    // The closed pipe of a dead worker is noticed when it is read.
    std::signal(SIGPIPE, SIG_IGN);
    const int jobs = std::max(options_.jobs, 1);
    // The workers share three quarters of this machine's memory.
    if (options_.memory_bytes == 0)
        options_.memory_bytes = physical_memory_bytes() / 4 * 3 / static_cast<std::size_t>(jobs);
    for (int i = 0; i < jobs; ++i) {
        workers_.push_back(std::make_unique<Worker>());
        workers_.back()->strict_left = options_.strict_cases;
        start(*workers_.back());
    }
}

Crew::~Crew() {
    const bool at_once = interrupt_signal() != 0;
    for (const auto& worker : workers_) {
        if (at_once || !worker->running.empty()) worker->process.kill_now();
        worker->process.close_requests();
    }
    for (const auto& worker : workers_)
        if (worker->process.runs()) worker->process.end(exit_seconds);
}

void Crew::start(Worker& worker) {
    worker.greeted = worker.retiring = false;
    worker.process.start(options_.command, worker.strict_left > 0, options_.forks.get());
    for (const std::string& kernel : distrusted_) worker.process.send(encode(Distrust{kernel}));
}

std::span<const std::unique_ptr<Crew::Worker>> Crew::taking() const {
    const std::span<const std::unique_ptr<Worker>> all(workers_);
    return all.subspan(keeps_first_ && all.size() > 1 ? 1 : 0);
}

std::size_t Crew::most_tasks() const {
    return keeps_first_ && workers_.size() == 1 ? 2 : options_.depth;
}

bool Crew::has_room() const {
    return std::ranges::any_of(taking(),
                               [&](const auto& worker) { return worker->load() < most_tasks(); });
}

void Crew::give(Task task) {
    Worker& least_busy =
        **std::ranges::min_element(taking(), {}, [](const auto& worker) { return worker->load(); });
    least_busy.waiting.push_back(std::move(task));
    send(least_busy);
}

void Crew::give_first(Task task) {
    Worker& first = *workers_.front();
    first.waiting.push_back(std::move(task));
    send(first);
}

bool Crew::withdraw(std::int64_t ticket) {
    const auto is_it = [&](const Task& task) { return task.ticket == ticket; };
    return std::ranges::any_of(
        workers_, [&](const auto& worker) { return std::erase_if(worker->waiting, is_it) > 0; });
}

void Crew::distrust(const std::set<std::string>& kernels) {
    distrusted_.insert(kernels.begin(), kernels.end());
    for (const auto& worker : workers_)
        for (const std::string& kernel : kernels) worker->process.send(encode(Distrust{kernel}));
}

void Crew::send(Worker& worker) {
    if (!worker.process.runs() && !worker.waiting.empty()) start(worker);
    while (worker.greeted && !worker.retiring && !worker.process.has_unsent() &&
           !worker.waiting.empty() && worker.running.size() < options_.depth) {
        worker.running.push_back(std::move(worker.waiting.front()));
        worker.waiting.pop_front();
        if (worker.running.size() == 1) worker.begin_first();
        worker.process.send(encode(worker.running.back().work.request));
    }
}

bool Crew::take(Worker& worker, const std::string& line) {
    std::optional<Answer> answer = answer_in(line);
    if (!answer) return false;
    if (!worker.greeted) {
        worker.greeted = std::holds_alternative<Ready>(*answer);
        send(worker);
        return worker.greeted;
    }
    if (worker.running.empty()) return false;
    if (const auto* unreachable = std::get_if<Unreachable>(&*answer)) {
        worker.is_unreachable = true;
        await_device(unreachable->why);
        return true;
    }
    auto* const outcome = std::get_if<Outcome>(&*answer);
    if (!outcome) return false;
    Task& task = worker.running.front();
    const bool is_first = worker.history.empty();
    if (!task.work.is_probe()) {
        unreachable_ = 0;
        worker.history.add(task);
        if (worker.strict_left > 0 && --worker.strict_left == 0) worker.retiring = true;
    }
    events_.push_back(Answered{std::move(task), std::move(*outcome), is_first});
    worker.running.pop_front();
    worker.begin_first();
    worker.process.forget_prints();
    send(worker);
    return true;
}

/// Counts the workers in a row that could not reach the device, and waits a little for it.
void Crew::await_device(const std::string& why) {
    if (++unreachable_ == device_attempts)
        throw EnvironmentError(fmt::format("{} (in {} new workers in a row)", why, unreachable_));
    std::this_thread::sleep_for(device_pause);
}

void Crew::receive(Worker& worker) {
    worker.process.read_prints();
    if (!worker.process.read_answers()) return bury(worker);
    while (const auto line = worker.process.next_line())
        if (!take(worker, *line))
            return bury(worker, "the kernel wrote to a descriptor of the harness");
    if (worker.retiring && worker.running.empty()) worker.process.close_requests();
}

/// Takes note of a worker's end, and starts another if there is more to do.
void Crew::bury(Worker& worker, const std::string& overstepped) {
    Ended ended{.end = worker.process.end(overstepped.empty() ? death_seconds : 0.0, overstepped),
                .history = std::exchange(worker.history, {})};
    if (!worker.greeted)
        throw EnvironmentError("a worker ended before its first case: " + ended.end.cause());
    // A worker that lost its device says so after an answer; without one the case called exit.
    const bool lost_device =
        std::exchange(worker.is_unreachable, false) ||
        (!ended.history.empty() && ended.end.in_good_order() && !ended.end.exited_with(0));
    if (!lost_device && !worker.running.empty()) {
        ended.fatal = std::move(worker.running.front());
        worker.running.pop_front();
    }
    worker.waiting.insert(worker.waiting.begin(), std::make_move_iterator(worker.running.begin()),
                          std::make_move_iterator(worker.running.end()));
    worker.running.clear();
    send(worker);
    if (ended.fatal || !ended.end.in_good_order()) events_.push_back(std::move(ended));
}

void Crew::watch(Worker& worker) {
    if (!worker.process.runs()) return;
    if (worker.process.has_ended()) {
        receive(worker);
        // If something that it started holds the pipe, reading never meets its end.
        if (worker.process.runs() && worker.process.has_ended()) bury(worker);
        return;
    }
    WorkerAllowance allowed{options_.start_seconds, options_.start_seconds, options_.start_seconds};
    if (worker.greeted) {
        if (worker.running.empty()) return;
        const Task& task = worker.running.front();
        if (!task.work.is_probe()) allowed = limits_.allowance(task.work, task.patience);
    }
    allowed.memory_bytes = options_.memory_bytes;
    if (const auto why = worker.process.why_kill(allowed)) bury(worker, *why);
}

void Crew::poll_once(double seconds) {
    throw_if_interrupted();
    // For each worker the pipes of its answers, prints and requests; poll ignores -1.
    constexpr std::size_t pipes = 3;
    std::vector<pollfd> fds;
    for (const auto& worker : workers_) {
        const WorkerProcess& process = worker->process;
        fds.push_back({.fd = process.answer_fd(), .events = POLLIN, .revents = 0});
        fds.push_back({.fd = process.print_fd(), .events = POLLIN, .revents = 0});
        fds.push_back({.fd = process.has_unsent() ? process.request_fd() : -1,
                       .events = POLLOUT,
                       .revents = 0});
    }
    const double longest = std::clamp(seconds, 0.0, look_interval_seconds);
    if (poll(fds.data(), fds.size(), static_cast<int>(longest * 1e3)) < 0 && errno != EINTR)
        throw EnvironmentError(std::string("poll: ") + std::strerror(errno));
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        Worker& worker = *workers_[i];
        if (fds[pipes * i + 2].revents != 0) {
            worker.process.flush();
            send(worker);
        }
        if (fds[pipes * i + 1].revents != 0) worker.process.read_prints();
        if (fds[pipes * i].revents != 0) receive(worker);
    }
    const std::chrono::duration<double> since = Clock::now() - last_look_;
    if (since.count() < look_interval_seconds) return;
    for (const auto& worker : workers_) watch(*worker);
    last_look_ = Clock::now();
}

std::optional<Crew::Event> Crew::next(double seconds) {
    if (events_.empty()) poll_once(seconds);
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
}

std::vector<Crew::Ended> Crew::finish() {
    std::vector<Ended> badly;
    for (const auto& worker : workers_) worker->process.close_requests();
    for (const auto& worker : workers_) {
        if (!worker->process.runs()) continue;
        WorkerEnd end = worker->process.end(exit_seconds);
        WorkerHistory history = std::exchange(worker->history, {});
        // One that takes long to leave, on a busy machine or under a tool, has done nothing wrong.
        if (end.closed_pipe || end.in_good_order()) continue;
        badly.push_back({.end = std::move(end), .history = std::move(history)});
    }
    return badly;
}

LoneResult run_alone(WorkerPoolOptions options, const TimeLimits& limits,
                     const std::vector<Work>& works, Patience patience,
                     std::set<std::string> distrusted, const std::function<void()>& meanwhile) {
    options.jobs = 1;
    options.depth = 1;
    options.strict_cases = std::numeric_limits<std::int64_t>::max();
    Crew crew(std::move(options), limits, std::move(distrusted));
    LoneResult result;
    for (const Work& work : works) {
        crew.give({.work = work, .patience = patience});
        std::optional<Crew::Event> event;
        while (!(event = crew.next(meanwhile ? meanwhile_seconds : 1.0)))
            if (meanwhile) meanwhile();
        if (auto* ended = std::get_if<Crew::Ended>(&*event)) {
            result.death = std::move(ended->end);
            return result;
        }
        result.outcome = std::move(std::get<Crew::Answered>(*event).outcome);
    }
    for (Crew::Ended& ended : crew.finish()) result.death = std::move(ended.end);
    return result;
}

}  // namespace gradverify
