// SPDX-License-Identifier: Apache-2.0
// The verb `bench --harness`: how many of an operator's typical problems one worker and all of them
// verify in a second, and where the time goes; or what a case takes here and in another build,
// whose workers run the same cases at the same time. Kernels with barriers, which cost the CPU
// device much, are measured apart.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <span>
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

/// What is measured at a time.
struct Stop {
    const Operator* op;
    Load load;
};

struct Measured {
    std::int64_t problems = 0;
    double seconds = 0.0, seconds_kernel = 0.0, seconds_reference = 0.0;
    std::vector<std::string> kernels;
    struct Share {
        std::int64_t cases = 0;
        double seconds = 0.0, seconds_cpu = 0.0;

        void add(const Share& other) {
            cases += other.cases;
            seconds += other.seconds;
            seconds_cpu += other.seconds_cpu;
        }
    };
    std::map<std::string, Share, std::less<>> by_property;  ///< what cases took in the worker

    Share all() const {
        Share sum;
        for (const auto& [name, share] : by_property) sum.add(share);
        return sum;
    }

    void add(const WorkerPool::Answer& answer) {
        const Outcome& outcome = answer.outcome;
        if (outcome.verdict == Verdict::failed || outcome.verdict == Verdict::errored)
            throw EnvironmentError(
                fmt::format("bench: a case came out as {}: {}; run `gradverify check` first",
                            name_of(outcome.verdict), outcome.message));
        seconds_kernel += outcome.seconds_kernel;
        seconds_reference += outcome.seconds_reference;
        by_property[answer.drawn->property].add({1, outcome.seconds_total, outcome.seconds_cpu});
    }
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Says now and then how far a measurement is, since it may take minutes.
class Signs {
  public:
    void tell(const Stop& stop, std::int64_t done, std::int64_t of) {
        if (seconds_since(last_) < 10.0) return;
        last_ = Clock::now();
        fmt::print(stderr, "{}, {}: {} of {} problems\n", stop.op->name, stop.load.name, done, of);
        std::fflush(stderr);
    }

  private:
    Clock::time_point last_ = Clock::now();
};

class HarnessBench {
  public:
    HarnessBench(const Suite& suite, const BenchArguments& arguments, std::string device)
        : suite_(suite), arguments_(arguments), device_(std::move(device)) {}

    std::vector<Stop> stops() const {
        std::vector<Stop> stops;
        for (const Operator* op : selected_operators(arguments_.filters))
            for (const Load& load : loads(suite_, arguments_.property)) {
                if (op->typical.empty()) continue;
                SplitMix64 random = random_for(*op);
                const auto kernels =
                    kernels_for(*op, typical_problem(*op, random), load, arguments_, device_);
                const bool any = std::ranges::any_of(kernels, [&](const Kernel* kernel) {
                    return std::ranges::any_of(load.properties, [&](const Property* property) {
                        return property->applies(*kernel, device_);
                    });
                });
                if (any) stops.push_back({op, load});
            }
        return stops;
    }

    /// Of each pool. They run the same cases at the same time, until time is up.
    std::vector<Measured> measure(const Stop& stop, std::int64_t problems, double seconds,
                                  std::span<WorkerPool* const> pools) {
        std::vector<Measured> measured(pools.size());
        SplitMix64 random = random_for(*stop.op);
        const auto start = Clock::now();
        const auto take = [&](std::size_t i) {
            if (const auto answer = pools[i]->wait(1.0)) measured[i].add(*answer);
        };
        for (std::int64_t done = 0; done < problems; ++done) {
            if (done > 0 && seconds_since(start) > seconds) break;
            const Problem problem = typical_problem(*stop.op, random);
            const auto kernels = kernels_for(*stop.op, problem, stop.load, arguments_, device_);
            if (kernels.empty()) break;
            for (std::size_t i = 0; i < pools.size(); ++i) {
                for (const Case& drawn : cases_on(stop, problem, kernels, done)) {
                    while (!pools[i]->has_room()) take(i);
                    pools[i]->submit(done, drawn);
                }
                ++measured[i].problems;
                for (const Kernel* kernel : kernels)
                    if (auto& names = measured[i].kernels;
                        std::ranges::find(names, kernel->name) == names.end())
                        names.push_back(kernel->name);
            }
            signs_.tell(stop, done, problems);
        }
        for (std::size_t i = 0; i < pools.size(); ++i) {
            while (pools[i]->in_flight() > 0) take(i);
            measured[i].seconds = seconds_since(start);
        }
        return measured;
    }

  private:
    SplitMix64 random_for(const Operator& op) const {
        return SplitMix64(mix_seed(arguments_.seed, op.name));
    }

    std::vector<Case> cases_on(const Stop& stop, const Problem& problem,
                               const std::vector<const Kernel*>& kernels,
                               std::int64_t index) const {
        std::vector<Case> cases;
        for (const Kernel* kernel : kernels)
            for (const Property* const property : stop.load.properties)
                if (property->applies(*kernel, device_))
                    cases.push_back(suite_.draw_on({kernel, property, device_}, arguments_.seed,
                                                   index, problem));
        return cases;
    }

