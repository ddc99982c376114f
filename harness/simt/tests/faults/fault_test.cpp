// SPDX-License-Identifier: Apache-2.0
// A fault in a kernel ends its launch with an error that says what, where and who.
#include <doctest/doctest.h>

#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "harness/simt/runtime/source_line.hpp"
#include "harness/simt/tests/device_run.hpp"

using simt_test::check_contains;

namespace gradverify::simt {
namespace {

/// A buffer of six elements at an unmapped page.
class Buffer {
  public:
    explicit Buffer(Edge edge, bool is_input = false) {
        turn_faults_into_errors();
        constexpr std::size_t bytes = 6 * sizeof(float);
        begin_ = buffer_region(0, bytes, edge);
        REQUIRE(begin_ != nullptr);
        std::memset(begin_, 0, bytes);
        describe_buffers({{"w", begin_, begin_ + bytes, sizeof(float), is_input}});
    }

    std::string error_of(const std::string& launcher, int element = 0,
                         const std::string& variant = "cpu") {
        simt_test::launchers().at(variant + "/" +
                                  launcher)({reinterpret_cast<float*>(begin_), element, 0});
        std::string error = take_error();
        CHECK(simt_test::run("sum_by_tree", 64, 256)[0] == 2016);
        CHECK(take_error() == "");
        return error;
    }

