// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/arena.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "harness/numbers/element_bits.hpp"
#include "harness/registry/layout.hpp"

namespace gradverify {

namespace {

// A zone as large as the tensor catches an index that is off by a whole channel or image; beyond
// this size filling and comparing would cost more than the kernel, and a write that jumps farther
// lands in another buffer, which is watched as well.
constexpr std::size_t guard_bytes_minimum = 512;
constexpr std::size_t guard_bytes_maximum = std::size_t{16} * 1024;

// What a device gives, as cudaMalloc does: of regions' addresses and sizes.
constexpr std::size_t base_alignment = 256;

std::size_t round_up(std::size_t value, std::size_t factor) {
    return (value + factor - 1) / factor * factor;
}

void store(std::byte* at, std::uint64_t bits, std::size_t bytes) { std::memcpy(at, &bits, bytes); }

/// Fills with two alternating elements.
void fill(std::byte* begin, std::byte* end, std::uint64_t even, std::uint64_t odd,
          std::size_t element_bytes) {
    // Many elements at a time, so that the compiler can use wide stores.
    std::array<std::byte, 16> pairs{};
    for (std::size_t at = 0; at < pairs.size(); at += 2 * element_bytes) {
        store(pairs.data() + at, even, element_bytes);
        store(pairs.data() + at + element_bytes, odd, element_bytes);
    }
    for (; begin + pairs.size() <= end; begin += pairs.size())
        std::memcpy(begin, pairs.data(), pairs.size());
    for (std::size_t at = 0; begin + element_bytes <= end;
         begin += element_bytes, at += element_bytes)
        std::memcpy(begin, pairs.data() + at, element_bytes);
}

std::size_t offset_bytes(const BufferSpec& buffer) {
    return static_cast<std::size_t>(buffer.offset) * traits_of(buffer.dtype).bytes;
}

std::size_t guard_bytes(std::size_t data_bytes) {
    return std::clamp(round_up(data_bytes, base_alignment), guard_bytes_minimum,
                      guard_bytes_maximum);
}

}  // namespace

std::string StrayWrite::print(std::int64_t buffer_elements) const {
    const std::string count = std::to_string(elements) + (elements == 1 ? " element" : " elements");
    const std::string at = buffer + "[" + std::to_string(first_element) + "]";
    switch (where) {
        case Where::input:
            return "changed its input " + buffer + " (" + count + ", first " + at + ")";
        case Where::unwanted:
            return "wrote to " + buffer + ", which is not asked for (" + count + ", first " + at +
                   ")";
        case Where::gap:
            return "wrote " + count + " between the elements of " + buffer +
                   ", whose rows are padded, the first " + std::to_string(first_element) +
                   " elements behind its begin";
        case Where::before:
            return "wrote " + count + " before the start of " + buffer + ", the first at " + at;
        case Where::after:
            break;
    }
    return "wrote " + count + " past the end of " + buffer + ", the first at " + at + " of " +
           std::to_string(buffer_elements);
}

Arena::Arena(Device& device, std::vector<BufferSpec> buffers, const Surroundings& surroundings)
    : device_(device), buffers_(std::move(buffers)) {
    for (const BufferSpec& buffer : buffers_) scatters_.push_back(scatter_of(buffer));
    place(surroundings.edge);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        fill_guard(i, surroundings.guard_parity);
        if (buffers_[i].role == BufferRole::input) continue;
        const std::uint64_t bits = poison_bits(buffers_[i].dtype, surroundings.poison);
        const std::size_t element = traits_of(buffers_[i].dtype).bytes;
        std::byte* const data = before_ + placements_[i].data_begin;
        if (scatters_[i].element.empty())
            fill(data, before_ + placements_[i].data_end, bits, bits, element);
        else
            for (const std::size_t at : scatters_[i].element)
                store(data + at * element, bits, element);
    }
    describe();
}

std::size_t Arena::bytes_of(std::size_t buffer) const {
    const BufferSpec& spec = buffers_[buffer];
    const Scatter& scatter = scatters_[buffer];
    return (scatter.element.empty() ? static_cast<std::size_t>(element_count(spec.sizes))
                                    : scatter.is_used.size()) *
           traits_of(spec.dtype).bytes;
}

Arena::Scatter Arena::scatter_of(const BufferSpec& buffer) {
    Scatter scatter;
    if (buffer.strides.empty() || buffer.strides == row_major_strides(buffer.sizes)) return scatter;
    const auto count = static_cast<std::size_t>(element_count(buffer.sizes));
    scatter.element.resize(count);
    std::vector<std::int64_t> position(buffer.sizes.size());
    std::int64_t at = 0, last = -1;
    for (std::size_t& element : scatter.element) {
        element = static_cast<std::size_t>(at);
        last = std::max(last, at);
        for (std::size_t axis = position.size(); axis-- > 0;) {
            at += buffer.strides[axis];
            if (++position[axis] < buffer.sizes[axis]) break;
            at -= position[axis] * buffer.strides[axis];
            position[axis] = 0;
        }
    }
    scatter.is_used.resize(static_cast<std::size_t>(last + 1));
    for (const std::size_t element : scatter.element) scatter.is_used[element] = true;
    return scatter;
}

