// SPDX-License-Identifier: Apache-2.0
// How `bench` prints what it measured.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/text.hpp"
#include "harness/base/version.hpp"
#include "harness/bench/bench.hpp"

namespace gradverify {

namespace {

constexpr int indent = 6;

std::string line(int blanks, const std::string& words) {
    return fmt::format("{:{}}{}\n", "", blanks, wrapped(words, blanks));
}

std::string print_flops(double flops) {
    return flops >= 1e12 ? print_rounded(flops / 1e12) + " TFLOP/s"
                         : print_rounded(flops / 1e9) + " GFLOP/s";
}
std::string print_bandwidth(double bytes) { return print_rounded(bytes / 1e9) + " GB/s"; }

std::string print_bytes(double bytes) {
    if (bytes >= 1e9) return print_rounded(bytes / 1e9) + " GB";
    if (bytes >= 1e6) return print_rounded(bytes / 1e6) + " MB";
    if (bytes >= 1e3) return print_rounded(bytes / 1e3) + " kB";
    return print_rounded(bytes) + " bytes";
}

std::string share_of(double value, double ceiling, const std::string& name) {
    return fmt::format(", {} % of {}", print_rounded(100.0 * value / ceiling), name);
}

/// `128x128x71x71`
std::string print_axes(const TensorView& tensor, std::span<const std::int64_t> numbers,
                       const char* separator, const char* without_axes) {
    if (tensor.rank == 0) return without_axes;
    return fmt::format("{}",
                       fmt::join(numbers.first(static_cast<std::size_t>(tensor.rank)), separator));
}

std::string print_rates(const BenchResult& result, const Ceilings& ceilings) {
    std::string words;
    if (const double flops = result.flops_per_second(); flops > 0.0) {
        words += print_flops(flops);
        if (const auto* ceiling = ceilings.find(ceiling_of(*result.item.kernel)))
            words += share_of(flops, ceiling->flops, ceiling->name);
        words += "; ";
    }
    words += print_bandwidth(result.bytes_per_second()) +
             share_of(result.bytes_per_second(), ceilings.copy_bytes_per_second, "copy");
    if (result.yardstick)
        words +=
            fmt::format("; {} times as long as {} ({})", print_rounded(result.ratio_to_yardstick),
                        result.yardstick->any().yardstick_name, result.yardstick->name);
    return words;
}

std::string print_samples(const BenchResult& result) {
    const Timing& timing = result.timing;
    return fmt::format(
        "{} a call, the median of {} sample{}{}; quartiles {} and {}",
        print_time(result.seconds.median), timing.samples.size(),
        timing.samples.size() == 1 ? "" : "s",
        timing.calls_per_sample > 1 ? fmt::format(" of {} calls", timing.calls_per_sample) : "",
        print_time(result.seconds.low), print_time(result.seconds.high));
}

std::string print_rotation(const Timing& timing) {
    std::string words = timing.copies > 1
                            ? fmt::format("by turns on {} copies of its tensors", timing.copies)
                            : "on one copy of its tensors";
    return words + (timing.outgrows_cache ? ", too large for the cache"
                                          : ", which the cache may hold: too small a problem");
}

std::string print_verification(const Verification& verification) {
    return (verification.state == Verification::State::verified ? "verified: " : "not verified: ") +
           verification.text;
}

/// A kernel, its time, its rates, and how it compares with a yardstick.
std::vector<std::string> comparison_of(const BenchResult& result,
                                       const std::vector<BenchResult>& results) {
    const Kernel& kernel = *result.item.kernel;
    const double flops = result.flops_per_second();
    std::string ratio;
    if (const BenchResult* const yardstick = fastest_yardstick(results, kernel))
        ratio = print_rounded(result.seconds.median / yardstick->seconds.median) + " x " +
                yardstick->item.kernel->any().yardstick_name;
    const bool is_verified = result.verification.state == Verification::State::verified;
    return {kernel.name,
            print_time(result.seconds.median),
            flops > 0.0 ? print_flops(flops) : "",
            print_bandwidth(result.bytes_per_second()),
            ratio,
            is_verified ? "" : "not verified"};
}

std::string print_columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        std::string one = "  ";
        for (std::size_t i = 0; i < row.size(); ++i)
            if (widths[i] > 0) one += fmt::format("{:<{}}", row[i], widths[i] + 2);
        one.erase(one.find_last_not_of(' ') + 1);
        text += one + "\n";
    }
    return text;
}

}  // namespace

