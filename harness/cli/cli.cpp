// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/cli.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "harness/base/errors.hpp"
#include "harness/base/terminal.hpp"
#include "harness/base/text.hpp"
#include "harness/base/version.hpp"
#include "harness/bench/bench.hpp"
#include "harness/cli/shell.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/devices/apart/apart_device.hpp"
#include "harness/drafting/user_build.hpp"
#include "harness/drafting/user_files.hpp"
#include "harness/run/selection.hpp"
#include "harness/workers/compute_sanitizer.hpp"
#include "harness/workers/spawn.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

namespace {

// The sum over a million rows fits 64 bits.
constexpr std::uint64_t cases_maximum = 1'000'000'000'000;
constexpr std::uint64_t jobs_maximum = 1024;
constexpr std::uint64_t repetitions_maximum = 100'000;
constexpr std::uint64_t seed_maximum = std::numeric_limits<std::uint64_t>::max();

constexpr const char* verbose_help =
    "print all of many kernels, and what their passed rows could have missed";

/// CLI11's own validator would take -1 for the largest number, and prints six decimals.
CLI::Validator whole_number(std::uint64_t minimum, std::uint64_t maximum) {
    const auto complaint = [minimum, maximum](const std::string& text) {
        const auto value = parse_uint(text);
        if (value && *value >= minimum && *value <= maximum) return std::string();
        return fmt::format("{} is not a whole number from {} to {}", text, minimum, maximum);
    };
    return {complaint, "", "whole number"};
}

CLI::Validator not_empty() {
    const auto complaint = [](const std::string& text) {
        return text.empty() ? std::string("needs a name") : std::string();
    };
    return {complaint, "", "file"};
}

/// `; did you mean --jobs?`, of words that no option has; else where what is accepted is told.
std::string perhaps_meant(const CLI::App& app) {
    const auto verbs = app.get_subcommands();
    if (verbs.empty()) return "; there are the commands " + joined(verb_names(app));
    std::vector<std::string> known;
    for (const CLI::Option* option : verbs.front()->get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& word : app.remaining(true))
        if (const std::string name = word.substr(0, word.find('=')); name.starts_with("--")) {
            if (std::ranges::find(known, name) != known.end())
                return fmt::format("; {} stands behind {}", name, verbs.front()->get_name());
            if (std::string meant = did_you_mean(name, known); !meant.empty()) return meant;
        }
    return fmt::format("; `gradverify {} --help` says what it accepts", verbs.front()->get_name());
}

struct CommandLine {
    CLI::App app{"Verifies that forward and backward kernels compute the right gradients.",
                 "gradverify"};
    CLI::App* list = app.add_subcommand("list", "print the kernels and what they support");
    CLI::App* check = app.add_subcommand("check", "run the properties on drawn problems");
    CLI::App* judge = app.add_subcommand(
        "judge", "the same in a time that is kept, and one JSON object with the verdict");
    CLI::App* repro = app.add_subcommand("repro", "run one printed case again");
    CLI::App* draft = app.add_subcommand("new", "draft the file that registers a launcher");
    CLI::App* report =
        app.add_subcommand("report", "tell what result files say together, and draw it");
    CLI::App* bench = app.add_subcommand("bench", "time kernels, or the harness");
    CLI::App* completion =
        app.add_subcommand("completion", "print a script with which a shell completes words");
    CLI::App* man = app.add_subcommand("man", "print the man page");
    CLI::App* worker = app.add_subcommand("worker", "")->group("");

    std::string shell;
    ListArguments list_arguments;
    CheckArguments check_arguments;
    RunArguments judge_arguments{.filters = {}, .time = "20s", .seed = {}};
    ReproArguments repro_arguments;
    NewArguments new_arguments;
    ReportArguments report_arguments;
    BenchArguments bench_arguments;
    SanitizerOptions sanitizer;
    UserFiles without_files;  ///< options of files, where none is named

