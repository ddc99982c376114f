// SPDX-License-Identifier: Apache-2.0
// What the verbs of the command line do once their options are read. Errors are thrown: UsageError
// (exit code 2) and EnvironmentError (3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/property.hpp"
#include "harness/worker_pool.hpp"

namespace gradverify {

/// What `--exhaustive` is when no distance was given.
constexpr const char* exhaustive_without_distance = "far";

struct CheckArguments {
    std::vector<std::string> filters;
    std::optional<std::int64_t> cases;
    std::string time;
    std::int64_t at_least = 0;
    std::optional<std::uint64_t> seed;
    std::string device = "auto";
    std::string property = "*";
    std::vector<std::string> problems;
    std::string problems_file;
    int jobs = 0;  ///< 0: one for each core
    std::string shard;
    std::string exhaustive;  ///< a distance, "far" for none given; empty: without
    std::string baseline;
    std::string json, junit;
    std::string compute_sanitizer;  ///< its tool; empty: without
};

struct ReproArguments {
    std::string printed_case;
    std::string device;  ///< empty: the case's own
    bool in_process = false;
    std::string compute_sanitizer;  ///< as of `check`
};

struct BenchArguments {
    std::vector<std::string> filters;
    std::string device = "auto";
    std::uint64_t seed = 1;
    // Of kernels.
    std::vector<std::string> own_problems;  ///< none: the operators' own
    std::string data = "integers";
    bool verify = true;
    bool graph = false;
    std::int64_t repetitions = 0;  ///< 0: as many as take some time
    std::string json;
    std::pair<std::string, std::string> compare;  ///< files; empty without
    // Of the harness.
    bool harness = false;
    std::string property = "*";
    std::int64_t problems = 300;
};

/// Each returns the exit code.
int run_list(const Suite& suite, const std::vector<std::string>& filters,
             const std::string& problem);
int run_check(const Suite& suite, const CheckArguments& arguments);
int run_repro(const Suite& suite, const ReproArguments& arguments);
int run_bench(const Suite& suite, const BenchArguments& arguments);
/// `bench --harness`.
int run_bench_harness(const Suite& suite, const BenchArguments& arguments);

/// Prints the tensors of a call and their memory, for `list --problem`.
void print_tensors(const Kernel& kernel, const Problem& problem);

/// Throws a UsageError when a filter selects no kernel: a misspelt one beside a right one would go
/// unnoticed.
void require_each_filter(const std::vector<std::string>& filters);

/// Whether one of the filters selects the kernel; none selects all.
bool is_selected(const Kernel& kernel, const std::vector<std::string>& filters);

/// Seconds of `60`, `60s`, `5m` or `2h`. **Errors** UsageError.
double parse_duration(const std::string& text);

/// How this executable was called, as a line to paste from this folder begins.
std::string program_to_paste();
/// Remembers the first word of the command line for `program_to_paste`.
void remember_program(const char* first_word);

class SanitizerRun;

/// Workers of this very executable, whose time limits know the registered kernels; with a
/// `sanitizer`, under it.
WorkerPoolOptions worker_options(int jobs, const SanitizerRun* sanitizer = nullptr);

/// What `--compute-sanitizer` asks for; null without it.
///
/// **Errors** UsageError for another device than cuda, EnvironmentError when it is not installed.
std::unique_ptr<SanitizerRun> sanitizer_run(const std::string& tool, const std::string& device);

/// The devices that `cpu`, `cuda`, `auto` or `all` means on this machine: `auto` is cuda if it
/// answers, else cpu; `all` is every one that answers. A worker is asked, so that this process
/// never touches the CUDA runtime.
///
/// **Errors** UsageError for another word, EnvironmentError when `cuda` does not answer.
std::vector<std::string> choose_devices(const std::string& wanted, WorkerPool& pool);

}  // namespace gradverify
