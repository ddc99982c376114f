// SPDX-License-Identifier: Apache-2.0
// The checked variant finds each kind of error with its lines, and is silent on correct kernels in
// many idioms, in every order of threads, with threads giving way and without.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "harness/simt/tests/races/checked_run.hpp"

using gradverify::simt::Finding;
using gradverify::simt::FindingKind;
using gradverify::simt::Order;
using gradverify::simt::take_error;
using gradverify::simt::take_findings;
using simt_test::contains;
using simt_test::findings_of;
using simt_test::run_on;
using simt_test::ScheduleScope;
using enum gradverify::simt::FindingKind;

namespace {

/// "kernels_wrong.cu:12" and so on: the lines that are marked with the launcher's name.
std::vector<std::string> lines_of(const std::string& launcher) {
    std::vector<std::string> found;
    for (const std::string name :
         {"kernels_wrong.cu", "kernels_wrong_async.cu", "kernels_wrong_clusters.cu",
          "kernels_wrong_waits.cu", "kernels_wrong_warpgroups.cu"}) {
        std::ifstream file(GRADVERIFY_SIMT_TEST_FOLDER "/" + name);
        int number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            if (line.ends_with("// line: " + launcher))
                found.push_back(name + ":" + std::to_string(number));
        }
    }
    CAPTURE(launcher);
    REQUIRE(!found.empty());
    return found;
}

struct WrongKernel {
    const char* launcher;
    FindingKind kind;
    std::vector<std::string> texts;  ///< of the finding, beside its lines
};

