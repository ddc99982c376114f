// SPDX-License-Identifier: Apache-2.0
// Starts workers by forking a process that has loaded the program and run no kernel. The libraries
// of a program may take a tenth of a second to load, and a fork takes a millisecond.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/workers/spawn.hpp"

namespace gradverify {

/// The driver's side: a server for each command and environment, started with its first worker.
class ForkServers {
  public:
    ForkServers() = default;
    ForkServers(const ForkServers&) = delete;
    ForkServers& operator=(const ForkServers&) = delete;
    ~ForkServers();

    /// A new worker, a child of this process; nothing if no server can make one.
    std::optional<pid_t> fork_worker(const std::vector<std::string>& words,
                                     const std::vector<std::string>& variables,
                                     const DescriptorMoves& moves);

  private:
    struct Server {
        std::optional<pid_t> pid;
        Descriptor socket;
    };
    using Command = std::pair<std::vector<std::string>, std::vector<std::string>>;
    static Server start(Command command);

    std::map<Command, Server> servers_;
};

/// The server's side. In a process that a ForkServer started it returns in each worker, with its
/// descriptors in place, and never in the server; elsewhere it does nothing.
void serve_forks();

}  // namespace gradverify
