// SPDX-License-Identifier: Apache-2.0
// How `bench` prints what it measured.
#include <algorithm>
#include <map>

#include "harness/base/text.hpp"
#include "harness/base/version.hpp"
#include "harness/bench/bench.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

constexpr int indent = 6;

std::string line(int blanks, const std::string& words) {
    const auto width = static_cast<std::size_t>(blanks);
    return std::string(width, ' ') + wrapped(words, blanks) + "\n";
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
    return ", " + print_rounded(100.0 * value / ceiling) + " % of " + name;
}

/// `128x128x71x71`: a number of each axis.
template <class NumberOf>
std::string print_axes(const TensorView& tensor, const char* separator, const NumberOf& number_of) {
    std::vector<std::string> words;
    words.reserve(max_tensor_rank);
    for (int axis = 0; axis < tensor.rank; ++axis) words.push_back(std::to_string(number_of(axis)));
    return words.empty() ? "none" : joined(words, separator);
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
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
    if (!result.yardstick.empty())
        words += "; " + print_rounded(result.ratio_to_yardstick) + " times as long as " +
                 result.yardstick_name + " (" + result.yardstick + ")";
    return words;
}

std::string print_samples(const BenchResult& result) {
    const Timing& timing = result.timing;
    std::string words = print_time(result.seconds.median) + " a call, the median of " +
                        std::to_string(timing.samples.size()) +
                        (timing.samples.size() == 1 ? " sample" : " samples");
    if (timing.calls_per_sample > 1)
        words += " of " + std::to_string(timing.calls_per_sample) + " calls";
    return words + "; quartiles " + print_time(result.seconds.low) + " and " +
           print_time(result.seconds.high);
}

std::string print_rotation(const Timing& timing) {
    std::string words = timing.copies > 1 ? "by turns on " + std::to_string(timing.copies) +
                                                " copies of its tensors"
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
    std::vector<std::string> row{kernel.name, print_time(result.seconds.median),
                                 flops > 0.0 ? print_flops(flops) : "",
                                 print_bandwidth(result.bytes_per_second())};
    const BenchResult* const yardstick = fastest_yardstick(results, kernel);
    row.push_back(yardstick ? print_rounded(result.seconds.median / yardstick->seconds.median) +
                                  " x " + yardstick->item.kernel->any().yardstick_name
                            : "");
    row.emplace_back(result.verification.state == Verification::State::verified ? ""
                                                                                : "not verified");
    return row;
}

std::string print_columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        std::string one = "  ";
        for (std::size_t i = 0; i < row.size(); ++i)
            if (widths[i] > 0) one += padded(row[i], widths[i] + 2);
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
    if (declared.multiplies_in_tf32()) return ceiling_tf32;
    const bool is_half =
        declared.storage_type == DType::f16 || declared.storage_type == DType::bf16;
    return is_half ? ceiling_f16 : ceiling_f32;
}

std::string print_time(double seconds) {
    if (seconds >= 1.0) return print_rounded(seconds) + " s";
    if (seconds >= 1e-3) return print_rounded(1e3 * seconds) + " ms";
    return print_rounded(1e6 * seconds) + " us";
}

std::string print_bench_head(const BenchArguments& arguments, const std::string& device,
                             const Ceilings& ceilings) {
    std::vector<std::string> reached{"copy " + print_bandwidth(ceilings.copy_bytes_per_second)};
    for (const ArithmeticCeiling& one : ceilings.arithmetic)
        reached.push_back(one.name + " " + print_flops(one.flops));
    std::string text = "gradverify " + std::string(version) + ": bench on " + device + " (" +
                       ceilings.device_name + "), data " + arguments.data + ", seed " +
                       std::to_string(arguments.seed) +
                       (arguments.graph ? ", replayed from CUDA graphs" : "") + "\n";
    text += line(0, "measured here: " + joined(reached));
    if (device == "cpu")
        text +=
            line(0, "the cpu device emulates a GPU on one core: these times say nothing of a GPU");
    return text;
}

std::string print_group(const BenchGroup& group) {
    std::string text =
        "\n" + group.op->name + "." + group.pass->name + " on " + group.problem.print() + "\n";
    if (counts_multiply_adds(*group.op))
        text += "  " + print_grouped(std::llround(group.pass->multiply_adds(group.problem))) +
                " multiply-adds\n";
    return text;
}

std::string print_tensors(const PassSpec& pass, const Timing& timing) {
    const std::vector<std::string> names = pass.tensors();
    std::string text;
    for (std::size_t i = 0; i < timing.tensors.size(); ++i) {
        const TensorView& tensor = timing.tensors[i];
        text += "  " + padded(names[i], 8) +
                padded(std::string(traits_of(tensor.dtype).name) + " ", 5) +
                padded(tensor.rank == 0
                           ? "one number"
                           : print_axes(tensor, "x", [&](int axis) { return tensor.size(axis); }),
                       20) +
                " strides " +
                padded(print_axes(tensor, ",", [&](int axis) { return tensor.stride(axis); }), 20) +
                " " + print_bytes(bytes_of({tensor})) + "\n";
    }
    return text + "  " + print_bytes(bytes_of(timing.tensors)) + " in all\n";
}

std::string print_comparison(const std::vector<BenchResult>& results) {
    std::vector<const BenchResult*> timed;
    std::map<std::string, std::size_t> types;
    const auto types_of = [](const BenchResult& result) {
        const Kernel& kernel = *result.item.kernel;
        return print_types(kernel.any(), *kernel.op, *kernel.pass);
    };
    for (const BenchResult& result : results)
        if (result.state == BenchResult::State::timed) {
            timed.push_back(&result);
            types.emplace(types_of(result), types.size());
        }
    if (timed.size() < 2) return {};
    std::ranges::stable_sort(timed, {}, [&](const BenchResult* result) {
        return std::pair(types.at(types_of(*result)), result->seconds.median);
    });
    std::vector<std::vector<std::string>> rows;
    rows.reserve(timed.size());
    for (const BenchResult* result : timed) rows.push_back(comparison_of(*result, results));
    return "\n" + print_columns(rows);
}

std::string print_result(const BenchResult& result, const std::string& device,
                         const Ceilings& ceilings) {
    std::string text = "  " + result.item.kernel->name +
                       (result.item.is_yardstick ? " (to compare with)" : "") + "\n";
    if (result.state == BenchResult::State::not_timed)
        return text + line(indent, "not timed: " + result.why_not);
    if (result.state == BenchResult::State::failed) {
        const bool is_told = !result.verification.report.empty();
        text += line(indent, "not timed, since it failed" + (is_told ? "" : ": " + result.why_not));
        for (const std::string_view report : split(result.verification.report, '\n'))
            if (!report.empty()) text += std::string(indent, ' ') + std::string(report) + "\n";
        return text;
    }
    text += line(indent, print_samples(result));
    text += line(indent, print_rates(result, ceilings));
    if (device != "cpu") text += line(indent, print_rotation(result.timing));
    return text + line(indent, print_verification(result.verification));
}

}  // namespace gradverify