/// What a pointer to the first element is aligned to when the offset is 0. At an unmapped page no
/// more than declared, so that the gap is small; elsewhere as cudaMalloc aligns.
std::size_t Arena::alignment_of(const BufferSpec& buffer) const {
    const auto declared = static_cast<std::size_t>(buffer.alignment_bytes);
    return std::lcm(declared,
                    device_.has_unmapped_edges() ? traits_of(buffer.dtype).bytes : base_alignment);
}

std::vector<std::size_t> Arena::region_sizes() const {
    std::vector<std::size_t> sizes;
    for (const BufferSpec& buffer : buffers_) {
        const std::size_t data = bytes_of(sizes.size());
        // An unmapped page is the guard of its side.
        const std::size_t guards = guard_bytes(data) * (device_.has_unmapped_edges() ? 1 : 2);
        sizes.push_back(round_up(offset_bytes(buffer) + data + guards + alignment_of(buffer) - 1,
                                 base_alignment));
    }
    return sizes;
}

std::size_t Arena::data_offset(std::size_t buffer, const std::byte* region,
                               std::size_t region_bytes, Edge edge) const {
    const BufferSpec& spec = buffers_[buffer];
    const std::size_t alignment = alignment_of(spec);
    const std::size_t offset = offset_bytes(spec);
    const auto begin = reinterpret_cast<std::uintptr_t>(region);
    if (device_.has_unmapped_edges() && edge == Edge::end) {
        const std::uintptr_t last = begin + region_bytes - bytes_of(buffer) - offset;
        return last / alignment * alignment + offset - begin;
    }
    const std::size_t guard = device_.has_unmapped_edges() ? 0 : guard_bytes(bytes_of(buffer));
    return round_up(begin + guard, alignment) + offset - begin;
}

void Arena::place(Edge edge) {
    const std::vector<std::size_t> sizes = region_sizes();
    const std::vector<std::byte*> regions = device_.place(sizes, edge);
    std::size_t at = 0;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const std::size_t data = data_offset(i, regions[i], sizes[i], edge);
        placements_.push_back({.region_begin = at,
                               .data_begin = at + data,
                               .data_end = at + data + bytes_of(i),
                               .region_end = at + sizes[i],
                               .data = regions[i] + data});
        at += sizes[i];
    }
    before_ = device_.host_memory(0, at);
    after_ = device_.host_memory(1, at);
}

void Arena::describe() const {
    std::vector<PlacedBuffer> placed;
    placed.reserve(buffers_.size());
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        placed.push_back({.name = buffers_[i].name,
                          .begin = placements_[i].data,
                          .end = placements_[i].data + bytes_of(i),
                          .element_bytes = traits_of(buffers_[i].dtype).bytes});
    device_.describe(placed);
}

void Arena::fill_guard(std::size_t buffer, int parity) {
    const Placement& place = placements_[buffer];
    const DType dtype = buffers_[buffer].dtype;
    const std::size_t element = traits_of(dtype).bytes;
    const std::uint64_t even = guard_bits(dtype, parity == 0);
    const std::uint64_t odd = guard_bits(dtype, parity != 0);
    // Both zones count elements from the buffer's first one, so that the parity is the index's.
    const std::size_t before = (place.data_begin - place.region_begin) / element;
    const std::size_t from = place.data_begin - before * element;
    fill(before_ + from, before_ + place.data_begin, before % 2 == 0 ? even : odd,
         before % 2 == 0 ? odd : even, element);
    const std::size_t count = (place.data_end - place.data_begin) / element;
    // What lies between the elements is a guard as well.
    if (!scatters_[buffer].element.empty())
        fill(before_ + place.data_begin, before_ + place.data_end, even, odd, element);
    fill(before_ + place.data_end, before_ + place.region_end, count % 2 == 0 ? even : odd,
         count % 2 == 0 ? odd : even, element);
}

void Arena::write(std::size_t buffer, std::span<const double> values) {
    const DType dtype = buffers_[buffer].dtype;
    const std::size_t element = traits_of(dtype).bytes;
    const Placement& place = placements_[buffer];
    if (values.size() != static_cast<std::size_t>(element_count(buffers_[buffer].sizes)))
        throw std::logic_error("Arena::write: " + std::to_string(values.size()) +
                               " values for the buffer " + buffers_[buffer].name);
    std::byte* at = before_ + place.data_begin;
    if (!scatters_[buffer].element.empty()) {
        for (std::size_t i = 0; i < values.size(); ++i)
            store(at + element_at(buffer, i) * element, bits_of(dtype, values[i]), element);
        return;
    }
    if (dtype == DType::f32) {  // the common case, without a switch per element
        for (const double value : values) {
            const float narrowed = static_cast<float>(value);
            std::memcpy(at, &narrowed, sizeof narrowed);
            at += sizeof narrowed;
        }
        return;
    }
    for (const double value : values) {
        store(at, bits_of(dtype, value), element);
        at += element;
    }
}