  private:
    std::byte* begin_ = nullptr;
};

}  // namespace

TEST_CASE("the checked variant names the element at an unmapped page as the other does") {
    if (!simt_test::launchers().contains("cpu-checked/write_float")) return;
    Buffer at_end(Edge::end);
    take_findings();
    at_end.error_of("write_float", 300, "cpu-checked");
    const auto findings = take_findings();
    REQUIRE(findings.size() == 1);
    check_contains(findings[0].text, {"writes past the end of w: w[300], but w has 6 elements at ",
                                      "faults/kernels_faults.cu:24; in block (0, 0, 0), ",
                                      ": launch of write_element<<<1, 1>>>"});
}

TEST_CASE("the first element past the end or before the start is an error at the access") {
    const std::pair<std::string, std::string> accesses[] = {
        {"read_float", "faults/kernels_faults.cu:21: read "},
        {"write_float", "faults/kernels_faults.cu:24: write "}};
    for (const auto& [launcher, place] : accesses) {
        Buffer at_end(Edge::end);
        CHECK(at_end.error_of(launcher, 5) == "");
        check_contains(
            at_end.error_of(launcher, 6),
            {place + "past the end of w: w[6], but w has 6 elements, in block (0, 0, 0), "});
        Buffer at_begin(Edge::begin);
        CHECK(at_begin.error_of(launcher, 0) == "");
        check_contains(at_begin.error_of(launcher, -1),
                       {place + "before the start of w, w[-1], in block"});
        check_contains(at_begin.error_of(launcher, -1000), {"before the start of w, w[-1000],"});
    }
}

TEST_CASE("an error says what the kernel did, at the kernel's own line") {
    const struct {
        const char* launcher;
        int element;
        std::vector<std::string> parts;
    } faults[] = {
#if !defined(__SANITIZE_ADDRESS__)  // it ends the process before the processor sees these
        {"read_null", 0, {"read through a null pointer, in block", "launch of read_far"}},
        {"read_field_of_null", 0, {"read through a null pointer, at address 0x18, in block"}},
        {"atomic_at_null", 0, {"kernels_faults.cu:41: ", "through a null pointer"}},
#if defined(__x86_64__)  // elsewhere the quotient is 0
        {"divide_by_zero", 0, {"kernels_faults.cu:60: an integer division by zero"}},
#endif
#endif
#if defined(__x86_64__)
        {"read_beyond_all_memory", 0, {"not aligned for it, or an access where no memory can be"}},
#endif
        {"read_wild", 0, {"read at address 0x123456789000, where no buffer is"}},
        {"clear_too_much",
         25,
         {"kernels_faults.cu:46: ", "past the end of w: w[6], but w has 6 elements"}},
        {"read_past_dynamic_shared", 0, {"past the end of the dynamic shared memory"}},
    };
    for (const auto& [launcher, element, parts] : faults)
        check_contains(Buffer(Edge::end).error_of(launcher, element), parts);
}

TEST_CASE("while inputs are protected a write to one is a fault, and so is a copy to one") {
    for (const bool is_input : {true, false}) {
        Buffer buffer(Edge::end, is_input);
        CHECK(buffer.error_of("write_float", 2) == "");
        begin_launcher(false);
        const std::string written = buffer.error_of("write_float", 2),
                          cleared = buffer.error_of("clear_too_much", 6);
        CHECK(end_launcher() == "");
        CHECK(buffer.error_of("write_float", 2) == "");
        if (!is_input) {
            CHECK(written == "");
            continue;
        }
        check_contains(written, {"write in w, w[2] of 6, an input, which nothing may write to"});
        check_contains(cleared, {"write in w, w[0] of 6, an input"});
    }
}

TEST_CASE("the message is complete: line, access, element, thread, launch") {
    Buffer buffer(Edge::end);
    const std::string error = buffer.error_of("write_float", 7);
    const std::string place = error.substr(0, error.find(": "));
    CHECK(error == place +
                       ": write past the end of w: w[7], but w has 6 elements, in block (0, 0, 0), "
                       "thread (0, 0, 0); " +
                       place.substr(0, place.rfind(':')) +
                       ":30: launch of write_element<<<1, 1>>>");
}

TEST_CASE("a fault of one thread of many names it, in every order") {
    simt_test::in_every_order([] {
        Buffer buffer(Edge::end);
        check_contains(
            buffer.error_of("fault_behind_a_barrier", 6),
            {"past the end of w: w[6], but w has 6 elements, in block (1, 0, 0), thread (5, 0, 0)",
             "launch of fault_behind_a_barrier"});
    });
}

TEST_CASE("a stack overflow is an error, as often as it happens") {
    Buffer buffer(Edge::end);
    for (int i = 0; i < 3; ++i)
        check_contains(buffer.error_of("overflow_the_stack"),
                       {"kernels_faults.cu:", "the stack of a device thread overflowed, in block",
                        "launch of recurse"});
}

TEST_CASE("a fault beside the run-time API's own memory names no buffer of the call") {
    turn_faults_into_errors();
    describe_buffers({});
    void* allocated = allocate_device(24);
    simt_test::launchers().at("cpu/write_float")({static_cast<float*>(allocated), 64, 0});
    check_contains(take_error(), {"at the unmapped page after a device allocation"});
    free_device(allocated);
}

TEST_CASE("a file is named from the current folder where it lies in it") {
    const std::string here = std::filesystem::current_path().string();
    CHECK(short_place(here + "/tests/../a/k.cu", 10) == "a/k.cu:10");
    CHECK(short_place("/nowhere/k.cu", 10) == "/nowhere/k.cu:10");
}

TEST_CASE("an address without debug information has no line") {
    int local = 0;
    CHECK(source_of(nullptr) == "");
    CHECK(source_of(&local) == "");
}

TEST_CASE("regions keep apart, keep their edge, and are mapped once") {
    std::byte* small = buffer_region(0, 256, Edge::end);
    std::byte* large = buffer_region(0, 100 * 4096, Edge::end);
    std::byte* other = buffer_region(1, 256, Edge::end);
    CHECK(small != large);
    CHECK(small != other);
    CHECK(buffer_region(0, 256, Edge::end) == small);
    CHECK(buffer_region(0, 512, Edge::end) == small - 256);
    CHECK(reinterpret_cast<std::uintptr_t>(small + 256) % 4096 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer_region(0, 256, Edge::begin)) % 4096 == 0);
    std::memset(large, 1, 100 * 4096);
    CHECK(buffer_region(2, std::size_t{1} << 50, Edge::end) == nullptr);
}

TEST_CASE("nothing is mapped for a long way around a buffer, whatever is mapped later") {
    constexpr std::size_t far_bytes = std::size_t{1} << 29, neighbour_bytes = std::size_t{1} << 24;
    const auto* const begin = reinterpret_cast<char*>(buffer_region(3, 4096, Edge::end));
    std::vector<char*> others;
    for (int i = 0; i < 32; ++i) {
        auto* const other = static_cast<char*>(mmap(
            nullptr, neighbour_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(other != MAP_FAILED);
        const auto away = static_cast<std::size_t>(other > begin ? other - begin : begin - other);
        CHECK(away > far_bytes);
        others.emplace_back(other);
    }
    for (char* other : others) munmap(other, neighbour_bytes);
}

}  // namespace gradverify::simt