    explicit CommandLine(const Suite& suite) {
        app.require_subcommand(1);
        // CLI11 would only say that there is help.
        app.failure_message([](const CLI::App* failed, const CLI::Error& wrong) {
            return fmt::format("gradverify: {}{}\n", wrong.what(), perhaps_meant(*failed));
        });
        app.set_help_all_flag("--help-all", "Print the help of every command and exit");
        app.set_version_flag("--version", "gradverify " + std::string(version));
        app.footer(
            "A FILTER is a glob on the full name of a kernel, such as 'conv.grad_*', or a part of "
            "names.\n"
            "Files of your own (.cu, .cpp) may stand beside it: they are built, again only where\n"
            "they have changed, and the command is about their kernels.\n"
            "Exit codes: " +
            std::string(exit_codes));
        for (CLI::App* verb : {list, check, judge, repro, bench}) add_file_options(*verb);
        list->add_option("FILTER", list_arguments.filters, "kernels to print; all if none");
        list->add_option("--problem", list_arguments.problem,
                         "also the tensors of a call on this problem, and their memory");
        list->add_flag("--operators", list_arguments.operators,
                       "print operators: their passes and tensors; FILTERs are of their names");
        add_check_options(suite);
        add_judge_options();
        repro->add_option("CASE", repro_arguments.printed_case, "as printed, in single quotes")
            ->required();
        repro->add_option("--device", repro_arguments.device, "run it there: cpu or cuda");
        repro->add_flag("--in-process", repro_arguments.in_process,
                        "without worker or timeout, for a debugger");
        add_sanitizer_option(*repro, repro_arguments.compute_sanitizer);
        // As a line to replay has it.
        add_sanitizer_option(app, repro_arguments.compute_sanitizer)->group("");
        repro
            ->add_option("--export", repro_arguments.export_folder,
                         "write the case to this new folder, for a bug report: it needs nvcc alone")
            ->check(not_empty());
        repro
            ->add_option("--export-python", repro_arguments.export_python,
                         "the same as one Python file, on PyTorch's tensors")
            ->check(not_empty());
        completion->add_option("SHELL", shell, "bash")->required();
        worker->add_option("TOOL", sanitizer.tool);
        worker->add_option("PROGRAM", sanitizer.program);
        worker->add_option("FOLDER", sanitizer.folder);
        add_new_options();
        add_report_options();
        add_bench_options();
    }

  private:
    /// A flag, since a word behind it is a FILTER: the tool is given with `=`.
    static CLI::Option* add_sanitizer_option(CLI::App& verb, std::string& tool) {
        return verb
            .add_flag("--compute-sanitizer{memcheck}", tool,
                      "run cuda's kernels under compute-sanitizer; =racecheck, =initcheck or "
                      "=synccheck for another of its tools")
            ->check(CLI::IsMember(sanitizer_tools));
    }

    /// Where files are named, `CommandWords` has taken them all.
    void add_file_options(CLI::App& verb) {
        const auto add = [&](const char* name, std::vector<std::string>& values, const char* what) {
            CLI::Option* option = verb.add_option(name, values, what)->option_text("TEXT");
            option->allow_extra_args(false)->group("Files");
        };
        add("--apart", without_files.apart,
            "a FILE whose launchers run in a confined process; repeatable");
        add("--include", without_files.includes, "where FILE's headers are looked for; repeatable");
        add("--define", without_files.definitions, "NAME or NAME=VALUE, for FILE; repeatable");
        add("--link", without_files.libraries, "a library that FILE needs; repeatable");
    }

    void add_judge_options() {
        RunArguments& a = judge_arguments;
        judge->add_option("FILTER", a.filters, "kernels to judge; all if none");
        judge->add_option("--time", a.time, "all of it ends by then: 20s (default), 5m, 2h");
        judge->add_option("--device", a.device, "cpu, cuda, auto (cuda if it answers), or all");
        judge->add_option("--property", a.property, "glob on the property's name");
        judge->add_option("--seed", a.seed, "decides every case; drawn if not given")
            ->check(whole_number(0, seed_maximum));
        judge->add_option("--jobs", a.jobs, "worker processes (default: one for each core)")
            ->check(whole_number(1, jobs_maximum));
        judge->add_option("--seconds-spent", a.seconds_spent)->group("");
    }

