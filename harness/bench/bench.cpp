// SPDX-License-Identifier: Apache-2.0
// The verb `bench` for kernels: each is verified on the problem, then timed in a worker of its own.
#include "harness/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/bench/bench_json.hpp"
#include "harness/report/files/json_lines.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

namespace {

constexpr double ceilings_limit_seconds = 300.0;

Ceilings measured_ceilings(const std::string& device) {
    const MeasureRequest request{.what = MeasureRequest::What::ceilings, .device = device};
    const Outcome outcome = ask_alone(Work(request), ceilings_limit_seconds);
    if (outcome.verdict != Verdict::passed)
        throw EnvironmentError("device " + device + ": " + outcome.message);
    return std::get<Ceilings>(outcome.measured);
}

/// Time for the reference to make a gradient's saved inputs, with much to spare.
double seconds_of_saved(const Kernel& kernel, const Problem& problem) {
    constexpr double seconds_per_multiply_add = 2e-8;
    const bool takes_saved = std::ranges::any_of(
        kernel.pass->inputs, [&](const std::string& input) { return kernel.op->is_output(input); });
    const double most = std::min(kernel.op->forward().multiply_adds(problem), saved_multiply_adds);
    return takes_saved ? most * seconds_per_multiply_add : 0.0;
}

void take_time(BenchResult& result, const BenchRun& run) {
    const auto& arguments = run.arguments;
    const Kernel& kernel = *result.item.kernel;
    const MeasureRequest request{.what = MeasureRequest::What::time,
                                 .device = run.device,
                                 .kernel = kernel.name,
                                 .problem = result.group.problem.print(),
                                 .data = bench_data_named(arguments.data),
                                 .seed = arguments.seed,
                                 .repetitions = arguments.repetitions,
                                 .graph = arguments.graph};
    const double calls = static_cast<double>(std::max(arguments.repetitions, automatic_least) + 10);
    const double multiply_adds = kernel.pass->multiply_adds(result.group.problem);
    const Outcome outcome =
        ask_alone(Work(request), generous_seconds(multiply_adds, calls, run.device) +
                                     seconds_of_saved(kernel, result.group.problem));
    if (outcome.verdict != Verdict::passed) {
        result.state = outcome.verdict == Verdict::skipped ? BenchResult::State::not_timed
                                                           : BenchResult::State::failed;
        result.why_not = outcome.message;
        return;
    }
    result.state = BenchResult::State::timed;
    result.timing = std::get<Timing>(outcome.measured);
    result.seconds = spread_of(result.timing.samples);
}

BenchResult measure(WorkerPool& pool, const BenchRun& run, const BenchGroup& group,
                    const BenchItem& item) {
    BenchResult result{.group = group, .item = item, .why_not = item.why_not};
    if (!item.why_not.empty()) return result;
    result.verification = verify(pool, run, group, *item.kernel);
    if (result.verification.state == Verification::State::failed) {
        result.state = BenchResult::State::failed;
        result.why_not = result.verification.text;
    } else {
        take_time(result, run);
    }
    return result;
}

void bench_group(WorkerPool& pool, const BenchRun& run, const BenchGroup& group, JsonLines* json,
                 BenchCounts& counts) {
    std::fputs(print_group(group).c_str(), stdout);
    std::string tensors;
    std::vector<BenchResult> results;
    for (const BenchItem& item : group.items) {
        BenchResult result = measure(pool, run, group, item);
        ++counts[result.state];
        if (result.state == BenchResult::State::timed) {
            if (const BenchResult* const fastest = fastest_yardstick(results, *item.kernel)) {
                result.yardstick = fastest->item.kernel;
                result.ratio_to_yardstick = result.seconds.median / fastest->seconds.median;
            }
            // Tensors differ by the kernel's types.
            if (std::string own = print_tensors(*group.pass, result.timing); own != tensors)
                std::fputs((tensors = std::move(own)).c_str(), stdout);
        }
        std::fputs(print_result(result, run).c_str(), stdout);
        std::fflush(stdout);
        if (json) json->write(json_of_result(result, run));
        results.push_back(std::move(result));
    }
    std::fputs(print_comparison(results).c_str(), stdout);
}

int bench(BenchArguments arguments) {
    const auto start = std::chrono::steady_clock::now();
    arguments.filters = meant_filters(std::move(arguments.filters));
    if (arguments.device == "all")
        throw UsageError("--device all: bench times one device; there are cpu, cuda, auto");
    WorkerPool pool(worker_options(1));
    BenchRun run{.arguments = arguments, .device = choose_devices(arguments.device, pool).front()};
    if (arguments.graph && run.device == "cpu")
        throw UsageError("--graph needs the device cuda: the cpu device has no CUDA graphs");
    const std::vector<BenchGroup> groups = plan_bench(arguments, run.device);
    std::optional<JsonLines> json;
    if (!arguments.json.empty()) json.emplace(arguments.json);
    run.ceilings = measured_ceilings(run.device);
    std::fputs(print_bench_head(run).c_str(), stdout);
    if (json) json->write(json_of_run(run));
    BenchCounts counts;
    for (const BenchGroup& group : groups)
        bench_group(pool, run, group, json ? &*json : nullptr, counts);
    if (json)
        json->write(json_of_summary(
            counts,
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
    using enum BenchResult::State;
    std::printf("\n%d timed, %d failed, %d not timed\n", counts[timed], counts[failed],
                counts[not_timed]);
    return counts[failed] == 0 && counts[timed] > 0 ? exit_ok : exit_failed;
}

}  // namespace

int run_bench(const Suite& suite, const BenchArguments& arguments) {
    if (arguments.harness) return run_bench_harness(suite, arguments);
    if (const auto& [before, after] = arguments.compare; !before.empty())
        return compare_benches(before, after, arguments.filters);
    const InterruptScope interrupts;
    try {
        return bench(arguments);
    } catch (const Interrupted&) {
        return 128 + interrupt_signal();
    }
}

}  // namespace gradverify
