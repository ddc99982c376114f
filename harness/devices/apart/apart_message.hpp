// SPDX-License-Identifier: Apache-2.0
// What a worker and its launcher process tell each other: messages on a socket, and the tensors in
// memory that both have. Who reads a message trusts nothing in it.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/devices/call_note.hpp"
#include "harness/problems/problem.hpp"
#include "harness/registry/tensor_view.hpp"

namespace gradverify {

/// The launcher process's descriptors.
inline constexpr int apart_socket_fd = 3, apart_memory_fd = 4;

/// Writes values one behind the other; a struct names its own in `fields`.
class MessageWriter {
  public:
    std::string bytes;

    void operator()(const auto&... values) { (write(values), ...); }

  private:
    template <class T>
    void write(const T& value) {
        if constexpr (requires { T::fields(value, *this); }) {
            T::fields(value, *this);
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        } else {
            write(static_cast<std::uint32_t>(value.size()));
            for (const auto& one : value) write(one);
        }
    }
};

/// Reads them again. **Errors** std::runtime_error where a message ends too soon.
class MessageReader {
  public:
    explicit MessageReader(std::string_view bytes) : left_(bytes) {}

    void operator()(auto&... values) { (read(values), ...); }
    bool at_end() const { return left_.empty(); }

  private:
    template <class T>
    void read(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            value = take(1).front() != 0;
        } else if constexpr (requires { T::fields(value, *this); }) {
            T::fields(value, *this);
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            std::memcpy(&value, take(sizeof value).data(), sizeof value);
        } else {
            std::uint32_t count = 0;
            read(count);
            // Each takes a byte at least.
            if (count > left_.size()) throw std::runtime_error("a message ends too soon");
            value.resize(count);
            for (auto& one : value) read(one);
        }
    }
    std::string_view take(std::size_t count) {
        if (count > left_.size()) throw std::runtime_error("a message ends too soon");
        const std::string_view taken = left_.substr(0, count);
        left_.remove_prefix(count);
        return taken;
    }

    std::string_view left_;
};

template <class T>
std::string message_of(const T& value) {
    MessageWriter writer;
    writer(value);
    return std::move(writer.bytes);
}
template <class T>
T read_message(std::string_view bytes) {
    T value;
    MessageReader reader(bytes);
    reader(value);
    if (!reader.at_end()) throw std::runtime_error("a message is too long");
    return value;
}

/// The parameters that a problem's numbers belong to.
struct ApartSpace {
    struct Parameter {
        ParameterSpec spec;

        static void fields(auto& self, auto& visit) {
            visit(self.spec.name, self.spec.kind, self.spec.default_value, self.spec.minimum,
                  self.spec.maximum, self.spec.carries_rank, self.spec.is_padding,
                  self.spec.values);
        }
    };
    std::vector<Parameter> parameters;
    int rank_min = 0, rank_max = 0;

    static void fields(auto& self, auto& visit) {
        visit(self.parameters, self.rank_min, self.rank_max);
    }
};

/// One call of a launcher. Addresses count as `apart_begins` says; 0 is none.
struct ApartCall {
    /// See PlacedBuffer.
    struct Buffer {
        std::string name;
        std::uint64_t begin = 0, end = 0, element_bytes = 1;
        bool is_input = false;

        static void fields(auto& self, auto& visit) {
            visit(self.name, self.begin, self.end, self.element_bytes, self.is_input);
        }
    };

    std::uint64_t number = 0;
    std::string operator_name, pass_name, variant, device;  ///< of the declaration
    std::string space;                                      ///< a message: an ApartSpace
    int rank = 0;
    std::vector<std::int64_t> problem;
    std::vector<TensorView> tensors;
    std::vector<std::string> names;
    std::uint64_t outputs = 0;
    bool own_stream = false;
    int block_size = 0;
    std::uint32_t output_mask = 0;
    std::uint64_t workspace = 0;
    std::int64_t workspace_bytes = 0;
    int order = 0, delayed = 0;
    std::uint64_t order_seed = 0;
    bool places = false;  ///< new regions, and what lies in them; else those of the call before
    int edge = 0, poison = 0;
    bool is_protected = false;
    std::vector<std::uint64_t> region_bytes;
    std::vector<Buffer> buffers;
    bool uploads = false;  ///< what the image holds; else they hold what the call before left