    void add_new_options() {
        NewArguments& a = new_arguments;
        draft->add_option("FILE", a.file, "the .cu file that has the launcher, or a folder")
            ->required();
        CLI::Option* const launcher = draft->add_option(
            "--launcher", a.launcher,
            "the function that launches the kernel; without it all are listed, and "
            "what each could be");
        launcher->check(not_empty());
        draft->add_option(
            "--operator", a.operator_name,
            "what it computes a pass of, where its name does not tell; one of your own is in a "
            "C++ file that is named, too");
        draft->add_option("--pass", a.pass, "the pass, where it is not the one that fits best")
            ->needs(launcher);
        draft->add_option("--output", a.output, "the draft (default: FILE_glue.cu, in this folder)")
            ->check(not_empty())
            ->needs(launcher);
    }

    void add_report_options() {
        ReportArguments& a = report_arguments;
        report->add_option("FILE", a.files, "files of `check --json` or of `bench --json`")
            ->required();
        report
            ->add_option("--before", a.before,
                         "files of an earlier run: says what is new, fixed, slower, covered less")
            ->allow_extra_args(false);
        report->add_flag("-v,--verbose", a.is_verbose, verbose_help);
        add_result_options(*report, a.results);
    }

    static void add_result_options(CLI::App& verb, ResultOptions& a) {
        verb.add_option("--json", a.json, "write results here, one JSON object a line")
            ->check(not_empty());
        verb.add_option("--junit", a.junit, "write results here, as JUnit XML")->check(not_empty());
        verb.add_option("--html", a.html, "write a report here, as one HTML file")
            ->check(not_empty());
        verb.add_option("--sarif", a.sarif, "write what is wrong here, as SARIF")
            ->check(not_empty());
        verb.add_flag("--github,!--no-github", a.github,
                      "print annotations for GitHub, as is done by itself in its actions");
    }

    void add_bench_options() {
        BenchArguments& a = bench_arguments;
        bench->add_option("FILTER", a.filters, "kernels; all if none");
        bench->add_option("--device", a.device, "cpu, cuda or auto");
        bench->add_option("--seed", a.seed, "decides data, and the problems of --harness")
            ->check(whole_number(0, seed_maximum));
        std::vector<CLI::Option*> of_kernels{
            bench
                ->add_option("--problem", a.own_problems,
                             "time this problem instead of the operator's own; repeatable")
                ->allow_extra_args(false),
            bench->add_option("--data", a.data, "zeros, integers (default) or decimals")
                ->check(CLI::IsMember({"zeros", "integers", "decimals"})),
            bench->add_flag("!--no-verify", a.verify, "time kernels without verifying them"),
            bench
                ->add_option("--repetitions", a.repetitions,
                             "samples of each kernel (default: two seconds, 10 to 100)")
                ->check(whole_number(1, repetitions_maximum)),
            bench->add_flag("--graph", a.graph, "replay each call from a CUDA graph"),
            bench->add_option("--json", a.json, "write results here, one JSON object a line")
                ->check(not_empty())};
        CLI::Option* compare = bench->add_option(
            "--compare", a.compare, "two files of --json: which kernels have become slower?");
        compare->type_name("BEFORE AFTER");
        CLI::Option* harness =
            bench->add_flag("--harness", a.harness, "problems verified per second instead");
        for (CLI::Option* option : of_kernels) option->excludes(compare)->excludes(harness);
        compare->excludes(harness);
        bench
            ->add_option("--property", a.property,
                         "with --harness: glob on the property's name; all if none")
            ->needs(harness);
        bench->add_option("--problems", a.problems, "with --harness: how many")
            ->check(whole_number(1, cases_maximum))
            ->needs(harness);
        bench
            ->add_option("--jobs", a.jobs,
                         "with --harness: workers beside the one (default: one for each core)")
            ->check(whole_number(1, jobs_maximum))
            ->needs(harness);
        bench->add_option("--time", a.time, "with --harness: all of it ends by then: 60s, 5m")
            ->needs(harness);
        bench
            ->add_option("--against", a.against,
                         "with --harness: another build's executable, which runs the same cases at "
                         "the same time")
            ->check(CLI::ExistingFile)
            ->needs(harness);
    }

