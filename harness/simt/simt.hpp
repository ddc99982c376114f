// SPDX-License-Identifier: Apache-2.0
// What the harness asks of the CPU device: the schedule of the next launches, the first error,
// findings, device memory, the buffers of a call, and streams. No CUDA name appears here, so that
// host code which includes the real CUDA headers may include this too. State is per OS thread, but
// for device memory.
#pragma once

#include <atomic>
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
    /// In the checked variant a thread gives way to others at about one access in this many, drawn
    /// from the seed; 0: never.
    std::uint32_t give_way_one_in = 0;
};

/// For the launches of this OS thread from now on. Random orders are drawn anew for each block,
/// from the seed and the launches and blocks since this call.
void set_schedule(const Schedule& schedule);

/// What went wrong first since the last call (a launch refused, a deadlock, a trap, a failed device
/// assert), with kernel and source line; empty if nothing did. Resets the run-time API's last
/// error.
std::string take_error();
/// Whether what `take_error` would give is code that the CPU device does not serve, such as inline
/// PTX. To be asked before it.
bool error_is_cuda_only();

/// How many accesses of what threads can share the checked variant has reported in this OS thread's
/// launches since the last call.
std::uint64_t take_accesses_checked();

/// Counts each block that a launch of any OS thread begins from now on in `*blocks`, which must
/// outlive all launches, to show whether a long one gets on; nullptr: none is counted. Some may be
/// missed where several OS threads begin blocks at once.
void count_blocks_in(std::atomic<std::uint64_t>* blocks);

/// What a kernel of the checked variant does that CUDA leaves undefined.
enum class FindingKind {
    race,           ///< two threads, one of them writing, and nothing orders them
    uninitialised,  ///< a read of shared memory that no thread of the block wrote
    out_of_bounds,  ///< of a shared variable, or of device memory
    host_pointer,   ///< memory that is not the device's
    barrier,        ///< threads of a block meet at different barriers
    warp_mask,      ///< a warp primitive names a lane that is not there
};

struct Finding {
    FindingKind kind;
    std::string text;  ///< memory by name, threads, source lines, launch
};

/// What the launches of this OS thread did wrong in the checked variant since the last call: one
/// finding for each kind and pair of source lines.
std::vector<Finding> take_findings();

/// Device memory: filled with 0xFF, aligned to 256 bytes, its end (rounded up to 256 bytes) at an
/// unmapped page, another before its first page. From any OS thread.
///
/// **Errors** nullptr when there is not so much. Zero bytes give a pointer that may be freed.
void* allocate_device(std::size_t bytes);
/// **Errors** false when the pointer is not one of `allocate_device`'s; null is fine.
bool free_device(void* pointer);

/// Which end of a region lies at an unmapped page.
enum class Edge { end, begin };

/// Device memory for the buffer number `slot` of a call: `bytes` that end (or begin) at a page's
/// edge, with `unmapped_zone_bytes` of unmapped addresses beyond. Its other side is mapped for at
/// most as many bytes again, or a page. It is this OS thread's until that asks for the slot again:
/// mappings are kept and used again. Contents are undefined.
///
/// **Errors** nullptr when there is not so much.
std::byte* buffer_region(std::size_t slot, std::size_t bytes, Edge edge);
constexpr std::size_t unmapped_zone_bytes = std::size_t{1} << 20;

/// A buffer of a call, as reports name it.
struct NamedBuffer {
    std::string name;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::size_t element_bytes = 1;
};
/// What the launches of this OS thread work on from now on, in place of what was told before. In a
/// mapping that holds a buffer the checked variant may touch buffers alone, elsewhere all device
/// memory. To be called between launches only.
void describe_buffers(std::vector<NamedBuffer> buffers);

/// From now on SIGSEGV, SIGBUS, SIGFPE and SIGILL of a kernel end its launch with an error that
/// names the access, the buffer's element, the thread and the source line. Elsewhere they do what
/// they did before this call. For the whole process; what a debugger or a test does with these
/// signals comes first if it asks later.
void turn_faults_into_errors();

/// A non-blocking stream. Work on a stream is done at once.
CUstream_st* make_stream();
void destroy_stream(CUstream_st* stream);

/// From now on the launches, copies and sets of this OS thread are one call's, which was given this
/// stream; nullptr is the default one.
void begin_call(CUstream_st* given);
/// Why neither the given nor the default stream orders all work of the call with the caller's work
/// before and behind it; with `given_alone`, why the given one does not. Empty when one does. Work
/// that the host has waited for counts as ordered, unless it is on the buffers of
/// `describe_buffers` and may begin before the caller's work is done.
std::string why_unordered(bool given_alone);

}  // namespace gradverify::simt
