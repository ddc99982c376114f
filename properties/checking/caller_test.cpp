// SPDX-License-Identifier: Apache-2.0
// How a case's kernel and its partners are called: in which surroundings, after which other call,
// and what becomes of one that refuses, or that loses the device.
#include "properties/checking/caller.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/registry/not_supported.hpp"
#include "harness/testing/host_device.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr double nap = 0.002;
int calls_on_two = 0, calls_till_nap = 0;

void launch_sleepy(const PassCall& call) {
    calls_on_two += call.problem.scalar("n") == 2;
    if (calls_till_nap-- == 0) std::this_thread::sleep_for(std::chrono::duration<double>(nap));
    launch_scaled(call);
}

void launch_adding(const PassCall& call) {
    for (std::int64_t i = 0; i < call.problem.scalar("n"); ++i) {
        Elements(call, "y").add(i, 100.0);
        Elements(call, "kept").add(i, 200.0);
    }
}

std::vector<std::vector<double>> seen;  ///< what a launcher is given, at each call
void launch_seeing(const PassCall& call) {
    std::vector<double>& all = seen.emplace_back();
    for (const char* name : {"index", "x", "w", "b"}) {
        const Elements tensor(call, name);
        for (std::int64_t i = 0; i < tensor.view.elements(); ++i) all.push_back(tensor[i]);
        all.push_back(INFINITY);  // the end of one
    }
    launch_scaled(call);
}

void refuse(const PassCall&) { throw NotSupported("too odd"); }

void throw_place(const PassCall&) {
    throw std::runtime_error(std::filesystem::current_path().string() + "/k.cu:3: no memory");
}
void throw_on_two(const PassCall& call) {
    if (call.problem.scalar("n") == 2) throw std::runtime_error("dead");
    launch_scaled(call);
}

void leave_alarm(const PassCall& call) {
    launch_scaled(call);
    alarm(1000);
}

const Registry& kernels() {
    static const auto registry = [] {
        std::vector<KernelDeclaration> all{
            scaled_kernel("sleepy", launch_sleepy),
            scaled_kernel("sleepy", launch_sleepy),
            scaled_kernel("right"),
            scaled_kernel("seeing", launch_seeing).with_empty_problems(),
            scaled_kernel("adds", launch_adding).adds_to_outputs(),
            scaled_kernel("refuses", refuse).may_refuse(),
            scaled_kernel("throws_on_two", throw_on_two),
            scaled_kernel("throws_place", throw_place),
            scaled_kernel("leaves_alarm", leave_alarm),
            scaled_kernel("tensor_cores").on_tensor_cores()};
        all[1].device = checked_variant;
        return registry_of(all, scaled());
    }();
    return registry;
}

const Kernel& named(const std::string& kernel) {
    return *kernels().find_kernel("scaled.forward/" + kernel);
}

struct CallScene : Scene {
    CallScene(const std::string& kernel, const std::string& rest)
        : Scene(kernels(), "scaled.forward/" + kernel, rest) {}

    CallResult call(const std::string& partner) { return caller.call(named(partner), given()); }
    CallResult call_itself() { return caller.call(kernel(), given()); }
};

std::string letter_of(Poison poison) {
    return poison == Poison::nan ? "n" : poison == Poison::positive_huge ? "+" : "-";
}

class OverlappingDevice : public FakeDevice {
  public:
    bool overlaps_streams() const override { return true; }
};

/// Notes how many runs are to follow on each other, and on which n they are.
class NotingDevice : public FakeDevice {
  public:
    explicit NotingDevice(std::string& noted) : noted_(noted) {}
    std::string_view name() const override { return "cpu"; }
    void begin(const RunSequence& sequence) override {
        noted_ += sequence.has_before ? "before " : "";
        noted_ += sequence.is_repeated ? "twice: " : "once: ";
    }
    RunStatus run(const KernelDeclaration&, const PassCall& call, const Setting&,
                  DelayedStream) override {
        noted_ += std::to_string(call.problem.scalar("n")) + " ";
        return {};
    }

