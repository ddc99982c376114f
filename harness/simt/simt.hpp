// SPDX-License-Identifier: Apache-2.0
// What the harness asks of the CPU device: the schedule of the next launches, the first error,
// counters, device memory and streams. No CUDA name appears here, so that host code which includes
// the real CUDA headers may include this too. State is per OS thread, but for device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct CUstream_st;

namespace gradverify::simt {

/// In which order the threads of a block run, from one barrier to the next.
///
/// `random_warps` shuffles whole warps and keeps the lanes of each ascending. For blocks the two
/// random orders are the same.
enum class Order { ascending, descending, random_threads, random_warps };

/// The order of everything a launch runs; the same schedule gives the same run.
struct Schedule {
    Order threads = Order::ascending;
    Order blocks = Order::ascending;
    std::uint64_t seed = 0;
    /// In the checked variant a thread gives way to others at one access in about so many, drawn
    /// from the seed; 0: never.
    std::uint32_t give_way_one_in = 0;
};

/// For the launches of this OS thread from now on. Random orders are drawn anew for each block,
/// from the seed and the launches and blocks since this call.
void set_schedule(const Schedule& schedule);

/// What went wrong first since the last call (a launch refused, a deadlock, a trap, a failed
/// device assert), with kernel and source line; empty if nothing did. Resets
/// the run-time API's last error too.
std::string take_error();

/// What this OS thread's launches did since the last `take_counters`.
struct Counters {
    std::uint64_t launches = 0;
    std::uint64_t threads = 0;
    std::uint64_t barriers = 0;          ///< one per thread and barrier
    std::uint64_t warp_collectives = 0;  ///< one per lane and collective: shuffles, votes, syncwarp
    std::uint64_t switches = 0;          ///< from one fiber to another
    std::uint64_t accesses_checked = 0;  ///< by the checked variant, of what threads can share
};
Counters take_counters();

/// What a kernel of the checked variant does that CUDA leaves undefined.
enum class FindingKind {
    race,           ///< two threads, one of them writing, and nothing orders them
    uninitialised,  ///< a read of shared memory that no thread of the block wrote
    out_of_bounds,  ///< of a shared variable, or of device memory
    host_pointer,   ///< memory that is not the device's
    barrier,        ///< threads of a block meet at different barriers
    warp_mask,      ///< a warp primitive names a lane that is not there
};
const char* name_of(FindingKind kind);

struct Finding {
    FindingKind kind;
    std::string text;  ///< memory by name, threads, source lines, launch
};

/// What the launches of this OS thread did wrong in the checked variant since the last call: one
/// finding for each kind and pair of source lines.
std::vector<Finding> take_findings();

/// What is left to taste.
struct Checks {
    /// A full mask may name lanes that have exited, or that a block's last warp lacks.
    bool full_mask_may_name_absent_lanes = true;
};
void set_checks(const Checks& checks);

/// A part of device memory that holds data, for bounds and for findings.
struct NamedRange {
    const void* begin;
    std::size_t bytes;
    std::size_t element_bytes;
    std::string name;
};
/// From now on, and until the next call, these ranges are all that the checked kernels of this OS
/// thread may touch of the allocations that they lie in. Other allocations may be touched as a
/// whole. May be called between launches only.
void set_accessible(std::vector<NamedRange> ranges);

/// Device memory: filled with 0xFF, aligned to 256 bytes, its end (rounded up to 256 bytes) at an
/// unmapped page, another before its first page. From any OS thread.
///
/// **Errors** nullptr when there is not so much. Zero bytes give a pointer that may be freed.
void* allocate_device(std::size_t bytes);
/// **Errors** false when the pointer is not one of `allocate_device`'s; null is fine.
bool free_device(void* pointer);
/// For a report of a crash: what lies at this address, "" if nothing that the device knows.
/// Takes no lock and allocates nothing: may be called in a signal handler on an alternate stack.
const char* describe_address(const void* address) noexcept;

/// Work on a stream is done at once, in order.
CUstream_st* make_stream();
void destroy_stream(CUstream_st* stream);

}  // namespace gradverify::simt
