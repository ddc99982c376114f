// SPDX-License-Identifier: Apache-2.0
// How an owner makes the calls of clients, each in a process of its own. What becomes of kernels
// that crash is in properties/tests/misbehaving_test.cpp.
#include "harness/devices/owner/owner_device.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/base/text.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/devices/launch.hpp"
#include "harness/devices/owner/exchange.hpp"
#include "harness/registry/not_supported.hpp"
#include "harness/testing/host_device.hpp"
#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;

// ---- kernels, which write one number into all of y; what they keep is the owner's

int made = 0;
std::int64_t last_n = 0;

std::int64_t n_of(const PassCall& call) { return call.problem.scalar("n"); }

void fill(const PassCall& call, double value) {
    const TensorView& y = call.tensors[2];
    for (std::int64_t i = 0; i < y.elements(); ++i) y.as<float>()[i] = static_cast<float>(value);
}

/// At this n `last_n` wants more than the memory that is shared with an owner.
constexpr std::int64_t too_large = 9;

std::int64_t workspace_at(const Problem& problem) {
    return problem.scalar("n") == too_large ? std::int64_t{1} << 33 : 0;
}
void tell_last_n(const PassCall& call) {
    const std::int64_t n = std::exchange(last_n, n_of(call));
    fill(call, static_cast<double>(n));
}
void count_calls(const PassCall& call) { fill(call, ++made); }
/// What y held, and one more; poison counts for nothing.
void add_one(const PassCall& call) {
    const float old = *call.tensors[2].as<float>();
    fill(call, std::isnan(old) ? 1.0 : old + 1.0);
}
void tell_stream(const PassCall& call) { fill(call, call.launch.stream ? 1.0 : 0.0); }
/// Whether y lies where it lay in the call before.
void tell_same_place(const PassCall& call) {
    static const void* last_place = nullptr;
    const void* const place = call.tensors[2].data;
    fill(call, std::exchange(last_place, place) == place ? 1.0 : 0.0);
}
void throw_on_two(const PassCall& call) {
    ++made;
    if (n_of(call) == 2) throw std::runtime_error("no plan");
    fill(call, made);
}
void refuse_two(const PassCall& call) {
    ++made;
    if (n_of(call) == 2) throw NotSupported("even");
    fill(call, made);
}

Registry kernels() {
    const auto kernel = [](const char* name, KernelDeclaration::Thunk thunk) {
        KernelDeclaration declared = testing::toy_kernel(name);
        declared.thunk = thunk;
        return declared;
    };
    return testing::registry_of(
        {kernel("last_n", tell_last_n).workspace(workspace_at), kernel("counts", count_calls),
         kernel("adds_one", add_one), kernel("accumulates", add_one).adds_to_outputs(),
         kernel("stream", tell_stream), kernel("same_place", tell_same_place),
         kernel("throws_on_two", throw_on_two), kernel("refuses_two", refuse_two).may_refuse()});
}

/// What a device does in place of a client's calls.
using Act = std::function<void(OwnedUnit&)>;

class ActingDevice : public testing::FakeDevice {
  public:
    explicit ActingDevice(Act act, bool has_memory = true)
        : act_(std::move(act)), has_memory_(has_memory) {}
    std::string_view name() const override { return "cpu"; }
    std::byte* own(int, std::size_t bytes) override {
        if (!has_memory_) throw std::runtime_error("no memory");
        return static_cast<std::byte*>(std::malloc(bytes));
    }
    void run_owned(OwnedUnit& unit) override { act_(unit); }

  private:
    Act act_;
    bool has_memory_;
};

/// The device is lost in calls on this n.
Act lost_on(std::int64_t deadly_n) {
    return [deadly_n](OwnedUnit& unit) {
        for (OwnedCall* call : {unit.before ? &*unit.before : nullptr, &unit.call})
            if (call && n_of(call->call) == deadly_n)
                call->status = {.error = "sticky", .device_lost = true};
    };
}

struct Asked {
    std::string kernel;
    std::int64_t n = 1, before_n = 0;
    bool own_stream = false, is_repeated = false;
    std::vector<Array<double>> initial_outputs{};
};

Problem problem_of(const Kernel& kernel, std::int64_t n) {
    Problem problem(kernel.op->space, 1);
    problem[0] = n;
    return problem;
}

std::vector<Array<double>> inputs_of(std::int64_t n) {
    return {{{n, 1}, std::vector<double>(static_cast<std::size_t>(n), 3.0)}, {{1}, {2.0}}};
}

/// The error, or what the first element of y is.
std::string said(const CallResult& result) {
    if (!result.complaint().empty()) return result.complaint();
    return std::to_string(static_cast<int>(result.outputs[0].data[0]));
}

