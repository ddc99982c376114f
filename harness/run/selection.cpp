// SPDX-License-Identifier: Apache-2.0
#include "harness/run/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/devices/apart/apart_device.hpp"

namespace gradverify {

namespace {

std::string first_word_of_command = "gradverify";

std::string first_word_to_paste() {
    // A word without a slash is found on PATH.
    if (first_word_of_command.find('/') == std::string::npos) return first_word_of_command;
    const auto near = std::filesystem::proximate(first_word_of_command).string();
    const bool below = !near.starts_with("..");
    const std::string text = below ? near : first_word_of_command;
    if (text.find('/') == std::string::npos) return "./" + text;
    return text.find(' ') == std::string::npos ? text : shell_quoted(text);
}

/// How many of a problem's parameters an operator has.
std::ptrdiff_t count_known(const ParameterSpace& space, const std::string& problem) {
    return std::ranges::count_if(split(problem, ','), [&](std::string_view setting) {
        const auto name = setting.substr(0, setting.find('='));
        return std::ranges::find(space.parameters(), name, &ParameterSpec::name) !=
               space.parameters().end();
    });
}

}  // namespace

bool is_selected(const std::string& kernel, const std::vector<std::string>& filters) {
    return filters.empty() || std::ranges::any_of(filters, [&](const std::string& filter) {
               return glob_matches(filter, kernel);
           });
}

std::vector<const Operator*> selected_operators(const std::vector<std::string>& filters) {
    std::vector<const Operator*> operators;
    for (const Kernel& kernel : Registry::instance().kernels())
        if (is_selected(kernel.name, filters) &&
            std::ranges::find(operators, kernel.op) == operators.end())
            operators.push_back(kernel.op);
    return operators;
}

std::vector<Row> select_rows(const Suite& suite, const Registry& registry,
                             const std::vector<std::string>& filters,
                             const std::string& property_glob,
                             const std::vector<std::string>& devices) {
    std::vector<Row> rows;
    for (const Kernel& kernel : registry.kernels()) {
        if (!is_selected(kernel.name, filters)) continue;
        for (const std::string& device : devices)
            for (const Property* const property : suite.properties())
                if (kernel.on(device) && property->applies(kernel, device) &&
                    glob_matches(property_glob, std::string(property->name)))
                    rows.push_back({&kernel, property, device});
    }
    return rows;
}

void no_rows(const Suite& suite, const std::string& property_glob,
             const std::vector<std::string>& filters) {
    throw UsageError(fmt::format(
        "--property '{}' selects nothing that applies to {}\n  there are {}", property_glob,
        filters.empty() ? "any kernel" : fmt::format("'{}'", fmt::join(filters, "' '")),
        wrapped(joined(names_of(suite.properties())), 12)));
}

void require_property(const Suite& suite, const std::string& glob,
                      const std::vector<std::string>& filters) {
    const auto is_meant = [&](const Property* property) {
        return glob_matches(glob, std::string(property->name));
    };
    if (std::ranges::none_of(suite.properties(), is_meant)) no_rows(suite, glob, filters);
}

namespace {

/// The kernels' names, and the patterns of their operators and passes: `conv.*`, `conv.forward/*`.
std::vector<std::string> names_and_patterns(const std::vector<std::string>& names) {
    std::set<std::string> all(names.begin(), names.end());
    for (const std::string& name : names)
        for (const char separator : {'.', '/'})
            if (const std::size_t end = name.find(separator); end != std::string::npos)
                all.insert(name.substr(0, end + 1) + "*");
    return {all.begin(), all.end()};
}

bool selects_one(const std::vector<std::string>& names, const std::string& glob) {
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return glob_matches(glob, name); });
}

[[noreturn]] void refuse_filter(const std::string& filter, const std::vector<std::string>& names,
                                std::string_view what) {
    if (filter.ends_with(".py") || std::filesystem::is_regular_file(filter))
        throw UsageError(
            fmt::format("{} can't be checked: gradverify builds CUDA sources, .cu and C++ files of "
                        "PyTorch extensions; Python files are not supported yet",
                        filter));
    constexpr std::size_t few = 3;
    throw UsageError(fmt::format(
        "no {} matches '{}'{}; {}", what, filter, did_you_mean(filter, names_and_patterns(names)),
        names.size() <= few ? "there are " + joined(names)
                            : fmt::format("`{} list{}` prints all {}", program_to_paste(),
                                          what == "kernel" ? "" : " --operators", names.size())));
}

/// A name of a folder may be a part of kernels' names, but not one that is written as a path.
void refuse_path(const std::string& filter) {
    const bool is_path = filter == "." || filter == ".." || filter.find('/') != std::string::npos;
    if (is_path && std::filesystem::is_directory(filter))
        throw UsageError(
            fmt::format("{0} is a folder: name its files, or list their launchers by `{1} new {0}`",
                        filter, program_to_paste()));
    if (std::filesystem::is_regular_file(filter))
        throw UsageError(
            filter + " is no file to build: the names of these end with .cu, .cpp, .cc or .cxx");
}

}  // namespace

