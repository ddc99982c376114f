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
// A process that ends is looked after this often.
constexpr double ending_seconds = 0.001;
constexpr auto ending_pause = std::chrono::microseconds(200);
constexpr int device_attempts = 3;
constexpr auto device_pause = std::chrono::milliseconds(500);
constexpr int no_client = -1;
constexpr int clients_per_job = 2;
// Others answer no more cases of a kernel than these before an owner calls it.
constexpr int answered_at_most = 64;

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
    bool has_answered = false;     ///< a case
    bool retiring = false;         ///< to be replaced once it has answered what it has
    bool is_replaced = false;      ///< its end is nobody's
    bool is_unreachable = false;   ///< it could not reach its device, and ends
    std::int64_t strict_left = 0;  ///< cases yet to be run with a checked heap
    std::deque<Task> waiting;      ///< not yet written to the pipe
    std::deque<Task> running;      ///< written, not yet answered; the first one is being run
    WorkerHistory history;         ///< answered by this process
    int client = no_client;        ///< its place among the owner's clients

    bool is_client() const { return client != no_client; }
    std::size_t load() const { return waiting.size() + running.size(); }
    /// The first task runs from now on. Prints of shrinking's trials are not shown.
    void begin_first(bool shows_prints) {
        process.begin_case(shows_prints && (running.empty() || running.front().ticket >= 0 ||
                                            running.front().patience == Patience::full));
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
    if (jobs == 1 || options_.owned_device.empty()) {
        for (int i = 0; i < jobs; ++i) start(add(no_client));
        return;
    }
    const int clients = clients_per_job * jobs;
    owner_.emplace(options_.command, options_.owned_device, clients, options_.forks);
    using_device_ = static_cast<std::size_t>(std::clamp(jobs / 2, 1, 8));
    // They start when there is something for them.
    for (std::size_t i = 0; i < using_device_; ++i) add(no_client);
    for (int i = 0; i < clients; ++i) start(add(i));
}

Crew::~Crew() {
    const bool at_once = is_interrupted();
    for (const auto& worker : workers_) {
        if (at_once || !worker->running.empty()) worker->process.kill_now();
        worker->process.close_requests();
    }
    for (const auto& worker : workers_)
        if (worker->process.runs()) worker->process.end(WorkerProcess::exit_seconds);
}

Crew::Worker& Crew::add(int client) {
    Worker& added = *workers_.emplace_back(std::make_unique<Worker>());
    added.strict_left = options_.strict_cases;
    added.client = client;
    return added;
}

void Crew::start(Worker& worker) {
    worker.greeted = worker.has_answered = worker.retiring = worker.is_replaced = false;
    const bool runs_again =
        !worker.waiting.empty() && behind_others_.contains(worker.waiting.front().ticket);
    worker.process.start(options_.command, worker.strict_left > 0 || runs_again,
                         worker.is_client() ? owner_->exchange_fd() : -1, options_.forks.get());
    if (worker.is_client()) worker.process.send(owner_->greeting(worker.client));
    for (const std::string& kernel : distrusted_) worker.process.send(encode(Distrust{kernel}));
}

Crew::Workers Crew::taking() const {
    const bool is_first_kept = keeps_first_ && workers_.size() > 1;
    return Workers(workers_).subspan(owner_ ? using_device_ : is_first_kept ? 1 : 0);
}

Crew::Workers Crew::using_device(bool is_large) const {
    const Workers all = Workers(workers_).first(using_device_);
    if (is_large) return all.first(1);
    return keeps_first_ && all.size() > 1 ? all.subspan(1) : all;
}

Crew::Worker& Crew::least_busy(Workers workers) {
    return **std::ranges::min_element(workers, {},
                                      [](const auto& worker) { return worker->load(); });
}

std::size_t Crew::most_tasks() const {
    return keeps_first_ && workers_.size() == 1 ? 2 : options_.depth;
}

bool Crew::has_room() const { return least_busy(taking()).load() < most_tasks(); }

bool Crew::has_room_for_left() const {
    return owner_ && least_busy(using_device(false)).load() < options_.depth;
}