/// What a client is told of a call, or of both.
std::string said(const Asked& asked) {
    const Kernel& kernel = *Registry::instance().find_kernel("toy.forward/" + asked.kernel);
    Device& device = device_named("cpu");
    const Problem problem = problem_of(kernel, asked.n),
                  problem_before = problem_of(kernel, asked.before_n);
    const auto inputs = inputs_of(asked.n), inputs_before = inputs_of(asked.before_n);
    const Call before{
        .kernel = kernel, .device = device, .problem = problem_before, .inputs = inputs_before};
    const Call call{.kernel = kernel,
                    .device = device,
                    .problem = problem,
                    .inputs = inputs,
                    .setting = {.own_stream = asked.own_stream},
                    .initial_outputs = asked.initial_outputs,
                    .before = asked.before_n > 0 ? &before : nullptr};
    if (!asked.is_repeated) return said(call_kernel(call));
    const auto [first, second] = call_kernel_twice(call);
    return said(first) + ", " + said(second);
}

/// What a client does, and tells.
using Work = std::function<std::string()>;

/// What the work tells, or how it ended.
std::string told_of(const Work& work) {
    try {
        return work();
    } catch (const NeedsDeviceItself&) {
        return "elsewhere";
    } catch (const std::exception& wrong) {
        return wrong.what();
    }
}

pid_t started(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        Registry::instance() = kernels();
        _exit(work());
    }
    return child;
}
int exit_code_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Told {
    std::vector<std::string> clients;  ///< what each has told
    int owner_exit_code = -1;
};

/// Runs an owner and clients, each a process. An owner may have died of calls that are `suspect`.
Told told_by(const std::vector<Work>& clients,
             const std::function<std::unique_ptr<Device>()>& device = {}, bool suspect = false) {
    const int slots = static_cast<int>(clients.size()), fd = Exchange::make_memory(slots);
    const Exchange exchange(fd, slots);
    for (int i = 0; i < slots; ++i) exchange.slot(i).is_suspect = suspect;
    const pid_t owner = started([&] {
        if (device) replace_device(device());
        return serve_clients("cpu", fd, slots);
    });
    std::vector<pid_t> children;
    std::vector<int> pipes;
    for (int i = 0; i < slots; ++i) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        children.push_back(started([&] {
            become_client("cpu", fd, slots, i);
            const std::string told = told_of(clients[static_cast<std::size_t>(i)]);
            return write(ends[1], told.data(), told.size()) < 0 ? 1 : 0;
        }));
        close(ends[1]);
        pipes.push_back(ends[0]);
    }
    Told told;
    for (const int from : pipes) {
        std::string& text = told.clients.emplace_back();
        char letter = 0;
        while (read(from, &letter, 1) == 1) text += letter;
        close(from);
    }
    for (const pid_t child : children) CHECK(exit_code_of(child) == 0);
    exchange.head().ends = true;
    exchange.ring();
    told.owner_exit_code = exit_code_of(owner);
    close(fd);
    return told;
}

/// What a client is told that makes these calls one after the other.
std::string told_of_calls(const std::vector<Asked>& calls) {
    const Work work = [&] {
        std::vector<std::string> all;
        for (const Asked& asked : calls) all.push_back(told_of([&] { return said(asked); }));
        return joined(all, "; ");
    };
    const Told told = told_by({work});
    CHECK(told.owner_exit_code == 0);
    return told.clients[0];
}

}  // namespace

TEST_CASE("the call before is made with the next call, once, in memory of its own") {
    CHECK(told_of_calls({{.kernel = "last_n", .n = 4, .before_n = 70},
                         {.kernel = "last_n", .n = 5},
                         {.kernel = "last_n", .n = 6, .before_n = 3, .is_repeated = true},
                         {.kernel = "counts", .before_n = 900}}) == "70; 4; 3, 6; 2");
    CHECK(told_of_calls({{.kernel = "same_place", .before_n = 1, .is_repeated = true}}) == "0, 1");
}

TEST_CASE("a kernel is given the stream that it is called on, and after the default one") {
    CHECK(told_of_calls({{.kernel = "stream", .own_stream = true},
                         {.kernel = "stream"},
                         {.kernel = "stream", .before_n = 2, .own_stream = true},
                         {.kernel = "stream", .before_n = 2}}) == "1; 0; 1; 0");
}

TEST_CASE("a call that is repeated finds what the first left, or what the first found") {
    CHECK(told_of_calls({{.kernel = "adds_one", .n = 2, .is_repeated = true}}) == "1, 2");
    const Array<double> old{{2, 1}, {10.0, 10.0}};
    CHECK(told_of_calls(
              {{.kernel = "accumulates", .n = 2, .is_repeated = true, .initial_outputs = {old}}}) ==
          "11, 11");
}

