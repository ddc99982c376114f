// SPDX-License-Identifier: Apache-2.0
// The verb `judge`: a verdict as one JSON object, within a time that it keeps to.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
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
#include "harness/report/files/record.hpp"
#include "harness/report/text/summary.hpp"
#include "harness/run/check_rows.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

namespace {

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
    const Failure& failure = *record.failure;
    FieldWriter visit(object);
    visit("case", failure.printed_case);
    visit("problem", failure.problem);
    visit.always("minimal", failure.is_minimal);
    visit("minimality", failure.minimality);
    visit("rule", failure.rule);
    visit("values", failure.values);
    visit("witnesses", failure.witnesses);
    Symptoms::fields(failure.symptoms, visit);
    object["replay"] = program + " repro " + shell_quoted(failure.printed_case);
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

/// Of all rows: `unknown` where a kernel was not verified in time, or may hang, or a signal came.
std::string verdict_of(const std::vector<RowResult>& results,
                       const std::vector<RowRecord>& records) {
    const auto has = [&](Verdict verdict) {
        return std::ranges::find(records, verdict, &RowRecord::verdict) != records.end();
    };
    if (has(Verdict::failed)) return "failed";
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
    ordered_json object{{"kind", "judgement"},
                        {"version", version},
                        {"verdict", verdict_of(run.results, records)},
                        {"time_ran_out", run.ran_out},
                        {"seed", run.seed},
                        {"devices", run.devices},
                        {"apart", files_kept_apart()}};
    object["failures"] = ordered_json::array();
    for (const std::size_t i : wrong_rows(run.results, records))
        object["failures"].push_back(object_of_failure(records[i], program));
    object["rows"] = ordered_json::array();
    for (const RowRecord& record : records) object["rows"].push_back(object_of_row(record));
    return object;
}

int judge(const Suite& suite, RunArguments arguments) {
    const auto start = std::chrono::steady_clock::now();
    const Times times(parse_duration(arguments.time));
    const Alarm alarm(times.all - times.to_print);
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
    ordered_json object = object_of(run);
    object["seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::puts(object.dump(-1, ' ', false, ordered_json::error_handler_t::replace).c_str());
    std::fflush(stdout);
    const int code = object["verdict"] == "passed" ? exit_ok : exit_failed;
    // Workers end with this process; some take seconds to end by themselves.
    if (run.ran_out) _exit(code);
    return code;
}

}  // namespace

int run_judge(const Suite& suite, const RunArguments& arguments) {
    const InterruptScope interrupts;
    const int code = judge(suite, arguments);
    return interrupt_signal() != 0 ? 128 + interrupt_signal() : code;
}

}  // namespace gradverify
