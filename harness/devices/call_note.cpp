// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/call_note.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <set>

#include "harness/base/errors.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify {

namespace {

WorkerNote private_note;
WorkerNote* note = &private_note;
std::set<std::string, std::less<>> distrusted;

}  // namespace

WorkerNote& worker_note() { return *note; }

bool share_worker_note(int fd) {
    void* page = mmap(nullptr, sizeof(WorkerNote), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) return false;
    note = new (page) WorkerNote;
    return true;
}

void note_case() {
    worker_note().in_call_before = false;
    worker_note().partners[0] = '\0';
    worker_note().overflows[0] = '\0';
    simt::forget_overflows();
}

void note_partner(std::string_view kernel) {
    auto& partners = worker_note().partners;
    const std::size_t used = std::strlen(partners.data());
    const std::string_view noted(partners.data(), used);
    const std::string word = std::string(kernel) + " ";
    if (noted.find(word) != std::string_view::npos) return;
    if (used + word.size() < partners.size())
        std::memcpy(partners.data() + used, word.c_str(), word.size() + 1);
}

void note_found(const char* text, bool is_not_served) {
    auto& found = worker_note().found;
    if (found[0] != '\0' && *text != '\0') return;
    worker_note().found_not_served = is_not_served;
    std::strncpy(found.data(), text, found.size() - 1);
}

void note_faults() {
    simt::note_errors(note_found);
    simt::turn_faults_into_errors([] { return note->in_launcher.load(); });
}

void note_overflow(const char* text) {
    auto& overflows = worker_note().overflows;
    const std::size_t used = std::strlen(overflows.data());
    std::snprintf(overflows.data() + used, overflows.size() - used, "%s%s", used == 0 ? "" : "; ",
                  text);
}

void end_without_device(const std::string& why) {
    if (note == &private_note) throw EnvironmentError(why);
    std::fprintf(stderr, "%s\n", why.c_str());
    _exit(worker_exit_device_lost);
}

void distrust(std::string_view kernel) { distrusted.emplace(kernel); }

bool is_distrusted(std::string_view kernel) { return distrusted.contains(kernel); }

}  // namespace gradverify