const WrongKernel wrong_kernels[] = {
    {"scratch_reused_without_barrier",
     race,
     {"scratch[", "shared memory", "no barrier between them",
      "launch of scratch_reused_without_barrier"}},
    {"race_between_blocks", race, {"data[", "of block (", "nothing orders these blocks"}},
    {"read_of_unwritten_shared", uninitialised, {"tile[31]"}},
    {"cleared_without_barrier", race, {"tile["}},
    {"plain_add_for_atomic", race, {"data[0]"}},
    {"fill_past_the_end", out_of_bounds, {"writes", "data[64]", "launch of thrust::fill"}},
    {"shuffle_from_exited", warp_mask, {"lane 20"}},
    {"mask_names_absent_lane", warp_mask, {"0x1ff", "(0x100"}},
    {"different_barriers", barrier, {}},
    {"write_past_the_end", out_of_bounds, {"writes", "data[64], but data has 64 elements"}},
    {"read_before_the_start", out_of_bounds, {"reads", "data[-1], but data has"}},
    {"shared_write_past_the_end",
     out_of_bounds,
     {"writes", "first[32], but first has 32 elements"}},
    {"dynamic_read_past_the_end",
     out_of_bounds,
     {"reads", "byte 124 of dynamic shared memory, but", "has 124 bytes"}},
    {"host_pointer", host_pointer, {"a host pointer"}},
    {"warp_without_syncwarp", race, {"lanes[", "neither __syncwarp() nor a barrier"}},
    {"last_block_without_fence", race, {"data["}},
    {"arrived_without_wait", race, {"late["}},
    {"handed_on_relaxed", race, {"data[0]"}},
    {"staged_factors", race, {"staged[", "neither __syncwarp() nor a barrier"}},
    {"own_sums", race, {"sums["}},
    {"factors_loaded_past_the_end", out_of_bounds, {"factors has 120 elements"}},
    {"plain_read_of_an_atomic", race, {"updates it atomically"}},
    {"written_after_others_read", race, {"data[0]"}},
    {"read_of_unwritten_byte", uninitialised, {"bytes[1]"}},
    {"written_anew_without_barrier", race, {"flag"}},
    {"async_without_wait", race, {"stage[", "asynchronous copy", " wait for the copy's group"}},
    {"async_without_commit", race, {"stage[", "asynchronous copy", " wait for the copy's group"}},
    {"async_without_barrier", race, {"stage[", "no barrier"}},
    {"async_early_refill", race, {"stage["}},
    {"async_one_stage_too_few",
     race,
     {"stage[", "asynchronous copy", " wait for the copy's group"}},
    {"named_barrier_of_half", race, {"half["}},
    {"scans_without_barrier", race, {"storage", "nor a barrier"}},
    {"cluster_read_without_barrier", race, {"own[", "no barrier of the cluster"}},
    {"block_scope", race, {"data[0]", "nothing orders these blocks", "atomic within it alone"}},
    {"cluster_block_scope", race, {"data[0]", "atomic within it alone"}},
    {"cluster_ends", race, {"own[", "of its cluster, which has not begun or has ended"}},
    {"cluster_begins", race, {"own[", "of its cluster, which has not begun or has ended"}},
    {"wgmma_without_wait", race, {"reads an accumulator's register", "has not waited"}},
    {"wgmma_without_commit", race, {"reads an accumulator's register", "has not waited"}},
    {"wgmma_one_group_too_many", race, {"reads an accumulator's register", "has not waited"}},
    {"wgmma_fenced_early", race, {"a register that is written", "no wgmma.fence"}},
    {"wgmma_without_fence", race, {"first product", "no wgmma.fence"}},
    {"wgmma_rescaled", race, {"a register that is written", "no wgmma.fence"}},
    {"group_copy_without_wait",
     race,
     {"stage[", "asynchronous copy", " wait for the copy's group"}},
    {"group_copy_waits_early", race, {"stage[", "asynchronous copy", " wait for the copy's group"}},
    {"wgmma_without_proxy_fence", race, {"product at", "tile", "no fence.proxy.async"}},
    {"wgmma_one_thread_fenced", race, {"product at", "tile", "no fence.proxy.async"}},
    {"wgmma_without_barrier", race, {"tile", "no barrier"}},
    {"wgmma_early_refill", race, {"tile", "the product has not been waited for"}},
    {"wgmma_factor_overwritten", race, {"a register of a factor", "may still read it"}},
    {"load_without_wait", race, {"stage[", "the copy has not been waited for"}},
    {"load_waited_for_by_one", race, {"stage[", "asynchronous copy writes it"}},
    {"refilled_early", race, {"stage[", "asynchronous copy writes it"}},
    {"empty_not_waited_for", race, {"stage["}},
    {"store_without_fence", race, {"stage[", "no fence.proxy.async"}},
    {"store_fenced_too_early", race, {"stage[", "no fence.proxy.async"}},
    {"store_without_barrier", race, {"stage[", "asynchronous copy reads it"}},
    {"store_not_waited_for", race, {"stage[", "the copy has not been waited for"}},
    {"store_read_back", race, {"data[", "the copy has not been waited for"}},
    {"store_outlives_block", race, {"when its block has ended"}},
    {"wgmma_wait_for_barrier", race, {"late", "no barrier"}},
    {"wgmma_waited_for_by_another_warp",
     race,
     {"reads an accumulator's register", "its warp has not waited"}},
    {"map_rewritten_in_flight",
     race,
     {"writes it", "asynchronous copy reads it", "the copy has not been waited for"}},
    {"map_not_released", race, {"reads a tensor map", "fence.proxy.tensormap"}},
    {"map_not_acquired", race, {"reads a tensor map", "fence.proxy.tensormap"}},
    {"map_acquired_by_another", race, {"reads a tensor map", "fence.proxy.tensormap"}},
    {"map_fenced_for_async", race, {"reads a tensor map", "fence.proxy.tensormap"}},
    {"map_copied_without_syncwarp", race, {"own", "neither __syncwarp() nor a barrier"}},
    {"store_fenced_for_another_space", race, {"stage[", "no fence.proxy.async"}},
    {"passed_behind_a_proxy_fence", race, {"value"}},
    {"copies_arrived_without_wait", race, {"stage[", "the copy has not been waited for"}},
    {"own_copy_arrived_without_wait", race, {"stage[", "the copy has not been waited for"}},
    {"copy_source_overwritten", race, {"data[", "may still read it"}},
    {"mbarrier_arrived_relaxed", race, {"value"}},
    {"mbarrier_waited_relaxed", race, {"value"}},
    {"cluster_arrived_relaxed", race, {"own[", "no barrier of the cluster"}},
    {"cluster_stored_behind_arrival", race, {"own"}},
    {"fence_of_block_between_blocks", race, {"data[", "nothing orders these blocks"}},
    {"fence_of_cta_scope_between_blocks", race, {"data[", "nothing orders these blocks"}},
    {"named_barrier_between_blocks", race, {"data[", "nothing orders these blocks"}},
    {"named_barrier_of_next_use", race, {"value"}},
};

void check_finds(const WrongKernel& wrong) {
    std::vector<std::string> parts = lines_of(wrong.launcher);
    parts.insert(parts.end(), wrong.texts.begin(), wrong.texts.end());
    const auto findings = findings_of(wrong.launcher);
    std::string found_text;
    for (const Finding& finding : findings) found_text += finding.text + "\n";
    CAPTURE(wrong.launcher);
    CAPTURE(found_text);
    CHECK(std::ranges::any_of(findings, [&](const Finding& finding) {
        return finding.kind == wrong.kind && std::ranges::all_of(parts, [&](const auto& part) {
                   return contains(finding.text, part);
               });
    }));
}

}  // namespace