bool Crew::is_left(const WorkRow& row) const {
    if (left_by_clients_.contains(row)) return true;
    const auto& [kernel, device, property] = row;
    if (!owner_ || options_.strict_cases == 0 || !kernel || device != owner_->device())
        return false;
    const auto known = known_.find(kernel);
    return known == known_.end() || !known->second.may_be_owned;
}

void Crew::give(Task task) {
    Worker& worker =
        least_busy(is_left(task.work.row()) ? using_device(task.work.is_large) : taking());
    put(worker, std::move(task));
}

void Crew::put(Worker& worker, Task task) {
    worker.waiting.push_back(std::move(task));
    send(worker);
}

void Crew::give_first(Task task) {
    Worker& first = *workers_.front();
    first.waiting.push_front(std::move(task));
    send(first);
}

bool Crew::withdraw(std::int64_t ticket) {
    const auto is_it = [&](const Task& task) { return task.ticket == ticket; };
    const bool withdrawn = std::ranges::any_of(
        workers_, [&](const auto& worker) { return std::erase_if(worker->waiting, is_it) > 0; });
    if (withdrawn) behind_others_.erase(ticket);
    return withdrawn;
}

bool Crew::is_busy() const {
    return !events_.empty() ||
           std::ranges::any_of(workers_, [](const auto& worker) { return worker->load() > 0; });
}

bool Crew::is_being_run(std::int64_t ticket) const {
    const auto is_told = [&](const Event& event) {
        if (const auto* ended = std::get_if<Ended>(&event))
            return ended->fatal && ended->fatal->ticket == ticket;
        return std::get<Answered>(event).task.ticket == ticket;
    };
    const auto is_run = [&](const auto& worker) {
        return !worker->running.empty() && worker->running.front().ticket == ticket;
    };
    return std::ranges::any_of(events_, is_told) || std::ranges::any_of(workers_, is_run);
}

void Crew::distrust(const std::set<std::string>& kernels) {
    distrusted_.insert(kernels.begin(), kernels.end());
    for (const auto& worker : workers_)
        for (const std::string& kernel : kernels) worker->process.send(encode(Distrust{kernel}));
}

