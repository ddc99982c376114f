// SPDX-License-Identifier: Apache-2.0
// The verb `check`: from words to rows, and from results to output.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/base/text.hpp"
#include "harness/base/version.hpp"
#include "harness/cases/recorded.hpp"
#include "harness/cli/check_output.hpp"
#include "harness/cli/last_failed.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/devices/apart/apart_device.hpp"
#include "harness/report/text/summary.hpp"
#include "harness/run/check_rows.hpp"
#include "harness/run/selection.hpp"
#include "harness/run/shard.hpp"
#include "harness/workers/compute_sanitizer.hpp"

namespace gradverify {

namespace {

// In the environment: the time between two signs of life, as `--time` has it.
constexpr const char* signs_variable = "GRADVERIFY_SIGN_OF_LIFE";
constexpr std::int64_t default_cases = 1000;
constexpr double default_seconds = 60.0;
constexpr std::int64_t default_cases_per_problem = 10;
constexpr std::int64_t default_distance = 4;
constexpr std::int64_t distance_maximum = 1'000'000;

/// Whether no option but --time says how much to run.
bool says_nothing_of_how_much(const CheckArguments& arguments) {
    return !arguments.cases && !arguments.has_problems() && arguments.exhaustive.empty() &&
           arguments.shard.empty();
}

/// What `--exhaustive` asks for; nothing without it.
std::optional<ExhaustiveLimits> exhaustive_limits(const CheckArguments& arguments) {
    const std::string& text = arguments.exhaustive;
    if (text.empty()) return std::nullopt;
    if (arguments.has_problems())
        throw UsageError(
            "--exhaustive runs every supported problem; leave out --problem, --problems and "
            "--data");
    if (arguments.at_least > 0)
        throw UsageError("--at-least counts drawn cases; --exhaustive draws none");
    ExhaustiveLimits limits{.cases = arguments.cases, .shard = parse_shard(arguments.shard)};
    if (text != exhaustive_without_distance) {
        limits.distance = parse_int(text);
        if (!limits.distance || *limits.distance < 0 || *limits.distance > distance_maximum)
            throw UsageError(fmt::format("--exhaustive={} is not a whole number from 0 to {}", text,
                                         distance_maximum));
    } else if (!arguments.cases && arguments.time.empty()) {
        limits.distance = default_distance;
    }
    return limits;
}

/// A problem's text, and how a message names it.
struct GivenProblem {
    std::string text, place;
};

std::vector<GivenProblem> read_problem_lines(const std::string& path) {
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path))
        throw UsageError("--problems: can't read " + path);
    std::vector<GivenProblem> lines;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        line = line.substr(0, line.find('#'));
        line.erase(0, line.find_first_not_of(" \t\r"));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty()) lines.push_back({line, fmt::format("{}:{}: {}", path, number, line)});
    }
    if (lines.empty()) throw UsageError("--problems: " + path + " holds no problem");
    return lines;
}

std::vector<const Operator*> operators_of(const std::vector<Row>& rows) {
    std::vector<const Operator*> operators;
    for (const Row& row : rows)
        if (std::ranges::find(operators, row.kernel->op) == operators.end())
            operators.push_back(row.kernel->op);
    return operators;
}

/// The user's problems, each read for the selected operators that know its parameters.
std::vector<Problem> read_problems(const CheckArguments& arguments, const std::vector<Row>& rows) {
    std::vector<GivenProblem> lines;
    for (const std::string& text : arguments.problems) lines.push_back({text, "--problem " + text});
    if (!arguments.problems_file.empty())
        std::ranges::move(read_problem_lines(arguments.problems_file), std::back_inserter(lines));
    const std::vector<const Operator*> operators = operators_of(rows);
    const auto why_not = [&](const Operator& op, const Problem& problem) {
        std::optional<std::string> first;
        for (const Row& row : rows) {
            if (row.kernel->op != &op) continue;
            const auto unsupported = row.kernel->why_unsupported(problem);
            if (!unsupported) return std::optional<std::string>();
            if (!first) first = row.kernel->name + " " + *unsupported;
        }
        return first;
    };
    std::vector<Problem> problems;
    for (const auto& [text, place] : lines)
        for (UserProblem& read : read_user_problem(text, place, operators, why_not))
            problems.push_back(std::move(read.problem));
    return problems;
}

