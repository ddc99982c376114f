// SPDX-License-Identifier: Apache-2.0
// curand's device functions for Philox4x32-10 (Salmon et al. 2011) and XORWOW (Marsaglia 2003),
// with a GPU's bits and uniform numbers; normal numbers differ in the last digits, as their sines
// do.
#pragma once
#pragma GCC system_header

#include <cmath>

#include "curand.h"
#include "gradverify_simt/forced.hpp"
#include "gradverify_simt/xorwow.hpp"

struct curandStatePhilox4_32_10 {
    uint4 ctr;
    uint4 output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag;
    float boxmuller_extra;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;

namespace gradverify::simt::unit {

inline uint4 philox_4x32_10(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const auto a = static_cast<unsigned long long>(counter.x) * 0xD2511F53u;
        const auto b = static_cast<unsigned long long>(counter.z) * 0xCD9E8D57u;
        counter = {static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
                   static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a)};
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}
/// Adds to the low, or to the high half of a counter of 128 bits.
inline void philox_advance(uint4& counter, unsigned long long blocks,
                           unsigned long long sequences) {
    const auto low = (static_cast<unsigned long long>(counter.y) << 32 | counter.x) + blocks;
    const auto high = (static_cast<unsigned long long>(counter.w) << 32 | counter.z) + sequences +
                      (low < blocks ? 1u : 0u);
    counter = {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
               static_cast<unsigned>(high), static_cast<unsigned>(high >> 32)};
}
inline unsigned word_of(const uint4& words, unsigned i) {
    return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}
inline float uniform_of(unsigned bits) {
    return static_cast<float>(bits) * 0x1p-32f + 0x1p-33f;  // (0, 1]
}
inline double uniform_of(unsigned low, unsigned high) {
    const unsigned long long bits = low ^ static_cast<unsigned long long>(high) << (53 - 32);
    return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}
/// Two normal numbers from two uniform ones (Box, Muller 1958).
inline float2 normal_of(unsigned a, unsigned b) {
    const float u = uniform_of(a);
    const float v = static_cast<float>(b) * 1.46291807e-09f + 7.31459035e-10f;  // 2 pi b / 2^32
    const float s = std::sqrt(-2.0f * std::log(u));
    return {s * std::sin(v), s * std::cos(v)};
}

}  // namespace gradverify::simt::unit

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    using namespace gradverify::simt::unit;
    state->STATE += static_cast<unsigned>(n % 4);
    philox_advance(state->ctr, n / 4 + state->STATE / 4, 0);
    state->STATE %= 4;
    state->output = philox_4x32_10(state->ctr, state->key);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
    using namespace gradverify::simt::unit;
    philox_advance(state->ctr, 0, n);
    state->output = philox_4x32_10(state->ctr, state->key);
}
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStatePhilox4_32_10* state) {
    *state = {};
    state->key = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}
inline unsigned curand(curandStatePhilox4_32_10* state) {
    using namespace gradverify::simt::unit;
    const unsigned bits = word_of(state->output, state->STATE++);
    if (state->STATE == 4) {
        state->STATE = 0;
        philox_advance(state->ctr, 1, 0);
        state->output = philox_4x32_10(state->ctr, state->key);
    }
    return bits;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
    const unsigned x = curand(state), y = curand(state), z = curand(state);
    return {x, y, z, curand(state)};
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    using namespace gradverify::simt::unit;
    const uint4 bits = curand4(state);
    return {uniform_of(bits.x), uniform_of(bits.y), uniform_of(bits.z), uniform_of(bits.w)};
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
    using namespace gradverify::simt::unit;
    const uint4 bits = curand4(state);
    const float2 a = normal_of(bits.x, bits.y), b = normal_of(bits.z, bits.w);
    return {a.x, a.y, b.x, b.y};
}
/// As in curand, from 32 bits only.
inline double curand_uniform_double(curandStatePhilox4_32_10* state) {
    return curand(state) * 0x1p-32 + 0x1p-32;
}
inline double curand_uniform_double(curandStateXORWOW* state) {
    const unsigned low = curand(state);
    return gradverify::simt::unit::uniform_of(low, curand(state));
}

// What every generator has.
inline float curand_uniform(auto* state) {
    return gradverify::simt::unit::uniform_of(curand(state));
}
inline float2 curand_normal2(auto* state) {
    const unsigned a = curand(state);
    return gradverify::simt::unit::normal_of(a, curand(state));
}
/// Every second number is the other one of a pair.
inline float curand_normal(auto* state) {
    if (state->boxmuller_flag != 0) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    const float2 pair = curand_normal2(state);
    state->boxmuller_flag = 1;
    state->boxmuller_extra = pair.y;
    return pair.x;
}
inline float curand_log_normal(auto* state, float mean, float deviation) {
    return std::exp(mean + deviation * curand_normal(state));
}
