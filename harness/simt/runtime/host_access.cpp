// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/runtime/host_access.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

/// Changes of protection in one call, of 2 to 4 us each: what a call of many works costs more.
constexpr std::size_t most_changes = 1000;

struct Pages {
    AddressRange range;
    bool is_input;
};

// Pages are the process's, and so is this.
struct HostAccess {
    std::mutex mutex;
    std::vector<Pages> buffers;               ///< of the launcher that runs
    std::size_t works = 0;                    ///< OS threads for which the device works
    std::atomic<std::uint64_t> launcher = 0;  ///< launchers that have begun
    std::size_t changes = 0;
    std::atomic<bool> closes = false;  ///< whenever the device does not work
    std::atomic<bool> is_closed = false;

    void protect(int buffers_protection, int inputs_protection) {
        for (const auto& [range, is_input] : buffers)
            mprotect(const_cast<void*>(pointer_to(range.begin)), range.end - range.begin,
                     is_input ? inputs_protection : buffers_protection);
    }
    void close() {
        protect(PROT_NONE, PROT_NONE);
        changes += buffers.size() + protect_allocations(PROT_NONE);
        is_closed = true;
    }
    void open(int inputs_protection) {
        protect(PROT_READ | PROT_WRITE, inputs_protection);
        if (is_closed) protect_allocations(PROT_READ | PROT_WRITE);
        is_closed = false;
    }
};
// Never destroyed: units may free memory in static destructors.
HostAccess& host_access() {
    static auto* access = new HostAccess;
    return *access;
}

/// The launcher in which the device works for this OS thread.
constinit thread_local std::uint64_t at_work_in = 0;

}  // namespace

void begin_launcher(bool closes) {
    HostAccess& access = host_access();
    const std::scoped_lock lock(access.mutex);
    access.buffers.clear();
    access.works = access.changes = 0;
    ++access.launcher;
    for (const NamedBuffer& buffer : named_buffers()) {
        if (buffer.begin == buffer.end || !(closes || buffer.is_input)) continue;
        const std::uintptr_t page = page_size_bytes();
        access.buffers.push_back(
            {{number(buffer.begin) / page * page, round_up(number(buffer.end), page)},
             buffer.is_input});
    }
    access.closes = closes;
    if (closes)
        access.close();
    else
        access.open(PROT_READ);
}

void begin_device_work() {
    HostAccess& access = host_access();
    if (!access.closes || at_work_in == access.launcher) return;
    const std::scoped_lock lock(access.mutex);
    at_work_in = access.launcher;
    if (access.works++ > 0 || !access.is_closed) return;
    access.open(PROT_READ);
    if (access.changes > most_changes) access.closes = false;
}

void end_device_work() {
    if (at_work_in == 0) return;
    HostAccess& access = host_access();
    const std::scoped_lock lock(access.mutex);
    if (std::exchange(at_work_in, 0) == access.launcher && --access.works == 0 && access.closes)
        access.close();
}

bool is_device_memory_closed() { return host_access().is_closed; }

bool is_closed(std::uintptr_t address) {
    const HostAccess& access = host_access();
    if (!access.is_closed) return false;
    return find_allocation(address, address + 1).bytes > 0 ||
           std::ranges::any_of(access.buffers, [&](const Pages& pages) {
               return pages.range.meets(address, address + 1);
           });
}

void open_device_memory() {
    HostAccess& access = host_access();
    const std::scoped_lock lock(access.mutex);
    access.closes = false;
    access.open(PROT_READ | PROT_WRITE);
}

}  // namespace gradverify::simt
