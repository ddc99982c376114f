// SPDX-License-Identifier: Apache-2.0
// The time and memory of a process, and the machine's memory, from Linux.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

namespace gradverify {

struct ProcessUsage {
    double cpu_seconds = 0.0;      ///< of all its threads
    std::size_t memory_bytes = 0;  ///< resident; address space means nothing under CUDA
    bool wants_to_run = false;     ///< runnable, or waiting for a page
    bool is_exiting = false;       ///< has called exit or been killed, and is being taken down
};

/// Nothing when there is no such process.
std::optional<ProcessUsage> usage_of(pid_t pid);

/// Memory of this machine, or of the container that this process is in.
std::size_t physical_memory_bytes();

}  // namespace gradverify
