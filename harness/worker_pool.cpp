// SPDX-License-Identifier: Apache-2.0
#include "harness/worker_pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/errors.hpp"
#include "harness/text.hpp"
#include "harness/worker.hpp"

namespace gradverify {

namespace {

// Tickets of the pool's own; callers use non-negative ones.
constexpr std::int64_t ticket_of_run = -1;
constexpr std::int64_t ticket_of_probe = -2;

struct Request {
    std::int64_t ticket = 0;
    std::string line;
};

std::string cause_of(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return "the worker was killed by signal " + std::to_string(signal) + " (" +
               strsignal(signal) + ")";
    }
    return "the worker called exit(" + std::to_string(WEXITSTATUS(status)) + ")";
}

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw EnvironmentError(std::string("can't make a pipe: ") + std::strerror(errno));
    return ends;
}

void hang_up(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
}

}  // namespace

struct WorkerPool::Worker {
    pid_t pid = -1;
    int request_fd = -1, answer_fd = -1;
    bool greeted = false;
    bool answered = false;          ///< something since it was started
    std::deque<Request> waiting;    ///< not yet written to the pipe
    std::deque<Request> running;    ///< written, not yet answered; the first one is being run
    std::string unsent;             ///< what the pipe had no room for, of the last of `running`
    std::string received;           ///< an incomplete line
    Clock::time_point last_sign{};  ///< of life, while something is running

    std::size_t load() const { return waiting.size() + running.size(); }
};

WorkerPool::WorkerPool(WorkerPoolOptions options) : options_(std::move(options)) {
    // A worker that died is noticed by its closed pipe, not by a signal to the driver.
    std::signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < std::max(options_.jobs, 1); ++i)
        workers_.push_back(std::make_unique<Worker>());
    try {
        for (const auto& worker : workers_) start(*worker);
    } catch (...) {
        stop_all();
        throw;
    }
}

WorkerPool::~WorkerPool() { stop_all(); }

