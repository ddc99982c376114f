// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shard.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;

/// `index/count` from 0 on, or what is wrong.
std::string shard(const std::string& text, const std::map<std::string, std::string>& set = {}) {
    std::string told;
    const std::string why = testing::refusal([&] {
        const Shard read = parse_shard(text, [&](const std::string& name) {
            const auto found = set.find(name);
            return found == set.end() ? std::nullopt : std::optional(found->second);
        });
        told = fmt::format("{}/{}", read.index, read.count);
    });
    return told + why;
}

}  // namespace

TEST_CASE("a shard is given in words") {
    CHECK(shard("") == "0/1");
    CHECK(shard("2/8") == "1/8");
    for (const char* text : {"0/8", "9/8", "2", "a/b", "1/2/3", "1/1000001", "automatic"})
        CHECK(shard(text) ==
              fmt::format("--shard {} is not auto, nor i/n with 1 <= i <= n <= 1000000", text));
}

TEST_CASE("a shard is told by what starts many processes") {
    CHECK(shard("auto", {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}) == "3/4");
    CHECK(shard("auto", {{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}) == "0/4");
    CHECK(shard("auto", {{"CI_NODE_INDEX", "4"}, {"CI_NODE_TOTAL", "4"}}) == "3/4");
    CHECK(shard("auto", {{"JOB_COMPLETION_INDEX", "5"}, {"GRADVERIFY_SHARD_COUNT", "6"}}) == "5/6");
    CHECK(shard("auto", {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}) == "1/2");
    const std::map<std::string, std::string> array{
        {"SLURM_ARRAY_TASK_ID", "14"},  {"SLURM_ARRAY_TASK_MIN", "10"},
        {"SLURM_ARRAY_TASK_STEP", "2"}, {"SLURM_ARRAY_TASK_COUNT", "5"},
        {"SLURM_PROCID", "0"},          {"SLURM_NTASKS", "1"}};
    CHECK(shard("auto", array) == "2/5");
    auto ranks = array;
    ranks["SLURM_PROCID"] = "1", ranks["SLURM_NTASKS"] = "2";
    CHECK(shard("auto", ranks) == "5/10");
    auto alone_in_mpi = array;
    alone_in_mpi.insert({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}});
    CHECK(shard("auto", alone_in_mpi) == "2/5");
    auto by_hand = array;
    by_hand.insert({{"GRADVERIFY_SHARD_INDEX", "6"}, {"GRADVERIFY_SHARD_COUNT", "7"}});
    CHECK(shard("auto", by_hand) == "6/7");
}

TEST_CASE("an environment that tells no shard is said to") {
    CHECK(shard("auto").starts_with("--shard auto finds no variables of Slurm"));
    CHECK(shard("auto", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}})
              .starts_with("--shard auto finds no"));
    CHECK(shard("auto", {{"JOB_COMPLETION_INDEX", "5"}}) ==
          "--shard auto: JOB_COMPLETION_INDEX is set, and GRADVERIFY_SHARD_COUNT is not");
    CHECK(shard("auto", {{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}) ==
          "--shard auto: PMI_RANK=4 of PMI_SIZE=4 is no shard of at most 1000000");
    CHECK(shard("auto", {{"CI_NODE_INDEX", "one"}}) ==
          "--shard auto: CI_NODE_INDEX=one is no number from 0 on");
    CHECK(shard("auto", {{"CI_NODE_INDEX", "-9223372036854775808"}, {"CI_NODE_TOTAL", "2"}}) ==
          "--shard auto: CI_NODE_INDEX=-9223372036854775808 is no number from 0 on");
    CHECK(shard("auto", {{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "2"}}) ==
          "--shard auto: SLURM_PROCID=2 of SLURM_NTASKS=2 is no shard of at most 1000000");
    std::map<std::string, std::string> array{{"SLURM_ARRAY_TASK_ID", "1"},
                                             {"SLURM_ARRAY_TASK_COUNT", "3"},
                                             {"SLURM_PROCID", "2"},
                                             {"SLURM_NTASKS", "2"}};
    CHECK(shard("auto", array) ==
          "--shard auto: SLURM_PROCID=2 of SLURM_NTASKS=2 is no shard of at most 1000000");
    array = {{"SLURM_ARRAY_TASK_ID", "1"},
             {"SLURM_ARRAY_TASK_COUNT", "4611686018427387905"},
             {"SLURM_NTASKS", "4"}};
    CHECK(shard("auto", array) ==
          "--shard auto: task 1 of an array of 4611686018427387905 is no shard of at most 1000000");
    CHECK(shard("auto", {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "1"}})
              .starts_with("--shard auto: SLURM_ARRAY_TASK_ID=3 needs"));
    CHECK(shard("auto", {{"SLURM_ARRAY_TASK_ID", "3"}})
              .starts_with("--shard auto: SLURM_ARRAY_TASK_ID=3 needs SLURM_ARRAY_TASK_COUNT"));
}