/// The problems of recorded tensors, for each operator that they fit; says what is taken from them.
std::vector<Problem> problems_of_data(const CheckArguments& arguments,
                                      const std::vector<Row>& rows) {
    if (arguments.problems.size() > 1 || !arguments.problems_file.empty())
        throw UsageError("--data has the tensors of one problem; leave out --problems");
    const std::string text = arguments.problems.empty() ? "" : arguments.problems.front();
    const TensorFiles& files =
        usage_of([&]() -> const TensorFiles& { return tensor_files(arguments.data_files); });
    std::vector<Problem> problems;
    std::string why_none;
    const auto refuse = [&](const std::string& why) {
        if (why_none.empty()) why_none = why;
    };
    for (const Operator* const op : operators_of(rows)) try {
            const Problem problem = problem_of(*op, files, text);
            std::set<std::string> said;
            bool is_supported = false;
            for (const Row& row : rows) {
                if (row.kernel->op != op) continue;
                const auto unsupported = row.kernel->why_unsupported(problem);
                if (unsupported) refuse(row.kernel->name + " " + *unsupported);
                if (unsupported) continue;
                is_supported = true;
                for (const auto& remark : remarks_on(arguments.data_files, *row.kernel, problem))
                    said.insert(remark);
            }
            if (!is_supported) continue;
            say(fmt::format("data of {}: {}\n", op->name, problem.print()));
            for (const std::string& remark : said) say("  " + remark + "\n");
            problems.push_back(problem);
        } catch (const std::invalid_argument& wrong) {
            refuse(wrong.what());
        }
    if (problems.empty()) throw UsageError("--data: " + why_none);
    return problems;
}

/// Selected kernels that can't run here, a sentence for each reason.
std::vector<std::string> absent_kernels(const CheckArguments& arguments,
                                        const std::vector<std::string>& devices) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const Kernel& kernel : Registry::instance().kernels()) {
        const auto is_on = [&](const auto& device) { return kernel.on(device) != nullptr; };
        const auto is_built = [&](const auto& device) { return kernel.by_device.contains(device); };
        if (!is_selected(kernel.name, arguments.filters) || std::ranges::any_of(devices, is_on))
            continue;
        by_reason[std::ranges::any_of(devices, is_built) ? kernel.why_absent : "for another device"]
            .push_back(kernel.name);
    }
    std::vector<std::string> absent;
    absent.reserve(by_reason.size());
    for (const auto& [reason, names] : by_reason) absent.push_back(reason + ": " + joined(names));
    return absent;
}

/// What shards of one run have in common beside the seed and the rows.
std::string how_of(const CheckOptions& options, const CheckArguments& arguments) {
    std::string how = fmt::format("{} cases", options.cases);
    if (options.cases_per_problem) how += fmt::format(", {} a problem", *options.cases_per_problem);
    if (options.is_strict) how += ", strict";
    if (!arguments.exhaustive.empty()) how += ", exhaustive=" + arguments.exhaustive;
    for (const Problem& problem : options.problems) how += ", " + problem.print();
    for (const std::string& file : options.data_files) how += ", " + file;
    return how;
}

/// The words that begin a command to replay a case with.
std::string program_of(const CheckArguments& arguments) {
    const std::string& tool = arguments.compute_sanitizer;
    return program_to_paste() + (tool.empty() ? "" : " --compute-sanitizer=" + tool);
}

RunRecord run_of(const CheckOptions& options, const std::string& how, const std::string& program,
                 const std::vector<std::string>& devices, const std::vector<Row>& rows,
                 const std::vector<std::string>& absent) {
    RunRecord run{.seed = options.seed,
                  .devices = devices,
                  .program = program,
                  .shard = options.shard,
                  .how = how,
                  .absent = absent};
    for (const Row& row : rows)
        run.rows.push_back({row.kernel->name, row.property_name(), row.device});
    return run;
}

/// Whether nothing was said of how much to run.
bool ends_by_itself(const CheckArguments& arguments) {
    return arguments.time.empty() && says_nothing_of_how_much(arguments);
}

CheckOptions options_of(const CheckArguments& arguments) {
    if (arguments.shard == "auto" && !arguments.seed)
        throw UsageError("--shard auto needs --seed, one for all shards");
    CheckOptions options{.cases = arguments.cases.value_or(default_cases),
                         .at_least = arguments.at_least,
                         .seed = arguments.seed.value_or(std::random_device()()),
                         .shard = parse_shard(arguments.shard),
                         .is_strict = arguments.is_strict,
                         .max_failures = arguments.max_failures,
                         .exhaustive = exhaustive_limits(arguments)};
    options.data_files = arguments.data_files;
    if (!arguments.time.empty()) options.seconds = parse_duration(arguments.time);
    if (ends_by_itself(arguments)) options.seconds = default_seconds;
    if (const char* const between = std::getenv(signs_variable))
        options.seconds_between_signs = parse_duration(between);
    return options;
}

