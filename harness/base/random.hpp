// SPDX-License-Identifier: Apache-2.0
// Reproducible random numbers: a 64-bit generator (SplitMix64; Steele, Lea, Flood, OOPSLA 2014),
// and draws that do not depend on the standard library's distributions.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradverify {

class SplitMix64 {
  public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    /// Uniform in [0, count), as far as 64 bits allow.
    std::uint64_t below(std::uint64_t count) {
        return count >> 32 == 0 ? ((next() >> 32) * count) >> 32 : next() % count;
    }
    /// Uniform in [minimum, maximum].
    std::int64_t between(std::int64_t minimum, std::int64_t maximum) {
        return minimum +
               static_cast<std::int64_t>(below(static_cast<std::uint64_t>(maximum - minimum + 1)));
    }
    /// True once in `odds`.
    bool one_in(std::uint64_t odds) { return below(odds) == 0; }

  private:
    std::uint64_t state_;
};

/// Mixes a name into a seed, so that each purpose has a stream of its own (FNV-1a, then a mix).
inline std::uint64_t mix_seed(std::uint64_t seed, std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325ull ^ seed;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return SplitMix64(hash).next();
}

}  // namespace gradverify
