// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/runtime/host_memory.hpp"

#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <mutex>
#include <span>

#include "gradverify_simt/state.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

/// Flipped, it leads from where Linux maps a process's memory to where it maps nothing.
constexpr std::uintptr_t hiding_bit = std::uintptr_t{1} << 46;
constexpr std::uintptr_t addresses_end = std::uintptr_t{1} << 48;

struct LentMemory {
    std::mutex mutex;
    std::map<std::uintptr_t, std::uintptr_t> ends;  ///< by begin; none meets another

    /// The last that begins before an address.
    auto before(std::uintptr_t address) {
        const auto behind = ends.lower_bound(address);
        return behind == ends.begin() ? ends.end() : std::prev(behind);
    }
};
// Never destroyed: units may free memory in static destructors.
LentMemory& lent_memory() {
    static auto* memory = new LentMemory;
    return *memory;
}

/// How the program or library that holds an address uses it.
struct ModuleQuery {
    std::uintptr_t address;
    const char* use = nullptr;
    bool is_code = false;
};
int ask_module(dl_phdr_info* module, std::size_t, void* data) {
    auto& query = *static_cast<ModuleQuery*>(data);
    for (const auto& part : std::span(module->dlpi_phdr, module->dlpi_phnum)) {
        const std::uintptr_t begin = module->dlpi_addr + part.p_vaddr;
        if (part.p_type != PT_LOAD || query.address - begin >= part.p_memsz) continue;
        query.is_code = (part.p_flags & PF_X) != 0;
        query.use = (part.p_flags & PF_W) != 0 ? "a variable" : "a constant";
    }
    return query.use != nullptr ? 1 : 0;
}

/// What an address is of; null for what kernels may use, functions, and addresses of nothing.
const char* host_use(std::uintptr_t address) {
    const std::uintptr_t before = address - 1, behind = address + 1;
    if (address == 0 || address >= addresses_end || meets_buffer(pointer_to(before), 2) ||
        find_device_memory(before, behind).bytes > 0 || is_lent(address, behind) ||
        is_unreadable(address))
        return nullptr;
    if (stack_of_os_thread().meets(address, address + 1)) return "the stack";
    ModuleQuery query{.address = address};
    dl_iterate_phdr(&ask_module, &query);
    if (query.is_code) return nullptr;
    if (query.use != nullptr) return query.use;
    // The end of memory that was allocated for a kernel is the kernel's, and nothing else begins
    // there.
    return is_lent(before, behind) ? nullptr : "the heap";
}

/// Smaller words are taken for numbers: two ints, most of them.
std::uintptr_t least_address() {
    static const std::uintptr_t least = [] {
        std::uintptr_t found = addresses_end;
        dl_iterate_phdr(
            [](dl_phdr_info* module, std::size_t, void* data) {
                for (const auto& part : std::span(module->dlpi_phdr, module->dlpi_phnum)) {
                    auto& lowest = *static_cast<std::uintptr_t*>(data);
                    if (part.p_type == PT_LOAD)
                        lowest = std::min(lowest, module->dlpi_addr + part.p_vaddr);
                }
                return 0;
            },
            &found);
        return std::max(found, std::uintptr_t{1} << 32);
    }();
    return least;
}

}  // namespace

bool is_unreadable(std::uintptr_t page_begin) {
    // Linux reads the set of signals before it refuses the operation, which does not exist.
    constexpr long no_operation = -1, set_bytes = 8;
    return syscall(SYS_rt_sigprocmask, no_operation, page_begin, nullptr, set_bytes) != 0 &&
           errno == EFAULT;
}

void lend_to_kernels(void* begin, std::size_t bytes) {
    LentMemory& memory = lent_memory();
    const std::scoped_lock lock(memory.mutex);
    const std::uintptr_t end = number(begin) + std::max<std::size_t>(bytes, 1);
    // Device code that frees by `delete` does not say so.
    for (auto last = memory.before(end); last != memory.ends.end() && last->second > number(begin);
         last = memory.before(end))
        memory.ends.erase(last);
    if (bytes != 0) memory.ends[number(begin)] = end;
}

bool is_lent(std::uintptr_t begin, std::uintptr_t end) {
    LentMemory& memory = lent_memory();
    const std::scoped_lock lock(memory.mutex);
    const auto last = memory.before(end);
    return last != memory.ends.end() && last->second > begin;
}

std::string host_memory_text(std::uintptr_t address) {
    const char* const use = host_use(address ^ hiding_bit);
    return use == nullptr ? "" : "host memory (a host pointer to " + std::string(use) + ")";
}

namespace unit {
extern "C" {

void gradverify_simt_hide_host_memory(void* words, std::size_t bytes, bool may_be_number) {
    for (std::uintptr_t& word :
         std::span(static_cast<std::uintptr_t*>(words), bytes / sizeof(std::uintptr_t))) {
        if (may_be_number && word < least_address()) continue;
        if (host_use(word) != nullptr) word ^= hiding_bit;
    }
}
void gradverify_simt_lend(void* begin, std::size_t bytes) { lend_to_kernels(begin, bytes); }

}  // extern "C"
}  // namespace unit
}  // namespace gradverify::simt
