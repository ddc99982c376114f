// SPDX-License-Identifier: Apache-2.0
// Random bits that any thread can compute again: Philox4x32-10 (Salmon, Moraes, Dror, Shaw:
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011), with the counters and keys of curand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradverify {

/// Four words of 32 bits.
using RandomWords = std::array<std::uint32_t, 4>;

/// The block of a counter and a key.
constexpr RandomWords philox_block(RandomWords counter, std::uint64_t key) {
    auto key_low = static_cast<std::uint32_t>(key),
         key_high = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xd2511f53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xcd9e8d57} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key_low,
                   static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key_high,
                   static_cast<std::uint32_t>(a)};
        key_low += 0x9e3779b9;
        key_high += 0xbb67ae85;
    }
    return counter;
}

/// What curand4() returns first after curand_init(seed, index, offset): four words from number
/// `offset` on of the subsequence `index`.
constexpr RandomWords philox(std::uint64_t seed, std::uint64_t offset, std::uint64_t index) {
    RandomWords words{};
    std::array<RandomWords, 2> blocks{};
    for (std::uint64_t i = 0; i < 2; ++i) {
        const std::uint64_t low = offset / 4 + i;
        blocks[i] = philox_block(
            {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
             static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)},
            seed);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t at = offset % 4 + i;
        words[i] = blocks[at / 4][at % 4];
    }
    return words;
}

/// The float in (0, 1] that curand_uniform() makes of a word.
constexpr double uniform_float(std::uint32_t bits) {
    return static_cast<double>(static_cast<float>(bits) * 0x1p-32f + 0x1p-33f);
}

}  // namespace gradverify
