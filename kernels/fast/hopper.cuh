// SPDX-License-Identifier: Apache-2.0
// Instructions of sm_90a in inline PTX: barriers of transactions (PTX ISA, 9.7.13.15), copies of a
// tensor's tiles (9.7.9.27), products of a warpgroup (9.7.15), and barriers of a cluster.
#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// nvcc compiles the instructions for sm_90a alone; files for other architectures hold none.
#if !defined(__NVCC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GRADVERIFY_HOPPER(...) asm volatile(__VA_ARGS__)
#else
#define GRADVERIFY_HOPPER(...)
#endif

namespace gradverify::hopper {

__device__ inline unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/// Lies in shared memory. A phase ends when `arrivals` threads have arrived and all bytes that were
/// announced have come.
struct Barrier {
    std::uint64_t state;

    __device__ void begin(unsigned arrivals) {
        GRADVERIFY_HOPPER("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
                          "r"(arrivals) : "memory");
    }
    __device__ void arrive_and_expect(unsigned bytes) {
        GRADVERIFY_HOPPER(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)),
            "r"(bytes) : "memory");
    }
    __device__ void arrive() {
        GRADVERIFY_HOPPER(
            "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
    }
    /// Arrives at the barrier of the same place in the cluster's block `rank`. That says that this
    /// block has read what copies wrote; to order what threads wrote it has too narrow a scope, as
    /// the wider one costs a fence of the whole GPU.
    __device__ void arrive_in_block(unsigned rank) {
        GRADVERIFY_HOPPER(
            "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
            "mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(shared_address(this)),
            "r"(rank) : "memory");
    }
    /// Waits for the end of the phases 0, 2, 4... or of those between, by their parity.
    __device__ void wait(unsigned parity) {
        GRADVERIFY_HOPPER(
            "{ .reg .pred ended;\n"
            "WAIT: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
            "@!ended bra WAIT; }" ::"r"(shared_address(this)),
            "r"(parity) : "memory");
    }
};
/// Makes barriers that were begun known to other blocks and to copies.
__device__ inline void publish_barriers() {
    GRADVERIFY_HOPPER("fence.mbarrier_init.release.cluster;" :: : "memory");
}

