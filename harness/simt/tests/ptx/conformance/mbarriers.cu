// SPDX-License-Identifier: Apache-2.0
// mbarrier objects, one for each lane: which phases have ended after each instruction, and what is
// pending. A state's own bits are opaque.
#include "harness/simt/tests/ptx/conformance/blocks.hpp"

namespace conformance {
namespace {

// Has HAS say what a wait for the operand %2 says of the mbarrier, END behind its operands.
#define ASK(HAS, TEXT, END, ...)                      \
    PTX_90("{ .reg .pred p; " TEXT " p, [%1], %2" END \
           "; selp.u32 %0, 1, 0, p; }" : "=r"(HAS) : __VA_ARGS__ : "memory")

/// Whether the phase of this parity has ended, without waiting.
__device__ u64 ended(std::uint64_t* mbarrier, u32 parity) {
    u32 has = 0;
    ASK(has, "mbarrier.test_wait.parity.shared::cta.b64", "", "r"(shared_address(mbarrier)),
        "r"(parity));
    return has;
}
__device__ u64 arrived(std::uint64_t* mbarrier) {
    u64 state = 0;
    PTX_90("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(
        shared_address(mbarrier)) : "memory");
    return state;
}
__device__ void made(std::uint64_t* mbarrier, u32 count) {
    PTX_90("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(mbarrier)),
           "r"(count) : "memory");
}
__device__ void completed(std::uint64_t* mbarrier, u32 bytes) {
    PTX_90("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(
               shared_address(mbarrier)),
           "r"(bytes) : "memory");
}
/// So many arrivals are wanted, or bytes.
__host__ __device__ u32 few(u64 x) { return static_cast<u32>(x % 5) + 1; }
__host__ __device__ u32 bytes_of(u64 x) { return static_cast<u32>(x % 500000) + 1; }

#define GENERIC(M) "l"(M)
#define SHARED(M) "r"(shared_address(M))
#define MBARRIER                                     \
    std::uint64_t* const m = block.mbarriers + lane; \
    const u32 count = few(a);

// clang-format off
#define IN_EACH_SPACE(FORM, NAME) \
    EACH_AT(FORM, NAME, GENERIC, ".b64") EACH_AT(FORM, NAME, SHARED, ".shared.b64", ".shared::cta.b64")
// How often the phase had ended: after the last arrival alone, and then for ever.
#define INIT(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(few(a) * 10 + 1), MBARRIER \
        PTX_90(TEXT " [%0], %1;" ::AT(m), "r"(count) : "memory"); \
        u64 times = 0; \
        for (u32 i = 0; i < count; ++i) { arrived(m); times += ended(m, 0); } \
        return count * 10 + times;)
IN_EACH_SPACE(INIT, "mbarrier.init")

// Another one lies in its place then.
#define INVAL(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(few(b) * 10 + 1), MBARRIER \
        made(m, count); arrived(m); \
        PTX_90(TEXT " [%0];" ::AT(m) : "memory"); \
        made(m, few(b)); \
        u64 times = 0; \
        for (u32 i = 0; i < few(b); ++i) { arrived(m); times += ended(m, 0); } \
        return few(b) * 10 + times;)
IN_EACH_SPACE(INVAL, "mbarrier.inval")

// The state that an arrival gives is of its own phase.
#define ARRIVE(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(few(a) * 100 + 11), MBARRIER \
        made(m, count); \
        u64 state = 0, times = 0; \
        for (u32 i = 0; i < count; ++i) { \
            PTX_90(TEXT " %0, [%1];" : "=l"(state) : AT(m) : "memory"); \
            u32 has = 0; \
            ASK(has, "mbarrier.test_wait.shared::cta.b64", "", SHARED(m), "l"(state)); \
            times += ended(m, 0) + 10 * has; \
        } \
        return count * 100 + times;)
IN_EACH_SPACE(ARRIVE, "mbarrier.arrive")
EACH_AT(ARRIVE, "mbarrier.arrive.release.cta", GENERIC, ".b64")
EACH_AT(ARRIVE, "mbarrier.arrive.release", SHARED, ".cta.shared::cta.b64", ".cluster.shared::cta.b64")
EACH_AT(ARRIVE, "mbarrier.arrive.relaxed", SHARED, ".cta.shared::cta.b64", ".cluster.shared::cta.b64")

