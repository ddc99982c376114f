// SPDX-License-Identifier: Apache-2.0
// Device memory that lies far from all other: a kernel that writes astray, by an index that is too
// large or has overflowed, meets addresses without memory and not a neighbour's tensors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradverify::detail {

class ApartMemory {
  public:
    ApartMemory() = default;
    ApartMemory(const ApartMemory&) = delete;
    ApartMemory& operator=(const ApartMemory&) = delete;

    /// So many bytes, which hold anything, with no memory directly behind them. Given back when the
    /// process ends. Nothing on the device may be using what it gave before.
    ///
    /// **Ranges** a multiple of 256 bytes, which is the memory's alignment.
    /// **Errors** std::runtime_error.
    std::byte* ending(std::size_t bytes);

  private:
    void map(std::size_t bytes);

    std::uint64_t window_ = 0;  ///< the addresses around it that are kept free; 0 for none yet
    std::size_t mapped_ = 0;
};

}  // namespace gradverify::detail
