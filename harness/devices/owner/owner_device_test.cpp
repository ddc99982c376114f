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

#include "harness/devices/call_note.hpp"
#include "harness/devices/launch.hpp"
#include "harness/devices/owner/exchange.hpp"
#include "harness/registry/not_supported.hpp"
#include "harness/testing/host_device.hpp"
#include "harness/testing/made_operator.hpp"

namespace gradverify {

namespace {

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

/// A device that is lost in its calls on this n, which makes no others.
class LosingDevice : public testing::FakeDevice {
  public:
    explicit LosingDevice(std::int64_t deadly_n) : deadly_n_(deadly_n) {}
    std::string_view name() const override { return "cpu"; }
    std::byte* own(int, std::size_t bytes) override {
        return static_cast<std::byte*>(std::malloc(bytes));
    }
    void run_owned(OwnedUnit& unit) override {
        for (OwnedCall* call : {unit.before ? &*unit.before : nullptr, &unit.call})
            if (call && n_of(call->call) == deadly_n_)
                call->status = {.error = "sticky", .device_lost = true};
    }

  private:
    std::int64_t deadly_n_;
};

struct Asked {
    std::string kernel;
    std::int64_t n = 1, before_n = 0;
    bool own_stream = false;
    std::vector<Array<double>> initial_outputs{};
};

/// Asks the owner, as a client's worker does.
class Client {
    static Problem problem_of(const Kernel& kernel, std::int64_t n) {
        Problem problem(kernel.op->space, 1);
        problem[0] = n;
        return problem;
    }
    static std::vector<Array<double>> inputs_of(std::int64_t n) {
        return {{{n, 1}, std::vector<double>(static_cast<std::size_t>(n), 3.0)}, {{1}, {2.0}}};
    }
    template <class Make>
    static auto with(const Asked& asked, const Make& make) {
        const Kernel& kernel = *Registry::instance().find_kernel("toy.forward/" + asked.kernel);
        Device& device = device_named("cpu");
        const Problem problem = problem_of(kernel, asked.n),
                      problem_before = problem_of(kernel, asked.before_n);
        const auto inputs = inputs_of(asked.n), inputs_before = inputs_of(asked.before_n);
        const Call before{
            .kernel = kernel, .device = device, .problem = problem_before, .inputs = inputs_before};
        Call call{.kernel = kernel,
                  .device = device,
                  .problem = problem,
                  .inputs = inputs,
                  .setting = {.own_stream = asked.own_stream},
                  .initial_outputs = asked.initial_outputs};
        if (asked.before_n > 0) call.before = &before;
        return make(call);
    }

  public:
    Client(int fd, int slots, int slot) { become_client("cpu", fd, slots, slot); }

