// SPDX-License-Identifier: Apache-2.0
// The verb `bench --compare`: what has changed between two runs.
#include <algorithm>
#include <cstdio>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/bench/json.hpp"

namespace gradverify {

namespace {

bool is_wanted(const BenchRecord& record, const std::vector<std::string>& filters) {
    return filters.empty() || std::ranges::any_of(filters, [&](const std::string& filter) {
               return glob_matches(filter, record.kernel);
           });
}

BenchFile read_wanted(const std::string& path, const std::vector<std::string>& filters) {
    BenchFile file = read_bench(path);
    std::erase_if(file.records, [&](const BenchRecord& one) { return !is_wanted(one, filters); });
    return file;
}

const BenchRecord* find_like(const BenchRecord& wanted, const std::vector<BenchRecord>& records) {
    const auto found = std::ranges::find_if(
        records, [&](const BenchRecord& record) { return record.is_like(wanted); });
    return found == records.end() ? nullptr : &*found;
}

std::string print_record(const BenchRecord& record) {
    return record.kernel + " on " + record.problem + ", " + record.device + ", data " +
           record.data + (record.graph ? ", from graphs" : "") +
           (record.verified ? "" : ", not verified");
}

/// Why an interval says nothing yet; nothing where it does.
std::string advice(Difference difference, std::size_t samples) {
    if (difference != Difference::undecided) return {};
    if (samples < samples_to_compare)
        return ": " + std::to_string(samples) + " samples are too few, take at least " +
               std::to_string(samples_to_compare);
    return ": take more --repetitions";
}

Difference print_difference(const BenchRecord& before, const BenchRecord& after) {
    const Ratio ratio = ratio_of_medians(before.samples, after.samples);
    const std::size_t samples = std::min(before.samples.size(), after.samples.size());
    const Difference difference = difference_of(ratio, samples);
    std::printf("%s\n      %s, then %s: %.3f times as long (%.3f to %.3f), %s%s\n",
                print_record(after).c_str(), print_time(spread_of(before.samples).median).c_str(),
                print_time(spread_of(after.samples).median).c_str(), ratio.value, ratio.low,
                ratio.high, std::string(name_of(difference)).c_str(),
                advice(difference, samples).c_str());
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
        throw UsageError("--compare: no kernel was timed in both " + before_path + " and " +
                         after_path + " on the same problem, device and data");
    if (before.device_name != after.device_name)
        std::printf("on two machines: %s, then %s\n", before.device_name.c_str(),
                    after.device_name.c_str());
    int counts[4] = {};
    for (const BenchRecord& record : after.records)
        if (const BenchRecord* earlier = find_like(record, before.records))
            ++counts[static_cast<std::size_t>(print_difference(*earlier, record))];
        else
            std::printf("%s\n      only in %s\n", print_record(record).c_str(), after_path.c_str());
    for (const BenchRecord& record : before.records)
        if (!find_like(record, after.records))
            std::printf("%s\n      only in %s\n", print_record(record).c_str(),
                        before_path.c_str());
    std::string text;
    for (const Difference one :
         {Difference::faster, Difference::slower, Difference::none, Difference::undecided})
        text += (text.empty() ? "" : ", ") + std::to_string(counts[static_cast<std::size_t>(one)]) +
                " " + std::string(name_of(one));
    std::printf(
        "%s (95 %% intervals of the ratio of the medians; within %.0f %% is no difference)\n",
        text.c_str(), 100.0 * margin_between_runs);
    return counts[static_cast<std::size_t>(Difference::slower)] > 0 ? exit_failed : exit_ok;
}

}  // namespace gradverify