void Arena::upload() { device_.upload(before_); }
void Arena::download() { device_.download(after_); }

TensorView Arena::view(std::size_t buffer) const {
    const BufferSpec& spec = buffers_[buffer];
    TensorView view;
    view.data = placements_[buffer].data;
    view.dtype = spec.dtype;
    view.rank = static_cast<int>(spec.sizes.size());
    const Strides strides = spec.strides.empty() ? row_major_strides(spec.sizes) : spec.strides;
    std::ranges::copy(spec.sizes, view.sizes.begin());
    std::ranges::copy(strides, view.strides.begin());
    return view;
}

std::span<const std::byte> Arena::bytes(std::size_t buffer) const {
    const Placement& place = placements_[buffer];
    return {after_ + place.data_begin, place.data_end - place.data_begin};
}

std::vector<double> Arena::read(std::size_t buffer) const {
    const std::span<const std::byte> from = bytes(buffer);
    const DType dtype = buffers_[buffer].dtype;
    const std::size_t element = traits_of(dtype).bytes;
    std::vector<double> values(static_cast<std::size_t>(element_count(buffers_[buffer].sizes)));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = value_of(dtype, from.data() + element_at(buffer, i) * element);
    return values;
}

std::vector<std::int64_t> Arena::untouched(std::size_t buffer) const {
    const Placement& place = placements_[buffer];
    const std::size_t element = traits_of(buffers_[buffer].dtype).bytes;
    const auto count = static_cast<std::size_t>(element_count(buffers_[buffer].sizes));
    std::vector<std::int64_t> found;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = place.data_begin + element_at(buffer, i) * element;
        if (std::memcmp(before_ + at, after_ + at, element) == 0)
            found.push_back(static_cast<std::int64_t>(i));
    }
    return found;
}

void Arena::find_changes(std::size_t buffer, std::size_t begin, std::size_t end,
                         StrayWrite::Where where, std::vector<StrayWrite>& found) const {
    if (std::memcmp(before_ + begin, after_ + begin, end - begin) == 0) return;
    const auto element = static_cast<std::int64_t>(traits_of(buffers_[buffer].dtype).bytes);
    const auto data_begin = static_cast<std::int64_t>(placements_[buffer].data_begin);
    StrayWrite stray{.buffer = buffers_[buffer].name, .where = where};
    std::int64_t last = INT64_MIN;
    for (std::size_t at = begin; at < end; ++at) {
        if (before_[at] == after_[at]) continue;
        const std::int64_t bytes_from_start = static_cast<std::int64_t>(at) - data_begin;
        // Rounds towards minus infinity, so that the byte before the start is element -1.
        const std::int64_t index =
            (bytes_from_start - (bytes_from_start < 0 ? element - 1 : 0)) / element;
        if (index == last) continue;
        if (stray.elements++ == 0) stray.first_element = index;
        last = index;
    }
    found.push_back(stray);
}

void Arena::find_gap_changes(std::size_t buffer, std::vector<StrayWrite>& found) const {
    const std::size_t element = traits_of(buffers_[buffer].dtype).bytes;
    const std::vector<bool>& is_used = scatters_[buffer].is_used;
    StrayWrite stray{.buffer = buffers_[buffer].name, .where = StrayWrite::Where::gap};
    for (std::size_t i = 0; i < is_used.size(); ++i) {
        const std::size_t at = placements_[buffer].data_begin + i * element;
        if (is_used[i] || std::memcmp(before_ + at, after_ + at, element) == 0) continue;
        if (stray.elements++ == 0) stray.first_element = static_cast<std::int64_t>(i);
    }
    if (stray.elements > 0) found.push_back(stray);
}

std::vector<StrayWrite> Arena::stray_writes() const {
    std::vector<StrayWrite> found;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Placement& place = placements_[i];
        find_changes(i, place.region_begin, place.data_begin, StrayWrite::Where::before, found);
        if (buffers_[i].role == BufferRole::input)
            find_changes(i, place.data_begin, place.data_end, StrayWrite::Where::input, found);
        if (buffers_[i].role == BufferRole::unwanted)
            find_changes(i, place.data_begin, place.data_end, StrayWrite::Where::unwanted, found);
        if (buffers_[i].role == BufferRole::output) find_gap_changes(i, found);
        find_changes(i, place.data_end, place.region_end, StrayWrite::Where::after, found);
    }
    return found;
}

}  // namespace gradverify
