// SPDX-License-Identifier: Apache-2.0
// Decides what a launcher has left behind in its process that may harm the calls after it: host
// threads, other processes, open files, timers, changed limits and handlers of signals.
#pragma once

#include <string>

namespace gradverify {

/// What a process has when this is made, before a launcher is called.
class Leftovers {
  public:
    /// What is called may keep threads, or threads and files, as a GPU's runtime does.
    enum class Kept { nothing, threads, threads_and_files };
    explicit Leftovers(Kept kept);

    /// What there is beyond that, as a clause: `leaves a host thread running`; empty without
    /// anything. A file or two are a log's or a cache's: only those count that `launcher` opens
    /// again and again. Threads that are about to end are waited for. Where a launcher forked and
    /// both returned, the other process ends here.
    std::string found(const void* launcher) const;

  private:
    Kept kept_;
    int process_, threads_, next_file_;
};

/// Behind a launcher's first calls: allocates and frees blocks of all usual sizes, so that one that
/// has written to a block that it had freed, or past the end of another, ends its process now, and
/// not a later call of some other kernel.
void probe_heap(const void* launcher);

/// Ends what launchers have left that takes long to look for and harms no call of the same one:
/// other processes, clocks and timers; and lets limits and handlers of signals be what they were
/// before the first launcher. Returns what it found, as a clause, but for handlers; empty without
/// anything, and before the first.
std::string restore_process();

}  // namespace gradverify