    static void fields(auto& self, auto& visit) {
        visit(self.number, self.operator_name, self.pass_name, self.variant, self.device,
              self.space, self.rank, self.problem, self.tensors, self.names, self.outputs,
              self.own_stream, self.block_size, self.output_mask, self.workspace,
              self.workspace_bytes, self.order, self.delayed, self.order_seed, self.places,
              self.edge, self.poison, self.is_protected, self.region_bytes, self.buffers,
              self.uploads);
    }
};

/// That it was completed, and what it came to; see RunStatus. The first answer, whose number is 0,
/// is given before any call: the device is open, or it says why it is not.
struct ApartAnswer {
    static constexpr std::size_t most_bytes = std::size_t{1} << 17, most_text = 4000,
                                 most_findings = 20;
    std::uint64_t number = 0;
    std::string error, unordered, overflows;
    std::vector<std::string> findings;
    double seconds = 0.0;
    std::uint64_t accesses_checked = 0;
    bool has_thrown = false;  ///< the device, before or behind the launcher
    bool not_served = false, is_refusal = false, device_lost = false;

    static void fields(auto& self, auto& visit) {
        visit(self.number, self.error, self.unordered, self.overflows, self.findings, self.seconds,
              self.accesses_checked, self.has_thrown, self.not_served, self.is_refusal,
              self.device_lost);
    }
};

/// Where regions begin. Each has far more addresses than it takes, and its begin and end lie at
/// pages' edges as the device's own do.
inline constexpr std::uint64_t apart_zone = std::uint64_t{1} << 36;
inline std::vector<std::uint64_t> apart_begins(std::span<const std::uint64_t> region_bytes,
                                               bool ends_at_page) {
    std::vector<std::uint64_t> begins;
    for (const std::uint64_t bytes : region_bytes)
        begins.push_back((16 + begins.size()) * apart_zone + apart_zone / 2 -
                         (ends_at_page ? bytes : 0));
    return begins;
}
/// The region that an address lies in, or at whose end.
inline std::size_t apart_region(std::uint64_t address) { return address / apart_zone - 16; }

/// The memory behind a descriptor: a note by the launcher process, and the image of all regions,
/// one behind the other. **Errors** std::runtime_error.
class ApartMemory {
  public:
    static constexpr std::size_t note_bytes = std::size_t{1} << 16;
    static constexpr std::size_t most_bytes = std::size_t{1} << 34;

    explicit ApartMemory(int fd)
        : memory_(mmap(nullptr, note_bytes + most_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd,
                       0)) {
        if (memory_ == MAP_FAILED) throw std::runtime_error("can't map memory for tensors");
        reach(note_bytes);
    }
    ~ApartMemory() { munmap(memory_, note_bytes + most_bytes); }
    ApartMemory(const ApartMemory&) = delete;
    ApartMemory& operator=(const ApartMemory&) = delete;

    const WorkerNote& note() const { return *static_cast<const WorkerNote*>(memory_); }
    /// Of so many bytes; a wild pointer meets nothing behind them.
    std::byte* image(std::size_t bytes) {
        if (bytes > most_bytes) throw std::runtime_error("not enough memory for the tensors");
        reach(note_bytes + bytes);
        return static_cast<std::byte*>(memory_) + note_bytes;
    }

  private:
    void reach(std::size_t bytes) {
        if (bytes <= reached_) return;
        reached_ = (bytes + 4095) / 4096 * 4096;
        if (mprotect(memory_, reached_, PROT_READ | PROT_WRITE) != 0)
            throw std::runtime_error("can't map memory for tensors");
    }

    void* memory_;
    std::size_t reached_ = 0;
};
static_assert(sizeof(WorkerNote) <= ApartMemory::note_bytes);

}  // namespace gradverify
