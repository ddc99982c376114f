// SPDX-License-Identifier: Apache-2.0
// Large tensors of the CPU device, for tests that lower the size that counts as large.
#include <algorithm>
#include <cstring>
#include <new>

#include "harness/base/process_usage.hpp"
#include "harness/devices/large/large_memory.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::detail {

namespace {

class LargeHostMemory final : public LargeMemory {
  public:
    std::size_t free_bytes() override { return available_memory_bytes(); }
    std::byte* allocate(std::size_t bytes) override {
        bytes = std::max<std::size_t>(bytes, 1);
        auto* memory = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
        if (memory != nullptr) simt::lend_to_kernels(memory, bytes);
        return memory;
    }
    void release(std::byte* memory) override {
        simt::lend_to_kernels(memory, 0);
        ::operator delete(memory, alignment);
    }
    void upload(std::byte* to, std::span<const std::byte> from) override {
        if (!from.empty()) std::memcpy(to, from.data(), from.size());
    }
    void download(const std::byte* from, std::span<std::byte> to) override {
        if (!to.empty()) std::memcpy(to.data(), from, to.size());
    }
    void fill(const Content& content, std::int64_t elements) override {
        const auto fill = [&](const auto& work) {
            const Strands strands = work.strands(elements, 1);
            for (std::int64_t strand = 0; strand < strands.count; ++strand)
                work.fill(strands, strand);
        };
        std::visit(fill, content);
    }
    Differences differences(const ComparedContent& content, std::int64_t elements) override {
        Differences found;
        const auto compare = [&](const auto& work) {
            const Strands strands = work.strands(elements, 1);
            for (std::int64_t strand = 0; strand < strands.count; ++strand)
                work.compare(strands, strand, [&](std::int64_t i) { found.add(i); });
        };
        std::visit(compare, content);
        return found;
    }

  private:
    static constexpr std::align_val_t alignment{256};
};

}  // namespace

std::unique_ptr<LargeMemory> make_large_host_memory() {
    return std::make_unique<LargeHostMemory>();
}

}  // namespace gradverify::detail
