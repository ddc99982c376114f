// SPDX-License-Identifier: Apache-2.0
// Copies between global and shared memory, those of matrices, and the sums of bulk copies.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "harness/simt/include/gradverify_simt/narrow_float.hpp"
#include "harness/simt/tests/ptx/conformance/blocks.hpp"

namespace conformance {
namespace {

// clang-format off
// Each lane copies from anywhere to its own 64 bytes; the size of the source may be less.
__host__ __device__ u32 source_of(u64 a) { return static_cast<u32>(a % 200) * 16; }
template <u32 bytes, bool has_size>
struct CpAsync {
    static constexpr bool in_shared = true;
    static void run(ModelBlock& block) {
        for (u32 lane = 0; lane < 32; ++lane) {
            unsigned char* const to = block.shared + lane * 64;
            const u32 size = has_size ? static_cast<u32>(block.lanes[lane].b % (bytes + 1)) : bytes;
            std::memset(to, 0, bytes);
            std::memcpy(to, block.global + source_of(block.lanes[lane].a), size);
        }
    }
};
#define CP_ASYNC_FORM(TEXT, BYTES, HAS_SIZE, ASM_TEXT) \
    BLOCK_FORM(TEXT, any, (CpAsync<BYTES, HAS_SIZE>), \
        asm volatile(ASM_TEXT ::"r"(shared_address(block.shared + lane * 64)), "l"(block.global + source_of(a)), "r"(u32(b % (BYTES + 1))) : "memory"); \
        return block.seen(true);)
#define CP_ASYNC(TEXT, BYTES) CP_ASYNC_FORM(TEXT " " #BYTES, BYTES, false, TEXT " [%0], [%1], " #BYTES "; cp.async.wait_all;")
#define CP_ASYNC_SIZE(TEXT, BYTES) CP_ASYNC_FORM(TEXT " " #BYTES " size", BYTES, true, TEXT " [%0], [%1], " #BYTES ", %2; cp.async.wait_all;")
#define CP_ASYNC_POLICY(TEXT, BYTES) \
    CP_ASYNC_FORM(TEXT " " #BYTES, BYTES, false, \
        "{ .reg .b64 policy; createpolicy.fractional.L2::evict_last.b64 policy, 1.0; " TEXT " [%0], [%1], " #BYTES ", policy; cp.async.wait_all; }")
CP_ASYNC("cp.async.ca.shared.global", 4)
EACH(CP_ASYNC, (8), "cp.async.ca.shared.global", "cp.async.ca.shared::cta.global", "cp.async.ca.shared.global.L2::64B")
EACH(CP_ASYNC, (16), "cp.async.ca.shared.global", "cp.async.cg.shared.global", "cp.async.cg.shared::cta.global",
     "cp.async.ca.shared.global.L2::128B", "cp.async.cg.shared.global.L2::128B", "cp.async.cg.shared.global.L2::256B")
CP_ASYNC_SIZE("cp.async.ca.shared.global", 4)
CP_ASYNC_SIZE("cp.async.ca.shared.global", 8)
EACH(CP_ASYNC_SIZE, (16), "cp.async.ca.shared.global", "cp.async.cg.shared.global", "cp.async.cg.shared.global.L2::128B")
CP_ASYNC_POLICY("cp.async.ca.shared.global.L2::cache_hint", 8)
CP_ASYNC_POLICY("cp.async.cg.shared.global.L2::cache_hint", 16)
#define WAIT_FOR_ALL(TEXT, WAIT) CP_ASYNC_FORM(TEXT, 16, false, "cp.async.cg.shared.global [%0], [%1], 16; " WAIT)
WAIT_FOR_ALL("cp.async.wait_all", "cp.async.wait_all;")
WAIT_FOR_ALL("cp.async.wait_group 0", "cp.async.commit_group; cp.async.wait_group 0;")
// The second group is not waited for before the first is read.
LANE_FORM("cp.async.wait_group 1", any, WANT(digest(reinterpret_cast<const unsigned char*>(std::vector<u64>{mixed(a), mixed(b)}.data()), 0, 16)),
    u64* const from = reinterpret_cast<u64*>(block.global) + lane * 4;
    from[0] = mixed(a); from[1] = mixed(b); from[2] = from[3] = 5;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group; cp.async.cg.shared.global [%0 + 16], [%1 + 16], 16; cp.async.commit_group; cp.async.wait_group 1;"
                 ::"r"(shared_address(block.shared + lane * 64)), "l"(from) : "memory");
    const u64 first = digest(block.shared + lane * 64, 0, 16);
    asm volatile("cp.async.wait_all;" ::: "memory");
    return first;)
// The copies arrive at an mbarrier, which waits for an arrival more in the first form.
#define CP_ASYNC_ARRIVE(TEXT, COUNT) \
    BLOCK_FORM(TEXT, sm_90, (CpAsync<16, false>), \
        PTX_90("mbarrier.init.shared::cta.b64 [%0], " COUNT ";" ::"r"(shared_address(block.mbarriers + lane)) : "memory"); \
        PTX_90("cp.async.cg.shared.global [%0], [%1], 16; " TEXT " [%2];" \
               ::"r"(shared_address(block.shared + lane * 64)), "l"(block.global + source_of(a)), "r"(shared_address(block.mbarriers + lane)) : "memory"); \
        PTX_90("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(block.mbarriers + lane)) : "memory"); \
        return has_ended(block.mbarriers + lane, 0) ? block.seen(true) : 0;)
EACH(CP_ASYNC_ARRIVE, ("1"), "cp.async.mbarrier.arrive.shared::cta.b64", "cp.async.mbarrier.arrive.shared.b64")
EACH(CP_ASYNC_ARRIVE, ("2"), "cp.async.mbarrier.arrive.noinc.shared::cta.b64", "cp.async.mbarrier.arrive.noinc.shared.b64")

// Bytes of bulk copies, from anywhere to anywhere.
struct Bulk { u32 bytes, from, to; };
__host__ __device__ Bulk bulk_of(u64 pick) {
    return {static_cast<u32>(pick % 100 + 1) * 16, static_cast<u32>(pick >> 8) % 150 * 16, static_cast<u32>(pick >> 20) % 28 * 16};
}
struct BulkLoad {
    static constexpr bool in_shared = true;
    static void run(ModelBlock& block) {
        const Bulk bulk = bulk_of(block.pick);
        std::memcpy(block.shared + bulk.to, block.global + bulk.from, bulk.bytes);
    }
};
struct BulkStore {
    static constexpr bool in_shared = false;
    static void run(ModelBlock& block) {
        const Bulk bulk = bulk_of(block.pick);
        std::memcpy(block.global + bulk.from, block.shared + bulk.to, bulk.bytes);
    }
};
__device__ void expect(std::uint64_t* mbarrier, u32 bytes) {
    PTX_90("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
           ::"r"(shared_address(mbarrier)), "r"(bytes) : "memory");
}
#define BULK_LOAD(TEXT, NEEDS, END, ...) \
    BLOCK_FORM(TEXT, NEEDS, (BulkLoad), \
        const Bulk bulk = bulk_of(pick); \
        if (lane == 0) expect(block.mbarriers, bulk.bytes); \
        __syncwarp(); \
        PTX_90("fence.proxy.async;" ::: "memory"); \
        __syncwarp(); \
        if (lane == 0) PTX_90(TEXT " [%0], [%1], %2, [%3]" END ";" \
            ::"r"(shared_address(block.shared + bulk.to)), "l"(block.global + bulk.from), "r"(bulk.bytes), "r"(shared_address(block.mbarriers)) __VA_ARGS__ : "memory"); \
        return has_ended(block.mbarriers, 0) ? block.seen(true) : 0;)
BULK_LOAD("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", sm_90, "")
BULK_LOAD("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", sm_90, "")
BULK_LOAD("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint", sm_90, ", %4", , "l"(0x14f0000000000000ull))
#define STORE(TEXT, WAIT, END, ...) \
        const Bulk bulk = bulk_of(pick); \
        PTX_90("fence.proxy.async;" ::: "memory"); \
        __syncwarp(); \
        if (lane == 0) PTX_90(TEXT " [%0], [%1], %2" END "; cp.async.bulk.commit_group; " WAIT \
            ::"l"(block.global + bulk.from), "r"(shared_address(block.shared + bulk.to)), "r"(bulk.bytes) __VA_ARGS__ : "memory"); \
        return block.seen(false);
#define BULK_STORE(TEXT, END, ...) BLOCK_FORM(TEXT, sm_90, (BulkStore), STORE(TEXT, "cp.async.bulk.wait_group 0;", END, __VA_ARGS__))
BULK_STORE("cp.async.bulk.global.shared::cta.bulk_group", "")
BULK_STORE("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint", ", %3", , "l"(0x14f0000000000000ull))
#define BULK_WAIT(TEXT, WAIT) BLOCK_FORM(TEXT, sm_90, (BulkStore), STORE("cp.async.bulk.global.shared::cta.bulk_group", WAIT, ""))
BULK_WAIT("cp.async.bulk.commit_group", "cp.async.bulk.wait_group 0;")
BULK_WAIT("cp.async.bulk.wait_group 0", "cp.async.bulk.wait_group 0;")
BULK_WAIT("cp.async.bulk.wait_group 1", "cp.async.bulk.commit_group; cp.async.bulk.wait_group 1;")
// The source may be overwritten then.
BLOCK_FORM("cp.async.bulk.wait_group.read 0", sm_90, (BulkStore),
    const Bulk bulk = bulk_of(pick);
    PTX_90("fence.proxy.async;" ::: "memory");
    __syncwarp();
    if (lane == 0) {
        PTX_90("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"
               ::"l"(block.global + bulk.from), "r"(shared_address(block.shared + bulk.to)), "r"(bulk.bytes) : "memory");
        *reinterpret_cast<u64*>(block.shared + bulk.to) = 0;
        PTX_90("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    return block.seen(false);)
#define PREFETCH(TEXT, END, ...) \
    BLOCK_FORM(TEXT, sm_90, (NoChange), \
        PTX_90(TEXT " [%0], 256" END ";" ::"l"(block.global) __VA_ARGS__ : "memory"); \
        return block.seen(false);)
PREFETCH("cp.async.bulk.prefetch.L2.global", "")
PREFETCH("cp.async.bulk.prefetch.L2.global.L2::cache_hint", ", %1", , "l"(0x14f0000000000000ull))

// Each lane's element of global memory, changed by its element of shared memory.
#define BULK_REDUCE(...) BULK_REDUCE_NUMBERED(__COUNTER__, __VA_ARGS__)
#define BULK_REDUCE_NUMBERED(N, T, A, B, WANT_OF, TEXT) \
    BODY(N, T* const to = reinterpret_cast<T*>(block.global) + lane; \
         *to = static_cast<T>(A); \
         reinterpret_cast<T*>(block.shared)[lane] = static_cast<T>(B); \
         __threadfence(); \
         PTX_90("fence.proxy.async;" ::: "memory"); \
         __syncwarp(); \
         if (lane == 0) PTX_90("cp.reduce.async.bulk.global.shared::cta.bulk_group." TEXT " [%0], [%1], %2; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" \
             ::"l"(block.global), "r"(shared_address(block.shared)), "r"(u32(32 * sizeof(T))) : "memory"); \
         __syncwarp(); \
         return std::make_unsigned_t<T>(*reinterpret_cast<volatile T*>(to));) \
    [[maybe_unused]] const bool FORM_NAME(is_added_, N) = ::conformance::add(GRADVERIFY_UNIT_DEVICE, \
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group." TEXT, std::string(2, "hrl"[sizeof(T) / 4]), int(8 * sizeof(T)), \
         &run_blocks<FORM_NAME(Form, N)>, WANT_OF, false, ::conformance::Needs::sm_90, nullptr});
using b32 = u32;
using b64 = u64;
#define OF_BITS(T, OPERATION, ...) \
    BULK_REDUCE(T, a, b, WANT([](T x, T y) { return T(__VA_ARGS__); }(T(a), T(b))), OPERATION "." #T)
EACH(OF_BITS, ("add", u64(x) + u64(y)), u32, s32, u64)
EACH(OF_BITS, ("min", std::min(x, y)), u32, s32, u64, s64)
EACH(OF_BITS, ("max", std::max(x, y)), u32, s32, u64, s64)
OF_BITS(u32, "inc", x >= y ? 0 : x + 1)
OF_BITS(u32, "dec", x == 0 || x > y ? y : x - 1)
EACH(OF_BITS, ("and", x & y), b32, b64)
EACH(OF_BITS, ("or", x | y), b32, b64)
EACH(OF_BITS, ("xor", x ^ y), b32, b64)

/// Of two half floats in float, which rounds once more without an effect.
template <class Format, class Operation>
u64 of_halves(u64 a, u64 b, Operation operation) {
    return Format::from_float(operation(Format::to_float(u16(a)), Format::to_float(u16(b))));
}
using Half = gradverify::simt::unit::HalfFormat;
using Bfloat16 = gradverify::simt::unit::Bfloat16Format;
const auto add_floats = [](auto x, auto y) { return x + y; };
const auto least = [](auto x, auto y) { return x < y ? x : y; };
const auto greatest = [](auto x, auto y) { return x < y ? y : x; };
/// Neither a NaN nor -0, whose order is open.
__host__ __device__ u64 ordered(u64 bits, u64 infinity) {
    const u64 sign = 0x8000, size = bits & 0x7fff;
    return size > infinity ? infinity : size == 0 ? 0 : size | (bits & sign);
}
// Sums of ordinary size: on subnormal ones of f32 the documentation says what a GPU does today.
__host__ __device__ u64 ordinary(u64 bits) { return (bits & 0x807fffffu) | (96 + (bits >> 23 & 63)) << 23; }
BULK_REDUCE(u32, ordinary(a), ordinary(b), WANT(std::bit_cast<u32>(std::bit_cast<float>(u32(ordinary(a))) + std::bit_cast<float>(u32(ordinary(b))))), "add.f32")
BULK_REDUCE(u64, a, b, WANT(std::bit_cast<u64>(std::bit_cast<double>(a) + std::bit_cast<double>(b))), "add.f64")
BULK_REDUCE(u16, a, b, WANT(of_halves<Half>(a, b, add_floats)), "add.noftz.f16")
BULK_REDUCE(u16, a, b, WANT(of_halves<Bfloat16>(a, b, add_floats)), "add.noftz.bf16")
BULK_REDUCE(u16, ordered(a, 0x7c00), ordered(b, 0x7c00), WANT(of_halves<Half>(ordered(a, 0x7c00), ordered(b, 0x7c00), least)), "min.f16")
BULK_REDUCE(u16, ordered(a, 0x7c00), ordered(b, 0x7c00), WANT(of_halves<Half>(ordered(a, 0x7c00), ordered(b, 0x7c00), greatest)), "max.f16")
BULK_REDUCE(u16, ordered(a, 0x7f80), ordered(b, 0x7f80), WANT(of_halves<Bfloat16>(ordered(a, 0x7f80), ordered(b, 0x7f80), least)), "min.bf16")
BULK_REDUCE(u16, ordered(a, 0x7f80), ordered(b, 0x7f80), WANT(of_halves<Bfloat16>(ordered(a, 0x7f80), ordered(b, 0x7f80), greatest)), "max.bf16")

// Matrices of 8 x 8 pairs of bytes: lanes give their rows' addresses, 16 bytes each.
__host__ __device__ u32 row_of(u64 a) { return static_cast<u32>(a % 128) * 16; }
/// Which elements of a matrix a lane has: row, and column of the first of two; or the transpose.
template <bool is_transposed>
u32 element(const ModelBlock& block, u32 matrix, u32 lane, u32 i) {
    u32 row = lane / 4, column = lane % 4 * 2 + i;
    if (is_transposed) std::swap(row, column);
    return row_of(block.lanes[matrix * 8 + row].a) + column * 2;
}
template <u32 count, bool is_transposed>
struct LoadedMatrices {
    static constexpr bool in_shared = true;
    static void run(ModelBlock& block) {
        const std::vector<unsigned char> before(block.shared, block.shared + block_bytes);
        for (u32 lane = 0; lane < 32; ++lane)
            for (u32 matrix = 0; matrix < count; ++matrix)
                for (u32 i = 0; i < 2; ++i)
                    std::memcpy(block.shared + lane * 64 + matrix * 4 + i * 2, &before[element<is_transposed>(block, matrix, lane, i)], 2);
    }
};
#define LOADED_1 "{%0}, [%4];"
#define LOADED_2 "{%0, %1}, [%4];"
#define LOADED_4 "{%0, %1, %2, %3}, [%4];"
#define LDMATRIX(COUNT, TRANS, IS_TRANSPOSED, SPACE) LDMATRIX_OF(COUNT, "ldmatrix.sync.aligned.m8n8.x" #COUNT TRANS "." SPACE ".b16", IS_TRANSPOSED)
#define LDMATRIX_OF(COUNT, TEXT, IS_TRANSPOSED) \
    BLOCK_FORM(TEXT, any, (LoadedMatrices<COUNT, IS_TRANSPOSED>), \
        u32 r[4] = {}; \
        asm volatile(TEXT " " LOADED_##COUNT : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) : "r"(shared_address(block.shared + row_of(a))) : "memory"); \
        __syncwarp(); \
        for (int i = 0; i < COUNT; ++i) reinterpret_cast<u32*>(block.shared + lane * 64)[i] = r[i]; \
        return block.seen(true);)
EACH(LDMATRIX, ("", false, "shared"), 1, 2, 4)
LDMATRIX(4, "", false, "shared::cta")
EACH(LDMATRIX, (".trans", true, "shared"), 1, 2, 4)

// Rows of their own: two lanes may not write the same.
template <u32 count, bool is_transposed>
struct StoredMatrices {
    static constexpr bool in_shared = true;
    static void run(ModelBlock& block) {
        for (u32 lane = 0; lane < 32; ++lane)
            for (u32 matrix = 0; matrix < count; ++matrix)
                for (u32 i = 0; i < 2; ++i) {
                    u32 row = lane / 4, column = lane % 4 * 2 + i;
                    if (is_transposed) std::swap(row, column);
                    const u16 bits = static_cast<u16>(mixed(block.lanes[lane].b + matrix) >> 16 * i);
                    std::memcpy(block.shared + (matrix * 8 + row) * 48 + column * 2, &bits, 2);
                }
    }
};
#define STORED_1 "[%4], {%0};"
#define STORED_2 "[%4], {%0, %1};"
#define STORED_4 "[%4], {%0, %1, %2, %3};"
#define STMATRIX(COUNT, TRANS, IS_TRANSPOSED, SPACE) STMATRIX_OF(COUNT, "stmatrix.sync.aligned.m8n8.x" #COUNT TRANS "." SPACE ".b16", IS_TRANSPOSED)
#define STMATRIX_OF(COUNT, TEXT, IS_TRANSPOSED) \
    BLOCK_FORM(TEXT, sm_90, (StoredMatrices<COUNT, IS_TRANSPOSED>), \
        PTX_90(TEXT " " STORED_##COUNT ::"r"(u32(mixed(b))), "r"(u32(mixed(b + 1))), "r"(u32(mixed(b + 2))), "r"(u32(mixed(b + 3))), "r"(shared_address(block.shared + lane * 48)) : "memory"); \
        return block.seen(true);)
EACH(STMATRIX, ("", false, "shared"), 1, 2, 4)
STMATRIX(4, "", false, "shared::cta")
EACH(STMATRIX, (".trans", true, "shared"), 1, 2, 4)
// clang-format on

}  // namespace
}  // namespace conformance