TEST_CASE("the line of a launch is told from the current folder, as that of an access is") {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(GRADVERIFY_SIMT_TEST_FOLDER);
    const auto findings = findings_of("write_past_the_end");
    std::filesystem::current_path(before);
    REQUIRE(!findings.empty());
    CHECK(contains(findings[0].text, ", kernels_wrong.cu:"));
}

TEST_CASE("each error is found with its source lines, in every order of threads") {
    for (const WrongKernel& wrong : wrong_kernels)
        simt_test::in_every_order([&] { check_finds(wrong); });
}

TEST_CASE("nothing is found where a wait orders what its kernel takes it to order") {
    int count = 0;
    for (const auto& [launcher, _] : simt_test::launchers()) {
        if (!launcher.starts_with("cpu-checked/right_")) continue;
        ++count;
        simt_test::in_every_order([&] {
            CAPTURE(launcher);
            take_findings();
            run_on("cpu-checked", launcher.substr(12), 128);
            CHECK(take_error() == "");
            for (const Finding& finding : take_findings()) FAIL_CHECK(finding.text);
        });
    }
    CHECK(count == 25);
}

TEST_CASE("mbarrier.test_wait holds nobody, and where it is false its thread knows nothing") {
    for (const std::string launcher : {"mbarrier_tested_once", "mbarriers_tested_by_turns"}) {
        std::string all;
        simt_test::in_every_order([&] {
            for (const Finding& finding : findings_of(launcher)) all += finding.text + "\n";
        });
        simt_test::check_contains(all, lines_of(launcher));
    }
    CHECK(run_on("cpu", "right_mbarriers_tested_by_turns")[1] == 7.0f);
}

TEST_CASE("a wait for products holds one warp: it is no barrier of the warpgroup") {
    bool is_early = false;
    simt_test::in_every_order([&] {
        is_early |= run_on("cpu", "wgmma_wait_for_barrier")[0] != 17.0f;
        CHECK(run_on("cpu", "right_wgmma_wait_for_barrier")[0] == 17.0f);
        CHECK(run_on("cpu", "right_wgmma_waited_for_by_another_warp", 128)[127] == 16.0f);
    });
    CHECK(is_early);
}

TEST_CASE("a wait that not all warps of a warpgroup execute is an error") {
    for (const std::string variant : {"cpu", "cpu-checked"}) {
        run_on(variant, "wgmma_wait_of_one_warp");
        simt_test::check_contains(take_error(),
                                  {lines_of("wgmma_wait_of_one_warp")[0], "not all four warps"});
    }
    take_findings();
}

TEST_CASE("threads that meet at a barrier by number with different counts are an error") {
    simt_test::in_every_order([&] {
        run_on("cpu", "named_barrier_of_two_counts");
        simt_test::check_contains(take_error(),
                                  {"kernels_wrong_waits.cu", "different numbers of threads"});
    });
}

TEST_CASE("nothing is found in products of a warpgroup that lack nothing") {
    simt_test::in_every_order([] {
        for (const char* const name : {"wgmma_pipeline", "wgmma_specialised", "wgmma_by_mbarriers"})
            for (const auto& finding : findings_of(name, 128)) FAIL_CHECK(finding.text);
        CHECK(run_on("cpu-checked", "wgmma_specialised", 128)[127] == 64.0f);
        CHECK(run_on("cpu", "wgmma_specialised", 128)[0] == 64.0f);
        CHECK(run_on("cpu", "wgmma_by_mbarriers", 128)[0] == 64.0f);
    });
}

TEST_CASE("before it is waited for, an accumulator is there early, or NaN") {
    CHECK(run_on("cpu", "wgmma_without_wait", 128)[0] == 16.0f);
    const ScheduleScope scope({.threads = Order::descending});
    CHECK(std::isnan(run_on("cpu", "wgmma_without_wait", 128)[0]));
}

TEST_CASE("a warpgroup whose warps do not all come is a deadlock that names the instruction") {
    run_on("cpu-checked", "wgmma_of_three_warps");
    simt_test::check_contains(
        take_error(), {"deadlock", "96 wait at", "kernels_wrong_warpgroups.cu", "32 exited"});
}

TEST_CASE(
    "a wait at a cluster's barrier without an arrival, or a grid of no whole clusters, is an "
    "error") {
    run_on("cpu-checked", "cluster_wait_without_arrival");
    simt_test::check_contains(take_error(),
                              {lines_of("cluster_wait_without_arrival")[0], "has not arrived"});
    take_findings();
    run_on("cpu-checked", "cluster_of_odd_grid");
    simt_test::check_contains(take_error(),
                              {"cudaErrorInvalidConfiguration", "(3, 1, 1) is no multiple of"});
}

