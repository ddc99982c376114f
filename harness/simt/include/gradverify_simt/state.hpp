// SPDX-License-Identifier: Apache-2.0
// What compiled kernels share with the executor: the state of the running thread, and the calls
// that leave the unit. The library defines both, so that closed units have one executor.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>

#include "gradverify_simt/language.hpp"
#include "gradverify_simt/vector_types.hpp"

struct CUstream_st;

namespace gradverify::simt::unit {

/// One thread of a block: its index, and its rank (x fastest). Copied as one 16-byte word.
struct alignas(16) ThreadSlot {
    uint3 index{};
    unsigned rank = 0;
};

/// Where a block's arenas of shared memory begin.
struct SharedBegin {
    const void *static_arena = nullptr, *dynamic_arena = nullptr;
};
constexpr unsigned max_cluster_size = 16;

/// What the running thread sees, and the cursor of the loop over threads. The threads from `next`
/// to `fast_end` are started as plain calls; once a thread of the block has blocked, there are
/// none.
struct State {
    ThreadSlot thread;
    const ThreadSlot* next = nullptr;
    const ThreadSlot* fast_end = nullptr;
    uint3 block_index{};
    dim3 block_dim;
    dim3 grid_dim;
    std::uint64_t launch = 0;         ///< number of this launch on this OS thread, from 1
    std::uint64_t shared_launch = 0;  ///< the same for a block's shared memory: also of its rank
    void* dynamic_shared = nullptr;
    std::size_t dynamic_shared_bytes = 0;  ///< as the launch asked for them
    /// Where the block's arenas of shared memory begin.
    const void *static_arena = nullptr, *dynamic_arena = nullptr;
    const std::uint64_t* warp_results = nullptr;  ///< of the block's threads, by rank
    bool in_kernel = false;
    bool is_cooperative = false;  ///< the launch: its blocks may wait for each other
    // The running block's cluster, and its place there; x fastest.
    dim3 cluster_dim;
    uint3 cluster_index{};
    unsigned cluster_rank = 0, cluster_size = 1;
    SharedBegin cluster_shared[max_cluster_size] = {};  ///< of its blocks, by rank
    /// The launch: its threads copy or convert an argument by code of its class, the host's work.
    bool converts_on_host = false;
};

/// Unmapped addresses before an arena of shared memory that are its own; and with these, the arena
/// and what lies behind it.
constexpr std::size_t arena_zone_bytes = std::size_t{1} << 20;
constexpr std::size_t arena_reach_bytes = std::size_t{5} << 19;

/// For variables of the executable, or of a library loaded with it: no call finds their address.
#define GRADVERIFY_SIMT_STATIC_TLS [[gnu::tls_model("initial-exec")]]
GRADVERIFY_SIMT_STATIC_TLS extern GRADVERIFY_SIMT_CONSTINIT thread_local State state __asm__(
    "gradverify_simt_state");

}  // namespace gradverify::simt::unit

