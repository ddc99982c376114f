// SPDX-License-Identifier: Apache-2.0
// The verb `bench` for kernels: each is verified on the problem, then timed in a worker of its own,
// so that this process never touches the CUDA runtime and a crash is a result.
#include "harness/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/base/text.hpp"
#include "harness/bench/json.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

namespace {

constexpr double ceilings_limit_seconds = 300.0;

Ceilings measured_ceilings(const std::string& device) {
    const Outcome outcome = ask_alone({.what = MeasureRequest::What::ceilings, .device = device},
                                      ceilings_limit_seconds);
    if (outcome.verdict != Verdict::passed)
        throw EnvironmentError("device " + device + ": " + outcome.message);
    return std::get<Ceilings>(outcome.measured);
}

/// Times what is planned, in order.
class KernelBench {
  public:
    KernelBench(WorkerPool& pool, const BenchArguments& arguments, std::string device)
        : arguments_(arguments), device_(std::move(device)), verifier_(pool, arguments, device_) {}

    const BenchCounts& counts() const { return counts_; }

    void run(const BenchGroup& group, const Ceilings& ceilings, BenchJson* json) {
        std::fputs(print_group(group).c_str(), stdout);
        std::string tensors;
        results_.clear();
        results_.reserve(group.items.size());
        for (const BenchItem& item : group.items) {
            const BenchResult& result = results_.emplace_back(measure(group, item));
            count(result);
            if (result.state == BenchResult::State::timed) {
                // They differ by the kernel's types.
                if (std::string own = print_tensors(*group.pass, result.timing); own != tensors)
                    std::fputs((tensors = std::move(own)).c_str(), stdout);
            }
            std::fputs(print_result(result, device_, ceilings).c_str(), stdout);
            std::fflush(stdout);
            if (json) json->add(result, arguments_, device_, ceilings);
        }
        std::fputs(print_comparison(results_).c_str(), stdout);
    }

  private:
    BenchResult measure(const BenchGroup& group, const BenchItem& item) {
        BenchResult result{.group = group, .item = item, .why_not = item.why_not};
        if (!item.why_not.empty()) return result;
        result.verification = verifier_.verify(group, *item.kernel);
        if (result.verification.state == Verification::State::failed) {
            result.state = BenchResult::State::failed;
            result.why_not = result.verification.text;
            return result;
        }
        time(result);
        return result;
    }

    void time(BenchResult& result) const {
        const Kernel& kernel = *result.item.kernel;
        const MeasureRequest request{.what = MeasureRequest::What::time,
                                     .device = device_,
                                     .kernel = kernel.name,
                                     .problem = result.group.problem.print(),
                                     .data = bench_data_named(arguments_.data),
                                     .seed = arguments_.seed,
                                     .repetitions = arguments_.repetitions,
                                     .graph = arguments_.graph};
        const double calls =
            static_cast<double>(std::max(arguments_.repetitions, automatic_least) + 10);
        const Outcome outcome = ask_alone(
            request,
            generous_seconds(kernel.pass->multiply_adds(result.group.problem), calls, device_));
        if (outcome.verdict != Verdict::passed) {
            result.state = outcome.verdict == Verdict::skipped ? BenchResult::State::not_timed
                                                               : BenchResult::State::failed;
            result.why_not = outcome.message;
            return;
        }
        result.state = BenchResult::State::timed;
        result.timing = std::get<Timing>(outcome.measured);
        result.seconds = spread_of(result.timing.samples);
        if (const BenchResult* const fastest = fastest_yardstick(results_, kernel)) {
            result.yardstick = fastest->item.kernel;
            result.ratio_to_yardstick = result.seconds.median / fastest->seconds.median;
        }
    }

    void count(const BenchResult& result) {
        using State = BenchResult::State;
        counts_.timed += result.state == State::timed;
        counts_.failed += result.state == State::failed;
        counts_.not_timed += result.state == State::not_timed;
    }

    const BenchArguments& arguments_;
    const std::string device_;
    BenchVerifier verifier_;
    std::vector<BenchResult> results_;  ///< for the group in hand
    BenchCounts counts_;
};

int bench(const BenchArguments& arguments) {
    const auto start = std::chrono::steady_clock::now();
    require_each_filter(arguments.filters);
    if (arguments.device == "all")
        throw UsageError("--device all: bench times one device; there are cpu, cuda, auto");
    WorkerPool pool(worker_options(1));
    const std::string device = choose_devices(arguments.device, pool).front();
    if (arguments.graph && device == "cpu")
        throw UsageError("--graph needs the device cuda: the cpu device has no CUDA graphs");
    const std::vector<BenchGroup> groups = plan_bench(arguments, device);
    std::optional<BenchJson> json;
    if (!arguments.json.empty()) json.emplace(arguments.json);
    const Ceilings ceilings = measured_ceilings(device);
    std::fputs(print_bench_head(arguments, device, ceilings).c_str(), stdout);
    if (json) json->begin(arguments, device, ceilings);
    KernelBench kernels(pool, arguments, device);
    for (const BenchGroup& group : groups) kernels.run(group, ceilings, json ? &*json : nullptr);
    const BenchCounts& counts = kernels.counts();
    if (json)
        json->finish(
            counts,
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::printf("\n%d timed, %d failed, %d not timed\n", counts.timed, counts.failed,
                counts.not_timed);
    return counts.failed == 0 && counts.timed > 0 ? exit_ok : exit_failed;
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
