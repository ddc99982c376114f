// SPDX-License-Identifier: Apache-2.0
// The shared memory of the running block: an arena for static variables and one for the dynamic
// array, each in a mapping of its own that ends at an unmapped page. Filled with 0xFF (NaN) when a
// block begins, so that a read of what nobody wrote shows.
#pragma once

#include <cstddef>
#include <vector>

namespace gradverify::simt {

struct SharedArenas {
    const char *static_begin = nullptr, *static_end = nullptr;
    const char *dynamic_begin = nullptr, *dynamic_end = nullptr;
    const char* dynamic = nullptr;
    std::size_t dynamic_bytes = 0;
};

class SharedMemory {
  public:
    static constexpr std::size_t default_limit_bytes = 48 * 1024;
    static constexpr std::size_t opt_in_limit_bytes = 227 * 1024;

    SharedMemory();
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// Forgets the static variables; the dynamic array ends at the unmapped page.
    void begin_launch(std::size_t dynamic_bytes);
    void poison() noexcept;
    /// Copies what a block has that is left, and puts it back when the block goes on.
    void save(std::vector<char>& static_bytes, std::vector<char>& dynamic_bytes) const;
    void restore(const std::vector<char>& static_bytes, const std::vector<char>& dynamic_bytes);
    void* dynamic() const { return dynamic_; }
    /// Where a detector is to look; the dynamic array with the bytes that were asked for.
    SharedArenas arenas(std::size_t dynamic_bytes) const;
    /// **Errors** nullptr when the block's static variables would exceed the default limit.
    void* place(std::size_t bytes, std::size_t alignment);
    /// `past the end of the dynamic shared memory` and the like, for an address in the unmapped
    /// zones; "" elsewhere.
    const char* describe(const void* address) const noexcept;

  private:
    char* static_arena_ = nullptr;
    std::size_t static_used_bytes_ = 0;      ///< with red zones
    std::size_t static_declared_bytes_ = 0;  ///< without
    char* dynamic_arena_ = nullptr;
    char* dynamic_ = nullptr;
    std::size_t dynamic_bytes_ = 0;
};

}  // namespace gradverify::simt