    const Suite& suite_;
    const BenchArguments& arguments_;
    std::string device_;
    Signs signs_;
};

void print_rate(int jobs, const Measured& m) {
    const Measured::Share all = m.all();
    const double cases = static_cast<double>(all.cases), worker_seconds = m.seconds * jobs;
    fmt::print(
        "  {:>2} {}: {:.1f} problems/s ({} problems, {} cases in {:.2f} s)\n"
        "    a case takes {:.0f} us of a worker: kernel {:.0f}, reference {:.0f}, rest of "
        "the check {:.0f}, between cases {:.0f}\n",
        jobs, jobs == 1 ? "worker" : "workers", static_cast<double>(m.problems) / m.seconds,
        m.problems, all.cases, m.seconds, 1e6 * worker_seconds / cases,
        1e6 * m.seconds_kernel / cases, 1e6 * m.seconds_reference / cases,
        1e6 * (all.seconds - m.seconds_kernel - m.seconds_reference) / cases,
        1e6 * (worker_seconds - all.seconds) / cases);
}

void print_shares(const Load& load, const Measured& m) {
    std::vector<std::string> shares;
    for (const Property* const property : load.properties)
        if (const auto found = m.by_property.find(property->name); found != m.by_property.end()) {
            const Measured::Share& share = found->second;
            shares.push_back(fmt::format("{} {:.0f}", property->name,
                                         1e6 * share.seconds / static_cast<double>(share.cases)));
        }
    fmt::print("    in us, a case of {}\n    by {}\n", wrapped(joined(shares), 7),
               wrapped(joined(m.kernels), 7));
}

void print_ratios(const Load& load, const Measured& here, const Measured& there) {
    const double cpu = here.all().seconds_cpu, other = there.all().seconds_cpu;
    const double cases = static_cast<double>(here.all().cases);
    std::vector<std::string> ratios;
    for (const Property* const property : load.properties)
        if (const auto one = here.by_property.find(property->name); one != here.by_property.end())
            ratios.push_back(fmt::format(
                "{} {:.3f}", property->name,
                one->second.seconds_cpu / there.by_property.at(one->first).seconds_cpu));
    fmt::print(
        "    processor time of a case: {:.0f} us, and {:.0f} in the other build: {:.3f} times\n"
        "    {}\n",
        1e6 * cpu / cases, 1e6 * other / cases, cpu / other, wrapped(joined(ratios), 7));
}

}  // namespace

int run_bench_harness(const Suite& suite, const BenchArguments& given) {
    BenchArguments arguments = given;
    arguments.filters = meant_filters(std::move(arguments.filters));
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = arguments.jobs > 0 ? arguments.jobs : cores;
    // A worker that is replaced after its first cases would be missed for a while.
    WorkerPoolOptions lasting = worker_options(1);
    lasting.strict_cases = 0;
    // Workers of both builds start alike.
    if (!arguments.against.empty()) lasting.forks = nullptr;
    WorkerPool one(lasting);
    const std::string device = choose_devices(arguments.device, one).front();
    if (arguments.against.empty()) {
        lasting.jobs = jobs;
        if (device == "cuda") lasting.owned_device = device;
    } else {
        lasting.command.front() = arguments.against;
    }
    WorkerPool others(lasting);
    HarnessBench bench(suite, arguments, device);
    const std::vector<Stop> stops = bench.stops();
    if (stops.empty())
        throw UsageError(
            fmt::format("no selected kernel supports its operator's typical problems under a "
                        "property that matches '{}'",
                        arguments.property));
    fmt::print("bench --harness: device {}, seed {}, {}\n", device, arguments.seed,
               arguments.property == "*" ? "every property" : arguments.property);
    // Pools that are measured together.
    std::vector<std::vector<WorkerPool*>> turns{{&one}, {&others}};
    if (!arguments.against.empty())
        turns = {{&one, &others}};
    else if (jobs == 1)
        turns.pop_back();
    const auto start = Clock::now();
    const double limit = arguments.time.empty() ? std::numeric_limits<double>::infinity()
                                                : parse_duration(arguments.time);
    auto left = static_cast<double>(stops.size() * turns.size());
    for (const Stop& stop : stops) {
        if (seconds_since(start) >= limit) {
            fmt::print("time is up: {} of {} are not measured\n", &stops.back() - &stop + 1,
                       stops.size());
            break;
        }
        fmt::print("{}, {}, kernels {} barriers\n", stop.op->name, stop.load.name,
                   stop.load.barriers ? "with" : "without");
        for (const auto& pools : turns) {
            std::fflush(stdout);
            // Workers start, and reach the device, before it is timed.
            bench.measure(stop, pools.front()->jobs(), limit - seconds_since(start), pools);
            const double seconds = (limit - seconds_since(start)) / left--;
            const auto measured = bench.measure(stop, arguments.problems, seconds, pools);
            print_rate(pools.front()->jobs(), measured.front());
            if (pools.front() == &one) print_shares(stop.load, measured.front());
            if (pools.size() > 1) print_ratios(stop.load, measured.front(), measured.back());
        }
    }
    std::fflush(stdout);
    return exit_ok;
}

}  // namespace gradverify
