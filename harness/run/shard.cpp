// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shard.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

/// Variables with which a system tells each of many processes which one it is.
struct System {
    const char* index;
    const char* count;
    std::int64_t first;  ///< index of the first process
};

// Those that are set by hand come first. One process alone is no shard.
constexpr System systems[] = {{"GRADVERIFY_SHARD_INDEX", "GRADVERIFY_SHARD_COUNT", 0},
                              {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 0},
                              {"PMI_RANK", "PMI_SIZE", 0},
                              {"CI_NODE_INDEX", "CI_NODE_TOTAL", 1},
                              {"JOB_COMPLETION_INDEX", "GRADVERIFY_SHARD_COUNT", 0}};

std::optional<std::int64_t> number_in(const Environment& environment, const std::string& name) {
    const auto text = environment(name);
    if (!text || text->empty()) return std::nullopt;
    const auto value = parse_int(*text);
    if (!value || *value < 0)
        throw UsageError(fmt::format("--shard auto: {}={} is no number from 0 on", name, *text));
    return value;
}

Shard checked(std::int64_t index, std::int64_t count, const std::string& told) {
    if (index < 0 || index >= count || count > Shard::most)
        throw UsageError(
            fmt::format("--shard auto: {} is no shard of at most {}", told, Shard::most));
    return {.index = index, .count = count};
}

/// An array's task ids may begin anywhere and have gaps.
std::optional<Shard> shard_of_slurm(const Environment& environment) {
    const auto id = number_in(environment, "SLURM_ARRAY_TASK_ID");
    const std::int64_t rank = number_in(environment, "SLURM_PROCID").value_or(0),
                       ranks = number_in(environment, "SLURM_NTASKS").value_or(1);
    const Shard of_task =
        checked(rank, ranks, fmt::format("SLURM_PROCID={} of SLURM_NTASKS={}", rank, ranks));
    if (!id) return ranks == 1 ? std::nullopt : std::optional(of_task);
    const std::int64_t first = number_in(environment, "SLURM_ARRAY_TASK_MIN").value_or(0),
                       step = number_in(environment, "SLURM_ARRAY_TASK_STEP").value_or(1);
    const auto count = number_in(environment, "SLURM_ARRAY_TASK_COUNT");
    if (!count || *count == 1 || step < 1 || (*id - first) % step != 0)
        throw UsageError(fmt::format(
            "--shard auto: SLURM_ARRAY_TASK_ID={} needs SLURM_ARRAY_TASK_COUNT, _MIN and _STEP, "
            "and an array of several ids at one distance; for one of them again, give i/n",
            *id));
    const std::string told = fmt::format("task {} of an array of {}", *id, *count);
    // The factors are in range before they are multiplied.
    const Shard task = checked((*id - first) / step, *count, told);
    return checked(task.index * ranks + rank, task.count * ranks, told);
}

Shard shard_told_by(const Environment& environment) {
    for (const System& system : systems) {
        const auto index = number_in(environment, system.index);
        if (!index) continue;
        const auto count = number_in(environment, system.count);
        if (!count)
            throw UsageError(
                fmt::format("--shard auto: {} is set, and {} is not", system.index, system.count));
        if (*count == 1 && system.count != std::string_view("GRADVERIFY_SHARD_COUNT")) continue;
        return checked(*index - system.first, *count,
                       fmt::format("{}={} of {}={}", system.index, *index, system.count, *count));
    }
    if (const auto shard = shard_of_slurm(environment)) return *shard;
    throw UsageError(
        "--shard auto finds no variables of Slurm, Open MPI, MPICH, GitLab or a Kubernetes job; "
        "set GRADVERIFY_SHARD_INDEX, from 0 on, and GRADVERIFY_SHARD_COUNT");
}

}  // namespace

Environment this_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* const value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
}

Shard parse_shard(const std::string& text, const Environment& environment) {
    if (text.empty()) return {};
    if (text == "auto") return shard_told_by(environment);
    const auto parts = split(text, '/');
    const std::int64_t index = parse_int(parts.front()).value_or(0);
    const std::int64_t count = parts.size() == 2 ? parse_int(parts[1]).value_or(0) : 0;
    if (index < 1 || index > count || count > Shard::most)
        throw UsageError(fmt::format("--shard {} is not auto, nor i/n with 1 <= i <= n <= {}", text,
                                     Shard::most));
    return {.index = index - 1, .count = count};
}

}  // namespace gradverify