void Crew::send(Worker& worker) {
    if (!worker.process.runs() && !worker.waiting.empty()) start(worker);
    // Nothing is to lie in a pipe before what the first worker is kept for.
    const bool is_kept = owner_ && &worker == workers_.front().get();
    const std::size_t depth = is_kept ? 1 : options_.depth;
    while (worker.greeted && !worker.retiring && !worker.process.is_ending() &&
           !worker.process.has_unsent() && !worker.waiting.empty() &&
           worker.running.size() < depth) {
        worker.running.push_back(std::move(worker.waiting.front()));
        worker.waiting.pop_front();
        if (worker.running.size() == 1) worker.begin_first(options_.shows_prints);
        Task& task = worker.running.back();
        task.line = worker.process.send(encode(task.work.request));
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
    if (worker.process.number_answered() != worker.running.front().line) {
        // A case before has taken requests, or answers as well.
        const bool is_first = worker.history.empty();
        if (!is_first) replace(worker);
        return !is_first;
    }
    if (const auto* unreachable = std::get_if<Unreachable>(&*answer)) {
        worker.is_unreachable = true;
        await_device(unreachable->why);
        return true;
    }
    Task& task = worker.running.front();
    const bool is_case = std::holds_alternative<RunCase>(task.work.request);
    const auto leave = [&] {
        put(least_busy(using_device(task.work.is_large || !is_case)), std::move(task));
        begin_next(worker);
        return true;
    };
    if (std::holds_alternative<Elsewhere>(*answer) && worker.is_client()) {
        if (is_case) changes_of_left_ += left_by_clients_.insert(task.work.row()).second ? 1 : 0;
        return leave();
    }
    auto* const outcome = std::get_if<Outcome>(&*answer);
    if (!outcome) return false;
    worker.has_answered = true;
    if (worker.is_client() && outcome->verdict == Verdict::failed &&
        task.work.device == owner_->device()) {
        task.has_failed_beside_others = true;
        return leave();
    }
    if (task.has_failed_beside_others && outcome->verdict != Verdict::failed) {
        changes_of_left_ += left_by_clients_.insert(task.work.row()).second ? 1 : 0;
        if (task.work.kernel) owner_->leave_out(*task.work.kernel);
    }
    const bool is_first = worker.history.empty();
    if (outcome->verdict == Verdict::failed && runs_again(worker, task, worker.history)) {
        behind_others_.emplace(task.ticket, Answered{task, *outcome, false, worker.history});
        replace(worker);
        return true;
    }
    const auto earlier = behind_others_.extract(task.ticket);
    const bool is_suspect = task.ticket >= 0 && outcome->verdict == Verdict::failed;
    if (is_suspect && !options_.shows_prints) {
        worker.process.read_prints();
        worker.process.tell_prints();
    }
    WorkerHistory before = is_suspect ? worker.history : WorkerHistory();
    if (!task.work.is_probe()) {
        unreachable_ = 0;
        worker.history.add(task);
        if (worker.is_client() && task.work.device == owner_->device()) owner_->answered(task);
        if (owner_ && !worker.is_client() && task.work.device == owner_->device())
            outcome->verdict == Verdict::failed ? note_wrong(task.work.kernel)
                                                : note_answered(task.work.kernel);
        if (worker.strict_left > 0 && --worker.strict_left == 0) worker.retiring = true;
    }
    const bool is_last = task.work.device == "cpu" && known_[task.work.kernel].is_kept_apart;
    if (earlier && outcome->verdict != Verdict::failed)
        events_.push_back(std::move(earlier.mapped()));
    else
        events_.push_back(
            Answered{std::move(task), std::move(*outcome), is_first, std::move(before)});
    begin_next(worker);
    if (is_last) replace(worker);
    return true;
}

/// The first of the running tasks is done with.
void Crew::begin_next(Worker& worker) {
    worker.running.pop_front();
    worker.begin_first(options_.shows_prints);
    worker.process.forget_prints();
    send(worker);
}

/// Counts the workers in a row that could not reach the device, and waits a little for it.
void Crew::await_device(const std::string& why) {
    if (++unreachable_ == device_attempts)
        throw EnvironmentError(fmt::format("{} (in {} new workers in a row)", why, unreachable_));
    std::this_thread::sleep_for(device_pause);
}

void Crew::receive(Worker& worker) {
    if (!worker.process.runs() || worker.process.is_ending()) return;
    worker.process.read_prints();
    if (!worker.process.read_answers()) return bury(worker);
    while (const auto line = worker.process.is_ending() ? std::nullopt : worker.process.next_line())
        if (!take(worker, *line))
            return bury(worker, "the kernel wrote to a descriptor of the harness");
    if (worker.retiring && worker.running.empty()) worker.process.close_requests();
}

void Crew::bury(Worker& worker, const std::string& overstepped) {
    worker.process.begin_end(WorkerProcess::death_seconds, overstepped);
    see_end(worker);
}

/// Takes note of a worker's end once it has ended, and starts another if there is more to do.
void Crew::see_end(Worker& worker) {
    auto end = worker.process.try_end();
    if (!end) return;
    Ended ended{.end = std::move(*end), .history = std::exchange(worker.history, {})};
    if (std::exchange(worker.is_replaced, false)) {
        if (worker.is_client()) owner_->forget(worker.client);
        return restart(worker);
    }
    if (!worker.greeted)
        throw EnvironmentError("a worker ended before its first case: " + ended.end.cause());
    // A worker that lost its device says so after an answer; without one the case called exit.
    const bool lost_device =
        std::exchange(worker.is_unreachable, false) ||
        (worker.has_answered && ended.end.in_good_order() && !ended.end.exited_with(0));
    if (!lost_device && !worker.running.empty()) {
        const Task& task = worker.running.front();
        ended.had_all_its_time = task.patience == Patience::full ||
                                 (opens_gpu(worker) && !limits_.was_opened(task.work));
        note_fatal(task);
        const bool runs_again =
            !ended.end.took_long() && this->runs_again(worker, task, ended.history);
        ended.fatal = task;
        if (runs_again) {
            behind_others_.emplace(task.ticket, std::move(ended));
            return restart(worker);
        }
        behind_others_.erase(task.ticket);
        worker.running.pop_front();
    }
    if (worker.is_client()) owner_->forget(worker.client);
    restart(worker);
    if (!ended.fatal && ended.end.exited_with(0)) note_left(ended.history);
    if (ended.fatal || !ended.end.in_good_order()) events_.push_back(std::move(ended));
}

/// Whether a case that has failed, or ended its process, behind these is to run as the first of the
/// next: on a GPU that takes long, and nobody waits for it so.
bool Crew::runs_again(const Worker& worker, const Task& task, const WorkerHistory& history) {
    if (!owner_ || worker.is_client() || task.ticket < 0 || task.work.device != owner_->device())
        return false;
    bool& fails_alone = known_[task.work.kernel].fails_alone;
    fails_alone |= history.empty();
    return !fails_alone && !behind_others_.contains(task.ticket);
}

void Crew::note_left(const WorkerHistory& history) {
    for (const Task& task : history.in_order()) known_[task.work.kernel].has_left = true;
}

/// A case has ended its process: others may, too.
void Crew::note_fatal(const Task& task) {
    if (!owner_ || task.work.device != owner_->device()) return;
    most_answered_ = std::min(2 * most_answered_, answered_at_most);
    note_wrong(task.work.kernel);
}

/// From now on the owner does not call it.
void Crew::note_wrong(const Kernel* kernel) {
    KnownKernel& known = known_[kernel];
    known.is_wrong = true;
    changes_of_left_ += std::exchange(known.may_be_owned, false) ? 1 : 0;
}

/// A worker that uses the device itself has answered a case of this kernel.
void Crew::note_answered(const Kernel* kernel) {
    KnownKernel& known = known_[kernel];
    if (known.is_wrong || known.may_be_owned || ++known.answered < most_answered_) return;
    known.may_be_owned = true;
    ++changes_of_left_;
}

/// Has another process do what this worker's had in hand.
void Crew::restart(Worker& worker) {
    worker.waiting.insert(worker.waiting.begin(), std::make_move_iterator(worker.running.begin()),
                          std::make_move_iterator(worker.running.end()));
    worker.running.clear();
    send(worker);
}

/// Where the owner died of a client's call, that is the end of the client's case.
void Crew::take(DeviceOwner::Death death) {
    Ended ended{.end = std::move(death.end),
                .history = std::move(death.history),
                .had_several = death.had_several};
    if (death.client) {
        Worker& client = *workers_[using_device_ + static_cast<std::size_t>(*death.client)];
        // It may have answered other cases before the one that waits for the owner.
        receive(client);
        if (!owner_->has_asked(client.client)) return;
        ended.end.partners = client.process.end(0.0).partners;
        owner_->forget(client.client);
        client.history = {};
        note_fatal(client.running.front());
        ended.fatal = std::move(client.running.front());
        client.running.pop_front();
        restart(client);
    }
    events_.push_back(std::move(ended));
}

WorkerAllowance Crew::allowance(const Worker& worker) const {
    WorkerAllowance allowed{options_.start_seconds, options_.start_seconds, options_.start_seconds};
    const Task& task = worker.running.front();
    if (worker.greeted && !task.work.is_probe())
        allowed = limits_.allowance(task.work, task.patience, opens_gpu(worker));
    return allowed;
}

/// With its first task. To do so takes as long as a trial may.
bool Crew::opens_gpu(const Worker& worker) {
    const Task& task = worker.running.front();
    return !worker.is_client() && !worker.has_answered && task.ticket >= 0 &&
           task.work.device == "cuda";
}

/// Its calls in hand may take what the case with the longest limit may.
void Crew::watch_owner() {
    WorkerAllowance longest{};
    for (const auto& worker : workers_) {
        if (!worker->is_client() || worker->running.empty() || !owner_->has_asked(worker->client))
            continue;
        const WorkerAllowance allowed = allowance(*worker);
        if (allowed.cpu_seconds > longest.cpu_seconds) longest = allowed;
    }
    longest.memory_bytes = options_.memory_bytes;
    if (auto death = owner_->watch(longest)) take(std::move(*death));
}

void Crew::watch(Worker& worker) {
    if (!worker.process.runs() || worker.process.is_ending()) return;
    if (worker.process.has_ended()) {
        receive(worker);
        // If something that it started holds the pipe, reading never meets its end.
        if (worker.process.runs() && worker.process.has_ended()) bury(worker);
        return;
    }
    WorkerAllowance allowed{options_.start_seconds, options_.start_seconds, options_.start_seconds};
    const bool leaves = worker.retiring && worker.running.empty();
    if (leaves) {
        constexpr double longest = WorkerProcess::exit_seconds;
        allowed = {longest, longest, longest};
    } else if (worker.greeted) {
        if (worker.running.empty()) return;
        // While the owner makes its call, the owner is watched.
        if (worker.is_client() && owner_->has_asked(worker.client))
            return worker.begin_first(options_.shows_prints);
        allowed = allowance(worker);
    }
    allowed.memory_bytes = options_.memory_bytes;
    const auto why = worker.process.why_kill(allowed);
    if (why && !leaves) return bury(worker, *why);
    if (!why) return;
    // One that takes long to leave has done nothing wrong, but others are not to wait for it.
    replace(worker);
}

/// Another process goes on, and no case is charged.
void Crew::replace(Worker& worker) {
    worker.is_replaced = true;
    bury(worker, "replaced");
}

void Crew::poll_once(double seconds) {
    throw_if_interrupted();
    // For each worker the pipes of its answers, prints and requests; poll ignores -1.
    constexpr std::size_t pipes = 3;
    std::vector<pollfd> fds;
    bool any_ends = owner_ && owner_->is_ending();
    for (const auto& worker : workers_) {
        const WorkerProcess& process = worker->process;
        const bool is_read = !process.is_ending();
        any_ends |= process.is_ending();
        fds.push_back({.fd = is_read ? process.answer_fd() : -1, .events = POLLIN, .revents = 0});
        fds.push_back({.fd = is_read ? process.print_fd() : -1, .events = POLLIN, .revents = 0});
        fds.push_back({.fd = process.has_unsent() ? process.request_fd() : -1,
                       .events = POLLOUT,
                       .revents = 0});
    }
    if (owner_) {
        fds.push_back({.fd = owner_->answer_fd(), .events = POLLIN, .revents = 0});
        fds.push_back({.fd = owner_->print_fd(), .events = POLLIN, .revents = 0});
    }
    const double longest =
        std::clamp(seconds, 0.0, any_ends ? ending_seconds : look_interval_seconds);
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
        if (worker.process.is_ending()) see_end(worker);
    }
    if (owner_)
        if (auto death = owner_->look()) take(std::move(*death));
    const std::chrono::duration<double> since = Clock::now() - last_look_;
    if (since.count() < look_interval_seconds) return;
    for (std::size_t i = 0; i < workers_.size(); ++i) watch(*workers_[i]);
    if (owner_) watch_owner();
    last_look_ = Clock::now();
}

