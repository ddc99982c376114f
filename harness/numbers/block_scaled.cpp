// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/block_scaled.hpp"

#include <algorithm>
#include <cmath>

#include "harness/numbers/element_bits.hpp"

namespace gradverify {

namespace {

double largest_of(std::span<const double> block) {
    double largest = 0.0;
    for (const double value : block) largest = std::max(largest, std::abs(value));
    return largest;
}

/// The least number above zero.
double least_of(DType dtype) {
    return dtype == DType::f8e8m0 ? traits_of(dtype).smallest_normal : number_of(dtype, 1);
}

bool holds(const BlockFormat& format, std::span<const double> block, double scale) {
    return std::ranges::all_of(block, [&](double value) {
        const double element = value / scale;
        return rounded_to(format.element, element) == element && element * scale == value;
    });
}

/// The exponent of the largest element.
int largest_exponent(const BlockFormat& format) {
    return std::ilogb(traits_of(format.element).largest);
}

/// The scales that may hold a block, the usual one first: where all is zero, any; else those whose
/// product with an element is the largest number.
std::vector<double> scales_for(const BlockFormat& format, double largest) {
    const double most = traits_of(format.scale).largest;
    if (largest == 0.0) return {1.0, least_of(format.scale), most};
    std::vector<double> scales;
    const auto add = [&](double scale) {
        const bool is_scale =
            scale > 0.0 && scale <= most && rounded_to(format.scale, scale) == scale;
        if (is_scale && std::ranges::count(scales, scale) == 0) scales.push_back(scale);
    };
    const auto elements =
        static_cast<std::uint32_t>(bits_of(format.element, traits_of(format.element).largest));
    for (std::uint32_t bits = elements; bits > 0; --bits)
        add(largest / number_of(format.element, bits));
    return scales;
}

/// Calls the function with the span of each block and its number.
template <class T, class Function>
void for_each_block(const BlockFormat& format, std::span<T> values, std::int64_t row,
                    Function function) {
    std::size_t block = 0;
    const auto length = static_cast<std::size_t>(row);
    for (std::size_t begin = 0; begin < values.size(); begin += length)
        for (std::size_t at = 0; at < length; at += static_cast<std::size_t>(format.length))
            function(values.subspan(begin + at,
                                    std::min<std::size_t>(static_cast<std::size_t>(format.length),
                                                          length - at)),
                     block++);
}

/// The scale that quantisers take for a block.
double usual_scale(const BlockFormat& format, double largest) {
    if (format.scale != DType::f8e8m0) {
        const double most = traits_of(format.scale).largest;
        const double wanted = largest / traits_of(format.element).largest;
        return std::max(rounded_to(format.scale, std::min(wanted, most)), least_of(format.scale));
    }
    const int exponent = largest == 0.0 ? -127 : std::ilogb(largest) - largest_exponent(format);
    return std::ldexp(1.0, std::clamp(exponent, -127, 127));
}

}  // namespace

std::optional<BlockScaled> encoded(const BlockFormat& format, std::span<const double> values,
                                   std::int64_t row) {
    BlockScaled stored;
    bool holds_all = true;
    for_each_block(format, values, row, [&](std::span<const double> block, std::size_t number) {
        std::vector<double> scales = scales_for(format, largest_of(block));
        std::erase_if(scales, [&](double scale) { return !holds(format, block, scale); });
        holds_all = holds_all && !scales.empty();
        const double scale = scales.empty() ? 1.0 : scales[number % scales.size()];
        stored.scales.push_back(scale);
        for (const double value : block) stored.elements.push_back(value / scale);
    });
    return holds_all ? std::optional(std::move(stored)) : std::nullopt;
}

void round_blocks(const BlockFormat& format, std::span<double> values, std::int64_t row) {
    const double most = traits_of(format.element).largest;
    for_each_block(format, values, row, [&](std::span<double> block, std::size_t) {
        const double scale = usual_scale(format, largest_of(block));
        for (double& value : block)
            value = scale * rounded_to(format.element, std::clamp(value / scale, -most, most));
    });
}

std::vector<double> packed(std::span<const double> elements, std::int64_t row) {
    constexpr std::uint64_t no_element = 7;  // 6, which shows in sums
    std::vector<double> bytes;
    const auto length = static_cast<std::size_t>(row);
    for (std::size_t begin = 0; begin < elements.size(); begin += length)
        for (std::size_t at = begin; at < begin + length; at += 2) {
            const std::uint64_t low = bits_of(DType::f4e2m1, elements[at]);
            const std::uint64_t high =
                at + 1 < begin + length ? bits_of(DType::f4e2m1, elements[at + 1]) : no_element;
            bytes.push_back(static_cast<double>(low | high << 4));
        }
    return bytes;
}

}  // namespace gradverify
