// SPDX-License-Identifier: Apache-2.0
// The verb `judge`: a verdict as one JSON object, within a time that it keeps to. Files are built
// first, and judged by a child of this process, so that there is an object whatever they do.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/base/json_fields.hpp"
#include "harness/base/text.hpp"
#include "harness/base/version.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/devices/apart/apart_device.hpp"
#include "harness/drafting/user_build.hpp"
#include "harness/report/files/record.hpp"
#include "harness/report/text/summary.hpp"
#include "harness/run/check_rows.hpp"
#include "harness/run/selection.hpp"
#include "harness/workers/spawn.hpp"

namespace gradverify {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What every judgement begins with.
ordered_json judgement(const std::string& verdict, bool ran_out) {
    return {{"kind", "judgement"},
            {"version", version},
            {"verdict", verdict},
            {"time_ran_out", ran_out}};
}

int print(ordered_json object, double seconds) {
    object["seconds"] = seconds;
    std::puts(object.dump(-1, ' ', false, ordered_json::error_handler_t::replace).c_str());
    std::fflush(stdout);
    return object["verdict"] == "passed" ? exit_ok : exit_failed;
}

/// Where no case could be run.
ordered_json without_cases(const std::string& verdict, const std::string& message,
                           bool ran_out = false) {
    ordered_json object = judgement(verdict, ran_out);
    object["message"] = message;
    object["apart"] = files_kept_apart();
    for (const char* const list : {"failures", "rows"}) object[list] = ordered_json::array();
    return object;
}

/// Ends all waits when time is up.
class Alarm {
  public:
    explicit Alarm(double seconds)
        : thread_([this, seconds](const std::stop_token& stop) {
              std::unique_lock lock(mutex_);
              const std::chrono::duration<double> after(seconds);
              if (never_.wait_for(lock, stop, after, [&] { return stop.stop_requested(); })) return;
              has_rung_ = true;
              say_that_time_is_up();
          }) {}

    bool has_rung() const { return has_rung_; }

  private:
    std::mutex mutex_;
    std::condition_variable_any never_;
    std::atomic<bool> has_rung_ = false;
    std::jthread thread_;
};

/// A time limit, and its parts.
struct Times {
    explicit Times(double limit) : all(limit) {}

    double all;
    double to_print = std::min(1.0, all / 10.0);
    double to_shrink = all / 4.0;

