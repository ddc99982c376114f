// SPDX-License-Identifier: Apache-2.0
// The checked variant finds each kind of error with its lines, and is silent on correct kernels in
// many idioms, in every order of threads, with threads giving way and without.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::Finding;
using gradverify::simt::FindingKind;
using gradverify::simt::Order;
using gradverify::simt::take_error;
using gradverify::simt::take_findings;
using simt_test::contains;
using simt_test::ScheduleScope;

namespace {

/// "kernels_wrong.cu:12", where the line ends with this comment.
std::string line_of(const std::string& comment) {
    std::ifstream file(GRADVERIFY_SIMT_TEST_FOLDER "/kernels_wrong.cu");
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.ends_with("// line: " + comment))
            return "kernels_wrong.cu:" + std::to_string(number);
    }
    FAIL("no line is marked `" << comment << "`");
    return "";
}

/// The first values that a launcher leaves, of memory whose `count` elements are named `data`.
std::vector<float> run_on(const std::string& device, const std::string& name, int count = 64) {
    // A guard lies on either side, as a harness would have it.
    const simt_test::DeviceFloats memory(count + 128);
    float* begin = memory.data + 64;
    const simt_test::NamedScope scope(begin, count);
    simt_test::launchers().at(device + "/" + name)({begin, count, 0});
    return {begin, begin + std::min(count, 128)};
}

std::vector<Finding> findings_of(const std::string& name, int count = 64) {
    take_findings();
    run_on("cpu-checked", name, count);
    take_error();
    return take_findings();
}

void check_finds(const std::string& name, FindingKind kind, std::vector<std::string> parts) {
    const auto findings = findings_of(name);
    std::string found_text;
    for (const Finding& finding : findings) found_text += finding.text + "\n";
    CAPTURE(name);
    CAPTURE(found_text);
    CHECK(std::ranges::any_of(findings, [&](const Finding& finding) {
        return finding.kind == kind && std::ranges::all_of(parts, [&](const auto& part) {
                   return contains(finding.text, part);
               });
    }));
}

struct WrongKernel {
    const char* launcher;
    FindingKind kind;
    std::vector<std::string> lines;  ///< by their comments
    std::vector<std::string> texts;
};

const WrongKernel wrong_kernels[] = {
    {"scratch_reused_without_barrier",
     FindingKind::race,
     {"reuse reads", "reuse writes"},
     {"scratch[", "shared memory", "no barrier between them", "launch of reuse"}},
    {"race_between_blocks",
     FindingKind::race,
     {"neighbour reads", "neighbour writes"},
     {"data[", "of block (", "nothing orders these blocks"}},
    {"read_of_unwritten_shared", FindingKind::uninitialised, {"unwritten reads"}, {"tile[31]"}},
    {"cleared_without_barrier", FindingKind::race, {"cleared at once", "cleared reads"}, {"tile["}},
    {"plain_add_for_atomic", FindingKind::race, {"plain sum"}, {"data[0]"}},
    {"shuffle_from_exited_lane", FindingKind::warp_mask, {"from exited"}, {"lane 20"}},
    {"mask_names_absent_lane", FindingKind::warp_mask, {"absent lane"}, {"0x1ff", "(0x100"}},
    {"different_barriers", FindingKind::barrier, {"first barrier", "second barrier"}, {}},
    {"global_write_past_the_end",
     FindingKind::out_of_bounds,
     {"write past"},
     {"writes", "data[64], but data has 64 elements"}},
    {"global_read_before_the_start",
     FindingKind::out_of_bounds,
     {"read before"},
     {"reads", "data[-1], but data has"}},
    {"shared_write_past_the_end",
     FindingKind::out_of_bounds,
     {"shared write past"},
     {"writes", "first[32], but first has 32 elements"}},
    {"dynamic_read_past_the_end",
     FindingKind::out_of_bounds,
     {"dynamic read past"},
     {"reads", "byte 124 of dynamic shared memory, but", "has 124 bytes"}},
    {"host_pointer", FindingKind::host_pointer, {"from host"}, {"a host pointer"}},
    {"warp_without_syncwarp",
     FindingKind::race,
     {"legacy"},
     {"lanes[", "neither __syncwarp() nor a barrier"}},
    {"last_block_without_fence",
     FindingKind::race,
     {"no fence writes", "no fence reads"},
     {"data["}},
    {"factors_loaded_without_barrier",
     FindingKind::race,
     {"staged writes", "staged loads"},
     {"staged[", "neither __syncwarp() nor a barrier"}},
    {"sums_read_without_syncwarp",
     FindingKind::race,
     {"sums are stored", "sums are read"},
     {"sums["}},
    {"factors_loaded_past_the_end",
     FindingKind::out_of_bounds,
     {"loads past"},
     {"factors has 120 elements"}},
    {"plain_read_of_an_atomic",
     FindingKind::race,
     {"mixed updates", "mixed reads"},
     {"updates it atomically"}},
};

}  // namespace

