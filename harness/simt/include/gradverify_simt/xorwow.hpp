// SPDX-License-Identifier: Apache-2.0
// curand's XORWOW generator: a shift register of five words, and a counter that is added.
#pragma once
#pragma GCC system_header

struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag;
    float boxmuller_extra;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

namespace gradverify::simt::unit {

inline void xorwow_step(unsigned* v) {
    const unsigned t = v[0] ^ (v[0] >> 2), last = v[4];
    for (int i = 0; i < 4; ++i) v[i] = v[i + 1];
    v[4] = (last ^ (last << 4)) ^ (t ^ (t << 1));
}
/// `n` times 2^`power` steps of the five words at `v`.
extern "C" void gradverify_simt_xorwow_skip(unsigned* v, unsigned long long n, unsigned power);

}  // namespace gradverify::simt::unit

inline void skipahead(unsigned long long n, curandStateXORWOW* state) {
    gradverify::simt::unit::gradverify_simt_xorwow_skip(state->v, n, 0);
    state->d += 362437u * static_cast<unsigned>(n);
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
    gradverify::simt::unit::gradverify_simt_xorwow_skip(state->v, n, 67);
}
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStateXORWOW* state) {
    const unsigned low = static_cast<unsigned>(seed) ^ 0xaad26b49u;
    const unsigned high = static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu;
    const unsigned a = 1099087573u * low, b = 2591861531u * high;
    *state = {6615241u + b + a,
              {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a},
              0,
              0.0f};
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}
inline unsigned curand(curandStateXORWOW* state) {
    gradverify::simt::unit::xorwow_step(state->v);
    state->d += 362437u;
    return state->v[4] + state->d;
}
