// SPDX-License-Identifier: Apache-2.0
// How cases and answers travel; who is to blame for a death is in worker_blame.cpp.
#include "harness/workers/pool.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/workers/pool_parts.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

namespace {

constexpr double look_interval_seconds = 0.05;
// A process that closed its pipe has ended or is about to.
constexpr double death_seconds = 1.0;
// An idle worker sees its pipe close and ends in good order, as a tool that watches it (a
// sanitizer, a profiler) wants.
constexpr double exit_seconds = 5.0;

}  // namespace

WorkerPool::WorkerPool(WorkerPoolOptions options)
    : options_(std::move(options)), limits_(options_.time) {
    // A worker that died is noticed by its closed pipe, not by a signal to the driver.
    std::signal(SIGPIPE, SIG_IGN);
    if (options_.memory_bytes == 0) options_.memory_bytes = memory_share_bytes(options_.jobs);
    for (int i = 0; i < std::max(options_.jobs, 1); ++i) {
        workers_.push_back(std::make_unique<Worker>());
        workers_.back()->strict_left = options_.strict_cases;
        start(*workers_.back());
    }
}

WorkerPool::~WorkerPool() {
    const bool at_once = interrupt_signal() != 0;
    for (const auto& worker : workers_) {
        if (at_once || !worker->running.empty()) worker->process.kill_now();
        worker->process.close_requests();
    }
    for (const auto& worker : workers_)
        if (worker->process.runs()) worker->process.end(exit_seconds);
}

void WorkerPool::start(Worker& worker) {
    worker.greeted = worker.retiring = false;
    worker.history.clear();
    worker.process.start(options_.command, worker.strict_left > 0);
    for (const std::string& kernel : distrusted_) worker.process.send(worker_distrust + kernel);
}

bool WorkerPool::has_room() const {
    return std::ranges::any_of(workers_,
                               [&](const auto& worker) { return worker->load() < options_.depth; });
}

WorkerPool::Worker& WorkerPool::least_busy() {
    return **std::ranges::min_element(workers_, {},
                                      [](const auto& worker) { return worker->load(); });
}

void WorkerPool::submit(std::int64_t ticket, std::string printed_case) {
    Worker& worker = least_busy();
    worker.waiting.push_back({.ticket = ticket, .line = std::move(printed_case)});
    ++in_flight_;
    send(worker);
}

bool WorkerPool::withdraw(std::int64_t ticket) {
    for (const auto& worker : workers_)
        if (std::erase_if(worker->waiting,
                          [&](const Request& request) { return request.ticket == ticket; }) > 0) {
            --in_flight_;
            return true;
        }
    return false;
}

void WorkerPool::send(Worker& worker) {
    if (!worker.process.runs() && !worker.waiting.empty()) start(worker);
    while (worker.greeted && !worker.retiring && !worker.process.has_unsent() &&
           !worker.waiting.empty() && worker.running.size() < options_.depth) {
        if (worker.running.empty())
            worker.process.begin_case(worker.waiting.front().patience == Patience::full);
        worker.process.send(worker.waiting.front().line);
        worker.running.push_back(std::move(worker.waiting.front()));
        worker.waiting.pop_front();
    }
}

bool WorkerPool::take_line(Worker& worker, const std::string& line) {
    if (!worker.greeted) {
        worker.greeted = line == worker_greeting;
        send(worker);
        return worker.greeted;
    }
    if (worker.running.empty()) return false;
    Request& request = worker.running.front();
    if (const auto why = unreachable_device(line)) {
        worker.is_unreachable = true;
        await_device(unreachable_, *why);
        return true;
    }
    if (request.ticket == ticket_of_probe) {
        probe_answer_ = line;
    } else {
        try {
            answers_.push_back({.ticket = request.ticket, .outcome = Outcome::from_json(line)});
        } catch (const std::invalid_argument&) {
            return false;
        }
        limits_.completed(request.line, answers_.back().outcome);
        unreachable_ = 0;
        worker.history.add({.ticket = request.ticket, .line = std::move(request.line)});
        if (worker.strict_left > 0 && --worker.strict_left == 0) worker.retiring = true;
    }
    worker.running.pop_front();
    worker.process.begin_case(worker.running.empty() ||
                              worker.running.front().patience == Patience::full);
    worker.process.forget_prints();
    send(worker);
    return true;
}

void WorkerPool::retire_if_due(Worker& worker) {
    if (worker.retiring && worker.running.empty()) worker.process.close_requests();
}

