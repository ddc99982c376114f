// SPDX-License-Identifier: Apache-2.0
// Decides which kernels, rows, problems, devices, workers and times a command line means.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/cases/suite.hpp"
#include "harness/workers/compute_sanitizer.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify {

/// The globs that the filters mean: one that matches no kernel's name is a part of such names.
/// **Errors** UsageError when a filter selects no kernel, even beside one that does.
std::vector<std::string> meant_filters(std::vector<std::string> filters);
/// The same of other names, which are `what` there is.
std::vector<std::string> meant_filters(std::vector<std::string> filters,
                                       const std::vector<std::string>& names,
                                       std::string_view what);

/// Whether one of the filters selects the kernel of this name; none selects all.
bool is_selected(const std::string& kernel, const std::vector<std::string>& filters);
/// The operators of the selected kernels.
std::vector<const Operator*> selected_operators(const std::vector<std::string>& filters);
/// The kernels and properties that the globs select, on these devices.
std::vector<Row> select_rows(const Suite& suite, const Registry& registry,
                             const std::vector<std::string>& filters,
                             const std::string& property_glob,
                             const std::vector<std::string>& devices);

/// Throws a UsageError when the glob selects no property.
void require_property(const Suite& suite, const std::string& glob,
                      const std::vector<std::string>& filters);
/// The same where it selects none that applies to the kernels.
[[noreturn]] void no_rows(const Suite& suite, const std::string& property_glob,
                          const std::vector<std::string>& filters);

/// A problem, as one operator reads it.
struct UserProblem {
    const Operator* op;
    Problem problem;
};

/// Why an operator's selected kernels don't take a valid problem; nothing where one does.
using WhyNot = std::function<std::optional<std::string>(const Operator&, const Problem&)>;

/// The problem, for each operator that takes it.
/// **Errors** UsageError when none does. It begins with `place` and gives the reason of the
/// operator that knows most of the text's parameters.
std::vector<UserProblem> read_user_problem(const std::string& text, const std::string& place,
                                           std::span<const Operator* const> operators,
                                           const WhyNot& why_not);

/// The longest time that a run may be given: a year. Clocks count far more.
inline constexpr double longest_seconds = 365.0 * 24 * 3600;
/// Seconds in `60`, `60s`, `5m` or `2h`. **Errors** UsageError.
double parse_duration(const std::string& text);

/// In the environment of a program over files that its command line named: these words.
inline constexpr const char* files_variable = "GRADVERIFY_FILES";
/// In the environment of such a program: those of the files that are kept apart, a line each.
inline constexpr const char* apart_variable = "GRADVERIFY_APART";
/// Those files; of a program that was built otherwise, its program of launchers; or none.
std::vector<std::string> files_kept_apart();
/// The words that begin a command to paste in this folder.
std::string program_to_paste();
/// Remembers the first word of the command line for `program_to_paste`.
void remember_program(const char* first_word);

/// Workers of this very executable; with a `sanitizer`, under it.
WorkerPoolOptions worker_options(int jobs, const SanitizerRun* sanitizer = nullptr);

/// What `--compute-sanitizer` asks for; null without it.
/// **Errors** UsageError for another device than cuda, EnvironmentError when it is not installed.
std::unique_ptr<SanitizerRun> sanitizer_run(const std::string& tool, const std::string& device);

/// **Errors** UsageError for another word than those below.
void require_known_device(const std::string& wanted);
/// The devices that `cpu`, `cuda`, `auto` (cuda if it answers, else cpu) or `all` means here. A
/// worker is asked, so that this process never touches the CUDA runtime.
/// **Errors** UsageError for another word, EnvironmentError when `cuda` does not answer.
std::vector<std::string> choose_devices(const std::string& wanted, WorkerPool& pool);

}  // namespace gradverify