// All but one at once, and then the last.
#define ARRIVE_COUNT(TEXT, AT) \
    LANE_FORM(TEXT " count", sm_90, WANT(few(a) * 100 + 1), MBARRIER \
        made(m, count + 1); \
        PTX_90(TEXT " _, [%0], %1;" ::AT(m), "r"(count) : "memory"); \
        const u64 before = ended(m, 0); \
        arrived(m); \
        return count * 100 + before * 10 + ended(m, 0);)
IN_EACH_SPACE(ARRIVE_COUNT, "mbarrier.arrive")
EACH_AT(ARRIVE_COUNT, "mbarrier.arrive", SHARED,
        ".release.cta.shared::cta.b64", ".release.cluster.shared::cta.b64", ".relaxed.cta.shared::cta.b64")

// Bytes are waited for as well: half of them first.
#define EXPECT_BY_ARRIVAL(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(1), MBARRIER \
        made(m, count); \
        for (u32 i = 1; i < count; ++i) arrived(m); \
        PTX_90(TEXT " _, [%0], %1;" ::AT(m), "r"(2 * bytes_of(b)) : "memory"); \
        u64 all = ended(m, 0); \
        completed(m, bytes_of(b)); \
        all = all * 10 + ended(m, 0); \
        completed(m, bytes_of(b)); \
        return all * 10 + ended(m, 0);)
IN_EACH_SPACE(EXPECT_BY_ARRIVAL, "mbarrier.arrive.expect_tx")
EACH_AT(EXPECT_BY_ARRIVAL, "mbarrier.arrive.expect_tx", SHARED,
        ".release.cta.shared::cta.b64", ".release.cluster.shared::cta.b64", ".relaxed.cta.shared::cta.b64")
EACH_AT(EXPECT_BY_ARRIVAL, "mbarrier.arrive_drop.expect_tx", SHARED, ".shared::cta.b64", ".release.cta.shared::cta.b64")

#define EXPECT(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(1), MBARRIER \
        made(m, 1); \
        PTX_90(TEXT " [%0], %1;" ::AT(m), "r"(bytes_of(a)) : "memory"); \
        arrived(m); \
        const u64 before = ended(m, 0); \
        completed(m, bytes_of(a)); \
        return before * 10 + ended(m, 0);)
EACH_AT(EXPECT, "mbarrier.expect_tx", GENERIC, ".b64", ".relaxed.cta.b64")
EACH_AT(EXPECT, "mbarrier.expect_tx", SHARED, ".shared::cta.b64", ".relaxed.cta.shared::cta.b64",
        ".relaxed.cluster.shared::cta.b64", ".relaxed.cluster.shared::cluster.b64")

// Bytes may come before they are expected.
#define COMPLETE(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(1), MBARRIER \
        made(m, count); \
        PTX_90(TEXT " [%0], %1;" ::AT(m), "r"(bytes_of(b)) : "memory"); \
        for (u32 i = 1; i < count; ++i) arrived(m); \
        const u64 before = ended(m, 0); \
        PTX_90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(m)), "r"(bytes_of(b)) : "memory"); \
        return before * 10 + ended(m, 0);)
EACH_AT(COMPLETE, "mbarrier.complete_tx", GENERIC, ".b64")
EACH_AT(COMPLETE, "mbarrier.complete_tx", SHARED, ".shared::cta.b64", ".relaxed.cta.shared::cta.b64",
        ".relaxed.cluster.shared::cta.b64", ".relaxed.cluster.shared::cluster.b64")

