// SPDX-License-Identifier: Apache-2.0
// The shared memory of the running block: an arena for static variables and one for the dynamic
// array, each between unmapped pages. It is NaN (0xFF) when a block begins.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {

struct SharedArenas {
    const char *static_begin = nullptr, *static_end = nullptr;
    const char *dynamic_begin = nullptr, *dynamic_end = nullptr;
    const char* dynamic = nullptr;
    std::size_t dynamic_bytes = 0;
};

struct SavedShared {
    std::vector<char> static_bytes, dynamic_bytes;
};

class SharedMemory {
  public:
    SharedMemory();

    /// Forgets the static variables; the dynamic array ends at the unmapped page.
    void begin_launch(std::size_t dynamic_bytes);
    void poison() noexcept;
    /// Copy the memory of a block that is left, and put it back when the block goes on.
    SavedShared save() const;
    void restore(const SavedShared& saved);
    void* dynamic() const { return dynamic_; }
    /// Where the detector looks; `dynamic_bytes` as the launch asked for them.
    SharedArenas arenas(std::size_t dynamic_bytes) const;
    /// Where the lower 18 bits of an address of PTX lie (gradverify_simt/ptx/shared_window.hpp).
    const char* at(unsigned address) const;
    /// **Errors** nullptr when the block's static variables would exceed the default limit.
    void* place(std::size_t bytes, std::size_t alignment);
    /// For unmapped addresses `past the end of the dynamic shared memory` and the like, else "".
    const char* describe(const void* address) const noexcept;

  private:
    Mapping static_arena_;
    std::size_t static_used_bytes_ = 0;      ///< with red zones
    std::size_t static_declared_bytes_ = 0;  ///< without
    Mapping dynamic_arena_;
    char* dynamic_ = nullptr;
    std::size_t dynamic_bytes_ = 0;
};

}  // namespace gradverify::simt
