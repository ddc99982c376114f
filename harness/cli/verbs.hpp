// SPDX-License-Identifier: Apache-2.0
// The verbs `list`, `check`, `judge`, `repro`, `new` and `report` once their options are read. They
// throw UsageError (exit code 2) and EnvironmentError (3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/suite.hpp"
#include "harness/drafting/user_files.hpp"

namespace gradverify {

/// The value of `--exhaustive` without a distance.
constexpr const char* exhaustive_without_distance = "far";

/// Where results go beside the terminal; empty: nowhere.
struct ResultOptions {
    std::string json, junit, html, sarif;
    std::optional<bool> github{};  ///< nothing: as the environment says
};

/// What `judge` is told, and `check` beside other words.
struct RunArguments {
    std::vector<std::string> filters;
    std::string time;
    std::string device = "auto";
    std::string property = "*";
    std::optional<std::uint64_t> seed;
    int jobs = 0;              ///< 0: one for each core
    double seconds_spent = 0;  ///< of `time`, by the build
};

struct CheckArguments : RunArguments {
    bool is_quiet = false, is_verbose = false, shows_prints = false, is_last_failed = false;
    std::int64_t max_failures = 0;  ///< 0: any number
    std::optional<std::int64_t> cases;
    std::int64_t at_least = 0;
    bool is_strict = false;
    std::vector<std::string> problems;
    std::string problems_file;
    std::vector<std::string> data_files;
    std::string shard;
    std::string exhaustive;  ///< a distance, "far" for none given; empty: without
    std::string baseline;
    std::string corpus;
    ResultOptions results;
    std::string compute_sanitizer;  ///< its tool; empty: without

    bool has_problems() const {
        return !problems.empty() || !problems_file.empty() || !data_files.empty();
    }
};

struct ListArguments {
    std::vector<std::string> filters;  ///< of operators' names with `operators`
    std::string problem;
    bool operators = false;
};

struct ReproArguments {
    std::string printed_case;
    std::string device;  ///< empty: the case's own
    bool in_process = false;
    std::string compute_sanitizer;  ///< as for `check`
    std::string export_folder, export_python;
};

struct ReportArguments {
    std::vector<std::string> files;
    std::vector<std::string> before;  ///< files of an earlier run
    bool is_verbose = false;
    ResultOptions results;
};

struct NewArguments {
    std::string file;           ///< or a folder, whose launchers are listed
    std::string launcher;       ///< empty: the file's launchers are listed
    std::string operator_name;  ///< empty: the one that is evident
    std::string pass;           ///< empty: the one that fits best
    std::string output;         ///< empty: named after the file, in this folder
};

/// What of the arguments can be read before there are kernels. **Errors** UsageError.
void require_readable(const Suite& suite, const CheckArguments& arguments);

/// Each returns the exit code.
int run_list(const ListArguments& arguments);
int run_check(const Suite& suite, const CheckArguments& arguments);
int run_judge(const Suite& suite, const RunArguments& arguments);
/// Builds the files, and has the program over them, named `name`, judge them by the words: whatever
/// they do, an object is printed.
int judge_files(CommandWords command, const char* name, const RunArguments& arguments);
int run_new(const NewArguments& arguments);
int run_report(const Suite& suite, const ReportArguments& arguments);
int run_repro(const Suite& suite, const ReproArguments& arguments);

}  // namespace gradverify