// What was pending before the arrival, of a state of .noComplete alone.
#define NO_COMPLETE(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT((few(a) + 2) * 10 + 1), MBARRIER \
        made(m, count + 2); \
        u64 state = 0; \
        PTX_90(TEXT " %0, [%1], %2;" : "=l"(state) : AT(m), "r"(count) : "memory"); \
        u32 pending = 0; \
        PTX_90("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state)); \
        arrived(m); \
        u64 all = pending * 10 + ended(m, 0); \
        arrived(m); \
        return all + ended(m, 0);)
IN_EACH_SPACE(NO_COMPLETE, "mbarrier.arrive.noComplete")
EACH_AT(NO_COMPLETE, "mbarrier.arrive_drop.noComplete", GENERIC, ".b64")
EACH_AT(NO_COMPLETE, "mbarrier.arrive_drop.noComplete", SHARED, ".shared.b64", ".release.cta.shared::cta.b64")
EACH_AT(NO_COMPLETE, "mbarrier.arrive.noComplete", SHARED, ".release.cta.shared::cta.b64")
LANE_FORM("mbarrier.pending_count.b64", sm_90, WANT(few(a) + 1), MBARRIER
    made(m, count + 2);
    u64 state = 0;
    u32 pending = 0;
    for (u32 i = 0; i < 2; ++i)
        PTX_90("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;" : "=l"(state) : "r"(shared_address(m)) : "memory");
    PTX_90("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    return pending;)

// The next phase wants one fewer.
#define DROP(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(few(a) * 10000 + 101), MBARRIER \
        made(m, count + 1); \
        PTX_90(TEXT " _, [%0];" ::AT(m) : "memory"); \
        u64 before = 0, after = 0; \
        for (u32 i = 0; i < count; ++i) { arrived(m); before += ended(m, 0); } \
        for (u32 i = 0; i < count; ++i) { arrived(m); after += ended(m, 1); } \
        return count * 10000 + before * 100 + after;)
IN_EACH_SPACE(DROP, "mbarrier.arrive_drop")
EACH_AT(DROP, "mbarrier.arrive_drop", SHARED,
        ".release.cta.shared::cta.b64", ".release.cluster.shared::cta.b64", ".relaxed.cta.shared::cta.b64")

// Phases 0 and 1, before the last arrival of phase 0 and after it.
#define WAIT_PARITY(TEXT, AT) WAIT_PARITY_OF(TEXT, "", AT, "")
#define WAIT_PARITY_OF(TEXT, WHAT, AT, END) \
    LANE_FORM(TEXT WHAT, sm_90, WANT(few(a) * 10000 + 1010), MBARRIER \
        made(m, count); \
        for (u32 i = 1; i < count; ++i) arrived(m); \
        u64 all = count; \
        for (u32 i = 0; i < 4; ++i) { \
            if (i == 2) arrived(m); \
            u32 has = 0; \
            ASK(has, TEXT, END, AT(m), "r"(i ^ (i >= 2 ? 0u : 1u))); \
            all = all * 10 + has; \
        } \
        return all;)
IN_EACH_SPACE(WAIT_PARITY, "mbarrier.test_wait.parity")
EACH_AT(WAIT_PARITY, "mbarrier.test_wait.parity", SHARED,
        ".acquire.cta.shared::cta.b64", ".acquire.cluster.shared::cta.b64", ".relaxed.cta.shared::cta.b64")
IN_EACH_SPACE(WAIT_PARITY, "mbarrier.try_wait.parity")
EACH_AT(WAIT_PARITY, "mbarrier.try_wait.parity", SHARED,
        ".acquire.cta.shared::cta.b64", ".acquire.cluster.shared::cta.b64", ".relaxed.cluster.shared::cta.b64")
WAIT_PARITY_OF("mbarrier.try_wait.parity.shared::cta.b64", " time", SHARED, ", 100")

#define WAIT_STATE(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(1), MBARRIER \
        made(m, 2); \
        const u64 state = arrived(m); \
        const auto wait = [&]() -> u64 { \
            u32 has = 0; \
            ASK(has, TEXT, "", AT(m), "l"(state)); \
            return has; \
        }; \
        const u64 before = wait(); \
        arrived(m); \
        return before * 10 + wait();)
IN_EACH_SPACE(WAIT_STATE, "mbarrier.test_wait")
EACH_AT(WAIT_STATE, "mbarrier.test_wait", SHARED,
        ".acquire.cta.shared::cta.b64", ".acquire.cluster.shared::cta.b64", ".relaxed.cta.shared::cta.b64")
IN_EACH_SPACE(WAIT_STATE, "mbarrier.try_wait")
EACH_AT(WAIT_STATE, "mbarrier.try_wait", SHARED, ".acquire.cta.shared::cta.b64", ".relaxed.cta.shared::cta.b64")
// clang-format on

}  // namespace
}  // namespace conformance
