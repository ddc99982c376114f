// SPDX-License-Identifier: Apache-2.0
#include "harness/base/process_usage.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

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
    // The name may hold anything; fields are counted from behind it: the state is the third of all,
    // the kernel's flags the ninth, resident pages the twenty-fourth.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    char state = '?';
    fields >> state;
    std::string skipped;
    for (int field = 4; field < 9; ++field) fields >> skipped;
    constexpr unsigned long exiting = 0x4;  // PF_EXITING of Linux
    unsigned long flags = 0;
    fields >> flags;
    for (int field = 10; field < 24; ++field) fields >> skipped;
    std::size_t pages = 0;
    fields >> pages;
    usage.memory_bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    usage.wants_to_run = state == 'R' || state == 'D';
    usage.is_exiting = (flags & exiting) != 0;
    return usage;
}

std::size_t physical_memory_bytes() {
    auto bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                 static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const char* path :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::size_t limit = 0;
        // No limit reads as `max`, or as more than there is.
        if (std::ifstream file(path); file >> limit && limit > 0) bytes = std::min(bytes, limit);
    }
    return bytes;
}

}  // namespace gradverify
