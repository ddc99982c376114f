// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies to pinned memory arrive late where the schedule says so, and their sources
// there may not change before they are waited for.
#include <doctest/doctest.h>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::Order;
using gradverify::simt::why_unordered;
using simt_test::contains;

namespace {

CUstream_st* const given = gradverify::simt::make_stream();

struct Left {
    bool is_right;
    std::string complaint;
};
Left left_by(const std::string& launcher, CUstream_st* stream,
             const gradverify::simt::Schedule& schedule) {
    const simt_test::ScheduleScope scope(schedule);
    const simt_test::DeviceFloats data(5);
    gradverify::simt::begin_call(stream);
    simt_test::launchers().at("cpu/" + launcher)({data.data, 5, 0, stream});
    const std::string complaint = why_unordered(true);
    CHECK(gradverify::simt::take_error() == "");
    return {data.data[0] == 110.0f, complaint};
}

/// `check(left)` of each launcher, on either stream.
void for_each_left(const std::vector<std::string>& launchers,
                   const gradverify::simt::Schedule& schedule, auto check) {
    for (const std::string& launcher : launchers)
        for (CUstream_st* stream : {given, static_cast<CUstream_st*>(nullptr)}) {
            CAPTURE(launcher);
            check(left_by(launcher, stream, schedule));
        }
}

}  // namespace

TEST_CASE("a copy to pinned memory that is read without its wait has not arrived in late orders") {
    const std::vector<std::string> wrong = {"read_without_a_wait",
                                            "read_after_another_streams_wait",
                                            "read_after_an_event_of_before",
                                            "read_behind_a_launch",
                                            "read_without_a_wait_in_registered_memory",
                                            "read_after_a_query_alone",
                                            "read_after_an_event_is_asked_for",
                                            "read_after_a_query_or_no_wait"};
    for_each_left(wrong, {.threads = Order::descending},
                  [](const Left& left) { CHECK(!left.is_right); });
    for_each_left(wrong, {.threads = Order::ascending},
                  [](const Left& left) { CHECK(left.is_right); });
    int arrived = 0;
    for (std::uint64_t seed = 0; seed < 64; ++seed)
        arrived += static_cast<int>(
            left_by("read_without_a_wait", given, {.threads = Order::random_warps, .seed = seed})
                .is_right);
    CHECK(arrived > 16);
    CHECK(arrived < 48);
}

TEST_CASE("a pinned source that changes before its copy is waited for is told in every order") {
    for (const Order order : simt_test::all_orders)
        for_each_left(
            {"source_changed", "source_changed_behind_a_launch",
             "source_changed_after_another_streams_wait", "source_reused_for_the_next_copy"},
            {.threads = order}, [](const Left& left) {
                CHECK(contains(left.complaint,
                               "the host changed its source, which is pinned memory, "
                               "before it waited for the copy"));
            });
    CHECK(contains(left_by("source_changed", given, {}).complaint,
                   "cudaMemcpyAsync on the given stream: "));
}

TEST_CASE("copies to and from the host that are waited for, or are of pageable memory, are right") {
    for (const Order order : simt_test::all_orders)
        for_each_left(
            {"read_after_a_wait", "read_after_an_event", "read_after_the_device",
             "read_after_a_query", "read_after_queries_of_two", "read_after_an_event_recorded_anew",
             "read_after_a_query_or_a_wait", "read_in_pageable_memory", "read_on_the_stream",
             "read_by_a_host_function", "handed_back_at_the_end", "source_changed_after_a_wait",
             "source_changed_after_an_event", "source_in_pageable_memory_changed",
             "other_element_changed", "source_written_by_the_stream"},
            {.threads = order}, [](const Left& left) {
                CHECK(left.is_right);
                CHECK(left.complaint == "");
            });
}
