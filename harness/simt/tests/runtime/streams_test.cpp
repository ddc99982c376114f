// SPDX-License-Identifier: Apache-2.0
// Work that no stream orders is told, although it ran in order here; other work is accepted.
#include <doctest/doctest.h>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::take_error;
using gradverify::simt::why_unordered;
using simt_test::contains;

namespace {

CUstream_st* const given = gradverify::simt::make_stream();

/// The complaint about a launcher's call on a stream and a buffer of four floats.
std::string complaint(const std::string& launcher, CUstream_st* stream, bool given_alone = false) {
    const simt_test::DeviceFloats buffer(4);
    const simt_test::NamedScope scope(buffer.data, 4);
    gradverify::simt::begin_call(stream);
    simt_test::launchers().at("cpu/" + launcher)({buffer.data, 4, 0, stream});
    return why_unordered(given_alone);
}

}  // namespace

TEST_CASE("work that the given or the default stream orders is accepted") {
    for (const std::string launcher :
         {"given_alone", "no_work", "forked_and_joined", "forked_and_waited_for",
          "given_waited_for_then_own", "scratch_waited_for"}) {
        CAPTURE(launcher);
        CHECK(complaint(launcher, given) == "");
        CHECK(complaint(launcher, given, true) == "");
        CHECK(complaint(launcher, nullptr) == "");
    }
    for (const std::string launcher : {"default_alone", "own_blocking"}) {
        CAPTURE(launcher);
        CHECK(complaint(launcher, given) == "");
        CHECK(complaint(launcher, nullptr) == "");
        CHECK(contains(complaint(launcher, given, true),
                       "the given stream, which the kernel declares to use, does not order it"));
    }
}

TEST_CASE("work on the given and on the default stream that nothing orders is told") {
    for (const std::string launcher :
         {"default_then_given", "memset_then_given", "given_then_default",
          "copy_on_the_device_then_given", "own_blocking_then_given"}) {
        CAPTURE(launcher);
        CHECK(contains(complaint(launcher, given), "nothing orders the two"));
        CHECK(complaint(launcher, nullptr) == "");
    }
    simt_test::check_contains(
        complaint("default_then_given", given),
        {"kernels_streams.cu:15: launch of first_half on the default stream, but ",
         "kernels_streams.cu:18: launch of second_half on the given stream: "});
    CHECK(complaint("memset_then_given", given).starts_with("cudaMemset on the default"));
    CHECK(contains(complaint("default_then_given", given), "declares .on_default_stream()"));
    CHECK_FALSE(contains(complaint("own_blocking_then_given", given), ".on_default_stream()"));
    CHECK(contains(complaint("default_then_freed", given),
                   ", but cudaFreeAsync on the given stream, as at a tensor's end: "));
}

TEST_CASE("work on a stream of the launcher's own must be forked and joined, or waited for") {
    for (const std::string launcher :
         {"forked_and_not_joined", "joined_and_not_forked", "event_recorded_too_early"})
        for (CUstream_st* stream : {given, static_cast<CUstream_st*>(nullptr)}) {
            CAPTURE(launcher);
            simt_test::check_contains(complaint(launcher, stream),
                                      {"launch of first_half on a stream of the launcher's own: "});
        }
}

TEST_CASE("work on a buffer must begin behind the given stream's, though the host waits for it") {
    const std::string begins_early =
        "the host waits for it, but it is on buffers of the call and may begin before the given "
        "stream's earlier work is done; ";
    for (const std::string launcher :
         {"host_copy_then_given", "copy_to_the_host_then_given", "rows_to_the_host_then_given",
          "memset_waited_for_then_given", "default_waited_for_then_given"}) {
        CAPTURE(launcher);
        CHECK(contains(complaint(launcher, given), begins_early));
        CHECK(contains(complaint(launcher, given, true), begins_early));
        CHECK(complaint(launcher, nullptr) == "");
    }
    for (const std::string launcher :
         {"own_waited_for", "own_waited_for_by_event", "device_waited_for", "structure_waited_for",
          "pack_waited_for", "launch_by_pointers_waited_for", "launch_ex_waited_for"}) {
        CAPTURE(launcher);
        CHECK(contains(complaint(launcher, given), begins_early));
        CHECK(contains(complaint(launcher, nullptr), begins_early));
    }
    CHECK(complaint("copy_to_the_host_then_given", given, true) ==
          "cudaMemcpy on the default stream: " + begins_early +
              "put it on that stream, or have it wait for an event of that stream's");
}

TEST_CASE("a query is no wait where the schedule denies that the work is done") {
    for (const auto order : simt_test::all_orders) {
        const simt_test::ScheduleScope scope({.threads = order});
        CHECK(complaint("forked_and_asked_for_until_done", given) == "");
    }
    CHECK(complaint("forked_and_asked_for", given) == "");
    const simt_test::ScheduleScope scope({.threads = gradverify::simt::Order::descending});
    CHECK(contains(complaint("forked_and_asked_for", given), "nothing orders the two"));
}

TEST_CASE("a call is not blamed for the one before it") {
    CHECK(complaint("forked_and_not_joined", given) != "");
    for (int i = 0; i < 3; ++i) {
        CHECK(complaint("given_alone", given, true) == "");
        CHECK(complaint("forked_and_joined", given, true) == "");
    }
}

TEST_CASE("only a stream that was made can be destroyed") {
    simt_test::run("no_stream_destroyed", 1);
    CHECK(contains(take_error(), "cudaStreamDestroy: not a stream that cudaStreamCreate gave"));
}
