// SPDX-License-Identifier: Apache-2.0
// Decides where tensors lie in device memory and what lies around them: guard zones on both sides
// of every buffer, and poison in everything that a kernel should write before it reads. After a
// run it says what was changed that should not have been. Knows no operator and compares no
// results.
//
// Guards alternate a NaN with a small finite number: a read of a guard shows as NaN in a result,
// and an accumulating stray write, which leaves a NaN's bits as they are, changes the finite one.
// Two runs with the two parities cover every element both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/operator.hpp"
#include "harness/tensor_view.hpp"

namespace gradverify {

/// What a buffer that the kernel must write holds before the run.
enum class Poison { nan, positive_huge, negative_huge };

enum class BufferRole { input, output, workspace };

/// One buffer of a call.
struct BufferSpec {
    std::string name;
    BufferRole role = BufferRole::input;
    DType dtype = DType::f32;
    Sizes sizes;
    /// Elements between an address aligned to `alignment_bytes` and the first element.
    std::int64_t offset = 0;
    std::int64_t alignment_bytes = 256;
};

/// What surrounds the data in one run.
struct Surroundings {
    Poison poison = Poison::nan;
    int guard_parity = 0;  ///< 0: even guard elements are NaN; 1: odd ones
    bool operator==(const Surroundings&) const = default;
};

/// Memory that a run changed and should not have.
struct StrayWrite {
    std::string buffer;
    /// Elements relative to the buffer's first; negative or past the end for a guard.
    std::int64_t first_element = 0;
    std::int64_t elements = 0;
    enum class Where { before, input, after } where = Where::after;

    /// `wrote 2 elements after the end of dw, the first at dw[6] of 6`
    std::string print(std::int64_t buffer_elements) const;
};

/// The buffers of one call, in one block of device memory.
class Arena {
  public:
    /// Lays the buffers out; memory is kept by the device and reused by later arenas.
    Arena(Device& device, std::vector<BufferSpec> buffers);

    /// Fills guards, poison and workspace; inputs keep what `write` gave them.
    void surround(const Surroundings& surroundings);
    /// Sets a buffer's elements, each rounded to its type.
    void write(std::size_t buffer, std::span<const double> values);

    void upload();
    void download();

    TensorView view(std::size_t buffer) const;
    /// The elements after `download`.
    std::vector<double> read(std::size_t buffer) const;
    /// The bytes after `download`.
    std::span<const std::byte> bytes(std::size_t buffer) const;
    /// Flat indices of the elements that still hold the poison's bits.
    std::vector<std::int64_t> untouched(std::size_t buffer) const;

    /// Writes to guards and inputs since `upload`.
    std::vector<StrayWrite> stray_writes() const;

    const std::vector<BufferSpec>& buffers() const { return buffers_; }

  private:
    struct Placement {
        std::size_t guard_begin = 0, data_begin = 0, data_end = 0, guard_end = 0;
    };
    void fill_guard(std::size_t buffer, int parity);
    void find_changes(std::size_t buffer, std::size_t begin, std::size_t end,
                      StrayWrite::Where where, std::vector<StrayWrite>& found) const;

    Device& device_;
    std::vector<BufferSpec> buffers_;
    std::vector<Placement> placements_;
    std::size_t bytes_total_ = 0;
    std::byte* memory_ = nullptr;  ///< on the device
    std::byte* before_ = nullptr;  ///< what was uploaded
    std::byte* after_ = nullptr;   ///< what came back
};

}  // namespace gradverify
