// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/launch.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "harness/base/errors.hpp"
#include "harness/devices/poison.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/testing/host_device.hpp"
#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;

/// `toy` with x and w, y and z of three floats each.
Operator two_outputs() {
    Operator op = testing::toy_operator();
    const auto sizes = [](const Problem&) { return Sizes{3}; };
    op.inputs = {{.name = "x", .sizes = sizes}, {.name = "w", .sizes = sizes}};
    op.outputs = {{.name = "y", .sizes = sizes}, {.name = "z", .sizes = sizes}};
    op.passes.front().outputs = {"y", "z"};
    return op;
}

/// A kernel on a device of host memory, to be called with x = 1, 2, 3 and w = 4, 5, 6.
struct Rig {
    Operator op = two_outputs();
    KernelDeclaration declaration = testing::toy_kernel("one", "fake");
    Kernel kernel{.name = "toy.forward/one",
                  .op = &op,
                  .pass = &op.forward(),
                  .by_device = {{"fake", &declaration}}};
    Problem problem{op.space, 1};
    std::vector<Array<double>> inputs{{{3}, {1, 2, 3}}, {{3}, {4, 5, 6}}}, initial_outputs;
    testing::FakeDevice device;
    Setting setting;

    Rig() = default;
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;
    Call call() {
        return {.kernel = kernel,
                .device = device,
                .problem = problem,
                .inputs = inputs,
                .setting = setting,
                .initial_outputs = initial_outputs};
    }
    CallResult result() { return call_kernel(call()); }
};

float* data(const PassCall& call, std::size_t tensor) { return call.tensors[tensor].as<float>(); }

/// Writes y = x + w, and all of z, or less where a test wants less.
RunStatus add(const PassCall& call, int written) {
    for (int i = 0; i < 3; ++i) {
        if (i < written) data(call, 2)[i] = data(call, 0)[i] + data(call, 1)[i];
        data(call, 3)[i] = 0.5f;
    }
    return {};
}

using Indices = std::vector<std::vector<std::int64_t>>;

/// What the call throws as NotServed, as a case's outcome.
template <class Work>
Outcome not_served(const Work& work) {
    try {
        work();
    } catch (const NotServed& why) {
        return why.outcome();
    }
    return {};
}