void WorkerPool::receive(Worker& worker) {
    worker.process.read_prints();
    if (!worker.process.read_answers()) return bury(worker);
    while (const auto line = worker.process.next_line())
        if (!take_line(worker, *line))
            return bury(worker, "the kernel wrote to a descriptor of the harness");
    retire_if_due(worker);
}

/// Takes note of a worker's end, charges a case with it, and starts another.
void WorkerPool::bury(Worker& worker, const std::string& overstepped) {
    const WorkerEnd end =
        worker.process.end(overstepped.empty() ? death_seconds : 0.0, overstepped);
    if (!worker.greeted)
        throw EnvironmentError("a worker ended before its first case: " + end.cause());
    // It says so after an answer: without one, the case itself called exit, and would again.
    const bool lost_device =
        std::exchange(worker.is_unreachable, false) ||
        (!worker.history.empty() && end.in_good_order() && !end.exited_with(0));
    const WorkerHistory history = std::exchange(worker.history, {});
    std::optional<Request> fatal;
    if (!lost_device && !worker.running.empty()) {
        fatal = std::move(worker.running.front());
        worker.running.pop_front();
    }
    while (!worker.running.empty()) {
        worker.waiting.push_front(std::move(worker.running.back()));
        worker.running.pop_back();
    }
    start(worker);
    if (fatal && fatal->ticket == ticket_of_probe)
        probe_answer_ = end.cause();
    else if (fatal)
        answers_.push_back({.ticket = fatal->ticket, .outcome = judge(history, *fatal, end)});
    else if (!end.in_good_order())
        end_without_a_case(history, end);
}

void WorkerPool::watch(Worker& worker) {
    if (!worker.process.runs()) return;
    if (worker.process.has_ended()) {
        receive(worker);
        // Where something that it started holds its pipe, that has no end.
        if (worker.process.has_ended()) bury(worker);
        return;
    }
    WorkerAllowance allowed{options_.start_seconds, options_.start_seconds, options_.start_seconds,
                            options_.memory_bytes};
    if (worker.greeted) {
        if (worker.running.empty()) return;
        const Request& request = worker.running.front();
        if (request.ticket != ticket_of_probe) {
            allowed.cpu_seconds = limits_.cpu_seconds(request.line, request.patience);
            allowed.cpu_seconds_in_all = limits_.cpu_seconds_in_all(request.line, request.patience);
            allowed.sleep_seconds = limits_.sleep_seconds(request.line, request.patience);
        }
    }
    if (const auto overstepped = worker.process.oversteps(allowed)) bury(worker, *overstepped);
}

void WorkerPool::poll_once(double seconds) {
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

std::optional<WorkerPool::Answer> WorkerPool::wait(double seconds) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
        const auto found =
            std::ranges::find_if(answers_, [](const Answer& answer) { return answer.ticket >= 0; });
        if (found != answers_.end()) {
            Answer answer = std::move(*found);
            answers_.erase(found);
            if (!answer.late) --in_flight_;
            return answer;
        }
        const std::chrono::duration<double> left = until - Clock::now();
        if (in_flight_ == 0 || left.count() <= 0.0) return std::nullopt;
        poll_once(left.count());
    }
}

void WorkerPool::finish() {
    for (const auto& worker : workers_) worker->process.close_requests();
    for (const auto& worker : workers_) {
        if (!worker->process.runs()) continue;
        const auto end = worker->process.end_idle(exit_seconds);
        const WorkerHistory history = std::exchange(worker->history, {});
        if (end) end_without_a_case(history, *end);
    }
}

Outcome WorkerPool::run(const std::string& printed_case, RunOptions how) {
    const Request request{.ticket = ticket_of_run, .line = printed_case, .patience = how.patience};
    if (how.alone) {
        const LoneResult result = alone({printed_case}, how.patience);
        return result.death ? blame(request, *result.death) : result.outcome;
    }
    Worker& worker = least_busy();
    worker.waiting.push_back(request);
    send(worker);
    for (;;) {
        const auto found = std::ranges::find(answers_, ticket_of_run, &Answer::ticket);
        if (found != answers_.end()) {
            Outcome outcome = std::move(found->outcome);
            answers_.erase(found);
            return outcome;
        }
        poll_once(1.0);
    }
}

std::string WorkerPool::probe(const std::string& device) {
    probe_answer_.reset();
    Worker& worker = least_busy();
    worker.waiting.push_back({.ticket = ticket_of_probe, .line = worker_probe + device});
    send(worker);
    while (!probe_answer_) poll_once(1.0);
    return *probe_answer_;
}

}  // namespace gradverify
