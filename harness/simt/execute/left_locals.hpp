// SPDX-License-Identifier: Apache-2.0
// Copies of local variables whose functions returned an address of them. On a GPU such a variable
// is a register that lives until its last use, since the function is inlined.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace gradverify::simt {

class LeftLocals {
  public:
    /// At most `chunk_bytes`, aligned to 64.
    void* place(std::size_t bytes) {
        const std::size_t begin = (used_ + 63) / 64 * 64;
        const std::size_t last = (begin + bytes - 1) / chunk_bytes;
        const std::size_t at = begin / chunk_bytes == last ? begin : last * chunk_bytes;
        if (last == chunks_.size()) chunks_.push_back(std::make_unique<Chunk>());
        used_ = at + bytes;
        return chunks_[last]->data() + at % chunk_bytes;
    }
    void forget() { used_ = 0; }
    /// Whether it is in the memory of such copies, now or once.
    bool has(const void* address) const {
        return std::ranges::any_of(chunks_, [&](const auto& chunk) {
            return address >= chunk->data() && address < chunk->data() + chunk_bytes;
        });
    }

  private:
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
    struct alignas(4096) Chunk : std::array<std::byte, chunk_bytes> {};
    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::size_t used_ = 0;
};

}  // namespace gradverify::simt