TEST_CASE("each error is found with its source lines, in every order of threads") {
    for (const WrongKernel& wrong : wrong_kernels) {
        auto parts = wrong.texts;
        for (const std::string& line : wrong.lines) parts.push_back(line_of(line));
        simt_test::in_every_order([&] { check_finds(wrong.launcher, wrong.kind, parts); });
    }
}

TEST_CASE("an access that would end the process ends the launch, with a finding") {
    take_findings();
    run_on("cpu-checked", "global_write_to_unmapped");
    CHECK(contains(take_error(), "an illegal memory access was encountered"));
    const auto findings = take_findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == FindingKind::out_of_bounds);
    CHECK(contains(findings[0].text, line_of("to unmapped")));
    CHECK(run_on("cpu-checked", "mask_names_absent_lane")[0] == 1.0f);
    CHECK(take_error() == "");
}

TEST_CASE("a matrix that part of a warp loads is an error") {
    run_on("cpu-checked", "factors_loaded_by_half_a_warp");
    simt_test::check_contains(
        take_error(), {"a matrix of wmma that not all 32 lanes of a warp load or store together",
                       line_of("half loads")});
    take_findings();
}

TEST_CASE("updates are lost when threads give way at an access, the same ones each time") {
    const auto sum = [](std::uint64_t seed, std::uint32_t one_in) {
        const ScheduleScope scope({.seed = seed, .give_way_one_in = one_in});
        return run_on("cpu-checked", "lost_updates")[0];
    };
    CHECK(sum(1, 0) == 64.0f);
    CHECK(sum(1, 4) < 64.0f);
    CHECK(sum(1, 4) == sum(1, 4));
    CHECK(sum(1, 4) != sum(2, 4));
    take_findings();
}

TEST_CASE("a finding is given once for its lines, and again only after it was taken") {
    const auto first = findings_of("race_between_blocks");
    CHECK(first.size() == 1);
    CHECK(take_findings().empty());
    CHECK(findings_of("race_between_blocks").size() == 1);
}

TEST_CASE("correct kernels in idioms of all kinds give no finding") {
    for (const auto& [launcher, _] : simt_test::launchers()) {
        if (!launcher.starts_with("cpu/idiom_")) continue;
        const std::string name = launcher.substr(4);
        const auto expected = run_on("cpu", name, 1216);
        for (const Order order : simt_test::all_orders) {
            for (const std::uint32_t give_way : {0u, 1u, 7u}) {
                const ScheduleScope scope(
                    {.threads = order, .blocks = order, .seed = 11, .give_way_one_in = give_way});
                CAPTURE(name);
                CAPTURE(static_cast<int>(order));
                CAPTURE(give_way);
                take_findings();
                const auto values = run_on("cpu-checked", name, 1216);
                for (const Finding& finding : take_findings()) {
                    FAIL_CHECK(finding.text);
                }
                CHECK(take_error() == "");
                CHECK(std::equal(expected.begin(), expected.end(), values.begin()));
            }
        }
    }
}