    void add_check_options(const Suite& suite) {
        CheckArguments& a = check_arguments;
        check->add_option("FILTER", a.filters, "kernels to check; all if none");
        check
            ->add_option("--cases", a.cases,
                         "cases for each row (default 1000; with own problems 10 for each of them)")
            ->check(whole_number(1, cases_maximum));
        auto* time =
            check->add_option("--time", a.time,
                              "stop after this time in total: 60s, 5m, 2h (default 60s, but none "
                              "where cases, problems or a shard are given)");
        check
            ->add_option("--at-least", a.at_least,
                         "with --time: cases of each row before any has more; a row that has "
                         "passed fewer in that time is told as thin")
            ->check(whole_number(1, cases_maximum))
            ->needs(time);
        check->add_option("--seed", a.seed, "decides every case; drawn and printed if not given")
            ->check(whole_number(0, seed_maximum));
        // A flag for the same reason.
        check->add_flag("--exhaustive{" + std::string(exhaustive_without_distance) + "}",
                        a.exhaustive,
                        "every supported problem up to a distance, =7, with dense data; without a "
                        "distance as far as --time or --cases reach, or 4");
        check->add_option("--device", a.device, "cpu, cuda, auto (cuda if it answers), or all");
        check->add_option("--property", a.property, "glob on the property's name");
        check->add_flag("--strict", a.is_strict,
                        "what is imprecise fails: further off than the operator's formula may be");
        check->add_option("--problem", a.problems, "check this problem instead of drawn ones")
            ->allow_extra_args(false);
        check->add_option("--problems", a.problems_file, "the same from a file, one a line");
        check
            ->add_option(
                "--data", a.data_files,
                "take tensors from this .safetensors or .npy file; repeatable. Their sizes "
                "are those of one problem, and what they leave open stands in --problem")
            ->allow_extra_args(false);
        auto* quiet = check->add_flag("-q,--quiet", a.is_quiet,
                                      "print what failed and the counts alone, at the end");
        check->add_flag("--last-failed", a.is_last_failed,
                        "rows that failed when they last ran in this folder");
        check->add_flag("-s,--show-prints", a.shows_prints,
                        "show what kernels print; without it what a failing case has printed");
        check->add_flag("-v,--verbose", a.is_verbose, verbose_help)->excludes(quiet);
        check
            ->add_option("--max-failures", a.max_failures,
                         "begin no case once so many rows have failed")
            ->check(whole_number(1, cases_maximum));
        check->add_flag_callback(
            "-x", [&a] { a.max_failures = 1; }, "the same as --max-failures 1");
        check->add_option("--jobs", a.jobs, "worker processes (default: one for each core)")
            ->check(whole_number(1, jobs_maximum));
        check->add_option(
            "--shard", a.shard,
            "i/n: the i-th of n equal parts of every row; auto: as Slurm, MPI, GitLab or "
            "Kubernetes say, or GRADVERIFY_SHARD_INDEX and _COUNT");
        check
            ->add_option("--baseline", a.baseline,
                         "known failures, as --json wrote them: accepted, and an error once gone")
            ->check(not_empty());
        add_result_options(*check, a.results);
        check
            ->add_option("--corpus", a.corpus,
                         "run the failing cases in this folder first, and add new ones (default: "
                         ".gradverify, where it exists)")
            ->check(not_empty());
        add_sanitizer_option(*check, a.compute_sanitizer);
        std::string properties = "Properties:\n";
        for (const Property* const property : suite.properties())
            properties += fmt::format("  {:<28}{}\n", property->name, property->summary);
        check->footer(properties);
    }
};

/// CLI11 would only say that a command is required.
void require_known_verb(const CLI::App& app, int argc, char** argv) {
    const std::vector<std::string> verbs = verb_names(app);
    if (argc < 2 || argv[1][0] == '-' || std::string_view(argv[1]) == "worker") return;
    if (std::ranges::find(verbs, argv[1]) == verbs.end())
        throw UsageError(fmt::format(
            "there is no command '{}'; there are {}{}", argv[1], joined(verbs),
            std::filesystem::exists(argv[1]) ? fmt::format("; did you mean check {}?", argv[1])
                                             : did_you_mean(argv[1], verbs)));
}

int run_worker(const SanitizerOptions& sanitizer, const Suite& suite, char** argv) {
    if (sanitizer.tool.empty()) return worker_main(suite);
    enter_compute_sanitizer(sanitizer, argv);
    return worker_main(WatchedServer(suite, sanitizer));
}

int print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return exit_ok;
}