    CallResult call(const Asked& asked) const {
        return with(asked, [](const Call& call) { return call_kernel(call); });
    }
    std::pair<CallResult, CallResult> twice(const Asked& asked) const {
        return with(asked, [](const Call& call) { return call_kernel_twice(call); });
    }
};

/// The error, or what the first element of y is.
std::string said(const CallResult& result) {
    if (!result.complaint().empty()) return result.complaint();
    return std::to_string(static_cast<int>(result.outputs[0].data[0]));
}
std::string said(const std::pair<CallResult, CallResult>& results) {
    return said(results.first) + ", " + said(results.second);
}

pid_t started(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    return child;
}
int exit_code_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What a client does, and tells.
using Work = std::function<std::string(const Client&)>;

struct Told {
    std::vector<std::string> clients;  ///< what each has told
    int owner_exit_code = -1;
};

/// Runs an owner and clients, in processes of their own. Calls are `suspect` if the owner may have
/// died of them before.
Told told_by(const std::vector<Work>& clients,
             const std::function<std::unique_ptr<Device>()>& device = {}, bool suspect = false) {
    const int slots = static_cast<int>(clients.size()), fd = Exchange::make_memory(slots);
    const Exchange exchange(fd, slots);
    for (int i = 0; i < slots; ++i) exchange.slot(i).is_suspect = suspect;
    const pid_t owner = started([&] {
        Registry::instance() = kernels();
        if (device) replace_device(device());
        return serve_clients("cpu", fd, slots);
    });
    std::vector<pid_t> children;
    std::vector<int> pipes;
    for (int i = 0; i < slots; ++i) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        children.push_back(started([&] {
            Registry::instance() = kernels();
            std::string told;
            try {
                told = clients[static_cast<std::size_t>(i)](Client(fd, slots, i));
            } catch (const NeedsDeviceItself&) {
                told = "elsewhere";
            } catch (const std::exception& wrong) {
                told = wrong.what();
            }
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

std::string told_by(const Work& client) {
    const Told told = told_by(std::vector{client});
    CHECK(told.owner_exit_code == 0);
    return told.clients[0];
}

}  // namespace

TEST_CASE("the call before is made with the next call, once, in memory of its own") {
    CHECK(told_by([](const Client& client) {
              std::string all = said(client.call({.kernel = "last_n", .n = 4, .before_n = 70}));
              all += " " + said(client.call({.kernel = "last_n", .n = 5}));
              all += " " + said(client.twice({.kernel = "last_n", .n = 6, .before_n = 3}));
              return all + " " + said(client.call({.kernel = "counts", .before_n = 900}));
          }) == "70 4 3, 6 2");
    CHECK(told_by([](const Client& client) {
              return said(client.twice({.kernel = "same_place", .before_n = 1}));
          }) == "0, 1");
}

TEST_CASE("a kernel is given the stream that it is called on, and after the default one") {
    CHECK(told_by([](const Client& client) {
              std::string all;
              for (const std::int64_t before_n : {0, 2})
                  for (const bool own_stream : {true, false})
                      all += said(client.call(
                          {.kernel = "stream", .before_n = before_n, .own_stream = own_stream}));
              return all;
          }) == "1010");
}

TEST_CASE("a call that is repeated finds what the first left, or what the first found") {
    CHECK(told_by([](const Client& client) {
              return said(client.twice({.kernel = "adds_one", .n = 2}));
          }) == "1, 2");
    CHECK(told_by([](const Client& client) {
              const Array<double> old{{2, 1}, {10.0, 10.0}};
              return said(
                  client.twice({.kernel = "accumulates", .n = 2, .initial_outputs = {old}}));
          }) == "11, 11");
}

TEST_CASE("a call is not repeated once it has failed; a call before may fail") {
    CHECK(told_by([](const Client& client) {
              std::string all = said(client.twice({.kernel = "throws_on_two", .n = 2}));
              for (const char* kernel : {"throws_on_two", "refuses_two"})
                  all += "; " + said(client.call({.kernel = kernel, .n = 1, .before_n = 2}));
              return all;
          }) == "the launcher threw: no plan, the launcher threw: no plan; 3; 5");
}

TEST_CASE("a call that could not be asked for leaves nothing to the next one") {
    CHECK(told_by([](const Client& client) {
              const Array<double> too_many{{1, 1}, {1.0, 2.0}};
              try {
                  client.call({.kernel = "last_n", .before_n = 7, .initial_outputs = {too_many}});
              } catch (const std::logic_error&) {
                  return said(client.call({.kernel = "last_n"}));
              }
              return std::string("called");
          }) == "0");
    CHECK(told_by([](const Client& client) {
              try {
                  client.call({.kernel = "last_n", .before_n = too_large});
              } catch (const NeedsDeviceItself&) {
                  return said(client.call({.kernel = "last_n"}));
              }
              return std::string("called");
          }) == "0");
}

TEST_CASE("between a call before and the next call nobody else's call is made") {
    std::vector<Work> clients;
    for (int i = 1; i <= 4; ++i)
        clients.emplace_back([i](const Client& client) {
            for (int round = 0; round < 200; ++round) {
                const std::string found =
                    said(client.call({.kernel = "last_n", .n = 100, .before_n = i}));
                if (found != std::to_string(i)) return found;
            }
            return std::string("right");
        });
    const Told told = told_by(clients);
    CHECK(told.clients == std::vector<std::string>(4, "right"));
}

TEST_CASE("what no owner is to make is left to those that use the device themselves") {
    const int fd = Exchange::make_memory(1);
    const Exchange exchange(fd, 1);
    const pid_t client = started([&] {
        Registry::instance() = kernels();
        const Client one(fd, 1, 0);
        try {
            one.call({.kernel = "counts"});
        } catch (const NeedsDeviceItself&) {
            return 3;
        }
        return 0;
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
        Registry::instance() = kernels();
        Client(fd, 1, 0).call({.kernel = "counts"});
        return 0;
    });
    const pid_t owner = started([&] {
        Registry::instance() = kernels();
        replace_device(std::make_unique<LosingDevice>(1));
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
    const Work call = [](const Client& client) {
        const std::string error = said(client.call({.kernel = "counts", .before_n = 2}));
        return error + (device_was_lost() ? "; lost" : "");
    };
    const auto check_lost = [&](std::int64_t deadly_n, const std::string& error) {
        CAPTURE(deadly_n);
        const Told told = told_by(
            std::vector{call}, [&] { return std::make_unique<LosingDevice>(deadly_n); }, true);
        CHECK(told.clients[0] == error);
        CHECK(told.owner_exit_code == worker_exit_device_lost);
    };
    check_lost(1, "sticky; lost");
    check_lost(2, "sticky in the call before, on n=2,in=1; lost");
}

TEST_CASE("a kernel whose launcher takes long is left to those that use the device themselves") {
    class Planning : public LosingDevice {
      public:
        Planning() : LosingDevice(0) {}
        void run_owned(OwnedUnit& unit) override {
            std::memset(unit.call.left, 0, unit.call.bytes);
            unit.call.launcher_seconds = n_of(unit.call.call) == 2 ? 0.001 : 0.0001;
        }
    };
    const auto calls_of = [](const char* kernel, std::int64_t n) {
        return [=](const Client& client) {
            int calls = 0;
            try {
                for (; calls < 50; ++calls) client.call({.kernel = kernel, .n = n});
            } catch (const NeedsDeviceItself&) {
            }
            return std::to_string(calls);
        };
    };
    const Told told = told_by({calls_of("counts", 2), calls_of("stream", 1)},
                              [] { return std::make_unique<Planning>(); });
    CHECK(told.clients == std::vector<std::string>{"9", "50"});
    CHECK(told.owner_exit_code == 0);
}

TEST_CASE("what is wrong with the owner's device is left to those that use it themselves") {
    class Faulty : public LosingDevice {
      public:
        Faulty() : LosingDevice(0) {}
        void run_owned(OwnedUnit&) override { throw std::runtime_error("no stream"); }
    };
    const Work call = [](const Client& client) { return said(client.call({.kernel = "counts"})); };
    const Told faulty = told_by(std::vector{call}, [] { return std::make_unique<Faulty>(); }, true);
    CHECK(faulty.clients[0] == "elsewhere");
    CHECK(faulty.owner_exit_code == worker_exit_device_lost);
    class Full : public LosingDevice {
      public:
        Full() : LosingDevice(0) {}
        std::byte* own(int, std::size_t) override { throw std::runtime_error("no memory"); }
    };
    const Told full = told_by(std::vector{call}, [] { return std::make_unique<Full>(); });
    CHECK(full.clients[0] == "elsewhere");
    CHECK(full.owner_exit_code == 0);
}

}  // namespace gradverify
