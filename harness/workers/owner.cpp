// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/owner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/workers/protocol.hpp"

namespace gradverify {

namespace {

constexpr int attempts = 3;
constexpr auto pause = std::chrono::milliseconds(500);
// On a GPU that others use, a process with large libraries takes seconds to begin.
constexpr double opening_seconds = 60.0;

}  // namespace

DeviceOwner::DeviceOwner(std::vector<std::string> command, std::string device, int clients,
                         std::shared_ptr<ForkServers> forks)
    : command_(std::move(command)),
      forks_(std::move(forks)),
      device_(std::move(device)),
      memory_(Exchange::make_memory(clients)),
      exchange_(memory_.get(), clients),
      clients_(clients) {}

std::string DeviceOwner::greeting(int client) const {
    return encode(AskOwner{.device = device_, .slots = clients_, .slot = client});
}

bool DeviceOwner::has_asked(int client) const { return exchange_.slot(client).is_asked(); }

void DeviceOwner::forget(int client) { exchange_.forget(client); }

bool DeviceOwner::is_asked() const {
    for (int i = 0; i < clients_; ++i)
        if (has_asked(i)) return true;
    return false;
}

void DeviceOwner::answered(const Task& task) { history_.add(task); }

void DeviceOwner::start() {
    exchange_.head().ends = false;
    // Before it runs: it may have made its first call, and died of it, before this thread goes on.
    rounds_at_start_ = exchange_.head().rounds;
    process_.start(command_, false, memory_.get(), forks_.get());
    process_.send(encode(ServeClients{.device = device_, .slots = clients_}));
    asked_.assign(static_cast<std::size_t>(clients_), {});
}

/// An owner that makes no call can't reach the device, or can't be started.
void DeviceOwner::count_idle_death(const WorkerEnd& end) {
    if (exchange_.head().rounds != rounds_at_start_) {
        idle_deaths_ = 0;
        return;
    }
    if (++idle_deaths_ == attempts)
        throw EnvironmentError(
            unreachable_.empty()
                ? fmt::format("the owner of the device {} ended before its first call: {}", device_,
                              end.cause())
                : fmt::format("{} (in {} new owners in a row)", unreachable_, attempts));
    std::this_thread::sleep_for(pause);
}

void DeviceOwner::leave_out(const Kernel& kernel) {
    const std::vector<Kernel>& all = Registry::instance().kernels();
    const auto found = std::ranges::find(all, &kernel, [](const Kernel& one) { return &one; });
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (place < std::min(all.size(), ExchangeHead::most_kernels))
        exchange_.head().is_left_out[place] = true;
}

/// The death of an owner, once all that it had in hand have been made alone, and no other has died.
std::optional<DeviceOwner::Death> DeviceOwner::unexplained() {
    if (!unclear_) return std::nullopt;
    for (int i = 0; i < clients_; ++i)
        if (has_asked(i) && exchange_.slot(i).is_suspect) return std::nullopt;
    constexpr int most_strikes = 2;
    for (const std::uint32_t kernel : std::exchange(in_hand_at_death_, {}))
        if (++strikes_[kernel] == most_strikes) exchange_.head().is_left_out[kernel] = true;
    // Clients may have answered since what the dead owner had called for them.
    for (Task& answered : std::exchange(history_, {}).in_order())
        unclear_->history.add(std::move(answered));
    return std::exchange(unclear_, std::nullopt);
}

std::optional<DeviceOwner::Death> DeviceOwner::bury(WorkerEnd end) {
    ExchangeHead& head = exchange_.head();
    const std::int32_t in_hand = head.in_hand.exchange(ExchangeHead::none);
    count_idle_death(end);
    Death death{.end = std::move(end), .history = {}, .client = {}};
    if (in_hand == ExchangeHead::several) {
        for (int i = 0; i < clients_; ++i) {
            exchange_.slot(i).is_suspect = has_asked(i);
            if (has_asked(i)) in_hand_at_death_.insert(exchange_.slot(i).call.kernel);
        }
        death.had_several = true;
        death.history = std::exchange(history_, {});
        unclear_ = std::move(death);
        return std::nullopt;
    }
    death.history = std::exchange(history_, {});
    // One that has lost the device in a call alone has answered it.
    if (in_hand == ExchangeHead::none || !has_asked(in_hand - 1))
        return death.end.in_good_order() ? std::nullopt : std::optional(std::move(death));
    death.client = in_hand - 1;
    unclear_.reset();
    in_hand_at_death_.clear();
    const std::uint32_t kernel = exchange_.slot(*death.client).call.kernel;
    head.is_left_out[kernel] = true;
    // Other calls of a kernel that hangs would take as long, one after the other.
    for (int i = 0; i < clients_; ++i)
        if (i != *death.client && has_asked(i) && exchange_.slot(i).call.kernel == kernel)
            exchange_.leave(i);
    return death;
}

std::optional<DeviceOwner::Death> DeviceOwner::look() {
    if (auto death = unexplained()) return death;
    if (!process_.runs()) {
        if (is_asked()) start();
        return std::nullopt;
    }
    if (process_.is_ending()) {
        auto end = process_.try_end();
        return end ? bury(std::move(*end)) : std::nullopt;
    }
    process_.read_prints();
    const bool says_more = process_.read_answers();
    while (const auto line = process_.next_line())
        if (line->starts_with("unreachable ")) unreachable_ = line->substr(line->find(' ') + 1);
    if (!says_more || process_.has_ended()) process_.begin_end(WorkerProcess::death_seconds);
    return std::nullopt;
}

std::optional<DeviceOwner::Death> DeviceOwner::watch(WorkerAllowance allowed) {
    if (auto death = look()) return death;
    if (!process_.runs() || process_.is_ending() || !is_asked()) return std::nullopt;
    if (exchange_.head().rounds != rounds_at_start_)
        unreachable_.clear();
    else
        allowed.cpu_seconds = allowed.cpu_seconds_in_all = allowed.sleep_seconds = opening_seconds;
    allowed.memory_bytes += exchange_.head().image_bytes;
    const std::int32_t in_hand = exchange_.head().in_hand;
    const bool is_same = std::exchange(in_hand_, in_hand) == in_hand;
    for (int i = 0; i < clients_; ++i) {
        auto& [turn, watchdog] = asked_[static_cast<std::size_t>(i)];
        const std::uint32_t turn_now = exchange_.slot(i).turn;
        if (std::exchange(turn, turn_now) != turn_now || !is_same) watchdog.case_begins();
        // What waits for a call that is made alone is not being made.
        if (!has_asked(i) || (in_hand > 0 && i != in_hand - 1)) continue;
        if (const auto why = process_.why_kill(allowed, watchdog)) {
            process_.begin_end(0.0, *why);
            return std::nullopt;
        }
    }
    return std::nullopt;
}

std::optional<DeviceOwner::Death> DeviceOwner::finish() {
    auto earlier = unexplained();
    if (is_asked()) process_.kill_now();
    if (!process_.runs()) return earlier;
    exchange_.head().ends = true;
    exchange_.ring();
    WorkerEnd end = process_.end(WorkerProcess::exit_seconds);
    if (end.closed_pipe || end.in_good_order()) return earlier;
    return Death{.end = std::move(end), .history = std::exchange(history_, {}), .client = {}};
}

}  // namespace gradverify