TEST_CASE("a call is not repeated once it has failed; a call before may fail") {
    CHECK(told_of_calls({{.kernel = "throws_on_two", .n = 2, .is_repeated = true},
                         {.kernel = "throws_on_two", .before_n = 2},
                         {.kernel = "refuses_two", .before_n = 2}}) ==
          "the launcher threw: no plan, the launcher threw: no plan; 3; 5");
}

TEST_CASE("a call that could not be asked for leaves nothing to the next one") {
    const Array<double> too_many{{1, 1}, {1.0, 2.0}};
    CHECK(told_of_calls({{.kernel = "last_n", .before_n = 7, .initial_outputs = {too_many}},
                         {.kernel = "last_n"}}) == "Arena::write: 2 values for the buffer y; 0");
    CHECK(told_of_calls({{.kernel = "last_n", .before_n = too_large}, {.kernel = "last_n"}}) ==
          "elsewhere; 0");
}

TEST_CASE("between a call before and the next call nobody else's call is made") {
    std::vector<Work> clients;
    for (int i = 1; i <= 4; ++i)
        clients.emplace_back([i] {
            for (int round = 0; round < 200; ++round) {
                const std::string found = said({.kernel = "last_n", .n = 100, .before_n = i});
                if (found != std::to_string(i)) return found;
            }
            return std::string("right");
        });
    CHECK(told_by(clients).clients == std::vector<std::string>(4, "right"));
}

TEST_CASE("what no owner is to make is left to those that use the device themselves") {
    const int fd = Exchange::make_memory(1);
    const Exchange exchange(fd, 1);
    const pid_t client = started([&] {
        become_client("cpu", fd, 1, 0);
        return told_of([] { return said({.kernel = "counts"}); }) == "elsewhere" ? 3 : 0;
    });
    while (!exchange.slot(0).is_asked()) usleep(1000);
    exchange.leave(0);
    CHECK(exit_code_of(client) == 3);
    CHECK_FALSE(exchange.slot(0).is_left);
    close(fd);
}

TEST_CASE("a device that is lost in a call beside others is told to nobody, and the owner ends") {
    const int fd = Exchange::make_memory(1);
    const Exchange exchange(fd, 1);
    const pid_t client = started([&] {
        become_client("cpu", fd, 1, 0);
        said({.kernel = "counts"});
        return 0;
    });
    const pid_t owner = started([&] {
        replace_device(std::make_unique<ActingDevice>(lost_on(1)));
        return serve_clients("cpu", fd, 1);
    });
    CHECK(exit_code_of(owner) == worker_exit_device_lost);
    CHECK(exchange.slot(0).is_asked());
    CHECK(exchange.head().in_hand == ExchangeHead::several);
    kill(client, SIGKILL);
    exit_code_of(client);
    close(fd);
}

TEST_CASE("a device that is lost is told with the call that has lost it, and the owner ends") {
    const Work call = [] {
        const std::string error = said({.kernel = "counts", .before_n = 2});
        return error + (device_was_lost() ? "; lost" : "");
    };
    for (const auto& [deadly_n, error] :
         {std::pair(1, "sticky; lost"),
          std::pair(2, "sticky in the call before, on n=2,in=1; lost")}) {
        const auto device = [n = deadly_n] { return std::make_unique<ActingDevice>(lost_on(n)); };
        const Told told = told_by({call}, device, true);
        CHECK(told.clients[0] == error);
        CHECK(told.owner_exit_code == worker_exit_device_lost);
    }
}

TEST_CASE("a kernel whose launcher takes long is left to those that use the device themselves") {
    const Act plan = [](OwnedUnit& unit) {
        std::memset(unit.call.left, 0, unit.call.bytes);
        unit.call.launcher_seconds = n_of(unit.call.call) == 2 ? 0.001 : 0.0001;
    };
    const auto calls_of = [](const char* kernel, std::int64_t n) {
        return [=] {
            int calls = 0;
            try {
                for (; calls < 50; ++calls) said({.kernel = kernel, .n = n});
            } catch (const NeedsDeviceItself&) {
            }
            return std::to_string(calls);
        };
    };
    const Told told = told_by({calls_of("counts", 2), calls_of("stream", 1)},
                              [&] { return std::make_unique<ActingDevice>(plan); });
    CHECK(told.clients == std::vector<std::string>{"9", "50"});
    CHECK(told.owner_exit_code == 0);
}

TEST_CASE("what is wrong with the owner's device is left to those that use it themselves") {
    const Work call = [] { return said({.kernel = "counts"}); };
    const Act fail = [](OwnedUnit&) { throw std::runtime_error("no stream"); };
    for (const bool has_memory : {true, false}) {
        CAPTURE(has_memory);
        const auto device = [&] { return std::make_unique<ActingDevice>(fail, has_memory); };
        const Told told = told_by({call}, device, has_memory);
        CHECK(told.clients[0] == "elsewhere");
        CHECK(told.owner_exit_code == (has_memory ? worker_exit_device_lost : 0));
    }
}
