// SPDX-License-Identifier: Apache-2.0
// mbarrier objects, one for each lane: which phases have ended after each instruction, and what is
// pending. A state's own bits are opaque.
#include "harness/simt/tests/ptx/conformance/blocks.hpp"

namespace conformance {
namespace {

/// Whether the phase of this parity has ended, without waiting.
__device__ u64 ended(std::uint64_t* mbarrier, u32 parity) {
    u32 has = 0;
    PTX_90(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
        "p; }" : "=r"(has) : "r"(shared_address(mbarrier)),
        "r"(parity) : "memory");
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
// How often the phase had ended: after the last arrival alone, and then for ever.
#define INIT(TEXT, NEEDS, AT) \
    LANE_FORM(TEXT, NEEDS, WANT(few(a) * 10 + 1), MBARRIER \
        PTX_90(TEXT " [%0], %1;" ::AT(m), "r"(count) : "memory"); \
        u64 times = 0; \
        for (u32 i = 0; i < count; ++i) { arrived(m); times += ended(m, 0); } \
        return count * 10 + times;)
INIT("mbarrier.init.b64", sm_90, GENERIC)
INIT("mbarrier.init.shared.b64", sm_90, SHARED)
INIT("mbarrier.init.shared::cta.b64", sm_90, SHARED)

// Another one lies in its place then.
#define INVAL(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(few(b) * 10 + 1), MBARRIER \
        made(m, count); arrived(m); \
        PTX_90(TEXT " [%0];" ::AT(m) : "memory"); \
        made(m, few(b)); \
        u64 times = 0; \
        for (u32 i = 0; i < few(b); ++i) { arrived(m); times += ended(m, 0); } \
        return few(b) * 10 + times;)
INVAL("mbarrier.inval.b64", GENERIC)
INVAL("mbarrier.inval.shared.b64", SHARED)
INVAL("mbarrier.inval.shared::cta.b64", SHARED)

// The state that an arrival gives is of its own phase.
#define ARRIVE(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(few(a) * 100 + 11), MBARRIER \
        made(m, count); \
        u64 state = 0, times = 0; \
        for (u32 i = 0; i < count; ++i) { \
            PTX_90(TEXT " %0, [%1];" : "=l"(state) : AT(m) : "memory"); \
            u32 has = 0; \
            PTX_90("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" \
                   : "=r"(has) : "r"(shared_address(m)), "l"(state) : "memory"); \
            times += ended(m, 0) + 10 * has; \
        } \
        return count * 100 + times;)
ARRIVE("mbarrier.arrive.b64", GENERIC)
ARRIVE("mbarrier.arrive.shared.b64", SHARED)
ARRIVE("mbarrier.arrive.shared::cta.b64", SHARED)
ARRIVE("mbarrier.arrive.release.cta.b64", GENERIC)
ARRIVE("mbarrier.arrive.release.cta.shared::cta.b64", SHARED)
ARRIVE("mbarrier.arrive.release.cluster.shared::cta.b64", SHARED)
ARRIVE("mbarrier.arrive.relaxed.cta.shared::cta.b64", SHARED)
ARRIVE("mbarrier.arrive.relaxed.cluster.shared::cta.b64", SHARED)

// All but one at once, and then the last.
#define ARRIVE_COUNT(TEXT, AT) \
    LANE_FORM(TEXT " count", sm_90, WANT(few(a) * 100 + 1), MBARRIER \
        made(m, count + 1); \
        PTX_90(TEXT " _, [%0], %1;" ::AT(m), "r"(count) : "memory"); \
        const u64 before = ended(m, 0); \
        arrived(m); \
        return count * 100 + before * 10 + ended(m, 0);)
ARRIVE_COUNT("mbarrier.arrive.b64", GENERIC)
ARRIVE_COUNT("mbarrier.arrive.shared.b64", SHARED)
ARRIVE_COUNT("mbarrier.arrive.shared::cta.b64", SHARED)
ARRIVE_COUNT("mbarrier.arrive.release.cta.shared::cta.b64", SHARED)
ARRIVE_COUNT("mbarrier.arrive.release.cluster.shared::cta.b64", SHARED)
ARRIVE_COUNT("mbarrier.arrive.relaxed.cta.shared::cta.b64", SHARED)

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
EXPECT_BY_ARRIVAL("mbarrier.arrive.expect_tx.b64", GENERIC)
EXPECT_BY_ARRIVAL("mbarrier.arrive.expect_tx.shared.b64", SHARED)
EXPECT_BY_ARRIVAL("mbarrier.arrive.expect_tx.shared::cta.b64", SHARED)
EXPECT_BY_ARRIVAL("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64", SHARED)
EXPECT_BY_ARRIVAL("mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64", SHARED)
EXPECT_BY_ARRIVAL("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64", SHARED)
EXPECT_BY_ARRIVAL("mbarrier.arrive_drop.expect_tx.shared::cta.b64", SHARED)
EXPECT_BY_ARRIVAL("mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64", SHARED)

#define EXPECT(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(1), MBARRIER \
        made(m, 1); \
        PTX_90(TEXT " [%0], %1;" ::AT(m), "r"(bytes_of(a)) : "memory"); \
        arrived(m); \
        const u64 before = ended(m, 0); \
        completed(m, bytes_of(a)); \
        return before * 10 + ended(m, 0);)
