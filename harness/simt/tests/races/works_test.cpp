// SPDX-License-Identifier: Apache-2.0
// Two works of one call that touch the same memory, and nothing orders them, are found; their twins
// pass.
#include <doctest/doctest.h>

#include <fstream>

#include "harness/simt/tests/races/checked_run.hpp"

using gradverify::simt::Finding;
using gradverify::simt::take_findings;
using gradverify::simt::why_unordered;
using simt_test::check_contains;

namespace {

CUstream_st* const given = gradverify::simt::make_stream();

std::vector<Finding> findings_of_call(const std::string& launcher, CUstream_st* stream) {
    const simt_test::DeviceFloats memory(64);
    const simt_test::NamedScope scope(memory.data, 64);
    take_findings();
    gradverify::simt::begin_call(stream);
    simt_test::launchers().at("cpu-checked/" + launcher)({memory.data, 64, 0, stream});
    CHECK(why_unordered(true) == "");
    std::vector<Finding> found = take_findings();
    CHECK(gradverify::simt::take_error() == "");
    return found;
}

std::string first_text(const std::string& launcher, CUstream_st* stream) {
    const std::vector<Finding> found = findings_of_call(launcher, stream);
    if (found.empty()) return "nothing is found";
    CHECK(found[0].kind == gradverify::simt::FindingKind::race);
    return found[0].text;
}

std::string line_of(const std::string& mark) {
    std::ifstream file(GRADVERIFY_SIMT_TEST_FOLDER "/kernels_works.cu");
    int number = 1;
    for (std::string line; std::getline(file, line); ++number)
        if (line.ends_with("// line: " + mark)) return "kernels_works.cu:" + std::to_string(number);
    return "no line";
}

const std::string wrong[] = {
    "partial_sums_on_a_side_stream",
    "second_launch_on_another_stream",
    "memset_on_a_side_stream",
    "memset_behind_its_use",
    "copied_while_written",
    "two_copies",
    "event_recorded_before_the_work",
    "wait_on_the_wrong_stream",
    "host_waits_for_the_wrong_stream",
    "freed_before_its_use_is_done",
    "allocated_on_another_stream",
    "written_while_read",
    "atomic_sums_not_joined",
    "per_thread_stream_beside_the_given",
    "default_stream_beside_one_that_does_not_block",
    "map_encoded_while_it_is_used",
    "pinned_map_encoded_while_it_is_used",
    "map_copied_while_it_is_used",
};
const std::string wrong_programmatic[] = {
    "programmatic_without_wait",         "programmatic_wait_of_one_thread",
    "programmatic_wait_behind_the_read", "programmatic_write_of_what_is_read",
    "programmatic_launch_of_a_launch",   "programmatic_launch_of_what_waits_not",
};

}  // namespace

TEST_CASE("works on two streams that share memory without an order are found") {
    for (const std::string& launcher : wrong)
        for (CUstream_st* stream : {given, static_cast<CUstream_st*>(nullptr)}) {
            CAPTURE(launcher);
            check_contains(first_text(launcher, stream),
                           {"data race on ", "; nothing orders these two works"});
        }
}

TEST_CASE("works that share memory in an order, or only read it, are right") {
    for (const std::string& launcher : wrong)
        for (CUstream_st* stream : {given, static_cast<CUstream_st*>(nullptr)}) {
            CAPTURE(launcher);
            CHECK(findings_of_call(launcher + "_in_order", stream).empty());
        }
    for (const std::string launcher :
         {"halves_beside_each_other", "read_beside_each_other", "freed_and_allocated_again",
          "map_as_a_parameter_is_encoded_again"}) {
        CAPTURE(launcher);
        for (const Finding& finding : findings_of_call(launcher, given)) FAIL_CHECK(finding.text);
    }
}

TEST_CASE("a race of two works names both, their streams, their lines and the element") {
    check_contains(
        first_text("partial_sums_on_a_side_stream", given),
        {"data race on device memory: ",
         line_of("launches total") + ": launch of total on the given stream reads it at ",
         line_of("reads a part") + ", ",
         line_of("launches sum_parts") +
             ": launch of sum_parts on a stream of the launcher's own writes it at ",
         line_of("writes a part") + "; nothing orders these two works; in block (0, 0, 0), ",
         "launch of total<<<1, 1>>>"});
    check_contains(first_text("copied_while_written", given),
                   {"data race on data[", ": launch of scale on the given stream writes it at ",
                    "cudaMemcpyAsync on a stream of the launcher's own reads it; "});
    check_contains(first_text("two_copies", nullptr),
                   {"data race on device memory: cudaMemcpyAsync on the default stream reads it, "
                    "cudaMemsetAsync on a stream of the launcher's own writes it; "});
    check_contains(first_text("freed_before_its_use_is_done", given),
                   {"cudaFreeAsync on the given stream frees it, "});
}

TEST_CASE("a programmatic launch does not know of the one before until it has waited") {
    simt_test::in_every_order([] {
        for (const std::string& launcher : wrong_programmatic) {
            CAPTURE(launcher);
            check_contains(first_text(launcher, given),
                           {"data race on ", "; the launch may begin before that one ends"});
            for (const Finding& finding : findings_of_call(launcher + "_in_order", given))
                FAIL_CHECK(finding.text);
        }
        for (const std::string launcher :
             {"programmatic_without_a_trigger", "triggered_for_an_ordinary_launch",
              "programmatic_on_memory_of_its_own"})
            for (const Finding& finding : findings_of_call(launcher, given))
                FAIL_CHECK(finding.text);
    });
}

TEST_CASE("copies of tensors beside the host arrive late, and their sources may not change") {
    struct Left {
        bool is_right;
        std::string complaint;
    };
    const auto left_by = [](const std::string& launcher, gradverify::simt::Order order) {
        const simt_test::ScheduleScope scope({.threads = order});
        const simt_test::DeviceFloats memory(64);
        gradverify::simt::begin_call(given);
        simt_test::launchers().at("cpu/" + launcher)({memory.data, 64, 0, given});
        const std::string complaint = why_unordered(true);
        CHECK(gradverify::simt::take_error() == "");
        return Left{memory.data[0] == 100.0f + 2016.0f, complaint};
    };
    using enum gradverify::simt::Order;
    CHECK(left_by("tensor_to_pinned", ascending).is_right);
    CHECK(!left_by("tensor_to_pinned", descending).is_right);
    check_contains(left_by("tensor_from_pinned", descending).complaint,
                   {"the host changed its source, which is pinned memory"});
    for (const std::string launcher : {"tensor_to_pinned_waits", "tensor_to_pinned_blocks",
                                       "tensor_to_pageable", "tensor_from_pinned_waits"})
        for (const auto order : {ascending, descending}) {
            CAPTURE(launcher);
            CHECK(left_by(launcher, order).is_right);
            CHECK(left_by(launcher, order).complaint == "");
        }
}

TEST_CASE("a tensor that a second stream uses is freed behind it where that was recorded") {
    check_contains(first_text("tensor_of_two_streams", given),
                   {"cudaFreeAsync on the given stream frees it, ", "launch of twice"});
    for (const Finding& finding : findings_of_call("tensor_of_two_streams_in_order", given))
        FAIL_CHECK(finding.text);
}
