// SPDX-License-Identifier: Apache-2.0
// The time and memory of a process, and the machine's memory, from Linux.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace gradverify {

/// Of all its threads, and of the processes that it has started.
struct ProcessUsage {
    double cpu_seconds = 0.0;
    std::size_t memory_bytes = 0;  ///< resident; address space means nothing under CUDA
    std::size_t threads = 0;
    bool wants_to_run = false;  ///< runnable, or waiting for a page
    bool is_exiting = false;  ///< it has called exit itself or been killed, and is being taken down
};

/// Nothing when there is no such process.
std::optional<ProcessUsage> usage_of(pid_t pid);

/// Memory of this machine, or of the container that this process is in.
std::size_t physical_memory_bytes();

/// What a program can have at once: free memory, and the files' cache, which makes room for it.
std::size_t available_memory_bytes();

/// The same from the text of /proc/meminfo; nothing where it does not say.
std::optional<std::size_t> available_memory_of(std::string_view meminfo);

}  // namespace gradverify