    double of_cases() const { return all - 2.0 * to_print - to_shrink; }
};

ordered_json object_of_failure(const RowRecord& record, const std::string& program) {
    ordered_json object{{"kernel", record.kernel},
                        {"property", record.property},
                        {"device", record.device},
                        {"verdict", name_of(record.verdict)},
                        {"message", record.message}};
    if (!record.file.empty()) object["source"] = fmt::format("{}:{}", record.file, record.line);
    if (!record.failure) return object;
    const ordered_json failure = *record.failure;
    FieldReader(failure).rest(std::array{"case", "problem", "minimal", "minimality", "rule",
                                         "values", "witnesses", "outputs", "pattern", "only"},
                              object);
    object["replay"] = program + " repro " + shell_quoted(record.failure->printed_case);
    return object;
}

/// The smallest error that the cases of a row would have shown.
ordered_json detection_limit_of(const RowRecord& record) {
    const SensitivityOfCases& ulps = record.sensitivity;
    if (ulps.cases() == 0) return nullptr;
    return {{"least_ulps", json_of_number(ulps.least_ulps)},
            {"median_ulps", json_of_number(ulps.median_ulps())}};
}

ordered_json object_of_row(const RowRecord& record) {
    ordered_json object{{"kernel", record.kernel}, {"property", record.property},
                        {"device", record.device}, {"verdict", name_of(record.verdict)},
                        {"cases", record.cases},   {"problems", record.coverage.problems()}};
    if (const ordered_json limit = detection_limit_of(record); !limit.is_null())
        object["detection_limit"] = limit;
    if (record.calls_apart > 0) {
        object["calls_apart"] = record.calls_apart;
        object["calls_without_a_launch"] = record.calls_without_launch;
    }
    std::int64_t skipped = 0;
    for (const auto& [reason, count] : record.skips) skipped += count;
    if (skipped > 0) object["skipped"] = skipped;
    if (record.verdict == Verdict::skipped) object["message"] = record.message;
    return object;
}

bool is_wrong(const RowRecord& record) {
    return record.verdict == Verdict::failed || record.verdict == Verdict::errored;
}

/// The rows that are wrong, the smallest problem first.
std::vector<std::size_t> wrong_rows(const std::vector<RowResult>& results,
                                    const std::vector<RowRecord>& records) {
    std::vector<std::size_t> wrong;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (is_wrong(records[i])) wrong.push_back(i);
    const auto distance = [&](std::size_t i) {
        const auto& failure = results[i].failure;
        return failure ? failure->smallest.problem.distance()
                       : std::numeric_limits<std::int64_t>::max();
    };
    std::ranges::stable_sort(wrong, {}, distance);
    return wrong;
}

/// Of rows that failed: by their ends where none gave a wrong value.
std::string kind_of_failure(const std::vector<RowResult>& results) {
    const auto has = [&](auto is_kind) {
        return std::ranges::any_of(results, [&](const RowResult& row) {
            return row.failure && is_kind(row.failure->outcome.discovery);
        });
    };
    if (has([](Discovery how) { return how == Discovery::answered; })) return "failed";
    if (has([](Discovery how) { return how != Discovery::overstepped; })) return "crashed";
    return has([](Discovery) { return true; }) ? "hung" : "failed";
}

/// Of all rows: `unknown` where a kernel was not verified in time, or may hang, or a signal came.
std::string verdict_of(const std::vector<RowResult>& results,
                       const std::vector<RowRecord>& records) {
    const auto has = [&](Verdict verdict) {
        return std::ranges::find(records, verdict, &RowRecord::verdict) != records.end();
    };
    if (has(Verdict::failed)) return kind_of_failure(results);
    if (has(Verdict::errored)) return "errored";
    const bool may_hang = std::ranges::any_of(results, &RowResult::may_hang);
    const bool is_whole = !may_hang && interrupt_signal() == 0;
    return !records.empty() && all_well(records) && is_whole ? "passed" : "unknown";
}

struct Run {
    std::uint64_t seed = 0;
    std::vector<std::string> devices;
    std::vector<RowResult> results;
    bool ran_out = false;  ///< of time
};

ordered_json object_of(const Run& run) {
    const std::string program = program_to_paste();
    const std::vector<RowRecord> records = records_of(run.results, program);
    ordered_json object = judgement(verdict_of(run.results, records), run.ran_out);
    object["seed"] = run.seed;
    object["devices"] = run.devices;
    object["apart"] = files_kept_apart();
    object["failures"] = ordered_json::array();
    for (const std::size_t i : wrong_rows(run.results, records))
        object["failures"].push_back(object_of_failure(records[i], program));
    object["rows"] = ordered_json::array();
    for (const RowRecord& record : records) object["rows"].push_back(object_of_row(record));
    return object;
}

int judge(const Suite& suite, RunArguments arguments) {
    const auto start = Clock::now();
    const Times times(std::max(parse_duration(arguments.time) - arguments.seconds_spent, 0.1));
    const Alarm alarm(times.all - times.to_print);
    if (Registry::instance().kernels().empty() && std::getenv(files_variable))
        return print(without_cases("no_kernel", "the files register no kernel for a device here"),
                     arguments.seconds_spent);
    arguments.filters = meant_filters(std::move(arguments.filters));
    require_property(suite, arguments.property, arguments.filters);
    Run run{.seed = arguments.seed.value_or(std::random_device()())};
    const CheckOptions options{.cases = std::numeric_limits<std::int32_t>::max(),
                               .seconds = times.of_cases(),
                               .seconds_in_all = times.of_cases() + times.to_shrink,
                               .seed = run.seed};
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    WorkerPoolOptions with = worker_options(arguments.jobs > 0 ? arguments.jobs : cores);
    std::optional<WorkerPool> pool;
    try {
        run.devices = [&] {
            WorkerPool asked(worker_options(1));
            return choose_devices(arguments.device, asked);
        }();
        // Each worker has a launcher process of its own instead.
        if (run.devices.back() == "cuda" && apart_program().empty()) with.owned_device = "cuda";
        pool.emplace(std::move(with));
        std::vector<Row> rows = select_rows(suite, Registry::instance(), arguments.filters,
                                            arguments.property, run.devices);
        // Large tensors take a GPU's memory and a large part of the time.
        if (arguments.property == "*")
            std::erase_if(rows, [](const Row& row) { return row.property->own_cases > 0; });
        run.results = check_rows(suite, rows, options, *pool, {});
    } catch (const Interrupted&) {
        // It came before the first case.
    }
    run.ran_out = alarm.has_rung();
    const int code = print(object_of(run), arguments.seconds_spent + seconds_since(start));
    // Workers end with this process; some take seconds to end by themselves.
    if (run.ran_out) _exit(code);
    return code;
}

struct Child {
    pid_t pid = -1;
    Descriptor prints;
};

/// The program, in a process group of its own.
Child begin(const std::string& program, std::vector<std::string> words) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw EnvironmentError("can't make a pipe");
    const Descriptor write(ends[1]);
    Child child{::fork(), Descriptor(ends[0])};
    if (child.pid < 0) throw EnvironmentError("can't run " + program);
    if (child.pid > 0) return child;
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(write.get(), STDOUT_FILENO);
    ::execv(program.c_str(), argument_pointers(words).data());
    ::_exit(exit_environment);
}

