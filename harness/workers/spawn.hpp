// SPDX-License-Identifier: Apache-2.0
// Starts a worker: its descriptors, environment and process group.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace gradverify {

struct SpawnedWorker {
    pid_t pid = -1;
    // None of these blocks.
    int request_fd = -1;   ///< to write to
    int answer_fd = -1;    ///< to read from
    int print_fd = -1;     ///< its stdout and stderr
    void* note = nullptr;  ///< memory that it shares, all zeros at first
};

/// The words as exec takes them, valid while they are.
std::vector<char*> argument_pointers(std::vector<std::string>& words);

/// **Errors** EnvironmentError.
SpawnedWorker spawn_worker(const std::vector<std::string>& command, bool strict_heap,
                           std::size_t note_bytes);

}  // namespace gradverify