std::optional<Crew::Event> Crew::next(double seconds) {
    if (events_.empty()) poll_once(seconds);
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
}

std::vector<Crew::Ended> Crew::finish(double exit_seconds, const std::function<void()>& meanwhile) {
    std::vector<Ended> badly;
    for (const auto& worker : workers_) {
        // What a worker has in hand is given up, and so is that of one that is being ended.
        worker->is_replaced |= !worker->running.empty();
        if (!worker->process.runs() || worker->process.is_ending()) continue;
        worker->process.begin_end(exit_seconds, worker->is_replaced ? "not waited for" : "");
    }
    const auto runs = [](const auto& worker) { return worker->process.runs(); };
    for (; std::ranges::any_of(workers_, runs); std::this_thread::sleep_for(ending_pause)) {
        if (meanwhile) meanwhile();
        for (const auto& worker : workers_) {
            auto end = runs(worker) ? worker->process.try_end() : std::nullopt;
            if (!end) continue;
            WorkerHistory history = std::exchange(worker->history, {});
            // One that takes long to leave, on a busy machine or under a tool, has done nothing
            // wrong.
            if (end->exited_with(0)) note_left(history);
            if (std::exchange(worker->is_replaced, false) || end->closed_pipe ||
                end->in_good_order())
                continue;
            badly.push_back({.end = std::move(*end), .history = std::move(history)});
        }
    }
    if (!owner_) return badly;
    if (auto death = owner_->finish())
        badly.push_back({.end = std::move(death->end),
                         .history = std::move(death->history),
                         .had_several = death->had_several});
    return badly;
}

}  // namespace gradverify
