// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies to and from pinned host memory that the host has not waited for. One to the
// host may arrive only then; the source of one from the host may not change before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradverify::simt {

// Pinned memory, of any OS thread.
void pin(void* begin, std::size_t bytes);
void unpin(void* begin);
bool is_pinned(const void* address);

/// A piece of work on a stream, by numbers.
struct Piece {
    std::size_t stream = 0;
    std::uint64_t number = 0;
};

class HostCopies {
  public:
    struct Copy {
        Piece piece;
        std::string name;
        std::byte* host;
        bool is_to_host;
        /// To the host: what the side that is not at work sees in `host`. From the host: the source
        /// as it was.
        std::vector<std::byte> bytes;
        void swap() { std::swap_ranges(bytes.begin(), bytes.end(), host); }
    };
    /// Between `begin_work` and `end_work`, and when the copy itself is done.
    void add(Copy copy) { copies_.push_back(std::move(copy)); }
    /// The device sees what was copied for it, and to the host, until the end.
    void begin_work() {
        if (!is_device_ && !copies_.empty()) see_as_device();
        is_device_ = true;
    }
    void end_work() {
        if (is_device_ && !copies_.empty()) see_as_host();
        is_device_ = false;
    }
    /// The host has waited for these, or their memory goes.
    template <class IsDone>
    void complete(IsDone is_done) {
        check_sources();
        std::erase_if(copies_, [&](const Copy& copy) {
            if (!is_done(copy)) return false;
            if (copy.is_to_host) std::ranges::copy(copy.bytes, copy.host);
            return true;
        });
        remember_sources();
    }
    /// The first source that changed too early, as a sentence; "" if none did.
    std::string take_changed();

  private:
    void see_as_device();
    void see_as_host();
    void check_sources();
    void remember_sources();

    std::vector<Copy> copies_;
    std::string changed_;
    bool is_device_ = false;
};

}  // namespace gradverify::simt
