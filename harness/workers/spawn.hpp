// SPDX-License-Identifier: Apache-2.0
// Starts a worker: its descriptors, environment and process group.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/devices/call_note.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

/// A file descriptor that is closed with this.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { close(); }

    int get() const { return fd_; }  ///< -1 once it is closed
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_ = -1;
};

struct UnmapNote {
    void operator()(WorkerNote* note) const { munmap(note, sizeof(WorkerNote)); }
};

struct SpawnedWorker {
    pid_t pid = -1;
    Descriptor requests, answers, prints;  ///< none of them blocks; prints: stdout and stderr
    std::unique_ptr<WorkerNote, UnmapNote> note;
};

/// Descriptors of this process, and the numbers that a new one has them at.
using DescriptorMoves = std::vector<std::pair<int, int>>;

/// The words as exec takes them, valid while they are.
std::vector<char*> argument_pointers(std::vector<std::string>& words);

/// A process in a group of its own, with an empty stdin and these descriptors moved to these
/// numbers; nothing, and errno, when it can't be started.
std::optional<pid_t> spawn(std::vector<std::string> words, std::vector<std::string> variables,
                           const DescriptorMoves& moves);

class ForkServers;

/// `exchange`: the descriptor of the memory shared with a device's owner, or -1. `forks`: by these
/// if possible; null: the process loads the program anew.
/// **Errors** EnvironmentError.
SpawnedWorker spawn_worker(const std::vector<std::string>& command, bool strict_heap, int exchange,
                           ForkServers* forks);

}  // namespace gradverify