double BenchResult::flops_per_second() const {
    if (!counts_multiply_adds(*group.op)) return 0.0;
    return 2.0 * group.pass->multiply_adds(group.problem) / seconds.median;
}

const char* ceiling_of(const Kernel& kernel) {
    const KernelDeclaration& declared = kernel.any();
    if (declared.accumulator() == DType::f64) return ceiling_f64;
    if (declared.has_f32_factors()) return ceiling_tf32;
    const bool is_half =
        declared.storage_type == DType::f16 || declared.storage_type == DType::bf16;
    return is_half ? ceiling_f16 : ceiling_f32;
}

std::string print_time(double seconds) {
    if (seconds >= 1.0) return print_rounded(seconds) + " s";
    if (seconds >= 1e-3) return print_rounded(1e3 * seconds) + " ms";
    return print_rounded(1e6 * seconds) + " us";
}

std::string print_bench_head(const BenchRun& run) {
    const auto& [arguments, device, ceilings] = run;
    std::vector<std::string> reached{"copy " + print_bandwidth(ceilings.copy_bytes_per_second)};
    for (const ArithmeticCeiling& one : ceilings.arithmetic)
        reached.push_back(one.name + " " + print_flops(one.flops));
    std::string text = fmt::format("gradverify {}: bench on {} ({}), data {}, seed {}{}\n", version,
                                   device, ceilings.device_name, arguments.data, arguments.seed,
                                   arguments.graph ? ", replayed from CUDA graphs" : "");
    text += line(0, "measured here: " + joined(reached));
    if (device == "cpu")
        text +=
            line(0, "the cpu device emulates a GPU on one core: these times say nothing of a GPU");
    return text;
}

std::string print_group(const BenchGroup& group) {
    std::string text =
        fmt::format("\n{}.{} on {}\n", group.op->name, group.pass->name, group.problem.print());
    if (counts_multiply_adds(*group.op))
        text += fmt::format("  {} multiply-adds\n",
                            print_grouped(std::llround(group.pass->multiply_adds(group.problem))));
    return text;
}

std::string print_tensors(const PassSpec& pass, const Timing& timing) {
    const std::vector<std::string> names = pass.tensors();
    std::string text;
    for (std::size_t i = 0; i < timing.tensors.size(); ++i) {
        const TensorView& tensor = timing.tensors[i];
        text += fmt::format(
            "  {:<8}{:<4} {:<20} strides {:<20} {}\n", names[i], traits_of(tensor.dtype).name,
            print_axes(tensor, tensor.sizes, "x", "one number"),
            print_axes(tensor, tensor.strides, ",", "none"), print_bytes(bytes_of({tensor})));
    }
    return text + "  " + print_bytes(bytes_of(timing.tensors)) + " in all\n";
}

std::string print_comparison(const std::vector<BenchResult>& results) {
    std::vector<const BenchResult*> timed;
    std::map<std::string, std::size_t> types;
    for (const BenchResult& result : results)
        if (result.state == BenchResult::State::timed) {
            timed.push_back(&result);
            types.emplace(types_of(*result.item.kernel), types.size());
        }
    if (timed.size() < 2) return {};
    std::ranges::stable_sort(timed, {}, [&](const BenchResult* result) {
        return std::pair(types.at(types_of(*result->item.kernel)), result->seconds.median);
    });
    std::vector<std::vector<std::string>> rows;
    rows.reserve(timed.size());
    for (const BenchResult* result : timed) rows.push_back(comparison_of(*result, results));
    return "\n" + print_columns(rows);
}

std::string print_result(const BenchResult& result, const BenchRun& run) {
    std::string text = fmt::format("  {}{}\n", result.item.kernel->name,
                                   result.item.is_yardstick ? " (to compare with)" : "");
    if (result.state == BenchResult::State::not_timed)
        return text + line(indent, "not timed: " + result.why_not);
    if (result.state == BenchResult::State::failed) {
        const bool is_told = !result.verification.report.empty();
        text += line(indent, "not timed, since it failed" + (is_told ? "" : ": " + result.why_not));
        for (const std::string_view report : split(result.verification.report, '\n'))
            if (!report.empty()) text += fmt::format("{:{}}{}\n", "", indent, report);
        return text;
    }
    text += line(indent, print_samples(result));
    text += line(indent, print_rates(result, run.ceilings));
    if (run.device != "cpu") text += line(indent, print_rotation(result.timing));
    return text + line(indent, print_verification(result.verification));
}

}  // namespace gradverify
