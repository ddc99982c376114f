// SPDX-License-Identifier: Apache-2.0
// Forms that work on memory: a warp is a block, whose lanes have operands of their own, and which
// has bytes of shared and of global memory. A model in plain C++ has the same bytes.
#pragma once

#include <cuda.h>

#include <cstring>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/ptx/conformance/forms.hpp"

#ifdef __CUDACC__
namespace conformance {
namespace {

constexpr u32 block_bytes = 4096;

/// Of both kinds of memory before the form runs: word `i` of a block's.
__host__ __device__ inline u64 word_of(u64 block, u64 i) { return mixed(block * 0x10001 + i + 1); }

/// All lanes' choice.
__host__ __device__ inline u64 pick_of(const Operands& first, u64 block) {
    return mixed(first.a * 3 + first.b + mixed(block));
}

/// Bytes from `at` on as a number: each lane has its own part of `bytes`.
__host__ __device__ inline u64 digest(const unsigned char* at, u32 lane, u32 bytes) {
    u64 all = 0;
    for (u32 i = 0; i < bytes; i += 8)
        all = mixed(all * 3 + *reinterpret_cast<const u64*>(at + lane * bytes + i));
    return all;
}

struct Block {
    u64 a, b, c;  ///< of this lane
    u64 pick;
    u32 lane;
    unsigned char *shared, *global;
    std::uint64_t* mbarriers;  ///< one for each lane
    const CUtensorMap* map;    ///< of this block, in global memory; may be null
    __device__ u64 seen(bool in_shared) const {
        __syncwarp();
        return in_shared ? digest(shared, lane, 64) : digest(global, lane, 128);
    }
};

/// False: it took too long, as when other bytes came than were expected.
[[maybe_unused]] __device__ bool has_ended(std::uint64_t* mbarrier, u32 parity) {
    u32 has = 0;
    for (int tries = 0; has == 0 && tries < 1 << 16; ++tries)
        PTX_90(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
            "selp.u32 %0, 1, 0, p; }" : "=r"(has) : "r"(shared_address(mbarrier)),
            "r"(parity) : "memory");
    return has != 0;
}

template <class Form>
__global__ void apply_to_blocks(const Operands* operands, u64* results, unsigned char* global,
                                const CUtensorMap* maps) {
    __shared__ __align__(1024) unsigned char shared[block_bytes];
    __shared__ std::uint64_t mbarriers[32];
    const Operands of = operands[blockIdx.x * 32 + threadIdx.x];
    for (u32 i = threadIdx.x; i < block_bytes / 8; i += 32)
        reinterpret_cast<u64*>(shared)[i] = word_of(blockIdx.x + 1000, i);
    __syncwarp();
    Block block{of.a,
                of.b,
                of.c,
                pick_of(operands[blockIdx.x * 32], blockIdx.x),
                threadIdx.x,
                shared,
                global + blockIdx.x * block_bytes,
                mbarriers,
                maps == nullptr ? nullptr : maps + blockIdx.x};
    results[blockIdx.x * 32 + threadIdx.x] = Form::apply(block);
}

/// What a model sees of a block, and changes.
struct ModelBlock {
    const Operands* lanes;
    u64 pick;
    alignas(8) unsigned char shared[block_bytes], global[block_bytes];
    u64 seen(u32 lane, bool in_shared) const {
        return in_shared ? digest(shared, lane, 64) : digest(global, lane, 128);
    }
};

inline std::vector<u64> words_of_blocks(u64 first, std::size_t blocks) {
    std::vector<u64> words;
    for (u64 block = 0; block < blocks; ++block)
        for (u64 i = 0; i < block_bytes / 8; ++i) words.push_back(word_of(first + block, i));
    return words;
}

struct NoMaps {
    static std::vector<CUtensorMap> maps(u64*, std::size_t) { return {}; }
};
/// Maps gives one for each block, of the block's bytes.
template <class Form, class Maps = NoMaps>
std::vector<u64> run_blocks(const std::vector<Operands>& operands) {
    const std::size_t blocks = operands.size() / 32;
    const Array<Operands> in(operands);
    const Array<u64> global(words_of_blocks(0, blocks)), out(static_cast<int>(operands.size()));
    const Array<CUtensorMap> maps(Maps::maps(global, blocks));
    apply_to_blocks<Form><<<static_cast<u32>(blocks), 32>>>(
        in, out, reinterpret_cast<unsigned char*>(static_cast<u64*>(global)), maps);
    return out.host();
}

struct NoChange {
    static constexpr bool in_shared = false;
    static void run(ModelBlock&) {}
};
/// `Model::run(block)` changes the block's memory; what a lane sees there is its result.
template <class Model>
std::vector<u64> want_of_blocks(const std::vector<Operands>& operands) {
    std::vector<u64> want;
    for (u64 i = 0; i < operands.size() / 32; ++i) {
        ModelBlock block{&operands[i * 32], pick_of(operands[i * 32], i), {}, {}};
        const std::vector<u64> shared = words_of_blocks(i + 1000, 1),
                               global = words_of_blocks(i, 1);
        std::memcpy(block.shared, shared.data(), block_bytes);
        std::memcpy(block.global, global.data(), block_bytes);
        Model::run(block);
        for (u32 lane = 0; lane < 32; ++lane) want.push_back(block.seen(lane, Model::in_shared));
    }
    return want;
}

}  // namespace
}  // namespace conformance

