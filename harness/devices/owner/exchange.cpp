// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/owner/exchange.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <numeric>

#include "harness/base/errors.hpp"

namespace gradverify {

namespace {

constexpr std::size_t in_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    return (bytes + page - 1) / page * page;
}

constexpr std::size_t head_bytes = in_pages(sizeof(ExchangeHead));
constexpr std::size_t slot_bytes = in_pages(sizeof(ExchangeSlot));

[[noreturn]] void refuse(const char* what) {
    throw EnvironmentError(fmt::format("{}: {}", what, std::strerror(errno)));
}

/// The word is shared between processes, which std::atomic's own wait does not serve.
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value, long seconds) {
    const timespec limit{.tv_sec = seconds, .tv_nsec = 0};
    syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

constexpr const char* cant_map = "can't map memory that is shared with a device's owner";

void reach(std::byte* begin, std::size_t bytes) {
    if (mprotect(begin, in_pages(bytes), PROT_READ | PROT_WRITE) != 0) refuse(cant_map);
}

void wake_all(const std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

std::size_t Exchange::size_of(int slots) {
    return head_bytes + static_cast<std::size_t>(slots) * (slot_bytes + images * most_bytes);
}

int Exchange::make_memory(int slots) {
    const int fd = memfd_create("gradverify-exchange", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(size_of(slots))) != 0)
        refuse("can't make memory that is shared with a device's owner");
    return fd;
}

Exchange::Exchange(int fd, int slots)
    : slots_(slots), reached_(images * static_cast<std::size_t>(slots)) {
    void* const memory =
        mmap(nullptr, size_of(slots), PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED) refuse(cant_map);
    memory_ = static_cast<std::byte*>(memory);
    reach(memory_, head_bytes + static_cast<std::size_t>(slots) * slot_bytes);
}

Exchange::~Exchange() { munmap(memory_, size_of(slots_)); }

// The memory is all zeros at first, which is a head and slots that are idle.
ExchangeHead& Exchange::head() const { return *reinterpret_cast<ExchangeHead*>(memory_); }

ExchangeSlot& Exchange::slot(int index) const {
    return *reinterpret_cast<ExchangeSlot*>(memory_ + head_bytes +
                                            static_cast<std::size_t>(index) * slot_bytes);
}

std::byte* Exchange::image(int index, Image which, std::size_t bytes) {
    const std::size_t place =
        images * static_cast<std::size_t>(index) + static_cast<std::size_t>(which);
    std::byte* const begin =
        memory_ + head_bytes + static_cast<std::size_t>(slots_) * slot_bytes + place * most_bytes;
    if (bytes > reached_[place]) {
        reach(begin, bytes);
        reached_[place] = in_pages(bytes);
    }
    return begin;
}

std::size_t Exchange::bytes_reached() const {
    return std::accumulate(reached_.begin(), reached_.end(), std::size_t{0});
}

void Exchange::ring() const {
    ++head().doorbell;
    wake_all(head().doorbell);
}

void Exchange::call(int index) const {
    std::atomic<std::uint32_t>& turn = slot(index).turn;
    const std::uint32_t asked = ++turn;
    ring();
    while (turn == asked) wait_while(turn, asked, 1);
}

void Exchange::await_calls(std::uint32_t seen) const {
    if (head().doorbell == seen) wait_while(head().doorbell, seen, 1);
}

void Exchange::answer(int index, std::uint32_t turn) const {
    if (slot(index).turn.compare_exchange_strong(turn, turn + 1)) wake_all(slot(index).turn);
}

void Exchange::leave(int index) const {
    slot(index).is_left = true;
    forget(index);
}

void Exchange::forget(int index) const {
    ExchangeSlot& left = slot(index);
    left.is_suspect = false;
    answer(index, left.turn | 1);
}

}  // namespace gradverify
