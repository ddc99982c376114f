// SPDX-License-Identifier: Apache-2.0
// The verb `bench --compare`: what has changed between two runs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/bench/bench_json.hpp"
#include "harness/run/selection.hpp"

namespace gradverify {

namespace {

BenchFile read_wanted(const std::string& path, const std::vector<std::string>& filters) {
    BenchFile file = read_bench(path);
    std::erase_if(file.records,
                  [&](const BenchRecord& one) { return !is_selected(one.kernel, filters); });
    return file;
}

const BenchRecord* find_like(const BenchRecord& wanted, const std::vector<BenchRecord>& records) {
    const auto found = std::ranges::find_if(
        records, [&](const BenchRecord& record) { return record.is_like(wanted); });
    return found == records.end() ? nullptr : &*found;
}

std::string print_record(const BenchRecord& record) {
    return fmt::format("{} on {}, {}, data {}{}{}", record.kernel, record.problem, record.device,
                       record.data, record.graph ? ", from graphs" : "",
                       record.verified ? "" : ", not verified");
}

/// What would decide an undecided difference; empty for others.
std::string advice(Difference difference, std::size_t samples) {
    if (difference != Difference::undecided) return {};
    if (samples < samples_to_compare)
        return fmt::format(": {} samples are too few, take at least {}", samples,
                           samples_to_compare);
    return ": take more --repetitions";
}

Difference print_difference(const BenchRecord& before, const BenchRecord& after) {
    const Ratio ratio = ratio_of_medians(before.samples, after.samples);
    const std::size_t samples = std::min(before.samples.size(), after.samples.size());
    const Difference difference = difference_of(ratio, samples);
    fmt::print("{}\n      {}, then {}: {:.3f} times as long ({:.3f} to {:.3f}), {}{}\n",
               print_record(after), print_time(spread_of(before.samples).median),
               print_time(spread_of(after.samples).median), ratio.value, ratio.low, ratio.high,
               name_of(difference), advice(difference, samples));
    return difference;
}

}  // namespace

int compare_benches(const std::string& before_path, const std::string& after_path,
                    const std::vector<std::string>& filters) {
    const BenchFile before = read_wanted(before_path, filters);
    const BenchFile after = read_wanted(after_path, filters);
    if (std::ranges::none_of(after.records, [&](const BenchRecord& record) {
            return find_like(record, before.records) != nullptr;
        }))
        throw UsageError(
            fmt::format("--compare: no kernel was timed in both {} and {} on the same problem, "
                        "device and data",
                        before_path, after_path));
    if (before.device_name != after.device_name)
        fmt::print("on two machines: {}, then {}\n", before.device_name, after.device_name);
    std::map<Difference, int> counts;
    for (const BenchRecord& record : after.records)
        if (const BenchRecord* earlier = find_like(record, before.records))
            ++counts[print_difference(*earlier, record)];
        else
            fmt::print("{}\n      only in {}\n", print_record(record), after_path);
    for (const BenchRecord& record : before.records)
        if (!find_like(record, after.records))
            fmt::print("{}\n      only in {}\n", print_record(record), before_path);
    std::vector<std::string> words;
    for (const Difference one :
         {Difference::faster, Difference::slower, Difference::none, Difference::undecided})
        words.push_back(fmt::format("{} {}", counts[one], name_of(one)));
    fmt::print(
        "{} (95 % intervals of the ratio of the medians; within {:.0f} % is no difference)\n",
        joined(words), 100.0 * margin_between_runs);
    return counts[Difference::slower] > 0 ? exit_failed : exit_ok;
}

}  // namespace gradverify
