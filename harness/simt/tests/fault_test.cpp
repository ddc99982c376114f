// SPDX-License-Identifier: Apache-2.0
// A fault in a kernel ends its launch with an error that says what, where and who; the next launch
// runs as if nothing had happened.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "harness/simt/tests/device_run.hpp"

namespace gradverify::simt {
namespace {

/// A buffer of six elements at an unmapped page; its launchers' errors.
template <class T>
class Buffer {
  public:
    static constexpr int elements = 6;

    explicit Buffer(Edge edge) {
        turn_faults_into_errors();
        constexpr std::size_t bytes = elements * sizeof(T);
        begin_ = buffer_region(0, bytes, edge);
        REQUIRE(begin_ != nullptr);
        std::memset(begin_, 0, bytes);
        describe_buffers({{"w", begin_, begin_ + bytes, sizeof(T)}});
    }

    std::string error_of(const std::string& launcher, int element = 0) {
        simt_test::launchers().at("cpu/" +
                                  launcher)({reinterpret_cast<float*>(begin_), element, 0});
        std::string error = take_error();
        CHECK(simt_test::run("sum_by_tree", 64, 256)[0] == 2016);
        CHECK(take_error() == "");
        return error;
    }

  private:
    std::byte* begin_ = nullptr;
};

void check_contains(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) {
        const std::string wanted = part;
        CAPTURE(text);
        CAPTURE(wanted);
        CHECK(simt_test::contains(text, wanted));
    }
}

#if defined(__x86_64__) || defined(__aarch64__)
constexpr const char* read_verb = "read ";
constexpr const char* write_verb = "write ";
#else
constexpr const char* read_verb = "access ";
constexpr const char* write_verb = "access ";
#endif

template <class T>
void check_first_byte_beyond(const std::string& type) {
    for (const bool write : {false, true}) {
        const std::string launcher = (write ? "write_" : "read_") + type;
        const std::string verb = write ? write_verb : read_verb;
        const std::string line =
            write ? "tests/kernels_faults.cu:29: " : "tests/kernels_faults.cu:25: ";
        Buffer<T> at_end(Edge::end);
        CHECK(at_end.error_of(launcher, 5) == "");
        const std::string past = at_end.error_of(launcher, 6);
        check_contains(past, {(line + verb +
                               "past the end of w, w[6] of 6, in block (0, 0, 0), "
                               "thread (0, 0, 0); ")
                                  .c_str(),
                              "kernels_faults.cu:",
                              write ? ": launch of write_element" : ": launch of read_element"});
        Buffer<T> at_begin(Edge::begin);
        CHECK(at_begin.error_of(launcher, 0) == "");
        check_contains(at_begin.error_of(launcher, -1),
                       {(line + verb + "before the start of w, w[-1], in block").c_str()});
        check_contains(at_begin.error_of(launcher, -1000), {"before the start of w, w[-1000],"});
    }
}

}  // namespace

TEST_CASE("the first element past the end or before the start is an error at the access") {
    check_first_byte_beyond<float>("float");
    check_first_byte_beyond<double>("double");
}

// Under the sanitizers these end the process before the processor sees them.
#if !defined(__SANITIZE_ADDRESS__)
#define GRADVERIFY_SIMT_TEST_UNDEFINED 1
#else
#define GRADVERIFY_SIMT_TEST_UNDEFINED 0
#endif

TEST_CASE("a null pointer, a wild one and one beyond all memory are told apart") {
    Buffer<float> buffer(Edge::end);
    const std::string read = read_verb;
#if GRADVERIFY_SIMT_TEST_UNDEFINED
    check_contains(buffer.error_of("read_null"),
                   {(read + "through a null pointer, in block").c_str(), "launch of read_far"});
    check_contains(buffer.error_of("read_field_of_null"),
                   {(read + "through a null pointer, at address 0x18, in block").c_str()});
#endif
    check_contains(buffer.error_of("read_wild"),
                   {(read + "at address 0x123456789000, where no buffer is").c_str()});
#if defined(__x86_64__)
    check_contains(buffer.error_of("read_beyond_all_memory"),
                   {"not aligned for it, or an access where no memory can be"});
#endif
}

TEST_CASE("the line is the kernel's own, also of an atomic and of a call of the C library") {
    Buffer<float> buffer(Edge::end);
#if GRADVERIFY_SIMT_TEST_UNDEFINED
    check_contains(buffer.error_of("atomic_at_null"),
                   {"kernels_faults.cu:58: ", "through a null pointer"});
#endif
    check_contains(buffer.error_of("clear_too_much", 25),
                   {"kernels_faults.cu:63: ", "past the end of w, w[6] of 6"});
}

TEST_CASE("the message is complete: line, access, element, thread, launch") {
    Buffer<float> buffer(Edge::end);
    const std::string error = buffer.error_of("write_float", 7);
    const std::string place = error.substr(0, error.find(": "));
    CHECK(error == place + ": " + write_verb +
                       "past the end of w, w[7] of 6, in block (0, 0, 0), thread (0, 0, 0); " +
                       place.substr(0, place.rfind(':')) + ":41: launch of write_element");
}

TEST_CASE("a fault of one thread of many names it, in every order") {
    for (const Order order : simt_test::all_orders) {
        const simt_test::ScheduleScope scope({.threads = order, .blocks = order, .seed = 1});
        Buffer<float> buffer(Edge::end);
        check_contains(buffer.error_of("fault_behind_a_barrier", 6),
                       {"past the end of w, w[6] of 6, in block (1, 0, 0), thread (5, 0, 0)",
                        "launch of fault_behind_a_barrier"});
    }
}

TEST_CASE("a stack overflow is an error, as often as it happens") {
    Buffer<float> buffer(Edge::end);
    for (int i = 0; i < 3; ++i)
        check_contains(buffer.error_of("overflow_the_stack"),
                       {"kernels_faults.cu:1", "the stack of a device thread overflowed, in block",
                        "launch of recurse"});
}

TEST_CASE("a division by zero and a read past the dynamic shared memory are errors") {
    Buffer<float> buffer(Edge::end);
#if defined(__x86_64__) && GRADVERIFY_SIMT_TEST_UNDEFINED  // elsewhere the quotient is 0
    check_contains(buffer.error_of("divide_by_zero"),
                   {"kernels_faults.cu:81: an integer division by zero"});
#endif
    check_contains(buffer.error_of("read_past_dynamic_shared"),
                   {"past the end of the dynamic shared memory"});
}

TEST_CASE("a fault beside the run-time API's own memory names no buffer of the call") {
    turn_faults_into_errors();
    describe_buffers({});
    void* allocated = allocate_device(24);
    simt_test::launchers().at("cpu/write_float")({static_cast<float*>(allocated), 64, 0});
    check_contains(take_error(), {"at the unmapped page after a device allocation"});
    free_device(allocated);
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

}  // namespace gradverify::simt