void WorkerPool::start(Worker& worker) {
    const auto requests = make_pipe(), answers = make_pipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // Through numbers that are surely none of the ends, since either may itself be 3 or 4.
    const int free_request = std::max({requests[0], answers[1], worker_answer_fd}) + 1;
    const int free_answer = free_request + 1;
    posix_spawn_file_actions_adddup2(&actions, requests[0], free_request);
    posix_spawn_file_actions_adddup2(&actions, answers[1], free_answer);
    posix_spawn_file_actions_adddup2(&actions, free_request, worker_request_fd);
    posix_spawn_file_actions_adddup2(&actions, free_answer, worker_answer_fd);
    posix_spawn_file_actions_addclose(&actions, free_request);
    posix_spawn_file_actions_addclose(&actions, free_answer);
    std::vector<char*> arguments;
    for (std::string& word : options_.command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int error = posix_spawn(&worker.pid, options_.command.front().c_str(), &actions, nullptr,
                                  arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(requests[0]);
    close(answers[1]);
    worker.request_fd = requests[1];
    worker.answer_fd = answers[0];
    // A full pipe must not stop the driver: the worker may never read on.
    fcntl(worker.request_fd, F_SETFL, O_NONBLOCK);
    worker.greeted = worker.answered = false;
    worker.unsent.clear();
    worker.received.clear();
    worker.last_sign = Clock::now();
    if (error != 0) {
        worker.pid = -1;
        throw EnvironmentError("can't start a worker (" + options_.command.front() +
                               "): " + std::strerror(error));
    }
}

void WorkerPool::stop_all() {
    for (const auto& worker : workers_) hang_up(worker->request_fd);
    for (const auto& worker : workers_) stop(*worker);
}

void WorkerPool::stop(Worker& worker) {
    hang_up(worker.request_fd);
    hang_up(worker.answer_fd);
    if (worker.pid <= 0) return;
    // An idle worker sees its pipe close and ends in good order, as a tool that watches it (a
    // sanitizer, a profiler) wants; one that is in a kernel does not.
    const auto until = Clock::now() + std::chrono::seconds(worker.running.empty() ? 5 : 0);
    while (waitpid(worker.pid, nullptr, WNOHANG) == 0) {
        if (Clock::now() >= until) {
            kill(worker.pid, SIGKILL);
            waitpid(worker.pid, nullptr, 0);
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    worker.pid = -1;
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
    worker.waiting.push_back({ticket, std::move(printed_case)});
    if (ticket >= 0) ++in_flight_;
    send(worker);
}

void WorkerPool::send(Worker& worker) {
    while (worker.greeted && !(worker.unsent.empty() && worker.waiting.empty())) {
        if (worker.unsent.empty()) {
            if (worker.running.empty()) worker.last_sign = Clock::now();
            worker.unsent = worker.waiting.front().line + "\n";
            worker.running.push_back(std::move(worker.waiting.front()));
            worker.waiting.pop_front();
        }
        const ssize_t count = write(worker.request_fd, worker.unsent.data(), worker.unsent.size());
        if (count <= 0) return;  // it is full; or the worker died, as its answers' end says too
        worker.unsent.erase(0, static_cast<std::size_t>(count));
    }
}

bool WorkerPool::take_line(Worker& worker, const std::string& line) {
    worker.last_sign = Clock::now();
    if (!worker.greeted) {
        worker.greeted = line == worker_greeting;
        send(worker);
        return worker.greeted;
    }
    if (worker.running.empty()) return false;
    const Request& request = worker.running.front();
    if (request.ticket == ticket_of_probe) {
        probe_answer_ = line;
    } else {
        try {
            answers_.push_back({request.ticket, Outcome::from_json(line)});
        } catch (const std::invalid_argument&) {
            return false;
        }
    }
    worker.answered = true;
    worker.running.pop_front();
    return true;
}

void WorkerPool::receive(Worker& worker) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(worker.answer_fd, buffer.data(), buffer.size());
    if (count <= 0) {
        bury(worker, "");
        return;
    }
    worker.received.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = worker.received.find('\n'); end != std::string::npos;
         end = worker.received.find('\n', begin)) {
        if (!take_line(worker, worker.received.substr(begin, end - begin)))
            return bury(worker, "the worker wrote something else than an answer to its pipe");
        begin = end + 1;
    }
    worker.received.erase(0, begin);
}

/// Takes note of a worker's end, charges the case that it was running, and starts another.
void WorkerPool::bury(Worker& worker, const std::string& cause_if_killed) {
    // One that has ended keeps the status it ended with.
    kill(worker.pid, SIGKILL);
    int status = 0;
    waitpid(worker.pid, &status, 0);
    worker.pid = -1;
    hang_up(worker.request_fd);
    hang_up(worker.answer_fd);
    const std::string cause = cause_if_killed.empty() ? cause_of(status) : cause_if_killed;
    if (!worker.greeted) throw EnvironmentError("a worker ended before its first case: " + cause);
    // It says so after an answer: without one, the case itself called exit, and would again.
    const bool blameless =
        worker.answered && WIFEXITED(status) && WEXITSTATUS(status) == worker_exit_device_lost;
    if (!blameless && !worker.running.empty()) {
        const Request request = std::move(worker.running.front());
        worker.running.pop_front();
        if (request.ticket == ticket_of_probe) {
            probe_answer_ = cause;
        } else {
            answers_.push_back({request.ticket, Outcome::failed(cause)});
        }
    }
    while (!worker.running.empty()) {
        worker.waiting.push_front(std::move(worker.running.back()));
        worker.running.pop_back();
    }
    start(worker);
}

void WorkerPool::poll_once(double seconds) {
    // For each worker the pipe of its answers, then that of its requests; poll ignores -1.
    std::vector<pollfd> fds;
    for (const auto& worker : workers_) {
        fds.push_back({.fd = worker->answer_fd, .events = POLLIN, .revents = 0});
        const bool full = worker->greeted && !worker->unsent.empty();
        fds.push_back({.fd = full ? worker->request_fd : -1, .events = POLLOUT, .revents = 0});
    }
    const int timeout_ms = static_cast<int>(std::clamp(seconds * 1e3, 0.0, 1000.0));
    if (poll(fds.data(), fds.size(), timeout_ms) < 0 && errno != EINTR)
        throw EnvironmentError(std::string("poll: ") + std::strerror(errno));
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (fds[2 * i + 1].revents != 0) send(*workers_[i]);
        if (fds[2 * i].revents != 0) receive(*workers_[i]);
    }
    for (const auto& worker : workers_) {
        const std::chrono::duration<double> silent = Clock::now() - worker->last_sign;
        const bool owes_a_sign = !worker->running.empty() || !worker->greeted;
        if (owes_a_sign && silent.count() > options_.timeout_seconds)
            bury(*worker, "no answer for " + print_exactly(options_.timeout_seconds) + " s");
    }
}

std::optional<WorkerPool::Answer> WorkerPool::wait(double seconds) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
        const auto found =
            std::ranges::find_if(answers_, [](const Answer& answer) { return answer.ticket >= 0; });
        if (found != answers_.end()) {
            Answer answer = std::move(*found);
            answers_.erase(found);
            --in_flight_;
            return answer;
        }
        const std::chrono::duration<double> left = until - Clock::now();
        if (in_flight_ == 0 || left.count() <= 0.0) return std::nullopt;
        poll_once(left.count());
    }
}

Outcome WorkerPool::run(const std::string& printed_case) {
    submit(ticket_of_run, printed_case);
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
    submit(ticket_of_probe, worker_probe + device);
    while (!probe_answer_) poll_once(1.0);
    return *probe_answer_;
}

}  // namespace gradverify
