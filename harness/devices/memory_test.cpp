// SPDX-License-Identifier: Apache-2.0
// The arena on the real CPU device: an access beyond a buffer is an error, or a stray write.
#include <doctest/doctest.h>

#include "harness/devices/arena.hpp"
#include "harness/simt/runtime/source_line.hpp"
#include "harness/testing/launchers.hpp"
#include "harness/testing/made_operator.hpp"

namespace gradverify {

namespace testing {

std::map<std::string, KernelDeclaration::Thunk>& launchers() {
    static std::map<std::string, KernelDeclaration::Thunk> all;
    return all;
}

bool add_launcher(const std::string& device, const std::string& name,
                  KernelDeclaration::Thunk thunk) {
    return device != "cpu" || launchers().emplace(name, thunk).second;
}

}  // namespace testing

namespace {

struct Ran {
    std::string error;
    std::vector<std::string> stray_writes;
};

Ran run(const std::string& launcher, const BufferSpec& buffer, Edge edge, Surroundings with = {}) {
    with.edge = edge;
    Device& device = device_named("cpu");
    Arena arena(device, {buffer}, with);
    arena.upload();
    const TensorView view = arena.view(0);
    const Operator op = testing::toy_operator();
    const Problem problem(op.space, 1);
    KernelDeclaration kernel;
    kernel.thunk = testing::launchers().at(launcher);
    const RunStatus status =
        device.run(kernel, {.problem = problem, .tensors = {&view, 1}}, {}, DelayedStream::none);
    arena.download();
    return {status.error, arena.stray_writes()};
}

BufferSpec buffer_of(DType dtype, std::int64_t elements, std::int64_t alignment,
                     std::int64_t offset) {
    return {.name = "dw",
            .role = BufferRole::output,
            .dtype = dtype,
            .sizes = {elements},
            .offset = offset,
            .alignment_bytes = alignment};
}

/// A binary that was carried to another machine may have been stripped.
bool has_debug_information() {
    return !simt::source_of(reinterpret_cast<const void*>(&run)).empty();
}

}  // namespace

TEST_CASE("the first element past the end is caught at the access, as read or write") {
    for (const DType dtype : {DType::f32, DType::f64})
        for (const std::int64_t elements : {0, 6, 5000})
            for (const std::int64_t offset : {0, 1, 3})
                for (const std::string verb : {"read", "write"}) {
                    const std::string type(traits_of(dtype).name);
                    const BufferSpec buffer = buffer_of(dtype, elements, 4, offset);
                    const std::string launcher = verb + "_past_end_" + type;
                    const Ran ran = run(launcher, buffer, Edge::end);
                    CAPTURE(ran.error);
                    const std::string count = std::to_string(elements);
                    CHECK(testing::contains(
                        ran.error, "past the end of dw: dw[" + count + "], but dw has " + count +
                                       " elements, in block (0, 0, 0), thread (0, 0, 0); "));
                    if (has_debug_information())
                        CHECK(testing::contains(ran.error, verb == "read"
                                                               ? "memory_kernels.cu:12: "
                                                               : "memory_kernels.cu:17: "));
                    CHECK(ran.stray_writes.empty());
                    // At the other edge there is memory, which is watched for writes.
                    const Ran other = run(launcher, buffer, Edge::begin);
                    CHECK(other.error == "");
                    CHECK(other.stray_writes.size() == (verb == "write" ? 1 : 0));
                }
}

TEST_CASE("the element before the start is caught at the access, and behind an offset as a write") {
    for (const DType dtype : {DType::f32, DType::f64})
        for (const std::string verb : {"read", "write"}) {
            const std::string launcher =
                verb + "_before_begin_" + std::string(traits_of(dtype).name);
            const Ran ran = run(launcher, buffer_of(dtype, 6, 256, 0), Edge::begin);
            CHECK(testing::contains(ran.error, "before the start of dw, dw[-1], in block"));
            const Ran moved = run(launcher, buffer_of(dtype, 6, 4, 1), Edge::begin);
            CHECK(moved.error == "");
            CHECK(moved.stray_writes.size() == (verb == "write" ? 1 : 0));
        }
}

TEST_CASE("device memory is kept from the host where the caller says so, whatever the poison") {
    testing::launchers()["read_on_host"] = [](const PassCall& call) {
        const volatile float* const first = call.tensors[0].as<const float>();
        static_cast<void>(*first);
    };
    for (const Poison poison : {Poison::nan, Poison::plausible})
        for (const bool is_protected : {false, true})
            CHECK(run("read_on_host", buffer_of(DType::f32, 6, 256, 0), Edge::end,
                      {.poison = poison, .is_protected = is_protected})
                      .error.empty() != is_protected);
}

TEST_CASE("a write to the gap that the alignment leaves is found after the call") {
    const Ran ran = run("write_past_end_f32", buffer_of(DType::f32, 6, 256, 0), Edge::end);
    CHECK(ran.error == "");
    CHECK(ran.stray_writes ==
          std::vector<std::string>{
              "wrote 1 element past the end of dw, the first at dw[6], but dw has 6"});
    // None is left where the size is a multiple of the alignment.
    const Ran full = run("write_past_end_f32", buffer_of(DType::f32, 64, 256, 0), Edge::end);
    CHECK(testing::contains(full.error, "past the end of dw: dw[64], but dw has 64 elements"));
}

}  // namespace gradverify
