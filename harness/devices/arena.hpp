// SPDX-License-Identifier: Apache-2.0
// Decides where tensors lie in device memory and what lies around them: guard zones on both sides
// of every buffer, and poison in everything that a kernel should write before it reads. After a
// run it says what was changed that should not have been.
//
// Where the device has unmapped pages, one side of every buffer lies at one: its begin, or its end
// as near as the declared alignment allows. The gap that is left is a guard zone, too.
//
// Guards alternate between NaN and a small finite number: a read of a guard shows as NaN in a
// result, and an accumulating stray write changes the finite number, though it may leave a NaN's
// bits as they are. Two runs with the two parities cover every element both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/devices/device.hpp"
#include "harness/devices/poison.hpp"
#include "harness/operators/operator.hpp"
#include "harness/registry/tensor_view.hpp"

namespace gradverify {

/// Addresses of regions are multiples of it, as cudaMalloc's are.
inline constexpr std::int64_t base_alignment_of_devices = 256;

/// `unwanted`: an output that is not asked for; poisoned like an output, watched like an input.
enum class BufferRole { input, output, workspace, unwanted };

struct BufferSpec {
    std::string name;
    BufferRole role = BufferRole::input;
    DType dtype = DType::f32;
    Sizes sizes;
    /// Elements from one to the next along each axis, 0 along an expanded axis; empty: row-major.
    std::vector<std::int64_t> strides{};
    /// Elements between an address aligned to `alignment_bytes` and the first element.
    std::int64_t offset = 0;
    std::int64_t alignment_bytes = 256;
};

struct Surroundings {
    Poison poison = Poison::nan;
    int guard_parity = 0;  ///< 0: even guard elements are NaN; 1: odd ones
    /// Which end of each buffer lies at an unmapped page, on a device that has them.
    Edge edge = Edge::end;
    DelayedStream delayed = DelayedStream::none;
    /// What the workspace and the launcher's own allocations hold, if not the same as outputs.
    std::optional<Poison> scratch{};
    /// Inputs from writes, and device memory from the host, where the device can.
    bool is_protected = false;

    Surroundings with_other_edge() const {
        Surroundings other = *this;
        other.edge = edge == Edge::end ? Edge::begin : Edge::end;
        return other;
    }
    bool operator==(const Surroundings&) const = default;
};

class Arena {
  public:
    /// Lays the buffers out and poisons them. The next arena has the same memory.
    Arena(Device& device, std::vector<BufferSpec> buffers, const Surroundings& surroundings);

    /// Sets a buffer's elements, in the order of its sizes, each rounded to its type.
    void write(std::size_t buffer, std::span<const double> values);

    void upload();
    void download();

    TensorView view(std::size_t buffer) const;
    /// The elements after `download`, in the order of the sizes.
    std::vector<double> read(std::size_t buffer) const;
    /// The bytes after `download`.
    std::span<const std::byte> bytes(std::size_t buffer) const;
    /// Flat indices of the elements that still hold the poison's bits.
    std::vector<std::int64_t> untouched(std::size_t buffer) const;

    /// What came back in these elements is taken for zeros.
    void clear(std::size_t buffer, const std::vector<bool>& elements);

    /// Writes to guards and inputs since `upload`, as in `wrote 2 elements past the end of dw, the
    /// first at dw[6], but dw has 6`.
    std::vector<std::string> stray_writes() const;

  private:
    /// Offsets in the copies on the host.
    struct Placement {
        std::size_t region_begin = 0, data_begin = 0, data_end = 0, region_end = 0;
        std::byte* data = nullptr;  ///< on the device
    };
    /// Where the elements lie in a buffer that is not row-major.
    struct Scatter {
        std::vector<std::size_t> element;  ///< the place of each, in elements from the first
        std::vector<bool> is_used;         ///< for each place, whether an element lies there
    };
    std::size_t element_at(std::size_t buffer, std::size_t index) const {
        return scatters_[buffer].element.empty() ? index : scatters_[buffer].element[index];
    }
    static Scatter scatter_of(const BufferSpec& buffer);
    std::size_t count_of(std::size_t buffer) const {
        return static_cast<std::size_t>(element_count(buffers_[buffer].sizes));
    }
    std::size_t bytes_of(std::size_t buffer) const;
    std::vector<std::size_t> region_sizes() const;
    /// Bytes from the region's begin to the buffer's first element.
    std::size_t data_offset(std::size_t buffer, const std::byte* region, std::size_t region_bytes,
                            Edge edge) const;
    void place(Edge edge);
    void describe(const Surroundings& surroundings) const;
    void fill_with_guards(std::size_t buffer, int parity);
    /// Writes the bits of each element, by its index.
    template <class BitsAt>
    void store(std::size_t buffer, const BitsAt& bits_at);
    /// `element`: a place in memory, counted from the buffer's first.
    bool is_changed(std::size_t buffer, std::int64_t element) const;
    /// Memory that a run should not change.
    enum class Zone { before, input, unwanted, gap, after };
    void find_changes(std::size_t buffer, std::size_t begin, std::size_t end, Zone zone,
                      std::vector<std::string>& found) const;
    std::string print_changes(std::size_t buffer, Zone zone, std::int64_t first,
                              std::int64_t elements) const;

    Device& device_;
    std::vector<BufferSpec> buffers_;
    std::vector<Scatter> scatters_;  ///< empty for a row-major buffer
    std::vector<Placement> placements_;
    std::byte* before_ = nullptr;  ///< what was uploaded
    std::byte* after_ = nullptr;   ///< what came back
};

}  // namespace gradverify