TEST_CASE("an access that would end the process ends the launch, with a finding") {
    take_findings();
    run_on("cpu-checked", "global_write_to_unmapped");
    CHECK(contains(take_error(), "an illegal memory access was encountered"));
    const auto findings = take_findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == out_of_bounds);
    CHECK(contains(findings[0].text, lines_of("global_write_to_unmapped")[0]));
    CHECK(run_on("cpu-checked", "mask_names_absent_lane")[0] == 1.0f);
    CHECK(take_error() == "");
}

TEST_CASE("a parity that is reused is a race, or a wait for a phase that nobody ends") {
    simt_test::in_every_order([] {
        take_findings();
        run_on("cpu-checked", "parity_reused");
        const bool is_for_ever =
            contains(take_error(), "an mbarrier's phase, which lacks 1 arrival");
        const auto findings = take_findings();
        CHECK((is_for_ever || std::ranges::any_of(findings, [](const Finding& finding) {
                   return contains(finding.text, "stage[") &&
                          contains(finding.text, lines_of("parity_reused")[1]);
               })));
    });
}

TEST_CASE("an mbarrier that others use before they can know of it is a race") {
    const auto findings = findings_of("init_without_barrier");
    REQUIRE(!findings.empty());
    simt_test::check_contains(findings[0].text, {"full in shared memory", "nothing orders"});
    simt_test::check_contains(findings[0].text, lines_of("init_without_barrier"));
}

TEST_CASE("a store that is not committed is not waited for") {
    const auto findings = findings_of("store_not_committed");
    REQUIRE(!findings.empty());
    simt_test::check_contains(findings[0].text, {"stage[", "the copy has not been waited for"});
    simt_test::check_contains(findings[0].text, lines_of("store_not_waited_for"));
}

TEST_CASE("nothing is found in copies beyond those that have numbers") {
    for (const Finding& finding : findings_of("more_copies_than_have_numbers"))
        FAIL_CHECK(finding.text);
    CHECK(run_on("cpu-checked", "more_copies_than_have_numbers")[0] == 65.0f);
}

TEST_CASE("an mbarrier whose arrivals or bytes are not those that come is named") {
    const std::map<std::string, std::string> errors = {
        {"expects_more_bytes", "which lacks 128 bytes of those that expect_tx announced"},
        {"expects_fewer_bytes", "to which 64 bytes came that none expected"},
        {"an_arrival_too_few", "which lacks 1 arrival"},
        {"an_arrival_too_many", "more arrivals at an mbarrier than its phase waits for"},
        {"no_mbarrier", "that no mbarrier.init has made"},
        {"tile_loaded_between_16_bytes", "first coordinate is at no multiple of 16 bytes"},
        {"tile_stored_between_16_bytes", "first coordinate is at no multiple of 16 bytes"},
        {"tile_stored_below_0", "to global memory at a coordinate below 0"},
        {"load_misaligned", "a misaligned address"},
    };
    for (const auto& [launcher, text] : errors) {
        for (const std::string variant : {"cpu", "cpu-checked"}) {
            simt_test::in_every_order([&] {
                run_on(variant, launcher);
                CAPTURE(launcher);
                simt_test::check_contains(take_error(), {text, "kernels_wrong_async.cu:"});
            });
        }
    }
    take_findings();
}

TEST_CASE("an access beyond a thread's own array is an error, not one beyond a row of it") {
    for (const char* const launcher : {"beyond_own_array", "beyond_own_rows"}) {
        CAPTURE(std::string(launcher));
        run_on("cpu-checked", launcher);
        simt_test::check_contains(
            take_error(), {"'float' beyond an array of the thread's own", "kernels_wrong.cu:"});
    }
    for (const char* const launcher : {"within_own_array", "within_own_rows"}) {
        CAPTURE(std::string(launcher));
        const auto expected = run_on("cpu", launcher);
        CHECK(run_on("cpu-checked", launcher) == expected);
        CHECK(take_error() == "");
    }
    take_findings();
}

TEST_CASE("a matrix that part of a warp loads is an error") {
    run_on("cpu-checked", "factors_loaded_by_half_a_warp");
    simt_test::check_contains(
        take_error(), {"a matrix of wmma that not all 32 lanes of a warp load or store together",
                       lines_of("factors_loaded_by_half_a_warp")[0]});
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

TEST_CASE("threads also give way at an access that is clearly right") {
    const auto left = [](std::uint64_t seed, std::uint32_t one_in) {
        const ScheduleScope scope({.seed = seed, .give_way_one_in = one_in});
        return run_on("cpu-checked", "last_one_stays")[0];
    };
    CHECK(left(1, 0) == -1.0f);
    CHECK(std::ranges::any_of(std::array{1, 2, 3, 4, 5, 6, 7, 8},
                              [&](std::uint64_t seed) { return left(seed, 1) == 65.0f + 66.0f; }));
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
