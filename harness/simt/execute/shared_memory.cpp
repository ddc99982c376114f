// SPDX-License-Identifier: Apache-2.0
// Static variables are placed when first met in a launch, with a red zone between them.
#include "harness/simt/execute/shared_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "gradverify_simt/ptx/shared_window.hpp"
#include "gradverify_simt/state.hpp"
#include "harness/simt/runtime/device_limits.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

constexpr int poison_byte = 0xff;  // NaN
constexpr std::size_t red_zone_bytes = 64;
constexpr std::size_t base_alignment_bytes = 128;  // kernels rely on it for vector loads
constexpr std::size_t swizzle_bytes = 1024;        // and on this for a swizzle of 128 bytes
// Room for the declared bytes, red zones and alignment.
constexpr std::size_t static_arena_bytes = 4 * shared_default_bytes;
// An index into the wrong dimension of a shared array is off by less.
constexpr std::size_t zone_bytes = unit::arena_zone_bytes;
static_assert(2 * zone_bytes + static_arena_bytes < unit::arena_reach_bytes);

std::size_t dynamic_arena_bytes() { return round_up(shared_opt_in_bytes, page_size_bytes()); }
/// With as many unmapped addresses behind it as are taken for the arena's own: no buffer lies
/// there.
Mapping map_arena(std::size_t bytes) {
    return map_guarded(bytes, unit::arena_reach_bytes - zone_bytes - bytes);
}

}  // namespace

SharedMemory::SharedMemory()
    : static_arena_(map_arena(static_arena_bytes)),
      dynamic_arena_(map_arena(dynamic_arena_bytes())) {
    if (!static_arena_ || !dynamic_arena_) throw std::bad_alloc();
}

void SharedMemory::begin_launch(std::size_t dynamic_bytes) {
    static_used_bytes_ = 0;
    static_declared_bytes_ = 0;
    dynamic_bytes_ = round_up(dynamic_bytes,
                              dynamic_bytes < swizzle_bytes ? base_alignment_bytes : swizzle_bytes);
    dynamic_ = dynamic_arena_.get() + dynamic_arena_bytes() - dynamic_bytes_;
}

void SharedMemory::poison() noexcept {
    if (static_used_bytes_ > 0) std::memset(static_arena_.get(), poison_byte, static_used_bytes_);
    if (dynamic_bytes_ > 0) std::memset(dynamic_, poison_byte, dynamic_bytes_);
}

const char* SharedMemory::at(unsigned address) const {
    address &= ptx::descriptor_bits;
    if (address < static_used_bytes_) return static_arena_.get() + address;
    return dynamic_arena_.get() + address - ptx::dynamic_window % (ptx::descriptor_bits + 1);
}

SavedShared SharedMemory::save() const {
    return {{static_arena_.get(), static_arena_.get() + static_used_bytes_},
            {dynamic_, dynamic_ + dynamic_bytes_}};
}

void SharedMemory::restore(const SavedShared& saved) {
    poison();
    std::ranges::copy(saved.static_bytes, static_arena_.get());
    std::ranges::copy(saved.dynamic_bytes, dynamic_);
}

SharedArenas SharedMemory::arenas(std::size_t dynamic_bytes) const {
    return {.static_begin = static_arena_.get(),
            .static_end = static_arena_.get() + static_arena_bytes,
            .dynamic_begin = dynamic_arena_.get(),
            .dynamic_end = dynamic_arena_.get() + dynamic_arena_bytes(),
            .dynamic = dynamic_,
            .dynamic_bytes = dynamic_bytes};
}

void* SharedMemory::place(std::size_t bytes, std::size_t alignment) {
    const std::size_t offset = round_up(static_used_bytes_, alignment < 16 ? 16 : alignment);
    const std::size_t end = offset + bytes + red_zone_bytes;
    if (static_declared_bytes_ + bytes > shared_default_bytes || end > static_arena_bytes) {
        return nullptr;
    }
    std::memset(static_arena_.get() + static_used_bytes_, poison_byte, end - static_used_bytes_);
    static_used_bytes_ = end;
    static_declared_bytes_ += bytes;
    return static_arena_.get() + offset;
}

const char* SharedMemory::describe(const void* address) const noexcept {
    const SharedArenas all = arenas(dynamic_bytes_);
    const struct {
        const char *begin, *text;
    } zones[] = {
        {all.dynamic_end, "past the end of the dynamic shared memory"},
        {all.dynamic_begin - zone_bytes, "before the start of the dynamic shared memory"},
        {all.static_end, "past the end of the static shared memory"},
        {all.static_begin - zone_bytes, "before the start of the static shared memory"},
    };
    const auto* at = static_cast<const char*>(address);
    for (const auto& [begin, text] : zones)
        if (at >= begin && at < begin + zone_bytes) return text;
    return "";
}

}  // namespace gradverify::simt