int check(const Suite& suite, CheckArguments arguments) {
    const auto start = std::chrono::steady_clock::now();
    CheckOptions options = options_of(arguments);
    arguments.filters = meant_filters(std::move(arguments.filters));
    require_property(suite, arguments.property, arguments.filters);
    const Baseline baseline =
        arguments.baseline.empty() ? Baseline() : Baseline::read(arguments.baseline);
    const std::string program = program_of(arguments);
    options.is_known = [&](const RowResult& result) {
        return baseline.knows(record_of(result, program));
    };
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = arguments.jobs > 0 ? arguments.jobs : cores;
    const auto sanitizer = sanitizer_run(arguments.compute_sanitizer, arguments.device);
    WorkerPoolOptions with = worker_options(jobs, sanitizer.get());
    with.shows_prints = arguments.shows_prints;
    WorkerPoolOptions one = with;
    one.jobs = 1;
    const auto devices = [&] {
        WorkerPool asked(std::move(one));
        return choose_devices(sanitizer ? "cuda" : arguments.device, asked);
    }();
    // compute-sanitizer watches one process's calls, each with memory of its own.
    if (devices.back() == "cuda" && !sanitizer && apart_program().empty())
        with.owned_device = "cuda";
    auto workers = std::make_unique<WorkerPool>(std::move(with));
    WorkerPool& pool = *workers;
    auto rows =
        select_rows(suite, Registry::instance(), arguments.filters, arguments.property, devices);
    if (arguments.is_last_failed) rows = last_failed(std::move(rows));
    const auto absent = absent_kernels(arguments, devices);
    if (rows.empty() && absent.empty()) no_rows(suite, arguments.property, arguments.filters);
    if (!rows.empty())
        options.problems = arguments.data_files.empty() ? read_problems(arguments, rows)
                                                        : problems_of_data(arguments, rows);
    if (!options.problems.empty() && !arguments.cases)
        options.cases_per_problem = default_cases_per_problem;
    std::optional<Corpus> corpus = corpus_of(suite, arguments);
    if (corpus) options.known_cases = corpus->cases();
    CheckOutput output(arguments,
                       run_of(options, how_of(options, arguments), program, devices, rows, absent),
                       options.seconds, std::move(corpus));

    const std::string head = fmt::format(
        "gradverify {}: seed {}, device {}, {} workers, {} rows{}\n", version, options.seed,
        fmt::join(devices, " and "), jobs, rows.size(),
        ends_by_itself(arguments) ? fmt::format(", {} at most", print_seconds(default_seconds))
                                  : "");
    if (!arguments.is_quiet) say(head);
    const auto results = check_rows(suite, rows, options, pool, output.observer());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::vector<RowRecord> records = records_of(results, program);
    workers.reset();
    std::vector<std::string> remarks;
    if (interrupt_signal() == 0) remarks = baseline.gone(records);
    if (const std::string late = sanitizer ? sanitizer->late_finding() : ""; !late.empty())
        remarks.push_back("compute-sanitizer says, of no one case: " + late);
    keep_failed(records);
    output.end(names_of(suite.properties()), records, remarks, seconds);
    // Kernels for another device are no mistake, but a run without a row verified nothing.
    return !rows.empty() && all_well(records) && remarks.empty() ? exit_ok : exit_failed;
}

}  // namespace

void require_readable(const Suite& suite, const CheckArguments& arguments) {
    options_of(arguments);
    require_property(suite, arguments.property, arguments.filters);
    require_known_device(arguments.device);
    if (!arguments.baseline.empty()) Baseline::read(arguments.baseline);
    if (!arguments.problems_file.empty()) read_problem_lines(arguments.problems_file);
}

int run_check(const Suite& suite, const CheckArguments& arguments) {
    const InterruptScope interrupts;
    int code = exit_ok;
    try {
        code = check(suite, arguments);
    } catch (const Interrupted&) {
        // It came before the first case: there is nothing to sum up.
    }
    // As a shell says of a command that a signal has ended.
    return interrupt_signal() != 0 ? 128 + interrupt_signal() : code;
}

}  // namespace gradverify