/// Whether a process of its own takes its device for lost once it has done the work.
template <class Work>
bool loses_device(const Work& work) {
    const pid_t child = fork();
    if (child == 0) {
        work();
        _exit(device_was_lost() ? 3 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

}  // namespace

TEST_CASE("a call gives the inputs, and brings back values, types, bits and what was not written") {
    Rig rig;
    rig.device.launcher = [](const PassCall& call) {
        for (const float* poisoned : {data(call, 2), data(call, 3)})
            for (int i = 0; i < 3; ++i) CHECK(std::isnan(poisoned[i]));
        add(call, 1);
        return RunStatus{.seconds = 2.0, .findings = {"a race"}, .accesses_checked = 7};
    };
    const CallResult result = rig.result();
    CHECK(result.complaint().empty());
    CHECK(result.seconds == 2.0);
    CHECK(result.findings == std::vector<std::string>{"a race"});
    CHECK(result.accesses_checked == 7);
    REQUIRE(result.outputs.size() == 2);
    CHECK(result.outputs[0].data[0] == 5.0);
    CHECK(result.outputs[1].data == std::vector<double>{0.5, 0.5, 0.5});
    CHECK(result.outputs[1].sizes == Sizes{3});
    CHECK(result.output_types == std::vector{DType::f32, DType::f32});
    CHECK(result.untouched == Indices{{1, 2}, {}});
    const float z[] = {0.5f, 0.5f, 0.5f};
    REQUIRE(result.output_bits.size() == 2);
    REQUIRE(result.output_bits[1].size() == sizeof z);
    CHECK(std::memcmp(result.output_bits[1].data(), z, sizeof z) == 0);
}

TEST_CASE("an input with scales for blocks is given as elements and scales, each in a buffer") {
    Rig rig;
    rig.declaration.block_scaled("x", mxfp4).block_scaled("w", mxfp8);
    rig.inputs = {{{3}, {0.5, -6, 1}}, {{3}, {448, 0, -1}}};
    rig.device.launcher = [](const PassCall& call) {
        CHECK(std::vector(call.names.begin(), call.names.end()) ==
              std::vector<std::string>{"x", "w", "x_scales", "w_scales", "y", "z"});
        REQUIRE(call.tensors.size() == 6);
        CHECK(call.outputs == 2);
        const TensorView &x = call.tensors[0], &w = call.tensors[1];
        CHECK(x.dtype == DType::f4e2m1);
        CHECK(x.size(0) == 3);
        const auto byte = [](const TensorView& tensor, std::size_t at) {
            return static_cast<const unsigned char*>(tensor.data)[at];
        };
        CHECK(byte(x, 0) == 0xf1);
        CHECK((byte(x, 1) & 0xf) == 2);
        CHECK(w.dtype == DType::f8e4m3);
        CHECK(byte(w, 0) == 0x7e);
        for (const std::size_t scales : {2, 3}) {
            CHECK(call.tensors[scales].dtype == DType::f8e8m0);
            CHECK(call.tensors[scales].size(0) == 1);
            CHECK(byte(call.tensors[scales], 0) == 127);
        }
        // Scales are inputs, which nobody may change.
        static_cast<unsigned char*>(call.tensors[3].data)[0] = 1;
        for (const std::size_t output : {4, 5})
            for (int i = 0; i < 3; ++i) data(call, output)[i] = 1.0f;
        return RunStatus{};
    };
    CHECK(rig.result().stray_writes ==
          std::vector<std::string>{"changed its input w_scales (1 element, first w_scales[0])"});

    CHECK_THROWS_WITH_AS(
        static_cast<void>(given_in(rig.call())),
        "x has two elements in a byte, which an exported case can't list; give one "
        "of a kernel with wider elements",
        UsageError);
    rig.declaration.block_scaled("x", mxfp8);
    const GivenCall given = given_in(rig.call()).call;
    REQUIRE(given.tensors.size() == 6);
    // Six is the element 384 of a block whose scale is 2^-6.
    CHECK(given.tensors[0].values == std::vector{32.0, -384.0, 64.0});
    CHECK(given.tensors[2].name == "x_scales");
    CHECK(given.tensors[2].values == std::vector{0x1p-6});
    CHECK(given.tensors[2].strides == Strides{1});
    rig.inputs[0].data[0] = 0.3;
    CHECK_THROWS_WITH_AS(rig.result(), "x holds numbers that are none of mxfp8", std::logic_error);
}

TEST_CASE("rows of elements in halves of bytes begin with a byte, and each has scales of its own") {
    Rig rig;
    rig.declaration.block_scaled("x", mxfp4);
    rig.op.inputs[0].sizes = [](const Problem&) { return Sizes{2, 2, 3}; };
    rig.inputs[0] = {{2, 2, 3}, {1, 1, 1, 2, 2, 2, 4, 4, 4, 6, 6, 6}};
    rig.device.launcher = [](const PassCall& call) {
        const TensorView &x = call.tensors[0], &scales = call.tensors[2];
        CHECK(std::vector{x.stride(0), x.stride(1), x.stride(2)} == Strides{8, 4, 1});
        CHECK(std::vector{scales.stride(0), scales.stride(1)} == Strides{2, 1});
        const auto* const bytes = static_cast<const unsigned char*>(x.data);
        const auto* const scale = static_cast<const unsigned char*>(scales.data);
        for (int row = 0; row < 4; ++row)
            for (const int number :
                 {bytes[2 * row] & 0xf, bytes[2 * row] >> 4, bytes[2 * row + 1] & 0xf}) {
                const auto bits = static_cast<std::uint64_t>(number);
                CHECK(std::ldexp(number_of(DType::f4e2m1, bits), scale[row] - 127) ==
                      (row == 3 ? 6.0 : 1 << row));
            }
        return RunStatus{};
    };
    CHECK(rig.result().ran());
}

/// x and y have two rows of three, of which none and two are used, as w says.
static void make_ragged(Rig& rig) {
    const auto sizes = [](const Problem&) { return Sizes{2, 3}; };
    const Lengths lengths{.tensor = "w", .axis = 1};
    rig.op.inputs = {{.name = "x", .sizes = sizes, .lengths = lengths},
                     {.name = "w", .sizes = [](const Problem&) { return Sizes{2}; }}};
    rig.op.outputs[0] = {.name = "y", .sizes = sizes, .lengths = lengths};
    rig.inputs = {{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{2}, {0, 2}}};
}

TEST_CASE("behind the rows that are used lies poison, or by turns what was there") {
    for (const Poison poison : {Poison::nan, Poison::positive_huge})
        for (const int parity : {0, 1}) {
            Rig rig;
            make_ragged(rig);
            rig.device.launcher = [&](const PassCall& call) {
                const double placed = poison_value(DType::f32, poison);
                for (const int i : {0, 1, 2, 5}) {
                    const auto got = static_cast<double>(data(call, 0)[i]);
                    if (poison == Poison::nan && parity == 0)
                        CHECK(std::isnan(got));
                    else
                        CHECK(got == (poison == Poison::nan ? i + 1.0 : placed));
                }
                CHECK(data(call, 0)[3] == 4.0f);
                return RunStatus{};
            };
            Call call = rig.call();
            call.surroundings = {.poison = poison, .guard_parity = parity};
            CHECK(call_kernel(call).ran());
        }
}

TEST_CASE("an output's padding that a kernel leaves must stay, and is no result") {
    const struct {
        std::vector<int> written;  ///< of y
        std::uint32_t mask;
        std::vector<std::string> stray_writes;
        std::vector<std::int64_t> untouched;
    } rows[] = {{{3, 4}, Setting::every_output, {}, {}},
                {{3}, Setting::every_output, {}, {4}},
                {{1, 3, 4},
                 Setting::every_output,
                 {"wrote 1 element of y behind the rows that are used, which stay as they were"},
                 {}},
                {{0, 1, 3, 4, 5},
                 Setting::every_output,
                 {"wrote 3 elements of y behind the rows that are used, which stay as they were"},
                 {}},
                {{0}, 2, {"wrote to y, which is not asked for (1 element, first y[0])"}, {}}};
    for (const auto& row : rows)
        for (const bool has_lengths : {true, false}) {
            CAPTURE(row.written.size());
            Rig rig;
            make_ragged(rig);
            if (!has_lengths) rig.op.outputs[0].lengths = {};
            rig.declaration.leaves_padding("y");
            rig.setting.output_mask = row.mask;
            rig.device.launcher = [&](const PassCall& call) {
                for (const int i : row.written) data(call, 2)[i] = 1.0f;
                for (int i = 0; i < 3; ++i) data(call, 3)[i] = 1.0f;
                return RunStatus{};
            };
            const CallResult result = rig.result();
            if (!has_lengths && row.mask != 2) {
                // No row is padded, so each element is due.
                CHECK(result.untouched[0].size() == 6 - row.written.size());
                continue;
            }
            CHECK(result.stray_writes == row.stray_writes);
            CHECK(result.untouched == Indices{row.untouched, {}});
        }
}

TEST_CASE("an exported call has each tensor's name, place, strides and values as they are stored") {
    Rig rig;
    rig.declaration.storage("w", DType::f16).adds_to_outputs().in_place("y", "x").strided("z");
    rig.op.outputs[1].sizes = [](const Problem&) { return Sizes{2, 2}; };
    rig.inputs[1].data[0] = 0.1;
    rig.initial_outputs = {{{3}, {7, 8, 9}}, {{2, 2}, {0.1, 1, 2, 3}}};
    rig.setting.place = 1;
    rig.setting.layouts["z"].row_padding = 3;
    const Call before = rig.call();
    Call call = rig.call();
    CHECK_FALSE(given_in(call).before);
    call.before = &before;
    const GivenCalls given = given_in(call);
    REQUIRE(given.before);
    CHECK(given.before->tensors.size() == 4);
    const auto& [x, w, y, z] = std::tie(given.call.tensors[0], given.call.tensors[1],
                                        given.call.tensors[2], given.call.tensors[3]);
    CHECK(x.values == std::vector<double>{1, 2, 3});
    CHECK(x.strides == Strides{1});
    CHECK_FALSE(x.lies_in);
    CHECK(w.values == std::vector<double>{rounded_to(DType::f16, 0.1), 5, 6});
    CHECK_FALSE(w.lies_in);
    CHECK(y.name == "y");
    CHECK(y.lies_in == 0);
    CHECK(y.values == std::vector<double>{7, 8, 9});
    CHECK(z.name == "z");
    CHECK(z.strides == Strides{5, 1});
    CHECK_FALSE(z.lies_in);
    CHECK(z.values == std::vector<double>{rounded_to(DType::f32, 0.1), 1, 2, 3});
    rig.initial_outputs.clear();
    CHECK(given_in(rig.call()).call.tensors[2].values.empty());
}

TEST_CASE("two calls count the seconds of the one before them with the first") {
    Rig rig;
    rig.device.launcher = [](const PassCall&) { return RunStatus{.seconds = 2.0}; };
    const Call before = rig.call();
    Call call = rig.call();
    call.before = &before;
    const auto results = call_kernel_twice(call);
    CHECK(results.first.seconds == 4.0);
    CHECK(results.second.seconds == 2.0);
}

TEST_CASE("a call that failed tells only the error and the findings") {
    Rig rig;
    rig.device.launcher = [](const PassCall&) {
        return RunStatus{.error = "an illegal address", .accesses_checked = 7};
    };
    const CallResult result = rig.result();
    CHECK(result.complaint() == "an illegal address");
    CHECK(result.accesses_checked == 7);
    CHECK(result.outputs.empty());
    CHECK(result.untouched.empty());
}

TEST_CASE("of what a launcher throws PyTorch's advice and addresses are left out") {
    Rig rig;
    const auto error_of = [&](KernelDeclaration::Thunk launcher) {
        rig.declaration.thunk = launcher;
        RunStatus status;
        status.call(rig.declaration, {.problem = rig.problem, .tensors = {}, .launch = {}});
        return status.error;
    };
    CHECK(error_of([](const PassCall&) {
              throw std::runtime_error(
                  "CUDA error: invalid argument\nSearch for it.\n\n"
                  "Exception raised from launch at flash.h:89:\nframe #0");
          }) == "the launcher threw: CUDA error: invalid argument");
    CHECK(error_of([](const PassCall&) { throw std::runtime_error("two\nlines"); }) ==
          "the launcher threw: two\nlines");
}

TEST_CASE("which outputs may be written: those asked for, also over an input") {
    const struct {
        int place;
        std::uint32_t mask;
        int written;
        std::vector<std::string> stray_writes;
        Indices untouched;
    } rows[] = {
        {0, Setting::every_output, 3, {}, {{}, {}}},
        {0, Setting::every_output, 0, {}, {{0, 1, 2}, {}}},
        {0, 1, 3, {"wrote to z, which is not asked for (3 elements, first z[0])"}, {{}, {}}},
        {0, 2, 0, {}, {{}, {}}},
        // Over an input an element may keep its value and be right.
        {1, Setting::every_output, 3, {}, {{}, {}}},
        {1, Setting::every_output, 0, {}, {{}, {}}},
        {1, 2, 1, {"changed its input x (1 element, first x[0])"}, {{}, {}}},
    };
    for (const auto& row : rows) {
        INFO("place ", row.place, ", mask ", row.mask, ", written ", row.written);
        Rig rig;
        rig.declaration.in_place("y", "x");
        rig.setting.place = row.place;
        rig.setting.output_mask = row.mask;
        rig.device.launcher = [&](const PassCall& call) {
            CHECK((data(call, 0) == data(call, 2)) == (row.place == 1));
            CHECK(call.launch.output_mask == row.mask);
            return add(call, row.written);
        };
        const CallResult result = rig.result();
        CHECK(result.stray_writes == row.stray_writes);
        CHECK(result.untouched == row.untouched);
    }
}

TEST_CASE("a kernel that declares a workspace gets it, in whole floats") {
    const struct {
        KernelDeclaration::WorkspaceBytes declared;
        std::int64_t bytes, placed;
    } rows[] = {
        {nullptr, 0, 0},
        {[](const Problem&) -> std::int64_t { return 0; }, 0, 0},
        {[](const Problem&) -> std::int64_t { return 9; }, 9, 12},
        {[](const Problem&) -> std::int64_t { return 12; }, 12, 12},
    };
    for (const auto& row : rows) {
        CAPTURE(row.bytes);
        Rig rig;
        rig.declaration.workspace(row.declared);
        rig.device.launcher = [&](const PassCall& call) {
            const auto& buffers = rig.device.described;
            CHECK(call.launch.workspace_bytes == row.bytes);
            REQUIRE(buffers.size() == (row.placed > 0 ? 5 : 4));
            if (row.placed == 0) {
                CHECK(call.launch.workspace == nullptr);
            } else {
                CHECK(call.launch.workspace == buffers[4].begin);
                CHECK(buffers[4].end - buffers[4].begin == row.placed);
                CHECK(std::isnan(*static_cast<const float*>(call.launch.workspace)));
            }
            return RunStatus{};
        };
        CHECK(rig.result().ran());
    }
}

TEST_CASE("a tensor whose offset is not listed has none") {
    Rig rig;
    rig.declaration.aligned_to(4);
    rig.setting.offsets = {1, 3};
    rig.device.launcher = [](const PassCall& call) {
        for (const std::size_t i : {0, 1, 2, 3})
            CHECK(reinterpret_cast<std::uintptr_t>(data(call, i)) % 256 == (i == 0   ? 4
                                                                            : i == 1 ? 12
                                                                                     : 0));
        return RunStatus{};
    };
    CHECK(rig.result().ran());
}

TEST_CASE("a second call finds what the first left, or what the first found where it needs that") {
    enum class Kind { overwrites, accumulates, updates, fails };
    const struct {
        Kind kind;
        std::vector<float> found;  ///< y[0] and z[2], in the second call
    } rows[] = {{Kind::overwrites, {70, 80}},
                {Kind::accumulates, {10, 40}},
                {Kind::updates, {1, 6}},
                {Kind::fails, {}}};
    for (const auto& row : rows) {
        CAPTURE(static_cast<int>(row.kind));
        Rig rig;
        if (row.kind == Kind::accumulates) {
            rig.declaration.adds_to_outputs();
            rig.initial_outputs = {{{3}, {10, 20, 30}}, {{3}, {20, 30, 40}}};
        }
        if (row.kind == Kind::updates) rig.declaration.updates("y", "x").updates("z", "w");
        std::vector<std::vector<float>> found;
        rig.device.launcher = [&](const PassCall& call) {
            float &y = data(call, 2)[0], &z = data(call, 3)[2];
            found.push_back({y, z});
            y = 70, z = 80;
            return RunStatus{.error = row.kind == Kind::fails ? "an illegal address" : ""};
        };
        const auto results = call_kernel_twice(rig.call());
        CHECK(results.first.error == results.second.error);
        REQUIRE(found.size() == (row.kind == Kind::fails ? 1 : 2));
        if (row.kind != Kind::fails) CHECK(found[1] == row.found);
    }
}

TEST_CASE("a timing is told how many bytes the tensors have, and the tensors come back") {
    Rig rig;
    rig.device.timing.samples = {0.25};
    const Timing timing = time_kernel(rig.call(), {.repetitions = 9});
    CHECK(rig.device.asked_to_time.repetitions == 9);
    CHECK(rig.device.asked_to_time.bytes == 48.0);
    CHECK(timing.samples == std::vector{0.25});
    CHECK(timing.tensors.size() == 4);
}

TEST_CASE("what a device can't run, or a kernel refuses as it may, is skipped and no failure") {
    for (const bool is_refusal : {false, true}) {
        Rig rig;
        rig.device.launcher = [&](const PassCall&) {
            return RunStatus{.error = "n is odd", .not_served = true, .is_refusal = is_refusal};
        };
        rig.device.timing = {.error = "n is odd", .not_served = true, .is_refusal = is_refusal};
        for (const Outcome& outcome :
             {not_served([&] { call_kernel(rig.call()); }),
              not_served([&] { call_kernel_twice(rig.call()); }), not_served([&] {
                  run_launcher(rig.device, rig.declaration,
                               {.problem = rig.problem, .tensors = {}, .launch = {}}, {},
                               DelayedStream::none);
              }),
              not_served([&] { time_kernel(rig.call(), {}); })}) {
            CHECK(testing::said(outcome) == "skipped: n is odd");
            CHECK(outcome.is_refusal == is_refusal);
        }
    }
}

TEST_CASE("a device that a call or a timing lost is lost") {
    for (const bool is_lost : {false, true}) {
        Rig rig;
        rig.device.launcher = [&](const PassCall&) {
            return RunStatus{.error = "sticky", .device_lost = is_lost};
        };
        rig.device.timing = {.error = "sticky", .device_lost = is_lost};
        CHECK(loses_device([&] { call_kernel(rig.call()); }) == is_lost);
        CHECK(loses_device([&] { time_kernel(rig.call(), {}); }) == is_lost);
    }
}