/// Ends this program: the one over the files goes on, under this one's name.
[[noreturn]] void become_program_over(CommandWords command, const char* name) {
    ::setenv(apart_variable, joined(command.files.apart, "\n").c_str(), 1);
    const std::string program = program_over(command.files, command.files.device);
    ::setenv(files_variable, command.files.print().c_str(), 1);
    std::vector<std::string> words = command.rest;
    words.insert(words.begin(), name);
    ::execv(program.c_str(), argument_pointers(words).data());
    throw EnvironmentError("can't run " + program);
}

int run_verb(const CommandLine& line, const Suite& suite, char** argv) {
    const UserFiles& files = line.without_files;
    if (!files.apart.empty() || !files.includes.empty() || !files.definitions.empty() ||
        !files.libraries.empty())
        throw UsageError(
            "--apart, --include, --define and --link are about files to build, and none is named");
    if (line.app.count("--compute-sanitizer") > 0 && !line.repro->parsed())
        throw UsageError("--compute-sanitizer stands behind the command");
    if (line.worker->parsed()) return run_worker(line.sanitizer, suite, argv);
    if (line.completion->parsed())
        return print(completion_of(line.app, line.shell, suite.properties()));
    if (line.man->parsed()) return print(man_page_of(line.app));
    if (line.list->parsed()) return run_list(line.list_arguments);
    if (line.check->parsed()) return run_check(suite, line.check_arguments);
    if (line.judge->parsed()) return run_judge(suite, line.judge_arguments);
    if (line.repro->parsed()) return run_repro(suite, line.repro_arguments);
    if (line.draft->parsed()) return run_new(line.new_arguments);
    if (line.report->parsed()) return run_report(suite, line.report_arguments);
    return run_bench(suite, line.bench_arguments);
}

}  // namespace

int gradverify_main(int argc, char** argv, const Suite& suite) {
    // A file that may not grow is one that can't be written.
    std::signal(SIGXFSZ, SIG_IGN);
    if (argc > 0) remember_program(argv[0]);
    // A worker has more to do before.
    if (!apart_program().empty() && (argc < 2 || std::string_view(argv[1]) != "worker"))
        hide_this_process();
    CommandLine line(suite);
    try {
        if (const auto width = terminal_width(STDOUT_FILENO)) set_text_width(*width);
        CommandWords words({argv + std::min(argc, 1), argv + argc});
        if (!words.files.files.empty()) {
            // What is wrong with the other words is told before anything is built.
            line.app.parse(std::vector<std::string>(words.rest.rbegin(), words.rest.rend()));
            if (line.check->parsed()) require_readable(suite, line.check_arguments);
            if (line.judge->parsed())
                return judge_files(std::move(words), argv[0], line.judge_arguments);
            become_program_over(std::move(words), argv[0]);
        }
        require_known_verb(line.app, argc, argv);
        line.app.parse(argc, argv);
        const int code = run_verb(line, suite, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            throw EnvironmentError("can't write to standard output");
        return code;
    } catch (const CLI::ParseError& wrong) {
        // Help and version come this way too, with exit code 0.
        return line.app.exit(wrong) == 0 ? exit_ok : exit_usage;
    } catch (const UsageError& wrong) {
        std::fprintf(stderr, "gradverify: %s\n", wrong.what());
        return exit_usage;
    } catch (const EnvironmentError& wrong) {
        std::fprintf(stderr, "gradverify: %s\n", wrong.what());
        return exit_environment;
    } catch (const std::exception& wrong) {
        // The machine ran out of something, or this is a bug of gradverify.
        std::fprintf(stderr, "gradverify: unexpected: %s\n", wrong.what());
        return exit_environment;
    }
}

}  // namespace gradverify
