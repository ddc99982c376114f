// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/arena.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "harness/numbers/element_bits.hpp"
#include "harness/registry/layout.hpp"

namespace gradverify {

namespace {

// A zone as large as the tensor catches an index that is off by a whole channel or image. A larger
// one would cost more than the kernel, and writes beyond it meet other buffers' guards.
constexpr std::size_t guard_bytes_minimum = 512;
constexpr std::size_t guard_bytes_maximum = std::size_t{16} * 1024;

// Sizes of regions are multiples of it, too.
constexpr std::size_t base_alignment = base_alignment_of_devices;

// Holds pairs of guards of every type.
constexpr std::size_t pairs_bytes = 16;

std::size_t round_up(std::size_t value, std::size_t factor) {
    return (value + factor - 1) / factor * factor;
}

std::size_t offset_bytes(const BufferSpec& buffer) {
    return static_cast<std::size_t>(buffer.offset) * traits_of(buffer.dtype).bytes;
}

/// The alignment of the first element when the offset is 0: no more than declared, so that the gap
/// at an unmapped page is small.
std::size_t alignment_of(const BufferSpec& buffer) {
    return std::lcm(static_cast<std::size_t>(buffer.alignment_bytes),
                    traits_of(buffer.dtype).bytes);
}

std::size_t guard_bytes(std::size_t data_bytes) {
    return std::clamp(round_up(data_bytes, base_alignment), guard_bytes_minimum,
                      guard_bytes_maximum);
}

}  // namespace

std::string Arena::print_changes(std::size_t buffer, Zone zone, std::int64_t first,
                                 std::int64_t elements) const {
    const std::string& name = buffers_[buffer].name;
    const std::string count = fmt::format("{} element{}", elements, elements == 1 ? "" : "s");
    switch (zone) {
        case Zone::input:
            return fmt::format("changed its input {} ({}, first {}[{}])", name, count, name, first);
        case Zone::unwanted:
            return fmt::format("wrote to {}, which is not asked for ({}, first {}[{}])", name,
                               count, name, first);
        case Zone::gap:
            return fmt::format(
                "wrote {} between the elements of {}, whose rows are padded, the first {} elements "
                "behind its begin",
                count, name, first);
        case Zone::before:
            return fmt::format("wrote {} before the start of {}, the first at {}[{}]", count, name,
                               name, first);
        case Zone::after:
            break;
    }
    return fmt::format("wrote {} past the end of {}, the first at {}[{}], but {} has {}", count,
                       name, name, first, name, count_of(buffer));
}

template <class BitsAt>
void Arena::store(std::size_t buffer, const BitsAt& bits_at) {
    std::byte* const data = before_ + placements_[buffer].data_begin;
    const auto bytes = static_cast<int>(traits_of(buffers_[buffer].dtype).bytes);
    const std::size_t count = count_of(buffer);
    for (std::size_t i = 0; i < count; ++i)
        store_bits(data, static_cast<std::int64_t>(element_at(buffer, i)), bytes, bits_at(i));
}

Arena::Arena(Device& device, std::vector<BufferSpec> buffers, const Surroundings& surroundings)
    : device_(device), buffers_(std::move(buffers)) {
    for (const BufferSpec& buffer : buffers_) scatters_.push_back(scatter_of(buffer));
    place(surroundings.edge);
    const Poison scratch = surroundings.scratch.value_or(surroundings.poison);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        fill_with_guards(i, surroundings.guard_parity);
        const bool is_scratch = buffers_[i].role == BufferRole::workspace;
        const std::uint64_t bits =
            poison_bits(buffers_[i].dtype, is_scratch ? scratch : surroundings.poison);
        store(i, [bits](std::size_t) { return bits; });
    }
    describe(surroundings);
}

std::size_t Arena::bytes_of(std::size_t buffer) const {
    const Scatter& scatter = scatters_[buffer];
    const std::size_t places = scatter.element.empty() ? count_of(buffer) : scatter.is_used.size();
    return places * traits_of(buffers_[buffer].dtype).bytes;
}

