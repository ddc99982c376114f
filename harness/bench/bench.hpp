// SPDX-License-Identifier: Apache-2.0
// What the parts of the verb `bench` share: what is to be timed, how each kernel was verified on
// the problem, and the results.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/bench/statistics.hpp"
#include "harness/cases/suite.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify {

struct BenchArguments {
    std::vector<std::string> filters;
    std::string device = "auto";
    std::uint64_t seed = 1;
    // For kernels:
    std::vector<std::string> own_problems;  ///< none: the operators' own
    std::string data = "integers";
    bool verify = true;
    bool graph = false;
    std::int64_t repetitions = 0;  ///< 0: as many as take some time
    std::string json;
    std::pair<std::string, std::string> compare;  ///< files; empty without
    // For the harness:
    bool harness = false;
    std::string property = "*";
    std::int64_t problems = 300;
    int jobs = 0;         ///< workers of the second figure; 0: one for each core
    std::string time;     ///< all of it ends by then; empty: with the last problem
    std::string against;  ///< another build's executable, instead of the second figure
};

/// The verb `bench`; returns the exit code.
int run_bench(const Suite& suite, const BenchArguments& arguments);
/// `bench --harness`.
int run_bench_harness(const Suite& suite, const BenchArguments& arguments);

/// A kernel that is to be timed on its group's problem.
struct BenchItem {
    const Kernel* kernel = nullptr;
    std::string why_not;        ///< why it can't be timed; empty when it can
    bool is_yardstick = false;  ///< it is not selected; others are compared with it
};

/// A pass on a problem.
struct BenchGroup {
    const Operator* op = nullptr;
    const PassSpec* pass = nullptr;
    Problem problem;
    std::vector<BenchItem> items;  ///< those of the same types together, yardsticks first
};

/// The given problems, or the operators' own, each with the selected kernels and with yardsticks.
/// **Errors** UsageError, with the reason, when nothing can be timed.
std::vector<BenchGroup> plan_bench(const BenchArguments& arguments, const std::string& device);

/// Whether the operator multiplies tensors, so that multiply-adds are its formula's. Otherwise they
/// are an estimate of the reference's work.
bool counts_multiply_adds(const Operator& op);

/// How a kernel fared on the problem before it was timed.
struct Verification {
    enum class State { verified, not_verified, failed };
    State state = State::not_verified;
    std::string text;      ///< what it was verified by, or why it was not
    std::string report{};  ///< the lines that tell a failure
};

struct BenchRun {
    const BenchArguments& arguments;
    std::string device;
    Ceilings ceilings{};
};

/// Beyond this the reference, which carries errors along, takes minutes.
inline constexpr double reference_multiply_adds = 3e8;

/// Verifies a kernel on the problem that it is timed on: by the reference up to `largest`
/// multiply-adds, beyond as copies of a small problem.
Verification verify(WorkerPool& pool, const BenchRun& run, const BenchGroup& group,
                    const Kernel& kernel, double largest = reference_multiply_adds);

/// Asks a worker of its own, which a kernel may crash.
/// **Errors** EnvironmentError, Interrupted.
Outcome ask_alone(const Work& work, double limit_seconds);

/// Time for calls of a pass on a device, with much to spare.
double generous_seconds(double multiply_adds, double calls, const std::string& device);

struct BenchResult {
    const BenchGroup& group;
    const BenchItem& item;
    enum class State { timed, failed, not_timed };
    State state = State::not_timed;
    std::string why_not;  ///< unless it was timed
    Verification verification{};
    Timing timing{};
    Spread seconds{};
    /// The fastest yardstick with the same types, and how many times as long this kernel takes.
    const Kernel* yardstick = nullptr;
    double ratio_to_yardstick = 0.0;

    double bytes() const { return bytes_of(timing.tensors); }
    double flops_per_second() const;  ///< 0 where the multiply-adds are not counted
    double bytes_per_second() const { return bytes() / seconds.median; }
};

/// The kernel's types, by which kernels are grouped.
std::string types_of(const Kernel& kernel);

/// The fastest other yardstick of the kernel's types that was timed; null without one.
const BenchResult* fastest_yardstick(const std::vector<BenchResult>& results, const Kernel& kernel);

/// The name of the ceiling of a kernel's arithmetic, by its types.
const char* ceiling_of(const Kernel& kernel);

std::string print_bench_head(const BenchRun& run);
std::string print_group(const BenchGroup& group);
/// The tensors as launchers get them.
std::string print_tensors(const PassSpec& pass, const Timing& timing);
std::string print_result(const BenchResult& result, const BenchRun& run);
/// A line for each kernel that was timed, the fastest of each type first; empty for fewer than two.
std::string print_comparison(const std::vector<BenchResult>& results);
/// `31.2 ms`; three digits that count.
std::string print_time(double seconds);

/// Compares two files that `--json` wrote, prints a verdict on each kernel, and returns the exit
/// code: 1 when a kernel is slower.
/// **Errors** UsageError.
int compare_benches(const std::string& before, const std::string& after,
                    const std::vector<std::string>& filters);

}  // namespace gradverify