__device__ inline unsigned rank_in_cluster() {
    unsigned rank = 0;
    GRADVERIFY_HOPPER("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
/// For all threads of all blocks of the cluster.
__device__ inline void meet_in_cluster() {
    GRADVERIFY_HOPPER(
        "barrier.cluster.arrive.release.aligned;\n"
        "barrier.cluster.wait.acquire.aligned;" :: : "memory");
}

/// All warps of a warpgroup give registers back, so that each thread keeps so many, or take them.
template <int count>
__device__ void keep_registers() {
    GRADVERIFY_HOPPER("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ void take_registers() {
    GRADVERIFY_HOPPER("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/// Begins to copy a tile of a matrix, whose first element is at (outer, inner), into shared memory.
__device__ inline void load_tile(void* to, const CUtensorMap& from, int inner, int outer,
                                 Barrier& filled) {
    GRADVERIFY_HOPPER(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
        "l"(&from), "r"(inner), "r"(outer), "r"(shared_address(&filled)) : "memory");
}
/// The same of a tensor of four axes, the innermost first.
__device__ inline void load_box(void* to, const CUtensorMap& from, int x, int y, int z, int w,
                                Barrier& filled) {
    GRADVERIFY_HOPPER(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
        "l"(&from), "r"(x), "r"(y), "r"(z), "r"(w), "r"(shared_address(&filled)) : "memory");
}
/// Begins to copy some channels of the pixels that lie (`right`, `down`) of a window's corners,
/// from the corner at (x, y) of an image on: a column for each pixel of a convolution's output.
__device__ inline void load_columns(void* to, const CUtensorMap& from, int channel, int x, int y,
                                    int image, int right, int down, Barrier& filled) {
    GRADVERIFY_HOPPER(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(shared_address(to)),
        "l"(&from), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(shared_address(&filled)),
        "h"(static_cast<std::uint16_t>(right)), "h"(static_cast<std::uint16_t>(down)) : "memory");
}
/// These do the same for all blocks of the cluster in `blocks`, a bit each, at the same place in
/// each.
__device__ inline void load_tile_for(unsigned blocks, void* to, const CUtensorMap& from, int inner,
                                     int outer, Barrier& filled) {
    GRADVERIFY_HOPPER(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
        "l"(&from), "r"(inner), "r"(outer), "r"(shared_address(&filled)),
        "h"(static_cast<std::uint16_t>(blocks)) : "memory");
}
__device__ inline void load_box_for(unsigned blocks, void* to, const CUtensorMap& from, int x,
                                    int y, int z, int w, Barrier& filled) {
    GRADVERIFY_HOPPER(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(shared_address(to)),
        "l"(&from), "r"(x), "r"(y), "r"(z), "r"(w), "r"(shared_address(&filled)),
        "h"(static_cast<std::uint16_t>(blocks)) : "memory");
}
__device__ inline void load_columns_for(unsigned blocks, void* to, const CUtensorMap& from,
                                        int channel, int x, int y, int image, int right, int down,
                                        Barrier& filled) {
    GRADVERIFY_HOPPER(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, "
        "%9;" ::"r"(shared_address(to)),
        "l"(&from), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(shared_address(&filled)),
        "h"(static_cast<std::uint16_t>(right)), "h"(static_cast<std::uint16_t>(down)),
        "h"(static_cast<std::uint16_t>(blocks)) : "memory");
}
/// Copies a tile from shared memory; elements outside of the matrix are left out.
__device__ inline void store_tile(const CUtensorMap& to, int inner, int outer, const void* from) {
    GRADVERIFY_HOPPER(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
        "[%0, {%1, %2}], [%3];" ::"l"(&to),
        "r"(inner), "r"(outer), "r"(shared_address(from)) : "memory");
    GRADVERIFY_HOPPER("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" :: : "memory");
}
/// Copies that are begun afterwards see what this thread wrote to shared memory.
__device__ inline void fence_for_copies() {
    GRADVERIFY_HOPPER("fence.proxy.async.shared::cta;" :: : "memory");
}

/// A warpgroup's 64 rows of sums: of each 8 columns a thread has two neighbours of row lane / 4 of
/// its warp's 16, and two of the row 8 below.
template <int columns>
struct SumsOf {
    float at[columns / 2];
};
using Sums = SumsOf<64>;

/// What wgmma is told of a factor in shared memory: rows of 128 bytes in the pattern of a tensor
/// map with 128-byte swizzle, eight of them 1,024 bytes. A transposed factor that is wider than
/// such a row lies in several tiles, `tile_bytes` apart.
__device__ inline std::uint64_t descriptor(const void* first, unsigned tile_bytes = 16) {
    constexpr std::uint64_t eight_rows = 1024 >> 4, swizzle_128_bytes = 1;
    return (shared_address(first) & 0x3ffffu) >> 4 | std::uint64_t{tile_bytes >> 4} << 16 |
           eight_rows << 32 | swizzle_128_bytes << 62;
}

/// The same of a place so many bytes further on, a multiple of 16.
__device__ inline std::uint64_t further(std::uint64_t descriptor, int bytes) {
    return descriptor + static_cast<unsigned>(bytes) / 16;
}

/// Stores four 8x8 matrices of 16 bits, of each of which a thread has two neighbours of row lane /
/// 4; lane 8 m + r names row r of matrix m, 16 bytes of shared memory.
__device__ inline void store_matrices(void* row, const unsigned (&words)[4]) {
    GRADVERIFY_HOPPER("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                          shared_address(row)),
                      "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

/// Sums that are in registers may be used by products that are begun afterwards.
__device__ inline void fence_sums() {
    GRADVERIFY_HOPPER("wgmma.fence.sync.aligned;" :: : "memory");
}
__device__ inline void commit_products() {
    GRADVERIFY_HOPPER("wgmma.commit_group.sync.aligned;" :: : "memory");
}
/// Waits for this warp's groups of products, but for the last ones that it committed.
template <int groups>
__device__ void wait_for_products_but() {
    GRADVERIFY_HOPPER("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

#define GRADVERIFY_SUMS_8(I)                                                                   \
    "+f"(s.at[I]), "+f"(s.at[I + 1]), "+f"(s.at[I + 2]), "+f"(s.at[I + 3]), "+f"(s.at[I + 4]), \
        "+f"(s.at[I + 5]), "+f"(s.at[I + 6]), "+f"(s.at[I + 7])
#define GRADVERIFY_NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define GRADVERIFY_SUMS_32(I)                                                  \
    GRADVERIFY_SUMS_8(I), GRADVERIFY_SUMS_8(I + 8), GRADVERIFY_SUMS_8(I + 16), \
        GRADVERIFY_SUMS_8(I + 24)
#define GRADVERIFY_SUMS_64(I) GRADVERIFY_SUMS_32(I), GRADVERIFY_SUMS_32(I + 32)
#define GRADVERIFY_SUMS_128(I) GRADVERIFY_SUMS_64(I), GRADVERIFY_SUMS_64(I + 64)
#define GRADVERIFY_NAMES_32                                                  \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
    "%30, %31"
#define GRADVERIFY_NAMES_64                                                  \
    GRADVERIFY_NAMES_32                                                      \
    ", "                                                                     \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
    "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, " \
    "%60, %61, %62, %63"
#define GRADVERIFY_NAMES_128                                                   \
    GRADVERIFY_NAMES_64                                                        \
    ", "                                                                       \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, "   \
    "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "   \
    "%92, %93, %94, %95, "                                                     \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, "                       \
    "%105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, " \
    "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
/// COUNT sums of a thread; the operands behind them are numbered A, B, and ADDS, whether to add.
/// What follows them in the instruction, FLAGS, is whether they are transposed.
#define GRADVERIFY_PRODUCT(COLUMNS, COUNT, TYPE, A, B, ADDS, FLAGS)                              \
    GRADVERIFY_HOPPER("{ .reg .pred adds;\nsetp.ne.b32 adds, %" ADDS                             \
                      ", 0;\nwgmma.mma_async.sync.aligned.m64n" COLUMNS TYPE                     \
                      " {" GRADVERIFY_NAMES_##COUNT "}, %" A ", %" B ", adds, 1, 1" FLAGS        \
                                                    "; }" : GRADVERIFY_SUMS_##COUNT(0) : "l"(a), \
                      "l"(b), "r"(adds), "n"(a_transposed ? 1 : 0), "n"(b_transposed ? 1 : 0))
#define GRADVERIFY_FLAGS_OF_HALVES(FLAGS) FLAGS
#define GRADVERIFY_FLAGS_OF_FLOATS(FLAGS) ""
#define GRADVERIFY_PRODUCT_OF(TYPE, FLAGS)                                          \
    if constexpr (columns == 16)                                                    \
        GRADVERIFY_PRODUCT("16", 8, TYPE, "8", "9", "10", FLAGS(", %11, %12"));     \
    else if constexpr (columns == 64)                                               \
        GRADVERIFY_PRODUCT("64", 32, TYPE, "32", "33", "34", FLAGS(", %35, %36"));  \
    else if constexpr (columns == 128)                                              \
        GRADVERIFY_PRODUCT("128", 64, TYPE, "64", "65", "66", FLAGS(", %67, %68")); \
    else                                                                            \
        GRADVERIFY_PRODUCT("256", 128, TYPE, "128", "129", "130", FLAGS(", %131, %132"))
/// Begins s += a b, or s = a b unless it `adds`, of 64 x terms and terms x `columns` elements, 16,
/// 64, 128 or 256, 16 terms of halves, or 8 of floats, whose lower 13 bits are cut off. The rows of
/// a factor in shared memory are those of a and the columns of b, or go along the sum if it is
/// `_transposed`, as floats can't be.
template <class T, bool a_transposed, bool b_transposed, int columns>
__device__ void begin_product(SumsOf<columns>& s, std::uint64_t a, std::uint64_t b, int adds = 1) {
    static_assert(columns == 16 || columns == 64 || columns == 128 || columns == 256);
    if constexpr (std::is_same_v<T, float>) {
        static_assert(!a_transposed && !b_transposed);
        GRADVERIFY_PRODUCT_OF("k8.f32.tf32.tf32", GRADVERIFY_FLAGS_OF_FLOATS);
    } else if constexpr (std::is_same_v<T, __half>) {
        GRADVERIFY_PRODUCT_OF("k16.f32.f16.f16", GRADVERIFY_FLAGS_OF_HALVES);
    } else {
        GRADVERIFY_PRODUCT_OF("k16.f32.bf16.bf16", GRADVERIFY_FLAGS_OF_HALVES);
    }
}
/// The same of an a in registers.
#define GRADVERIFY_PRODUCT_BY(COLUMNS, COUNT, TYPE, A0, A1, A2, A3, B, FLAGS)          \
    GRADVERIFY_HOPPER(                                                                 \
        "wgmma.mma_async.sync.aligned.m64n" COLUMNS TYPE " {" GRADVERIFY_NAMES_##COUNT \
        "}, {%" A0 ", %" A1 ", %" A2 ", %" A3 "}, %" B ", 1, 1, 1" FLAGS               \
        ";" : GRADVERIFY_SUMS_##COUNT(0) : "r"(a.pair[0]),                             \
        "r"(a.pair[1]), "r"(a.pair[2]), "r"(a.pair[3]), "l"(b), "n"(b_transposed ? 1 : 0))
#define GRADVERIFY_PRODUCT_OF_ROWS(TYPE, FLAGS)                                               \
    if constexpr (columns == 64)                                                              \
        GRADVERIFY_PRODUCT_BY("64", 32, TYPE, "32", "33", "34", "35", "36", FLAGS(", %37"));  \
    else if constexpr (columns == 128)                                                        \
        GRADVERIFY_PRODUCT_BY("128", 64, TYPE, "64", "65", "66", "67", "68", FLAGS(", %69")); \
    else                                                                                      \
        GRADVERIFY_PRODUCT_BY("256", 128, TYPE, "128", "129", "130", "131", "132", FLAGS(", %133"))
/// Sixteen columns of the warpgroup's 64 rows as a factor: SumsOf's places, rounded, in pairs. Of
/// floats eight, of which a thread has lane % 4 of row lane / 4 and of the row 8 below, then the
/// same 4 columns further on.
struct Rows {
    unsigned pair[4];
};
/// Begins s += a b, of 64 x terms and terms x `columns` elements, 64, 128 or 256: of bfloat16, or
/// of floats, whose b can't be transposed.
template <class T, bool b_transposed, int columns>
__device__ void begin_product(SumsOf<columns>& s, const Rows& a, std::uint64_t b) {
    static_assert(columns == 64 || columns == 128 || columns == 256);
    if constexpr (std::is_same_v<T, float>) {
        static_assert(!b_transposed);
        GRADVERIFY_PRODUCT_OF_ROWS("k8.f32.tf32.tf32", GRADVERIFY_FLAGS_OF_FLOATS);
    } else {
        static_assert(std::is_same_v<T, __nv_bfloat16>);
        GRADVERIFY_PRODUCT_OF_ROWS("k16.f32.bf16.bf16", GRADVERIFY_FLAGS_OF_HALVES);
    }
}
#undef GRADVERIFY_PRODUCT_OF_ROWS
#undef GRADVERIFY_PRODUCT_BY
#undef GRADVERIFY_PRODUCT_OF
#undef GRADVERIFY_FLAGS_OF_FLOATS
#undef GRADVERIFY_FLAGS_OF_HALVES
#undef GRADVERIFY_PRODUCT
#undef GRADVERIFY_NAMES_128
#undef GRADVERIFY_NAMES_64
#undef GRADVERIFY_NAMES_32
#undef GRADVERIFY_NAMES_8
#undef GRADVERIFY_SUMS_128
#undef GRADVERIFY_SUMS_64
#undef GRADVERIFY_SUMS_32
#undef GRADVERIFY_SUMS_8

}  // namespace gradverify::hopper
