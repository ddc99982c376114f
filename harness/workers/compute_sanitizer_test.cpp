// SPDX-License-Identifier: Apache-2.0
// compute-sanitizer's logs, and workers that run under a script in its place.
#include "harness/workers/compute_sanitizer.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "harness/base/errors.hpp"
#include "harness/testing/fake_pool.hpp"
#include "harness/testing/made_operator.hpp"
#include "harness/testing/temporary_folder.hpp"

namespace gradverify {

namespace {

namespace fs = std::filesystem;

constexpr const char* invalid_read = R"(========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at sum_read_ahead(const float *, float *)+0x3a0 in conv_gradients.cu:112
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f2c3e000200 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2c3e000000 of size 512 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame:  [0x3344df]
=========
========= Invalid __global__ read of size 4 bytes
)";

/// A folder that is first on PATH, with a compute-sanitizer of this text.
class FirstOnPath {
  public:
    explicit FirstOnPath(const std::string& script) : path_before_(std::getenv("PATH")) {
        fs::permissions(folder_.write("compute-sanitizer", script), fs::perms::owner_all);
        setenv("PATH", (folder_.path().string() + ":" + path_before_).c_str(), 1);
    }
    ~FirstOnPath() { setenv("PATH", path_before_.c_str(), 1); }
    FirstOnPath(const FirstOnPath&) = delete;
    FirstOnPath& operator=(const FirstOnPath&) = delete;

  private:
    std::string path_before_;
    testing::TemporaryFolder folder_;
};

/// Runs what follows its options; `at_end` is written to the log behind it.
std::string fake_tool(const std::string& at_end = "") {
    return R"(#!/usr/bin/env bash
set -e
[[ $1 == --tool && $2 == memcheck && $3 == --log-file && $5 == --report-api-errors && $6 == no ]]
log=$4
shift 6
echo '========= COMPUTE-SANITIZER' >"$log"
code=0
"$@" || code=$?
printf '%s' ')" +
           at_end + R"(' >>"$log"
exit "$code"
)";
}

using testing::contains;
using testing::said;
using testing::told;

}  // namespace

TEST_CASE("a finding is its first line and what is indented below, without the host's stack") {
    const std::string race =
        ": Race reported between Write access at reduce(float *)+0x90 in r.cu:8";
    const std::string race_lines =
        race +
        "\n=========     and Read access at reduce(float *)+0xc0 in r.cu:9 [124 hazards]\n"
        "=========\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";
    const std::string race_text =
        race + "; and Read access at reduce(float *)+0xc0 in r.cu:9 [124 hazards]";
    const struct {
        std::string lines, text;
        bool is_of_the_tool = false;
    } rows[] = {
        {invalid_read,
         "Invalid __global__ read of size 4 bytes; "
         "at sum_read_ahead(const float *, float *)+0x3a0 in conv_gradients.cu:112; "
         "by thread (0,0,0) in block (0,0,0); Address 0x7f2c3e000200 is out of bounds; "
         "and is 1 bytes after the nearest allocation at 0x7f2c3e000000 of size 512 bytes"},
        {"========= Error" + race_lines, "Error" + race_text},
        {"========= Warning" + race_lines, "Warning" + race_text},
        {"========= Error: Device not supported.\n", "Error: Device not supported.", true},
        {"", ""},
        {"========= COMPUTE-SANITIZER\nhello\n========= ERROR SUMMARY: 0 errors\n"
         "========= RACECHECK SUMMARY: 0 hazards displayed\n"
         "========= Program hit cudaErrorInvalidConfiguration (error 9) due to\n"
         "=========     Saved host backtrace\n"
         "========= Warning: something about the tool\n",
         ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.lines);
        const SanitizerFinding found = first_finding(row.lines);
        CHECK(found.text == row.text);
        CHECK(found.is_of_the_tool == row.is_of_the_tool);
    }
}

TEST_CASE("a finding fails the case that wrote it, and no other") {
    const FirstOnPath tool(fake_tool());
    const SanitizerRun run("memcheck");
    {
        WorkerPool pool(
            {.command = run.watched(test_worker_command()), .jobs = 2, .forks = nullptr});
        CHECK(pool.run(told("pass")).verdict == Verdict::passed);
        const Outcome found = pool.run(told("sanitizer_finds"));
        CHECK(said(found) ==
              "failed: compute-sanitizer says: Invalid __shared__ write of size 8 bytes; at k in "
              "k.cu:3 (replay with --compute-sanitizer=memcheck)");
        CHECK(pool.run(told("pass")).verdict == Verdict::passed);
        CHECK(pool.run(told("fail")).message == "case -1");
        const Outcome unfit = pool.run(told("sanitizer_unfit"));
        CHECK(unfit.verdict == Verdict::errored);
        CHECK(contains(unfit.message, "Device not supported"));
    }
    CHECK(run.late_finding() == "");
}

TEST_CASE("a finding behind the last case is not lost") {
    const FirstOnPath tool(fake_tool("========= Invalid __global__ write of size 1 bytes\n"));
    const SanitizerRun run("memcheck");
    {
        WorkerPool pool({.command = run.watched(test_worker_command()), .forks = nullptr});
        CHECK(pool.run(told("sanitizer_finds")).verdict == Verdict::failed);
    }
    CHECK(run.late_finding() == "Invalid __global__ write of size 1 bytes");
}

TEST_CASE("the logs are gone after the run") {
    const FirstOnPath tool(fake_tool());
    auto run = std::make_unique<SanitizerRun>("memcheck");
    const std::string folder = run->watched({}).back();
    CHECK(fs::exists(folder));
    run.reset();
    CHECK(!fs::exists(folder));
}

TEST_CASE("a machine without compute-sanitizer is told where it would be") {
    if (fs::exists("/usr/local/cuda/bin/compute-sanitizer")) return;
    const std::string path = std::getenv("PATH");
    setenv("PATH", "", 1);
    CHECK_THROWS_WITH_AS(SanitizerRun("memcheck"),
                         "compute-sanitizer is neither on PATH nor in /usr/local/cuda/bin; it "
                         "comes with the CUDA toolkit",
                         EnvironmentError);
    setenv("PATH", path.c_str(), 1);
}

}  // namespace gradverify