  private:
    std::string& noted_;
};

/// It is lost in a run on n=2, and says so then or, as an owner's client, after the next.
class LosingDevice : public FakeDevice {
  public:
    explicit LosingDevice(bool is_late) : is_late_(is_late) {}
    std::string_view name() const override { return "cpu"; }
    RunStatus run(const KernelDeclaration&, const PassCall& call, const Setting&,
                  DelayedStream) override {
        const bool is_two = call.problem.scalar("n") == 2;
        if (is_two == is_late_) return {};
        return {.error = "sticky", .device_lost = true, .lost_before = is_late_};
    }

  private:
    bool is_late_;
};

/// Whether a condition holds in a process of its own.
bool holds_apart(const std::function<bool()>& condition) {
    const pid_t child = fork();
    if (child == 0) {
        const auto holds = [&]() noexcept { return condition(); };
        _exit(holds() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
}

/// Whether a condition holds in a process that has lost its device.
bool holds_without_device(const std::function<bool()>& condition) {
    return holds_apart([&] {
        FakeDevice device;
        device.launcher = [](const PassCall&) {
            return RunStatus{.error = "lost", .device_lost = true};
        };
        const CallScene scene("right", "n=1:seed=1");
        run_launcher(device, scene.declaration(),
                     {.problem = scene.problem(), .tensors = {}, .launch = {}}, {},
                     DelayedStream::none);
        return condition();
    });
}

}  // namespace

TEST_CASE(
    "the dense draws of a problem meet each edge, each parity, and huge numbers of each sign") {
    const Surroundings turns[] = {{Poison::nan, 0, Edge::end},
                                  {Poison::nan, 1, Edge::begin},
                                  {Poison::positive_huge, 1, Edge::end},
                                  {Poison::negative_huge, 0, Edge::begin}};
    for (int draw = 1; draw <= 8; ++draw) {
        CAPTURE(draw);
        CHECK(CallScene("right", "n=1:dense=" + std::to_string(draw)).caller.surroundings() ==
              turns[(draw - 1) % 4]);
    }
}

TEST_CASE("a seed's surroundings stay what they were, so that a printed case fails again") {
    std::string parities, edges, poisons;
    for (int seed = 0; seed < 64; ++seed) {
        const Surroundings drawn =
            CallScene("right", "n=1:seed=" + std::to_string(seed)).caller.surroundings();
        parities += std::to_string(drawn.guard_parity);
        edges += drawn.edge == Edge::end ? "e" : "b";
        poisons += letter_of(drawn.poison);
    }
    CHECK(parities == "1111001000100100001010110001101010011111100110011000101000011001");
    CHECK(edges == "bebebbbbeeeeebbbbbebbbeeeebebbbeeebbeebbbebeebebeebbeebebbbbebee");
    CHECK(poisons == "nnnnnnnnnnnnnnnnnn+nn-nnnn--nnn+n-nnnnnnnnn+n+++-n-nnn+nnn+nnnnn");
}

TEST_CASE("streams are delayed in turn where there are two whose work may overlap") {
    using enum DelayedStream;
    using Streams = std::vector<DelayedStream>;
    const FakeDevice in_order;
    const OverlappingDevice overlapping;
    CHECK(streams_to_delay({.own_stream = true}, overlapping) == Streams{default_stream, given});
    CHECK(streams_to_delay({.own_stream = false}, overlapping) == Streams{none});
    CHECK(streams_to_delay({.own_stream = true}, in_order) == Streams{none});
}

TEST_CASE("the call before comes once, and the seconds of all calls count") {
    CallScene scene("sleepy", "n=1:seed=1:before=n=2");
    calls_on_two = 0;
    const auto check_counts_nap_of = [&](int which, const auto& call) {
        const double before = scene.caller.seconds();
        calls_till_nap = which;
        call();
        CHECK(scene.caller.seconds() - before >= nap);
    };
    const auto once = [&] { CHECK(scene.call_itself().ran()); };
    const auto twice = [&] { CHECK(scene.caller.call_twice(scene.given(), {}).second.ran()); };
    const auto checked = [&] { CHECK(scene.caller.call_checked(scene.given()).ran()); };
    const auto held = [&] { CHECK(scene.caller.call_with_outputs({}, scene.given()).ran()); };
    check_counts_nap_of(0, once);  // of the call before
    check_counts_nap_of(0, once);
    check_counts_nap_of(0, twice);
    check_counts_nap_of(1, twice);
    check_counts_nap_of(0, checked);
    check_counts_nap_of(0, held);
    CHECK(calls_on_two == 1);
    CallScene of_right("right", "n=1:seed=1");
    calls_till_nap = 0;
    CHECK(of_right.call("sleepy").ran());
    CHECK(of_right.caller.seconds() >= nap);
}

TEST_CASE("on its own problem the call before has the case's data but for one middle element") {
    // Of n = 0 only w has an element; indices below 1 differ nowhere.
    for (const auto& [n, tensors] :
         {std::pair{0, std::string("wwwwwwwwwwww")}, {1, "xxxwxxbxwxxx"}, {9, "xxxwxxbxwxxx"}}) {
        std::string changed;
        for (int seed = 1; seed <= 12; ++seed) {
            seen.clear();
            CallScene scene("seeing", fmt::format("n={0}:seed={1}:before=n={0}", n, seed));
            CHECK(scene.call_itself().ran());
            REQUIRE(seen.size() == 2);
            REQUIRE(seen[0].size() == seen[1].size());
            const auto size = static_cast<std::size_t>(n);
            for (std::size_t i = 0, begin = 0; i < seen[0].size(); ++i) {
                const std::size_t which = i < size           ? 0
                                          : i < 2 * size + 1 ? 1
                                          : i < 2 * size + 3 ? 2
                                                             : 3;
                begin = which == 0   ? 0
                        : which == 1 ? size + 1
                        : which == 2 ? 2 * size + 2
                                     : 2 * size + 4;
                if (seen[0][i] == seen[1][i]) continue;
                changed += "ixwb"[which];
                CHECK(i == begin + (which == 2 ? 0 : size / 2));
            }
        }
        CHECK(changed == tensors);
    }
}

TEST_CASE("the call before changes no lengths, no order, no saved output, and nothing in blocks") {
    const auto changed_in = [](OperatorDeclaration declared, const char* pass,
                               KernelDeclaration kernel) {
        static std::vector<std::map<std::string, std::vector<double>>> calls;
        calls.clear();
        kernel.thunk = [](const PassCall& call) {
            auto& given = calls.emplace_back();
            for (std::size_t i = 0; i < call.tensors.size() - call.outputs; ++i) {
                const Elements tensor(call.tensors[i]);
                for (std::int64_t j = 0; j < tensor.view.elements(); ++j)
                    given[call.names[i]].push_back(tensor[j]);
            }
        };
        std::set<std::string> changed;
        for (int seed = 0; seed < 16; ++seed) {
            const auto rest = fmt::format("n=2,rows=3:seed={}:before=n=2,rows=3", seed);
            MadeCase made({declared}, pass, kernel, rest);
            made.caller.call(made.kernel(), made.given());
        }
        for (std::size_t i = 0; i < calls.size(); i += 2) {
            std::set<std::string> here;
            for (const auto& [name, values] : calls[i])
                if (values != calls[i + 1].at(name)) here.insert(name);
            // Almost all do where no other number was drawn for the one.
            if (here.size() <= 2) changed.merge(here);
        }
        return changed;
    };
    const auto base = [] {
        return declare_operator("kept")
            .parameter("n")
            .parameter("rows")
            .input("length", {"n"}, lengths_up_to("rows"))
            .input("order", {"n"}, sorted_indices_below("rows"))
            .input("x", {"n", "rows"})
            .input("w", {"n", 32})
            .output("y", {"n", "rows"})
            .saved("s", {"n"})
            .gradient("by_saved", {"dy", "s", "length"}, {"dx"})
            .forward([]<class T>(const ForwardCall<T>& call) {
                const auto length = call.indices("length");
                for (std::int64_t i = 0; i < call.parameter("n"); ++i) {
                    call.output("s")(i) = call.input("w")(i, 0);
                    for (std::int64_t j = 0; j < length(i); ++j)
                        call.output("y")(i, j) = call.input("x")(i, j) * call.output("s")(i);
                }
            });
    };
    using Names = std::set<std::string>;
    const KernelDeclaration in_blocks = KernelDeclaration().block_scaled("w", mxfp8);
    CHECK(changed_in(base().padded("x", "length"), "forward", in_blocks) == Names{"x"});
    CHECK(changed_in(base().padded("y", "length"), "forward", {}) == Names{"w", "x"});
    CHECK(changed_in(base(), "by_saved", {}) == Names{"dy", "length"});
}

TEST_CASE("the first call follows on the call before, and the second of two on the first") {
    CHECK(holds_apart([] {
        std::string noted;
        replace_device(std::make_unique<NotingDevice>(noted));
        CallScene scene("right", "n=1:seed=1:before=n=2");
        scene.call("adds");
        scene.call_itself();
        scene.call_itself();
        scene.caller.call_twice(scene.given(), {});
        CallScene twice("right", "n=1:seed=1:before=n=2");
        twice.caller.call_twice(twice.given(), {});
        return noted == "once: 1 before once: 2 1 once: 1 twice: 1 1 before twice: 2 1 1 ";
    }));
}

TEST_CASE("a kernel is called on what its outputs hold, a partner is noted and is not") {
    note_case();
    const auto noted = [] { return std::string(worker_note().partners.data()); };
    CallScene scene("adds", "n=5:seed=1");
    const CallResult own = scene.call_itself();
    CHECK(noted().empty());
    auto expected = scene.inputs.initial_outputs();
    for (double& value : expected[0].data) value += 100.0;
    for (double& value : expected[1].data) value += 200.0;
    CHECK(own.outputs[0].data == expected[0].data);
    CHECK(own.outputs[1].data == expected[1].data);
    const auto inputs = scene.given();
    CHECK(scene.call("right").outputs[1].data == inputs[1].data);
    CHECK(noted() == "scaled.forward/right ");
    note_case();
}

TEST_CASE("a kernel that refuses is not served; of a partner that is an error like others") {
    CallScene scene("refuses", "n=1:seed=1");
    CHECK_THROWS_AS(scene.call_itself(), NotServed);
    CHECK(CallScene("right", "n=1:seed=1").call("refuses").error == "refused: too odd");
}

TEST_CASE("a file that a launcher names is told from the current folder") {
    CallScene scene("throws_place", "n=1:seed=1");
    CHECK(scene.call_itself().error == "the launcher threw: k.cu:3: no memory");
}

TEST_CASE("a device that was lost in the call before is told so, and no other call made") {
    const auto told = [](bool is_late, const auto& call) {
        return holds_apart([&] {
            replace_device(std::make_unique<LosingDevice>(is_late));
            CallScene scene("sleepy", "n=1:seed=1:before=n=2");
            return call(scene).error == "sticky in the call before, on n=2" && device_was_lost();
        });
    };
    for (const bool is_late : {false, true}) {
        CAPTURE(is_late);
        CHECK(told(is_late, [](CallScene& scene) { return scene.call_itself(); }));
        CHECK(told(is_late,
                   [](CallScene& scene) { return scene.caller.call_checked(scene.given()); }));
        CHECK(told(is_late, [](CallScene& scene) {
            return scene.caller.call_with_outputs({}, scene.given());
        }));
        const auto twice = [](CallScene& scene) {
            return scene.caller.call_twice(scene.given(), {});
        };
        CHECK(told(is_late, [&](CallScene& scene) { return twice(scene).first; }));
        CHECK(told(is_late, [&](CallScene& scene) { return twice(scene).second; }));
    }
}

TEST_CASE("a device that a partner lost ends the process, one that the kernel lost its case") {
    CHECK(holds_without_device([] {
        CallScene scene("throws_on_two", "n=2:seed=1");
        return scene.call_itself().error == "the launcher threw: dead";
    }));
    CHECK(holds_without_device([] {
        CallScene scene("throws_on_two", "n=2:seed=1");
        try {
            scene.call("refuses");
        } catch (const std::exception& lost) {
            return lost.what() == std::string(
                                      "scaled.forward/refuses, called for its result, lost "
                                      "the device: refused: too odd");
        }
        return false;
    }));
}

TEST_CASE("what launchers leave is found once a case, and before and after a partner is called") {
    const std::string left = "leaves an alarm or a timer that ends the process";
    CHECK(holds_apart([&] {
        CallScene scene("leaves_alarm", "n=1:seed=1");
        return scene.call_itself().ran() && !device_was_lost() && take_left() == left &&
               device_was_lost() && take_left().empty();
    }));
    CHECK(holds_apart([&] {
        CallScene scene("leaves_alarm", "n=1:seed=1");
        return scene.call_itself().ran() &&
               scene.call("right").error == "the case's own kernel has lost the device" &&
               take_left() == left;
    }));
    CHECK(holds_apart([&] {
        CallScene scene("right", "n=1:seed=1");
        if (!scene.call_itself().ran() || !scene.call("adds").ran()) return false;
        try {
            scene.call("leaves_alarm");
        } catch (const EnvironmentError& lost) {
            return std::string(lost.what()).starts_with("scaled.forward/leaves_alarm, called for");
        }
        return false;
    }));
}

TEST_CASE("a kernel of finite numbers alone is asked about no others") {
    Kernel kernel = named("right");
    KernelDeclaration declared = kernel.any();
    kernel.by_device = {{"cpu", &declared}};
    const auto takes = [&](double x) {
        return can_take(kernel, {{{1}, {0}}, {{1}, {x}}, {{1}, {1}}, {{1}, {1}}});
    };
    CHECK(takes(INFINITY));
    declared.finite_numbers_alone();
    CHECK_FALSE(takes(INFINITY));
    CHECK_FALSE(takes(NAN));
    CHECK(takes(1.0));
}

TEST_CASE("a kernel whose factors are rounded takes inputs that lose nothing") {
    Kernel kernel = named("right");
    KernelDeclaration declared = kernel.any();
    kernel.by_device = {{"cpu", &declared}};
    declared.rounds("p", DType::bf16);
    const auto takes = [&](double index, double x) {
        return can_take(kernel, {{{1}, {index}}, {{1}, {x}}, {{1}, {1}}, {{1}, {1}}});
    };
    CHECK(takes(4097, 255));
    CHECK_FALSE(takes(0, 257));
}

TEST_CASE("a kernel takes numbers of its types, and on tensor cores factors of eleven digits") {
    const auto is_taken = [](const std::string& kernel, double index, double x) {
        return can_take(named(kernel), {{{1}, {index}}, {{1}, {x}}, {{1}, {1}}, {{1}, {1}}});
    };
    CHECK(is_taken("right", 4097, 4097));
    CHECK_FALSE(is_taken("right", 0, 0x1p24 + 1));
    CHECK(is_taken("tensor_cores", 4097, 2047));
    CHECK(is_taken("tensor_cores", 0, 4096));
    CHECK_FALSE(is_taken("tensor_cores", 0, 2049));
    const Registry registry = registry_of({dot_kernel("forward/plain")}, dot_product());
    CHECK_FALSE(can_take(registry.kernels().front(), {{{1, 1}, {0x1p24 + 1}}, {{1}, {1}}}));
}

}  // namespace gradverify
