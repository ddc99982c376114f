// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/bench_json.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <span>

#include "harness/base/errors.hpp"
#include "harness/base/version.hpp"

namespace gradverify {

namespace {

ordered_json tensors_of(const BenchResult& result) {
    const std::vector<std::string> names = result.group.pass->tensors();
    ordered_json tensors = ordered_json::array();
    for (std::size_t i = 0; i < result.timing.tensors.size(); ++i) {
        const TensorView& tensor = result.timing.tensors[i];
        const auto rank = static_cast<std::size_t>(tensor.rank);
        tensors.push_back({{"name", names[i]},
                           {"dtype", traits_of(tensor.dtype).name},
                           {"sizes", std::span(tensor.sizes).first(rank)},
                           {"strides", std::span(tensor.strides).first(rank)}});
    }
    return tensors;
}

void add_timing(ordered_json& object, const BenchResult& result, const Ceilings& ceilings) {
    const double bandwidth = result.bytes_per_second();
    object["repetitions"] = result.timing.samples.size();
    object["calls_per_sample"] = result.timing.calls_per_sample;
    object["buffer_copies"] = result.timing.copies;
    object["outgrows_cache"] = result.timing.outgrows_cache;
    object["seconds"] = result.seconds.median;
    object["seconds_low"] = result.seconds.low;
    object["seconds_high"] = result.seconds.high;
    object["bytes"] = result.bytes();
    object["gigabytes_per_second"] = bandwidth / 1e9;
    object["share_of_copy"] = bandwidth / ceilings.copy_bytes_per_second;
    if (const double flops = result.flops_per_second(); flops > 0.0) {
        object["multiply_adds"] = result.group.pass->multiply_adds(result.group.problem);
        object["tflops"] = flops / 1e12;
        if (const auto* ceiling = ceilings.find(ceiling_of(*result.item.kernel))) {
            object["ceiling"] = ceiling->name;
            object["share_of_ceiling"] = flops / ceiling->flops;
        }
    }
    if (result.yardstick) {
        object["yardstick"] = result.yardstick->name;
        object["yardstick_name"] = result.yardstick->any().yardstick_name;
        object["ratio_to_yardstick"] = result.ratio_to_yardstick;
    }
    object["tensors"] = tensors_of(result);
    object["samples"] = result.timing.samples;
}

BenchRecord record_of(const ordered_json& object) {
    return {.kernel = object.at("kernel"),
            .problem = object.at("problem"),
            .device = object.at("device"),
            .data = object.at("data"),
            .graph = object.at("graph"),
            .verified = object.at("verified"),
            .samples = object.at("samples").get<std::vector<double>>()};
}

void read_line(const std::string& line, BenchFile& read) {
    const ordered_json object = parse_json(line);
    const auto kind = object.at("kind").get<std::string>();
    if (kind == "run")
        read.device_name = object.at("device_name");
    else if (kind == "bench" && object.at("state") == "timed")
        read.records.push_back(record_of(object));
    else if (kind != "bench" && kind != "summary")
        throw UsageError("its kind is " + kind);
}

}  // namespace

ordered_json json_of_run(const BenchRun& run) {
    ordered_json object{{"kind", "run"},
                        {"version", version},
                        {"device", run.device},
                        {"device_name", run.ceilings.device_name},
                        {"data", run.arguments.data},
                        {"seed", run.arguments.seed},
                        {"graph", run.arguments.graph},
                        {"cache_bytes", run.ceilings.cache_bytes},
                        {"copy_gigabytes_per_second", run.ceilings.copy_bytes_per_second / 1e9}};
    for (const ArithmeticCeiling& one : run.ceilings.arithmetic)
        object["tflops"][one.name] = one.flops / 1e12;
    return object;
}

ordered_json json_of_result(const BenchResult& result, const BenchRun& run) {
    constexpr const char* states[] = {"timed", "failed", "not_timed"};
    ordered_json object{{"kind", "bench"},
                        {"kernel", result.item.kernel->name},
                        {"problem", result.group.problem.print()},
                        {"device", run.device},
                        {"data", run.arguments.data},
                        {"graph", run.arguments.graph},
                        {"state", states[static_cast<std::size_t>(result.state)]}};
    if (result.state == BenchResult::State::timed) {
        object["verified"] = result.verification.state == Verification::State::verified;
        object["verification"] = result.verification.text;
        add_timing(object, result, run.ceilings);
    } else {
        object["message"] = result.why_not;
    }
    return object;
}

ordered_json json_of_summary(BenchCounts counts, double seconds) {
    return {{"kind", "summary"},
            {"timed", counts[BenchResult::State::timed]},
            {"failed", counts[BenchResult::State::failed]},
            {"not_timed", counts[BenchResult::State::not_timed]},
            {"seconds", seconds}};
}

BenchFile read_bench(const std::string& path) {
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path))
        throw UsageError("--compare: can't read " + path);
    BenchFile read;
    int number = 0;
    for (std::string line; std::getline(file, line);) try {
            ++number;
            read_line(line, read);
        } catch (const std::exception& wrong) {
            throw UsageError(
                fmt::format("--compare: line {} of {} is not a line that bench --json writes: {}",
                            number, path, wrong.what()));
        }
    return read;
}

}  // namespace gradverify
