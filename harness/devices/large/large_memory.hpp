// SPDX-License-Identifier: Apache-2.0
// Device memory for tensors without an image on the host: the device fills and compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "harness/devices/large/large_elements.hpp"

namespace gradverify {

using Content = std::variant<Pattern, CopiedBits>;
using ComparedContent = std::variant<Pattern, CopiedBits, CopiedValues>;

class LargeMemory {
  public:
    virtual ~LargeMemory() = default;

    virtual std::size_t free_bytes() = 0;
    /// An address that is a multiple of 256; null when there is not enough.
    virtual std::byte* allocate(std::size_t bytes) = 0;
    /// May be called after the device was lost.
    virtual void release(std::byte* memory) = 0;
    virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
    virtual void download(const std::byte* from, std::span<std::byte> to) = 0;

    virtual void fill(const Content& content, std::int64_t elements) = 0;
    /// The elements that differ from the content.
    virtual Differences differences(const ComparedContent& content, std::int64_t elements) = 0;
};

namespace detail {
std::unique_ptr<LargeMemory> make_large_host_memory();
/// Defined in large_memory_cuda.cu.
std::unique_ptr<LargeMemory> make_large_cuda_memory();
}  // namespace detail

}  // namespace gradverify
