// SPDX-License-Identifier: Apache-2.0
// Pipelines of TMA, mbarriers and wgmma, in a block and in a cluster: nothing is found in what is
// right, and each mistake is.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/simt/tests/races/checked_run.hpp"

using gradverify::simt::Finding;
using gradverify::simt::take_error;
using gradverify::simt::take_findings;
using simt_test::contains;
using simt_test::findings_of;
using simt_test::run_on;

TEST_CASE("a pipeline of TMA and wgmma is right, and nothing is found in it") {
    simt_test::in_every_order([] {
        for (const std::string name : {"pipeline_right", "pipeline_of_pairs"}) {
            CAPTURE(name);
            CHECK(run_on("cpu", name)[0] == 0.0f);
            for (const Finding& finding : findings_of(name)) FAIL_CHECK(finding.text);
            CHECK(run_on("cpu-checked", name)[0] == 0.0f);
        }
    });
}

TEST_CASE("who waits at an mbarrier lets other blocks of the cluster run") {
    simt_test::in_every_order([] {
        for (const std::string variant : {"cpu", "cpu-checked"}) {
            const auto is_over = run_on(variant, "waits_once_in_pair");
            CHECK(is_over[0] == 1.0f);
            CHECK(is_over[1] == 1.0f);
            CHECK(run_on(variant, "loads_for_another")[0] == 64.0f + 10.0f);
        }
        for (const Finding& finding : take_findings()) FAIL_CHECK(finding.text);
    });
}

TEST_CASE("a bulk copy to an absent block, or beside its mbarrier's block, is an error") {
    run_on("cpu", "loads_for_absent");
    simt_test::check_contains(take_error(), {"kernels_wrong_pipeline.cu:", "does not have"});
    run_on("cpu", "loads_beside_mbarrier");
    simt_test::check_contains(take_error(), {"kernels_wrong_pipeline.cu:", "of another block"});
}

TEST_CASE("each mistake of a pipeline is found in every order") {
    struct Wrong {
        std::string launcher;
        std::vector<std::string> finding;  ///< parts of its text; none: there must be the error
        std::string error;                 ///< in place of the finding; empty: there is none
    };
    const Wrong all[] = {
        {"full_not_waited_for", {"product reads it", "the copy has not been waited for"}, ""},
        {"empty_not_waited_for_of_pipeline",
         {"asynchronous copy writes it"},
         "more arrivals at an mbarrier than its phase waits for"},
        {"wrong_parity",
         {"product reads it", "the copy has not been waited for"},
         "lacks 1 arrival"},
        {"expects_too_little",
         {"product reads it", "the copy has not been waited for"},
         "to which 4096 bytes came that none expected"},
        {"expects_too_much", {}, "lacks 128 bytes of those that expect_tx announced"},
        {"released_early",
         {"asynchronous copy writes it", "product reads it", "the product has not been waited for"},
         ""},
        {"released_early_in_pair",
         {"asynchronous copy writes it", "product reads it", "the product has not been waited for"},
         ""},
        {"store_not_fenced", {"asynchronous copy at", "no fence.proxy.async"}, ""},
        {"no_cluster_barrier", {"of its cluster, which has not begun or has ended"}, ""},
    };
    for (const Wrong& wrong : all) {
        simt_test::in_every_order([&] {
            take_findings();
            run_on("cpu-checked", wrong.launcher);
            const std::string error = take_error();
            std::string text;
            const bool is_found = std::ranges::any_of(take_findings(), [&](const Finding& finding) {
                text += finding.text + "\n";
                return !wrong.finding.empty() &&
                       std::ranges::all_of(wrong.finding, [&](const std::string& part) {
                           return contains(finding.text, part);
                       });
            });
            const bool is_error = !wrong.error.empty() && contains(error, wrong.error);
            CAPTURE(wrong.launcher);
            CAPTURE(error);
            CAPTURE(text);
            CHECK((is_found || is_error));
        });
    }
}