// The built-in variables: symbols within `state`. A user's variable or member may have the name.
#define GRADVERIFY_SIMT_BUILT_IN(T, NAME)                                                    \
    GRADVERIFY_SIMT_STATIC_TLS extern GRADVERIFY_SIMT_CONSTINIT thread_local T NAME __asm__( \
        "gradverify_simt_" #NAME)
GRADVERIFY_SIMT_BUILT_IN(uint3, threadIdx);
GRADVERIFY_SIMT_BUILT_IN(uint3, blockIdx);
GRADVERIFY_SIMT_BUILT_IN(dim3, blockDim);
GRADVERIFY_SIMT_BUILT_IN(dim3, gridDim);
#undef GRADVERIFY_SIMT_BUILT_IN

namespace gradverify::simt::unit {

/// Whether a function that runs on both has its device's body.
constexpr bool on_device_thread() { return !__builtin_is_constant_evaluated() && state.in_kernel; }

/// Call it after writing `state.thread`: to the compiler, `threadIdx` is another variable.
inline void thread_has_changed() { __asm__ volatile("" : "=m"(threadIdx) : "m"(state.thread)); }

/// Where a static shared variable lies in the launch that last placed it.
struct SharedSlot {
    std::uint64_t launch = 0;
    void* address = nullptr;
};

struct LaunchConfig {
    dim3 grid, block;
    std::size_t shared_bytes;
    CUstream_st* stream;
    const char* file;
    int line;
    bool is_cooperative = false;
    bool is_programmatic = false;  ///< it may begin before the launch before it ends
    dim3 cluster;

    LaunchConfig(dim3 grid_size, dim3 block_size, std::size_t shared = 0,
                 CUstream_st* on_stream = nullptr, const char* from_file = __builtin_FILE(),
                 int from_line = __builtin_LINE())
        : grid(grid_size),
          block(block_size),
          shared_bytes(shared),
          stream(on_stream),
          file(from_file),
          line(from_line) {}
};

/// With the `__cluster_dims__` of a kernel.
inline LaunchConfig in_clusters(LaunchConfig config, dim3 cluster) {
    config.cluster = cluster;
    return config;
}

struct Place {
    const char* file;
    int line;
};

enum class BarrierVote { count, all, any };
// clang-format off
enum class WarpOp {
    sync, shuffle, ballot, any, all, active, match_any, match_all,
    reduce_add, reduce_min_signed, reduce_min_unsigned, reduce_max_signed, reduce_max_unsigned,
    reduce_and, reduce_or, reduce_xor,
    matrix_product,  ///< the value is a lane's WarpProduct
    same_matrix,     ///< all lanes of the warp were given one address
    together,        ///< the value is the address of a lane's Together
};
// clang-format on

/// What the lanes of a warp do together, once all have come, with the addresses of what each gave.
/// False where they can't.
struct Together {
    bool (*act)(const std::uint64_t* lanes);
};

/// One lane's part in a product of matrices by its warp (mma.h), sum = a b + c. Lane l owns
/// elements l n to l n + n - 1 of each matrix in row-major order.
struct WarpProduct {
    enum class Element { half, bfloat16, tf32, float64 };
    int rows, columns, depth;
    Element element;
    bool has_half_c, has_half_sum;  ///< else float, or double
    const void *a, *b, *c;
    void* sum;
};

/// The build defines GRADVERIFY_SIMT_CHECKED for units whose memory accesses call the detector.
#ifdef GRADVERIFY_SIMT_CHECKED
constexpr bool is_checked = true;
/// For functions that report their accesses themselves, or access the executor's own memory.
#define GRADVERIFY_SIMT_UNREPORTED __attribute__((noinline, no_sanitize("thread")))
/// For functions that are one access of the user's code, so that it has the user's line.
#define GRADVERIFY_SIMT_ACCESS __attribute__((always_inline)) inline
#else
constexpr bool is_checked = false;
#define GRADVERIFY_SIMT_UNREPORTED
#define GRADVERIFY_SIMT_ACCESS inline
#endif

using Entry = void (*)(const void* body);

extern "C" {
/// `body` holds the arguments; `checked` says that the unit reports its accesses.
void gradverify_simt_launch(const LaunchConfig& config, const char* kernel, Entry entry,
                            const void* body, std::size_t body_bytes, bool checked);
// What such a unit reports beside its accesses.
void gradverify_simt_shared_is_placed(const void* address, std::size_t bytes,
                                      std::size_t element_bytes, const char* function);
void gradverify_simt_arrive(const char* file, int line);
/// `of_block`: other blocks are not ordered by it.
void gradverify_simt_fence(bool of_block);
void gradverify_simt_launch_dependents();
void gradverify_simt_wait_for_grids();
/// `of_block`: other blocks need not see it as one.
void gradverify_simt_atomic(const volatile void* address, std::size_t bytes, const void* pc,
                            bool of_block);

bool gradverify_simt_thread_returned();
/// Replaces each pointer to host memory by one to unmapped memory. `may_be_number`: not by itself a
/// pointer.
void gradverify_simt_hide_host_memory(void* words, std::size_t bytes, bool may_be_number);
/// From now on kernels may use this host memory; with 0 bytes no longer.
void gradverify_simt_lend(void* begin, std::size_t bytes);
void gradverify_simt_begin_device_work();
void gradverify_simt_end_device_work();
void gradverify_simt_place_shared(SharedSlot& slot, std::size_t bytes, std::size_t alignment);
void* gradverify_simt_place_left_local(std::size_t bytes);
void gradverify_simt_barrier(const char* file, int line);
int gradverify_simt_barrier_vote(BarrierVote vote, int predicate, const char* file, int line);
void gradverify_simt_grid_barrier(const char* file, int line);
void gradverify_simt_cluster_arrive(const char* file, int line, bool releases = true);
void gradverify_simt_cluster_wait(const char* file, int line);
void gradverify_simt_begin_in_clusters(dim3 cluster);
/// One lane's part; its result is then in `state.warp_results`. `source_lane` is a shuffle's.
void gradverify_simt_warp_collective(WarpOp op, unsigned mask, std::uint64_t value,
                                     unsigned source_lane, const char* file, int line);
void gradverify_simt_yield();
/// Ends the launch with an error, as for inline PTX, a failed assert or `__trap`.
[[noreturn]] void gradverify_simt_trap(int cuda_error, const char* what, const char* file,
                                       int line);
}

}  // namespace gradverify::simt::unit