Arena::Scatter Arena::scatter_of(const BufferSpec& buffer) {
    Scatter scatter;
    if (buffer.strides.empty() || buffer.strides == row_major_strides(buffer.sizes)) return scatter;
    scatter.element.resize(static_cast<std::size_t>(element_count(buffer.sizes)));
    std::vector<std::int64_t> position(buffer.sizes.size());
    std::int64_t at = 0;
    for (std::size_t& element : scatter.element) {
        element = static_cast<std::size_t>(at);
        for (std::size_t axis = position.size(); axis-- > 0;) {
            at += buffer.strides[axis];
            if (++position[axis] < buffer.sizes[axis]) break;
            at -= position[axis] * buffer.strides[axis];
            position[axis] = 0;
        }
    }
    for (const std::size_t element : scatter.element) {
        scatter.is_used.resize(std::max(scatter.is_used.size(), element + 1));
        scatter.is_used[element] = true;
    }
    return scatter;
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

void Arena::describe(const Surroundings& surroundings) const {
    std::vector<PlacedBuffer> placed;
    placed.reserve(buffers_.size());
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        placed.push_back({.name = buffers_[i].name,
                          .begin = placements_[i].data,
                          .end = placements_[i].data + bytes_of(i),
                          .element_bytes = traits_of(buffers_[i].dtype).bytes,
                          .is_input = buffers_[i].role == BufferRole::input});
    device_.describe(placed, surroundings.scratch.value_or(surroundings.poison),
                     surroundings.is_protected);
}

/// Guards around the data and, where its elements lie apart, between them.
void Arena::fill_with_guards(std::size_t buffer, int parity) {
    const Placement& place = placements_[buffer];
    const DType dtype = buffers_[buffer].dtype;
    const std::size_t bytes = traits_of(dtype).bytes;
    // Elements count from the buffer's first one, so that the parity is the index's. A region
    // begins at an even place.
    const bool starts_even = place.data_begin / bytes % 2 == 0;
    std::byte* const begin = before_ + place.region_begin;
    for (std::size_t i = 0; i < pairs_bytes / bytes; ++i)
        store_bits(begin, static_cast<std::int64_t>(i), static_cast<int>(bytes),
                   guard_bits(dtype, (starts_even == (i % 2 == 0)) == (parity == 0)));
    for (std::size_t at = place.region_begin + pairs_bytes; at < place.region_end;
         at += pairs_bytes)
        std::copy_n(begin, pairs_bytes, before_ + at);
}

void Arena::write(std::size_t buffer, std::span<const double> values) {
    if (values.size() != count_of(buffer))
        throw std::logic_error(fmt::format("Arena::write: {} values for the buffer {}",
                                           values.size(), buffers_[buffer].name));
    const DType dtype = buffers_[buffer].dtype;
    store(buffer, [&](std::size_t i) { return bits_of(dtype, values[i]); });
}

void Arena::upload() { device_.upload(before_); }
void Arena::download() { device_.download(after_); }

TensorView Arena::view(std::size_t buffer) const {
    const BufferSpec& spec = buffers_[buffer];
    return view_of(placements_[buffer].data, spec.dtype, spec.sizes,
                   spec.strides.empty() ? row_major_strides(spec.sizes) : spec.strides);
}

std::span<const std::byte> Arena::bytes(std::size_t buffer) const {
    const Placement& place = placements_[buffer];
    return {after_ + place.data_begin, place.data_end - place.data_begin};
}

std::vector<double> Arena::read(std::size_t buffer) const {
    const DType dtype = buffers_[buffer].dtype;
    const std::byte* const data = bytes(buffer).data();
    const std::size_t bytes = traits_of(dtype).bytes;
    std::vector<double> values(count_of(buffer));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = value_of(dtype, data + element_at(buffer, i) * bytes);
    return values;
}

bool Arena::is_changed(std::size_t buffer, std::int64_t element) const {
    const std::size_t bytes = traits_of(buffers_[buffer].dtype).bytes;
    const auto at = static_cast<std::int64_t>(placements_[buffer].data_begin) +
                    element * static_cast<std::int64_t>(bytes);
    return std::memcmp(before_ + at, after_ + at, bytes) != 0;
}

std::vector<std::int64_t> Arena::untouched(std::size_t buffer) const {
    std::vector<std::int64_t> found;
    const std::size_t count = count_of(buffer);
    for (std::size_t i = 0; i < count; ++i)
        if (!is_changed(buffer, static_cast<std::int64_t>(element_at(buffer, i))))
            found.push_back(static_cast<std::int64_t>(i));
    return found;
}

void Arena::clear(std::size_t buffer, const std::vector<bool>& elements) {
    const std::size_t bytes = traits_of(buffers_[buffer].dtype).bytes;
    std::byte* const data = after_ + placements_[buffer].data_begin;
    for (std::size_t i = 0; i < elements.size(); ++i)
        if (elements[i]) std::fill_n(data + element_at(buffer, i) * bytes, bytes, std::byte{0});
}

/// Finds changes between two places in the copies on the host, each at an element's begin.
void Arena::find_changes(std::size_t buffer, std::size_t begin, std::size_t end, Zone zone,
                         std::vector<std::string>& found) const {
    if (std::memcmp(before_ + begin, after_ + begin, end - begin) == 0) return;
    const auto element_of = [&](std::size_t place) {
        return (static_cast<std::int64_t>(place) -
                static_cast<std::int64_t>(placements_[buffer].data_begin)) /
               static_cast<std::int64_t>(traits_of(buffers_[buffer].dtype).bytes);
    };
    std::int64_t first = 0, count = 0;
    for (std::int64_t element = element_of(begin); element < element_of(end); ++element) {
        const bool is_expected =
            zone == Zone::gap && scatters_[buffer].is_used[static_cast<std::size_t>(element)];
        if (is_expected || !is_changed(buffer, element)) continue;
        if (count++ == 0) first = element;
    }
    if (count > 0) found.push_back(print_changes(buffer, zone, first, count));
}

std::vector<std::string> Arena::stray_writes() const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Placement& place = placements_[i];
        const BufferRole role = buffers_[i].role;
        const auto find_in_data = [&](Zone zone) {
            find_changes(i, place.data_begin, place.data_end, zone, found);
        };
        find_changes(i, place.region_begin, place.data_begin, Zone::before, found);
        if (role == BufferRole::input) find_in_data(Zone::input);
        if (role == BufferRole::unwanted) find_in_data(Zone::unwanted);
        if (role == BufferRole::output && !scatters_[i].element.empty()) find_in_data(Zone::gap);
        find_changes(i, place.data_end, place.region_end, Zone::after, found);
    }
    return found;
}

}  // namespace gradverify