EXPECT("mbarrier.expect_tx.b64", GENERIC)
EXPECT("mbarrier.expect_tx.shared::cta.b64", SHARED)
EXPECT("mbarrier.expect_tx.relaxed.cta.b64", GENERIC)
EXPECT("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", SHARED)
EXPECT("mbarrier.expect_tx.relaxed.cluster.shared::cta.b64", SHARED)
EXPECT("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64", SHARED)

// Bytes may come before they are expected.
#define COMPLETE(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(1), MBARRIER \
        made(m, count); \
        PTX_90(TEXT " [%0], %1;" ::AT(m), "r"(bytes_of(b)) : "memory"); \
        for (u32 i = 1; i < count; ++i) arrived(m); \
        const u64 before = ended(m, 0); \
        PTX_90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(m)), "r"(bytes_of(b)) : "memory"); \
        return before * 10 + ended(m, 0);)
COMPLETE("mbarrier.complete_tx.b64", GENERIC)
COMPLETE("mbarrier.complete_tx.shared::cta.b64", SHARED)
COMPLETE("mbarrier.complete_tx.relaxed.cta.shared::cta.b64", SHARED)
COMPLETE("mbarrier.complete_tx.relaxed.cluster.shared::cta.b64", SHARED)
COMPLETE("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64", SHARED)

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
NO_COMPLETE("mbarrier.arrive.noComplete.b64", GENERIC)
NO_COMPLETE("mbarrier.arrive.noComplete.shared.b64", SHARED)
NO_COMPLETE("mbarrier.arrive.noComplete.shared::cta.b64", SHARED)
NO_COMPLETE("mbarrier.arrive.noComplete.release.cta.shared::cta.b64", SHARED)
NO_COMPLETE("mbarrier.arrive_drop.noComplete.b64", GENERIC)
NO_COMPLETE("mbarrier.arrive_drop.noComplete.shared.b64", SHARED)
NO_COMPLETE("mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64", SHARED)
LANE_FORM("mbarrier.pending_count.b64", sm_90, WANT(few(a) + 1), MBARRIER
    made(m, count + 2);
    u64 state = 0;
    u32 pending = 0;
    for (u32 i = 0; i < 2; ++i)
        PTX_90("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;" : "=l"(state) : "r"(shared_address(m)) : "memory");
    PTX_90("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    return pending;)

// The next phase wants fewer.
#define DROP(TEXT, AT, COUNT, OPERAND) \
    LANE_FORM(TEXT, sm_90, WANT(few(a) * 10000 + 101), MBARRIER \
        made(m, count + (COUNT)); \
        PTX_90(TEXT " _, [%0]" OPERAND ";" ::AT(m), "r"(u32(COUNT)) : "memory"); \
        u64 before = 0, after = 0; \
        for (u32 i = 0; i < count; ++i) { arrived(m); before += ended(m, 0); } \
        for (u32 i = 0; i < count; ++i) { arrived(m); after += ended(m, 1); } \
        return count * 10000 + before * 100 + after;)
#define DROP_ONE(TEXT, AT) DROP(TEXT, AT, 1, "")
#define DROP_SOME(TEXT, AT) DROP(TEXT " count", AT, few(b), ", %1")
DROP_ONE("mbarrier.arrive_drop.b64", GENERIC)
DROP_ONE("mbarrier.arrive_drop.shared.b64", SHARED)
DROP_ONE("mbarrier.arrive_drop.shared::cta.b64", SHARED)
DROP_ONE("mbarrier.arrive_drop.release.cta.shared::cta.b64", SHARED)
DROP_ONE("mbarrier.arrive_drop.release.cluster.shared::cta.b64", SHARED)
DROP_ONE("mbarrier.arrive_drop.relaxed.cta.shared::cta.b64", SHARED)

// Phases 0 and 1, before the last arrival of phase 0 and after it.
#define WAIT_PARITY(TEXT, AT, END) \
    LANE_FORM(sizeof END > 1 ? TEXT " time" : TEXT, sm_90, WANT(few(a) * 10000 + 1010), MBARRIER \
        made(m, count); \
        for (u32 i = 1; i < count; ++i) arrived(m); \
        u64 all = count; \
        for (u32 i = 0; i < 4; ++i) { \
            if (i == 2) arrived(m); \
            u32 has = 0; \
            PTX_90("{ .reg .pred p; " TEXT " p, [%1], %2" END "; selp.u32 %0, 1, 0, p; }" : "=r"(has) : AT(m), "r"(i ^ (i >= 2 ? 0u : 1u)) : "memory"); \
            all = all * 10 + has; \
        } \
        return all;)
WAIT_PARITY("mbarrier.test_wait.parity.b64", GENERIC, "")
WAIT_PARITY("mbarrier.test_wait.parity.shared.b64", SHARED, "")
WAIT_PARITY("mbarrier.test_wait.parity.shared::cta.b64", SHARED, "")
WAIT_PARITY("mbarrier.test_wait.parity.acquire.cta.shared::cta.b64", SHARED, "")
WAIT_PARITY("mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64", SHARED, "")
WAIT_PARITY("mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64", SHARED, "")
WAIT_PARITY("mbarrier.try_wait.parity.b64", GENERIC, "")
WAIT_PARITY("mbarrier.try_wait.parity.shared.b64", SHARED, "")
WAIT_PARITY("mbarrier.try_wait.parity.shared::cta.b64", SHARED, "")
WAIT_PARITY("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64", SHARED, "")
WAIT_PARITY("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", SHARED, "")
WAIT_PARITY("mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64", SHARED, "")

WAIT_PARITY("mbarrier.try_wait.parity.shared::cta.b64", SHARED, ", 100")

#define WAIT_STATE(TEXT, AT) \
    LANE_FORM(TEXT, sm_90, WANT(1), MBARRIER \
        made(m, 2); \
        const u64 state = arrived(m); \
        const auto wait = [&]() -> u64 { \
            u32 has = 0; \
            PTX_90("{ .reg .pred p; " TEXT " p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(has) : AT(m), "l"(state) : "memory"); \
            return has; \
        }; \
        const u64 before = wait(); \
        arrived(m); \
        return before * 10 + wait();)
WAIT_STATE("mbarrier.test_wait.b64", GENERIC)
WAIT_STATE("mbarrier.test_wait.shared.b64", SHARED)
WAIT_STATE("mbarrier.test_wait.shared::cta.b64", SHARED)
WAIT_STATE("mbarrier.test_wait.acquire.cta.shared::cta.b64", SHARED)
WAIT_STATE("mbarrier.test_wait.acquire.cluster.shared::cta.b64", SHARED)
WAIT_STATE("mbarrier.test_wait.relaxed.cta.shared::cta.b64", SHARED)
WAIT_STATE("mbarrier.try_wait.b64", GENERIC)
WAIT_STATE("mbarrier.try_wait.shared.b64", SHARED)
WAIT_STATE("mbarrier.try_wait.shared::cta.b64", SHARED)
WAIT_STATE("mbarrier.try_wait.acquire.cta.shared::cta.b64", SHARED)
WAIT_STATE("mbarrier.try_wait.relaxed.cta.shared::cta.b64", SHARED)
// clang-format on

}  // namespace
}  // namespace conformance