/// What the child prints until it ends, or until then; a signal goes on to it.
std::string prints_of(const Child& child, Clock::time_point until) {
    std::string text;
    for (std::array<char, 4096> part{};;) {
        // Rounded up: with less than a millisecond left, the child would count as ended.
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) break;
        pollfd ready{child.prints.get(), POLLIN, 0};
        const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
        if (count < 0 && interrupt_signal() != 0) ::kill(child.pid, interrupt_signal());
        if (count <= 0) continue;
        const ssize_t length = ::read(child.prints.get(), part.data(), part.size());
        if (length <= 0) break;
        text.append(part.data(), static_cast<std::size_t>(length));
    }
    return text;
}

bool is_judgement(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    const auto object = nlohmann::json::parse(text.substr(text.rfind('\n') + 1), nullptr, false);
    return object.is_object() && object.value("kind", "") == "judgement";
}

}  // namespace

int judge_files(CommandWords command, const char* name, const RunArguments& arguments) {
    // Beyond its time, within which the child ends by itself.
    constexpr double patience_seconds = 2.0;
    const auto start = Clock::now();
    const double seconds = parse_duration(arguments.time);
    keep_launchers_apart(command.files);
    ::setenv(apart_variable, joined(command.files.apart, "\n").c_str(), 1);
    std::string program;
    try {
        program = program_over(command.files, command.files.device, seconds);
    } catch (const BuildError& wrong) {
        const bool ran_out = wrong.said.empty();
        std::fprintf(stderr, "gradverify: %s\n", wrong.what());
        ordered_json object = without_cases(
            "not_built",
            ran_out ? fmt::format("the build had not ended after {:.3g} s", seconds) : wrong.first,
            ran_out);
        if (!wrong.source.empty()) object["source"] = wrong.source;
        return print(std::move(object), seconds_since(start));
    }
    ::setenv(files_variable, command.files.print().c_str(), 1);
    std::vector<std::string> words = command.rest;
    words.insert(words.begin(), name);
    words.insert(words.end(), {"--seconds-spent", fmt::format("{:.3f}", seconds_since(start))});
    const InterruptScope interrupts;
    const Child child = begin(program, std::move(words));
    const auto until = start + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds + patience_seconds));
    const std::string printed = prints_of(child, until);
    const bool is_late = Clock::now() >= until;
    if (is_late) ::kill(-child.pid, SIGKILL);
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    // Bad usage, and what the machine can't do, it has said itself.
    const bool is_told = WIFEXITED(status) && WEXITSTATUS(status) >= exit_usage;
    if (is_told || is_judgement(printed)) {
        std::fputs(printed.c_str(), stdout);
        return WIFEXITED(status) ? WEXITSTATUS(status) : exit_failed;
    }
    const std::string end =
        WIFSIGNALED(status) ? fmt::format("was ended by a signal: {}", strsignal(WTERMSIG(status)))
                            : std::string("ended without a verdict");
    return print(
        is_late ? without_cases("hung", "the program over the files had not ended in time", true)
                : without_cases("crashed", "the program over the files " + end),
        seconds_since(start));
}

int run_judge(const Suite& suite, const RunArguments& arguments) {
    const InterruptScope interrupts;
    const int code = judge(suite, arguments);
    return interrupt_signal() != 0 ? 128 + interrupt_signal() : code;
}

}  // namespace gradverify
