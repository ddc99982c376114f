// SPDX-License-Identifier: Apache-2.0
// The CPU device for the harness. It has no CUDA name, so that host code may include the real CUDA
// headers too. State is the process's: a launcher may launch
// from other OS threads than its own, one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct CUstream_st;

namespace gradverify::simt {

/// The order in which the threads of a block run, from one barrier to the next. `random_warps`
/// shuffles warps, whose lanes stay ascending. For blocks the two random orders are the same.
enum class Order { ascending, descending, random_threads, random_warps };

/// The order of everything a launch runs; the same schedule gives the same run.
struct Schedule {
    Order threads = Order::ascending;
    Order blocks = Order::ascending;
    std::uint64_t seed = 0;
    /// In the checked variant a thread gives way at about one access in this many; 0: never.
    std::uint32_t give_way_one_in = 0;
};

/// Sets the schedule of launches. Random orders are drawn anew for each block,
/// from the seed and the number of launches and blocks since this call.
void set_schedule(const Schedule& schedule);

/// The first error since the last call (a launch refused, a deadlock, a trap), with kernel and
/// source line; empty if there was none. Resets the run-time API's last error.
std::string take_error();
/// Whether the next `take_error` reports what the CPU device does not serve, such as inline PTX.
bool error_is_cuda_only();

/// Calls `note` with each error, and each finding, when it is met, and whether it is one that the
/// CPU device does not serve: the launcher may end the process before anybody can ask. Nullptr: no
/// more.
void note_errors(void (*note)(const char* text, bool is_cuda_only));

/// Calls `note` where a signed integer overflows, in a checked kernel or its launcher, which goes
/// on with what every GPU computes: the wrapped value. Once for each of the first source lines
/// since `forget_overflows`. The text: `int overflow at their.cu:12: 46341 * 46341 in block (0, 0,
/// 0), thread (3, 0, 0)`. Nullptr: no more.
void note_overflows(void (*note)(const char* text));
void forget_overflows();

/// How many accesses to shareable memory launches reported since the last call.
std::uint64_t take_accesses_checked();
/// How many threads of kernels launches have begun since the last call.
std::uint64_t take_threads_launched();

/// Counts the blocks that all launches begin in `*blocks`, which must outlive them; nullptr:
/// nowhere. It may miss some where several OS threads begin blocks at once.
void count_blocks_in(std::atomic<std::uint64_t>* blocks);

/// What CUDA leaves undefined, and the checked variant finds.
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

/// The findings since the last call: one for each kind and pair of source lines.
std::vector<Finding> take_findings();

/// Device memory: filled with a word (0xFFFFFFFF until another is set), aligned to 256 bytes, its
/// end (rounded up to 256 bytes) at an unmapped page, another before its first page. From any OS
/// thread. Where it is managed, the host may use it too.
/// **Errors** nullptr when there is not enough. Zero bytes give a pointer that may be freed.
void* allocate_device(std::size_t bytes, bool is_managed = false);
void fill_allocations_with(std::uint32_t word);
/// **Errors** false when the pointer is not one of `allocate_device`'s; null is fine.
bool free_device(void* pointer);

/// From now on kernels may use this host memory, as if it were pinned; with 0 bytes no longer.
/// Pointers to other host memory that a launch is given point to unmapped memory in its kernel.
void lend_to_kernels(void* begin, std::size_t bytes);

/// Which end of a region lies at an unmapped page.
enum class Edge { end, begin };

/// Device memory for the buffer number `slot` of a call: `bytes` that end (or begin) at a page's
/// edge, with `unmapped_zone_bytes` of unmapped addresses beyond (where the process has fewer to
/// give, a page): a wild access must not meet other memory. Its other side is mapped for at
/// most as many bytes again, or a page. It is valid until the slot is asked for again,
/// and holds undefined contents.
/// **Errors** nullptr when there is not enough.
std::byte* buffer_region(std::size_t slot, std::size_t bytes, Edge edge);
constexpr std::size_t unmapped_zone_bytes = std::size_t{1} << 30;

/// A buffer of a call, as reports name it.
struct NamedBuffer {
    std::string name;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::size_t element_bytes = 1;
    bool is_input = false;
};
/// Replaces the buffers of launches, between launches. In a mapping that holds a
/// buffer the checked variant may touch buffers alone, elsewhere all device memory.
void describe_buffers(std::vector<NamedBuffer> buffers);
/// A launcher begins: until it ends, a write to the pages of a buffer that is an input is a fault.
/// `closes`: to use device memory on the host is an error; it needs `turn_faults_into_errors`.
void begin_launcher(bool closes);
/// The first such use, as `their.cu:12: the launcher read device memory on the host: in x, x[0] of
/// 6`; the launcher went on behind it. Empty where there was none.
std::string end_launcher();

/// From now on SIGSEGV, SIGBUS, SIGFPE and SIGILL of a kernel end its launch with an error that
/// names the access, the buffer's element, the thread and the source line. Other signals of the
/// process go to the former handlers. A debugger or test that asks for signals later comes first.
/// Where they come from host code while `runs_launcher` says so, `note_errors` is told the same
/// before the process ends of them.
void turn_faults_into_errors(bool (*runs_launcher)() = nullptr);

/// A non-blocking stream, as long as the process lives. Work on a stream is done at once.
CUstream_st* make_stream();

/// From now on all work belongs to a call on this stream; nullptr: the default one.
void begin_call(CUstream_st* given);
/// Why neither the given nor, unless `given_alone`, the default stream orders the call's work with
/// the caller's before and behind it; empty when one does. Work that the host has waited for is
/// ordered, unless it is on the call's buffers and may begin before the caller's work is done.
std::string why_unordered(bool given_alone);

}  // namespace gradverify::simt