std::vector<std::string> meant_filters(std::vector<std::string> filters) {
    const std::vector<std::string> names = names_of(Registry::instance().kernels());
    if (names.empty())
        throw UsageError(
            "no kernel is registered; `gradverify new` drafts a file that registers one");
    return meant_filters(std::move(filters), names, "kernel");
}

std::vector<std::string> meant_filters(std::vector<std::string> filters,
                                       const std::vector<std::string>& names,
                                       std::string_view what) {
    for (std::string& filter : filters) {
        if (selects_one(names, filter)) continue;
        if (const std::string why = Registry::instance().why_left_out(filter); !why.empty())
            throw UsageError(fmt::format("no {} matches '{}'{}", what, filter, why));
        refuse_path(filter);
        std::string part = "*" + filter + "*";
        if (filter.empty() || !selects_one(names, part)) refuse_filter(filter, names, what);
        filter = std::move(part);
    }
    return filters;
}

std::vector<UserProblem> read_user_problem(const std::string& text, const std::string& place,
                                           std::span<const Operator* const> operators,
                                           const WhyNot& why_not) {
    std::vector<UserProblem> read;
    std::string told;
    std::ptrdiff_t most_known = -1;
    const auto refuse = [&](const Operator& op, const std::string& why) {
        const auto known = count_known(op.space, text);
        if (known <= most_known) return;
        most_known = known;
        told = why;
    };
    for (const Operator* op : operators) try {
            Problem problem = Problem::parse(op->space, text);
            std::optional<std::string> why = op->validate(problem);
            if (!why) why = why_not(*op, problem);
            if (why)
                refuse(*op, "no selected kernel supports it: " + *why);
            else
                read.push_back({op, std::move(problem)});
        } catch (const std::invalid_argument& wrong) {
            refuse(*op, wrong.what());
        }
    if (read.empty()) throw UsageError(place + ": " + told);
    return read;
}

double parse_duration(const std::string& text) {
    std::string number = text;
    double unit = 1.0;
    if (text.ends_with('s') || text.ends_with('m') || text.ends_with('h')) {
        unit = text.back() == 's' ? 1.0 : text.back() == 'm' ? 60.0 : 3600.0;
        number.pop_back();
    }
    const auto value = parse_double(number);
    if (!value || !std::isfinite(*value) || !(*value > 0.0))
        throw UsageError("--time " + text + " is not a time such as 60s, 5m or 2h");
    if (*value * unit > longest_seconds)
        throw UsageError("--time " + text + " is more than a year");
    return *value * unit;
}

void remember_program(const char* first_word) { first_word_of_command = first_word; }

std::string program_to_paste() {
    const char* const files = std::getenv(files_variable);
    return first_word_to_paste() + (files ? std::string(" ") + files : "");
}

std::vector<std::string> files_kept_apart() {
    const std::string& program = apart_program();
    if (program.empty()) return {};
    const char* const named = std::getenv(apart_variable);
    if (!named || !*named) return {program};
    std::vector<std::string> files;
    for (const std::string_view file : split(named, '\n')) files.emplace_back(file);
    return files;
}

WorkerPoolOptions worker_options(int jobs, const SanitizerRun* sanitizer) {
    WorkerPoolOptions options{.command = {"/proc/self/exe", "worker"}, .jobs = jobs};
    if (sanitizer) {
        options.command = sanitizer->watched(std::move(options.command));
        options.forks = nullptr;
    }
    return options;
}

void require_known_device(const std::string& wanted) {
    if (wanted != "cpu" && wanted != "cuda" && wanted != "auto" && wanted != "all")
        throw UsageError("--device " + wanted + " is unknown; there are cpu, cuda, auto, all");
}

std::vector<std::string> choose_devices(const std::string& wanted, WorkerPool& pool) {
    require_known_device(wanted);
    if (wanted == "cpu") return {"cpu"};
    const std::string why = pool.probe("cuda");
    if (wanted == "cuda" && !why.empty()) throw EnvironmentError("device cuda: " + why);
    if (wanted == "cuda") return {"cuda"};
    if (wanted == "auto") return {why.empty() ? "cuda" : "cpu"};
    return why.empty() ? std::vector<std::string>{"cpu", "cuda"} : std::vector<std::string>{"cpu"};
}

std::unique_ptr<SanitizerRun> sanitizer_run(const std::string& tool, const std::string& device) {
    if (tool.empty()) return nullptr;
    if (device != "cuda" && device != "auto")
        throw UsageError("--compute-sanitizer watches the device cuda, not " + device);
    if (!apart_program().empty())
        throw UsageError("--compute-sanitizer does not watch launchers that are kept apart");
    return std::make_unique<SanitizerRun>(tool);
}

}  // namespace gradverify
