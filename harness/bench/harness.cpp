// SPDX-License-Identifier: Apache-2.0
// The verb `bench --harness`: how many of an operator's typical problems one worker and all of them
// verify in a second, and where the time goes. Kernels with barriers, which cost the CPU device
// much, are measured apart.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/base/random.hpp"
#include "harness/base/text.hpp"
#include "harness/bench/bench.hpp"
#include "harness/run/selection.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify {

namespace {

/// A valid problem with every parameter uniform in its typical range, not empty.
Problem typical_problem(const Operator& op, SplitMix64& random) {
    for (;;) {
        Problem problem(op.space, op.usual_ranks.value_or(op.space.ranks()).most);
        for (const Constraint& range : op.typical)
            for (const int slot : op.space.find(range.parameter, problem.rank()))
                problem[slot] = random.between(range.minimum, range.maximum);
        // Parameters that must be equal, as both sides of a padding, take the first one's value.
        for (const Constraint& constraint : op.constraints)
            if (constraint.kind == Constraint::Kind::same_as) {
                const auto to = op.space.find(constraint.parameter, problem.rank());
                const auto from = op.space.find(constraint.other, problem.rank());
                for (std::size_t i = 0; i < to.size(); ++i) problem[to[i]] = problem[from[i]];
            }
        if (!op.validate(problem) && !op.is_empty(problem)) return problem;
    }
}

/// What is verified of each problem.
struct Load {
    const char* name;
    bool gradients;  ///< alone, each by a kernel of its own
    bool barriers;   ///< kernels with barriers alone, or those without
    std::vector<const Property*> properties;

    bool takes(const Operator& op, const PassSpec& pass) const {
        return !gradients || (&pass != &op.forward() && pass.outputs.size() == 1);
    }
};

/// As people do in a loop of their own, and all that can be verified.
std::vector<Load> loads(const Suite& suite, const std::string& glob) {
    std::vector<const Property*> all, values;
    for (const Property* const property : suite.properties()) {
        const std::string name(property->name);
        if (property->own_cases > 0 || !glob_matches(glob, name)) continue;
        all.push_back(property);
        if (name == "matches_reference" || name == "within_rounding_bound")
            values.push_back(property);
    }
    std::vector<Load> loads;
    for (const bool barriers : {false, true}) {
        loads.push_back({"its gradients, exactly and within the bound", true, barriers, values});
        loads.push_back(
            {glob == "*" ? "every pass and property" : "every pass", false, barriers, all});
    }
    return loads;
}

/// For each pass the first kernel, with or without barriers, that supports the problem.
std::vector<const Kernel*> kernels_for(const Operator& op, const Problem& problem, const Load& load,
                                       const BenchArguments& arguments, const std::string& device) {
    std::vector<const Kernel*> kernels;
    for (const PassSpec& pass : op.passes)
        for (const Kernel& kernel : Registry::instance().kernels())
            if (kernel.pass == &pass && load.takes(op, pass) &&
                is_selected(kernel.name, arguments.filters) && kernel.on(device) &&
                (kernel.any().launch_cost.barriers_per_thread > 0) == load.barriers &&
                !kernel.why_unsupported(problem)) {
                kernels.push_back(&kernel);
                break;
            }
    return kernels;
}

struct Measured {
    std::int64_t problems = 0, cases = 0;
    double seconds = 0.0, seconds_kernel = 0.0, seconds_reference = 0.0, seconds_total = 0.0;
    std::vector<std::string> kernels;
    struct Share {
        std::int64_t cases = 0;
        double seconds = 0.0;
    };
    std::map<std::string, Share, std::less<>> by_property;  ///< what cases took in the worker

