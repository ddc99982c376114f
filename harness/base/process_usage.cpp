// SPDX-License-Identifier: Apache-2.0
#include "harness/base/process_usage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "harness/base/files.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

std::optional<ProcessUsage> usage_of(pid_t pid) {
    ProcessUsage usage;
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return std::nullopt;
    usage.cpu_seconds = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    // The second field, a name in parentheses, may hold anything: fields are counted behind it.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    const std::vector<std::string_view> from_third =
        split(std::string_view(text).substr(name_end + 2), ' ');
    const auto field = [&](std::size_t number) { return from_third.at(number - 3); };
    constexpr unsigned long exiting = 0x4;  // PF_EXITING of Linux
    const std::uint64_t flags = parse_uint(field(9)).value_or(0);
    const std::uint64_t pages = parse_uint(field(24)).value_or(0);
    usage.memory_bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    usage.threads = parse_uint(field(20)).value_or(0);
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
    usage.wants_to_run = field(3) == "R" || field(3) == "D";
    for (pid_t child = 0; children >> child;)
        if (const auto of_child = usage_of(child)) {
            usage.cpu_seconds += of_child->cpu_seconds;
            usage.memory_bytes += of_child->memory_bytes;
            usage.threads += of_child->threads;
            usage.wants_to_run |= of_child->wants_to_run;
        }
    usage.is_exiting = (flags & exiting) != 0;
    return usage;
}

std::size_t physical_memory_bytes() {
    auto bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                 static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const char* path :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::size_t limit = 0;
        // Without a limit the file says `max`, or a number above the machine's memory.
        if (std::ifstream file(path); file >> limit && limit > 0) bytes = std::min(bytes, limit);
    }
    return bytes;
}

std::size_t available_memory_bytes() {
    const auto meminfo = read_file("/proc/meminfo");
    const auto available = meminfo ? available_memory_of(*meminfo) : std::nullopt;
    return std::min(available.value_or(SIZE_MAX), physical_memory_bytes());
}

std::optional<std::size_t> available_memory_of(std::string_view meminfo) {
    constexpr std::string_view key = "MemAvailable:", unit = " kB";
    for (std::string_view line : split(meminfo, '\n')) {
        if (!line.starts_with(key) || !line.ends_with(unit)) continue;
        line.remove_prefix(std::min(line.find_first_not_of(' ', key.size()), line.size()));
        line.remove_suffix(std::min(unit.size(), line.size()));
        if (const auto kilobytes = parse_uint(line)) return *kilobytes * 1024;
    }
    return std::nullopt;
}

}  // namespace gradverify