// Each form has a number N, so that one line of a table may make several.
#define ADD_FORM(N, TEXT, INPUTS, BITS, RUN, WANT, NEEDS, WANT_ALL)           \
    [[maybe_unused]] const bool FORM_NAME(is_added_, N) = ::conformance::add( \
        GRADVERIFY_UNIT_DEVICE,                                               \
        {TEXT, INPUTS, BITS, RUN, WANT, BITS == 64, ::conformance::Needs::NEEDS, WANT_ALL});
// The last arguments are the body of `u64 apply(Block& block)`.
#define BODY(N, ...)                                                          \
    struct FORM_NAME(Form, N) {                                               \
        static __device__ u64 apply([[maybe_unused]] const Block& block) {    \
            [[maybe_unused]] const u64 a = block.a, b = block.b, c = block.c; \
            [[maybe_unused]] const u64 pick = block.pick;                     \
            [[maybe_unused]] const u32 lane = block.lane;                     \
            __VA_ARGS__                                                       \
        }                                                                     \
    };
// Lanes that work together. MODEL is a type in brackets, which says what memory holds then.
#define BLOCK_FORM(...) BLOCK_FORM_NUMBERED(__COUNTER__, __VA_ARGS__)
#define BLOCK_FORM_NUMBERED(N, TEXT, NEEDS, MODEL, ...)                             \
    BODY(N, __VA_ARGS__)                                                            \
    ADD_FORM(N, TEXT, "lll", 64, (&run_blocks<FORM_NAME(Form, N)>), nullptr, NEEDS, \
             (&want_of_blocks<FORM_TYPE MODEL>))
// Each lane for itself, of which plain C++ says what WANT does.
#define LANE_FORM(...) LANE_FORM_NUMBERED(__COUNTER__, __VA_ARGS__)
#define LANE_FORM_NUMBERED(N, TEXT, NEEDS, WANT, ...) \
    BODY(N, __VA_ARGS__)                              \
    ADD_FORM(N, TEXT, "lll", 64, (&run_blocks<FORM_NAME(Form, N)>), WANT, NEEDS, nullptr)
// A row of a table: FORM(NAME SUFFIX, AT) for each suffix.
#define EACH_AT(FORM, NAME, AT, ...) EACH(FORM_AT, (FORM, NAME, AT), __VA_ARGS__)
#define FORM_AT(SUFFIX, FORM, NAME, AT) FORM(NAME SUFFIX, AT)
#endif