    void add(const WorkerPool::Answer& answer) {
        const Outcome& outcome = answer.outcome;
        if (outcome.verdict == Verdict::failed || outcome.verdict == Verdict::errored)
            throw EnvironmentError(
                fmt::format("bench: a case came out as {}: {}; run `gradverify check` first",
                            name_of(outcome.verdict), outcome.message));
        ++cases;
        seconds_kernel += outcome.seconds_kernel;
        seconds_reference += outcome.seconds_reference;
        seconds_total += outcome.seconds_total;
        Share& share = by_property[answer.drawn->property];
        ++share.cases;
        share.seconds += outcome.seconds_total;
    }
};

Measured measure(const Suite& suite, const Operator& op, const Load& load, std::int64_t problems,
                 const BenchArguments& arguments, const std::string& device, WorkerPool& pool) {
    Measured measured;
    SplitMix64 random(mix_seed(arguments.seed, op.name));
    const auto start = std::chrono::steady_clock::now();
    while (measured.problems < problems) {
        const Problem problem = typical_problem(op, random);
        const auto kernels = kernels_for(op, problem, load, arguments, device);
        if (kernels.empty()) break;
        for (const Kernel* kernel : kernels) {
            if (std::ranges::find(measured.kernels, kernel->name) == measured.kernels.end())
                measured.kernels.push_back(kernel->name);
            for (const Property* const property : load.properties) {
                if (!property->applies(*kernel, device)) continue;
                while (!pool.has_room())
                    if (const auto answer = pool.wait(1.0)) measured.add(*answer);
                const Row row{kernel, property, device};
                pool.submit(measured.problems,
                            suite.draw_on(row, arguments.seed, measured.problems, problem));
            }
        }
        ++measured.problems;
    }
    while (pool.in_flight() > 0)
        if (const auto answer = pool.wait(1.0)) measured.add(*answer);
    measured.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return measured;
}

void print_rate(int jobs, const Measured& m) {
    const double cases = static_cast<double>(m.cases), worker_seconds = m.seconds * jobs;
    fmt::print(
        "  {:>2} {}: {:.1f} problems/s ({} problems, {} cases in {:.2f} s)\n"
        "    a case takes {:.0f} us of a worker: kernel {:.0f}, reference {:.0f}, rest of "
        "the check {:.0f}, between cases {:.0f}\n",
        jobs, jobs == 1 ? "worker" : "workers", static_cast<double>(m.problems) / m.seconds,
        m.problems, m.cases, m.seconds, 1e6 * worker_seconds / cases,
        1e6 * m.seconds_kernel / cases, 1e6 * m.seconds_reference / cases,
        1e6 * (m.seconds_total - m.seconds_kernel - m.seconds_reference) / cases,
        1e6 * (worker_seconds - m.seconds_total) / cases);
}

void print_shares(const Load& load, const Measured& m) {
    std::vector<std::string> shares;
    for (const Property* const property : load.properties)
        if (const auto found = m.by_property.find(property->name); found != m.by_property.end()) {
            const auto& [count, seconds] = found->second;
            shares.push_back(fmt::format("{} {:.0f}", property->name,
                                         1e6 * seconds / static_cast<double>(count)));
        }
    fmt::print("    in us, a case of {}\n    by {}\n", wrapped(joined(shares), 7),
               wrapped(joined(m.kernels), 7));
}

}  // namespace

int run_bench_harness(const Suite& suite, const BenchArguments& arguments) {
    require_each_filter(arguments.filters);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = arguments.jobs > 0 ? arguments.jobs : cores;
    // A worker that is replaced after its first cases would be missed for a while.
    WorkerPoolOptions lasting = worker_options(1);
    lasting.strict_cases = 0;
    WorkerPool one(lasting);
    const std::string device = choose_devices(arguments.device, one).front();
    lasting.jobs = jobs;
    if (device == "cuda") lasting.owned_device = device;
    WorkerPool all(lasting);
    fmt::print("bench --harness: device {}, seed {}, {}\n", device, arguments.seed,
               arguments.property == "*" ? "every property" : arguments.property);
    bool any = false;
    for (const Operator* op : selected_operators(arguments.filters))
        for (const Load& load : loads(suite, arguments.property)) {
            if (op->typical.empty() || load.properties.empty()) continue;
            for (WorkerPool* pool : {&one, &all}) {
                if (pool == &all && jobs == 1) continue;
                // Workers start, and reach the device, before it is timed.
                measure(suite, *op, load, pool->jobs(), arguments, device, *pool);
                const Measured measured =
                    measure(suite, *op, load, arguments.problems, arguments, device, *pool);
                if (measured.cases == 0) break;
                any = true;
                if (pool == &one) {
                    fmt::print("{}, {}, kernels {} barriers\n", op->name, load.name,
                               load.barriers ? "with" : "without");
                    print_rate(1, measured);
                    print_shares(load, measured);
                } else {
                    print_rate(jobs, measured);
                }
            }
        }
    if (!any)
        throw UsageError(
            fmt::format("no selected kernel supports its operator's typical problems under a "
                        "property that matches '{}'",
                        arguments.property));
    return exit_ok;
}

}  // namespace gradverify
