// SPDX-License-Identifier: Apache-2.0
// Decides the kind of a page of memory, and which of its bytes may be touched.
#include <link.h>

#include <algorithm>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/runtime/host_memory.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

/// How the programs and libraries of the process use a page.
struct ModuleQuery {
    std::uintptr_t begin, end;
    bool is_thread_local = false, is_variable = false, is_constant = false;
};

int ask_module(dl_phdr_info* module, std::size_t, void* data) {
    auto& query = *static_cast<ModuleQuery*>(data);
    for (int i = 0; i < module->dlpi_phnum; ++i) {
        const auto& part = module->dlpi_phdr[i];
        if (part.p_type == PT_TLS && module->dlpi_tls_data != nullptr) {
            const std::uintptr_t begin = number(module->dlpi_tls_data);
            if (AddressRange{begin, begin + part.p_memsz}.meets(query.begin, query.end))
                query.is_thread_local = true;
        }
        if (part.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = module->dlpi_addr + part.p_vaddr;
        if (!AddressRange{begin, begin + part.p_memsz}.meets(query.begin, query.end)) continue;
        ((part.p_flags & PF_W) != 0 ? query.is_variable : query.is_constant) = true;
    }
    return 0;
}

}  // namespace

void Detector::classify(ShadowPage& page) {
    const std::uintptr_t begin = page.number << shadow_page_bits;
    const std::uintptr_t end = begin + shadow_page_bytes;
    const auto meets = [&](const SharedArenas& arenas) {
        return AddressRange{number(arenas.static_begin), number(arenas.static_end)}.meets(begin,
                                                                                          end) ||
               AddressRange{number(arenas.dynamic_begin), number(arenas.dynamic_end)}.meets(begin,
                                                                                            end);
    };
    if (std::ranges::any_of(launch_.arenas, meets)) {
        page.kind = MemoryKind::shared;
        page.forbidden.fill(0xf);
        for (const NamedBuffer& variable : shared_variables_)
            if ((running_ranks_ >> rank_of(number(variable.begin)) & 1u) != 0)
                set_forbidden_in(page, variable.begin, variable.end, false);
        return;
    }
    if (const DeviceAllocation found = find_device_memory(begin, end); found.bytes > 0)
        return classify_global(page, found);
    ModuleQuery query{.begin = begin, .end = end};
    dl_iterate_phdr(&ask_module, &query);
    const bool is_of_thread = Executor::of_this_thread().has_stack(pointer_to(begin)) ||
                              stack_of_os_thread().meets(begin, end) || query.is_thread_local;
    if ((query.is_variable || is_lent(begin, end)) && !is_of_thread) {
        page.kind = MemoryKind::global;
    } else if (query.is_constant || is_of_thread) {
        page.kind = MemoryKind::private_to;
    } else {
        page.kind = is_unreadable(begin) ? MemoryKind::not_mapped : MemoryKind::unknown;
    }
}

void Detector::classify_global(ShadowPage& page, const DeviceAllocation& memory) {
    page.kind = MemoryKind::global;
    page.forbidden.fill(0xf);
    const auto* const begin = reinterpret_cast<const std::byte*>(memory.begin);
    bool has_buffers = false;
    for (const NamedBuffer& buffer : named_buffers()) {
        if (buffer.begin < begin || buffer.begin > begin + memory.bytes) continue;
        has_buffers = true;
        set_forbidden_in(page, buffer.begin, buffer.end, false);
    }
    if (!has_buffers) set_forbidden_in(page, begin, begin + memory.bytes, false);
}

}  // namespace gradverify::simt
