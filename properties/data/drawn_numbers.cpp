// SPDX-License-Identifier: Apache-2.0
#include "properties/data/drawn_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "harness/numbers/element_bits.hpp"

namespace gradverify {

namespace {

/// The density of non-zero elements that keeps sums of products of +-1 exact in long reductions.
double density_for(std::int64_t reduction_length, int exact_bits) {
    // A quarter of the capacity: the number of terms that meet varies around its mean.
    const double capacity = std::ldexp(1.0, exact_bits - 2) / 4.0;
    return std::sqrt(capacity / static_cast<double>(reduction_length));
}

constexpr double signed_scales[] = {1.0, 0.5, -1.0, -0.5};

class Significands {
  public:
    explicit Significands(DType dtype)
        : digits_(traits_of(dtype).exact_bits), unit_(std::ldexp(1.0, 1 - digits_)) {}

    /// From 1 to 2, the last digit set, so that every product needs rounding.
    double from(std::uint64_t bits) const {
        const std::uint64_t fraction = (std::uint64_t{1} << (digits_ - 1)) - 1;
        return 1.0 + static_cast<double>((bits & fraction) | 1) * unit_;
    }
    double draw(SplitMix64& random) const {
        const std::uint64_t bits = random.next();
        return from(bits) * signed_scales[(bits >> (digits_ > 24 ? 62 : 24)) & 3];
    }

  private:
    int digits_;
    double unit_;
};

/// Whether the type holds no large numbers: half, and 8 bits.
bool is_short_of_range(DType dtype) { return traits_of(dtype).largest < 0x1p+20; }

/// Powers of two by which rows are scaled, so that products of two rows don't overflow in half.
int scale_up(DType dtype) { return is_short_of_range(dtype) ? -4 : 0; }

}  // namespace

std::int64_t exact_amplitude(std::int64_t reduction_length, int exact_bits) {
    const double square = std::ldexp(1.0, exact_bits - 1) /
                          static_cast<double>(std::max<std::int64_t>(reduction_length, 1));
    return static_cast<std::int64_t>(std::floor(std::sqrt(square)));
}

void fill_integers(Array<double>& array, SplitMix64 random, std::int64_t reduction_length,
                   int exact_bits, std::int64_t largest) {
    // Where 0 alone keeps a sum exact, ones are drawn.
    const std::int64_t exact = exact_amplitude(reduction_length, exact_bits);
    const std::int64_t amplitude = std::min(exact, largest);
    const double density = exact > 1 ? 1.0 : density_for(reduction_length, exact_bits);
    const auto keep_below = static_cast<std::uint64_t>(density * 0x1p24);
    // A zero now and then is what real data has; a small tensor has no element to spare for it.
    const bool some_zeros = array.data.size() > 16;
    const auto span = static_cast<std::uint64_t>(amplitude);
    for (double& element : array.data) {
        // Without branches, which random bits would mispredict.
        const std::uint64_t bits = random.next();
        const auto magnitude = static_cast<std::int64_t>(((bits >> 32) * span) >> 32) + 1;
        const double sign = 1.0 - 2.0 * static_cast<double>(bits & 1);
        const bool is_zero = some_zeros & ((bits & 0x1e) == 0);
        const bool is_kept = !is_zero & (((bits >> 5) & 0xffffff) < keep_below);
        // A zero keeps its sign.
        element = sign * static_cast<double>(magnitude * static_cast<std::int64_t>(is_kept));
    }
    if (!array.data.empty() && std::ranges::all_of(array.data, [](double v) { return v == 0.0; }))
        array.data[random.below(array.data.size())] = random.one_in(2) ? 1.0 : -1.0;
}

void fill_mantissas(Array<double>& array, SplitMix64 random, DType dtype) {
    const Significands significands(dtype);
    const bool uneven = random.one_in(8) && !array.sizes.empty();
    const std::int64_t rows = array.sizes.empty() ? 1 : std::max<std::int64_t>(array.size(0), 1);
    const std::size_t row_elements = array.data.size() / static_cast<std::size_t>(rows);
    double scale = 1.0;
    for (std::size_t i = 0; i < array.data.size(); ++i) {
        if (uneven && i % row_elements == 0)
            scale = std::ldexp(1.0, static_cast<int>(random.between(-4, 4)) + scale_up(dtype));
        array.data[i] = significands.draw(random) * scale;
    }
}

void fill_whole_range(Array<double>& array, SplitMix64 random, DType dtype) {
    const std::uint64_t numbers = bits_of(dtype, traits_of(dtype).largest) + 1;
    const std::uint64_t least = bits_of(dtype, traits_of(dtype).smallest_normal);
    for (double& element : array.data) {
        const std::uint64_t roll = random.below(4);
        const auto bits = static_cast<std::byte>(roll == 0   ? 1 + random.below(least - 1)
                                                 : roll == 1 ? numbers - 1 - random.below(least)
                                                             : 1 + random.below(numbers - 1));
        element = random.one_in(2) ? -value_of(dtype, &bits) : value_of(dtype, &bits);
    }
}

namespace {

/// The bits of elements that a tensor of blocks has: all, or those of some neighbouring exponents,
/// whose sums show each of them.
struct ElementRange {
    std::uint64_t first, count;
};

ElementRange elements_of(const BlockFormat& format, SplitMix64& random) {
    const DTypeTraits traits = traits_of(format.element);
    const std::uint64_t last = bits_of(format.element, traits.largest);
    const std::uint64_t some = std::uint64_t{4} << (traits.exact_bits - 1);
    if (some >= last || random.one_in(2)) return {1, last};
    return {1 + random.below(last - some + 1), some};
}

/// The exponents of scales: usual ones, the least there are, or the largest whose products with all
/// elements are floats.
struct ScaleRange {
    int least, most;
};

ScaleRange scales_of(const BlockFormat& format, SplitMix64& random) {
    if (format.scale != DType::f8e8m0) return {-5, 4};
    const int most = 126 - std::ilogb(traits_of(format.element).largest);
    const std::uint64_t roll = random.below(8);
    return roll == 0   ? ScaleRange{-127, -120}
           : roll == 1 ? ScaleRange{most - 7, most}
                       : ScaleRange{-4, 4};
}

}  // namespace

void fill_blocks(Array<double>& array, SplitMix64 random, const BlockFormat& format,
                 bool is_dense) {
    const ElementRange elements = elements_of(format, random);
    const ScaleRange scales = scales_of(format, random);
    const auto row = static_cast<std::size_t>(array.sizes.empty() ? 1 : array.sizes.back());
    int exponent = 0;
    double scale = 1.0;
    bool is_zero = false;
    for (std::size_t i = 0; i < array.data.size(); ++i) {
        if (i % row % static_cast<std::size_t>(format.length) == 0) {
            const int before = exponent;
            while (exponent == before)
                exponent = static_cast<int>(random.between(scales.least, scales.most));
            // A scale with digits has any of them.
            const double fraction =
                format.scale == DType::f8e8m0 ? 0.0 : 0.125 * static_cast<double>(random.below(8));
            scale = std::ldexp(1.0 + fraction, exponent);
            is_zero = !is_dense && array.data.size() > 32 && random.one_in(8);
        }
        const std::uint64_t bits = elements.first + random.below(elements.count);
        const double size = scale * number_of(format.element, bits);
        const bool is_left_out =
            is_zero || (!is_dense && array.data.size() > 16 && random.one_in(16));
        array.data[i] = is_left_out ? 0.0 : random.one_in(2) ? size : -size;
    }
}

void fill_near_steps(Array<double>& array, SplitMix64 random, DType dtype, DType rounded) {
    const DTypeTraits traits = traits_of(dtype);
    const double unit = 2.0 * traits.unit_roundoff;
    const std::uint64_t end = random.below(8);
    const int shift = end == 0   ? std::ilogb(traits.smallest_normal) + 3
                      : end == 1 ? std::ilogb(traits.largest) - 3
                                 : 0;
    const int steps = 1 << (traits_of(rounded).exact_bits - 1);
    for (double& element : array.data) {
        const std::uint64_t roll = random.below(6);
        const auto step = static_cast<double>(random.below(static_cast<std::uint64_t>(steps)));
        const double size = roll == 0   ? 1.0
                            : roll == 1 ? 1.0 + unit
                            : roll == 2 ? 2.0 - unit
                                        : 1.0 + (step + 0.5) / steps;
        const auto exponent =
            static_cast<int>(random.one_in(4) ? random.between(-15, 3) : random.between(-3, 3));
        element = rounded_to(dtype, std::ldexp(random.one_in(2) ? size : -size, exponent + shift));
    }
}

void fill_smooth(Array<double>& array, SplitMix64 random) {
    const Significands significands(DType::f32);
    for (double& element : array.data) element = significands.draw(random) / 2.0;
}

void fill_dense_integers(Array<double>& array, const DenseRange& range, std::uint64_t seed,
                         std::int64_t amplitude) {
    std::vector<double> pool;
    // A few more than are needed, so that draws differ.
    const std::int64_t largest = std::min(amplitude, std::max<std::int64_t>(range.total, 8) + 1);
    for (std::int64_t magnitude = amplitude >= 4 ? 2 : 1; magnitude <= largest; ++magnitude)
        for (const std::int64_t sign : {1, -1})
            pool.push_back(static_cast<double>(sign * magnitude));
    const bool deals_once = range.total <= static_cast<std::int64_t>(pool.size());
    SplitMix64 random(deals_once ? seed : mix_seed(seed, std::to_string(range.first)));
    auto next = pool.begin() + (deals_once ? static_cast<std::ptrdiff_t>(range.first) : 0);
    const auto shuffle = [&] {
        for (std::size_t i = pool.size(); i > 1; --i) std::swap(pool[i - 1], pool[random.below(i)]);
    };
    shuffle();
    for (double& element : array.data) {
        if (next == pool.end()) shuffle(), next = pool.begin();
        element = *next++;
    }
}

void fill_dense_mantissas(Array<double>& array, const DenseRange& range, std::uint64_t seed,
                          DType dtype) {
    const Significands significands(dtype);
    SplitMix64 shared(seed);
    const std::uint64_t start = shared.next(), step = shared.next() | 1;
    SplitMix64 random(mix_seed(seed, std::to_string(range.first)));
    auto position = static_cast<std::uint64_t>(range.first);
    for (double& element : array.data) {
        const std::uint64_t bits = (start + position++ * step) << 1;
        element = significands.from(bits) * signed_scales[random.below(4)];
    }
}

void fill_ties(Array<double>& array, std::uint64_t seed, SplitMix64 random) {
    for (double& element : array.data) {
        element = seed % 2 == 0 ? 0.0 : static_cast<double>(random.between(-1, 1));
        if (element == 0.0 && random.one_in(2)) element = -0.0;
    }
}

void fill_nan(Array<double>& array, std::uint64_t seed, SplitMix64 random) {
    if (array.data.empty()) return;
    constexpr double specials[] = {NAN, INFINITY, -INFINITY};
    for (double& element : array.data)
        if (const std::uint64_t roll = random.below(12); roll < 3) element = specials[roll];
    array.data[random.below(array.data.size())] = seed % 2 == 0 ? specials[2] : specials[0];
}

double rounded_inside(double value, const ValueDomain& domain, DType dtype) {
    const double rounded = rounded_to(dtype, value);
    if (rounded <= domain.lowest) return next_number_of(dtype, rounded, INFINITY);
    if (rounded >= domain.highest) return next_number_of(dtype, rounded, -INFINITY);
    return rounded;
}

void move_inside(Array<double>& array, const ValueDomain& domain, DType dtype) {
    const bool below = std::isfinite(domain.lowest), above = std::isfinite(domain.highest);
    for (double& element : array.data) {
        const double size = element == 0.0 ? 1.0 : std::abs(element);
        double moved = element;
        if (below && above)
            moved = domain.lowest + (domain.highest - domain.lowest) * (size / (1.0 + size));
        else if (below)
            moved = domain.lowest + size;
        else if (above)
            moved = domain.highest - size;
        element = rounded_inside(moved, domain, dtype);
    }
}

void move_integers_inside(Array<double>& array, const ValueDomain& domain, DType dtype,
                          std::int64_t amplitude) {
    const auto most = static_cast<double>(amplitude);
    const double lowest = std::max(std::floor(domain.lowest) + 1.0, -most);
    const double highest = std::min(std::ceil(domain.highest) - 1.0, most);
    const bool is_between = std::isfinite(domain.lowest) && std::isfinite(domain.highest);
    const Array<double> integers = array;
    if (!is_between || highest - lowest < 2.0) move_inside(array, domain, dtype);
    if (highest - lowest < 2.0) return;
    for (std::size_t i = 0; i < array.data.size(); ++i) {
        double& element = array.data[i];
        if (element == std::round(element) && lowest <= element && element <= highest) continue;
        element = lowest + std::fmod(std::abs(integers.data[i]), highest - lowest + 1.0);
    }
}

void make_averaging(Array<double>& array) {
    const double rows = array.sizes.empty() ? 1.0 : static_cast<double>(array.size(0));
    const double row = static_cast<double>(array.data.size()) / rows;
    // About one over the root of the row; a power of two, so that all digits stay.
    const double scale = std::exp2(-std::round(std::log2(row) / 2.0));
    for (double& element : array.data) element = std::abs(element) * scale;
}

void add_offset(Array<double>& array, SplitMix64 random, DType dtype) {
    const bool is_narrow = !holds_all_of(dtype, DType::f32);
    const double sign = random.one_in(2) ? 1.0 : -1.0;
    const auto size = static_cast<int>(random.below(3));
    // A narrow type has few digits to leave for the spread.
    const double offset = sign * std::ldexp(1.0, is_narrow ? 2 + size : 10 + 2 * size);
    // A block's numbers may be too large for the elements alone, and stay.
    for (double& element : array.data)
        if (const double moved = rounded_to(dtype, element + offset); std::isfinite(moved))
            element = moved;
}

/// The most powers of two by which outliers are larger: exp overflows, but squares stay finite.
static int outlier_scale(DType dtype) { return is_short_of_range(dtype) ? 3 : 8; }

void add_outliers(Array<double>& array, SplitMix64 random, DType dtype) {
    const int most = outlier_scale(dtype);
    for (double& element : array.data)
        if (random.one_in(4))
            element = std::ldexp(element, static_cast<int>(random.between(1, most)));
}

void make_special(Array<double>& array, SplitMix64 random) {
    auto& data = array.data;
    const auto row =
        array.sizes.empty() ? data.size() : static_cast<std::size_t>(array.sizes.back());
    const std::uint64_t kind = random.below(6);
    for (std::size_t i = 0; i < data.size(); ++i)
        if (kind < 2)
            data[i] = data[i / row * row];
        else if (kind == 2)
            data[i] = data[i % row];
        else if (kind == 3 || random.one_in(3))
            data[i] *= 0.0;  // which keeps the sign
}

/// Multiplies all elements, or those of about half of the rows, by 2 to the sign times up to
/// `most`, or as far as all of them remain numbers of the type with all their digits.
static void scale(Array<double>& array, SplitMix64& random, DType dtype, int sign, int most) {
    const DTypeTraits traits = traits_of(dtype);
    const int end = std::ilogb(sign > 0 ? traits.largest : traits.smallest_normal);
    for (const double element : array.data)
        if (element != 0.0 && std::isfinite(element))
            most = std::min(most, sign * (end - std::ilogb(element)));
    if (most < 1) return;
    const int exponent = sign * static_cast<int>(random.between(most / 5, most));
    const bool is_by_rows = random.one_in(3);
    const auto row =
        array.sizes.empty() ? array.data.size() : static_cast<std::size_t>(array.sizes.back());
    bool is_scaled = true;
    for (std::size_t i = 0; i < array.data.size(); ++i) {
        if (is_by_rows && i % row == 0) is_scaled = random.one_in(2);
        if (is_scaled) array.data[i] = rounded_to(dtype, std::ldexp(array.data[i], exponent));
    }
}

void make_small(Array<double>& array, SplitMix64 random, DType dtype, int most) {
    scale(array, random, dtype, -1, most);
}

void make_huge(Array<double>& array, SplitMix64 random, DType dtype, int most) {
    scale(array, random, dtype, 1, most);
}

void make_large(Array<double>& array, SplitMix64 random, DType dtype) {
    const bool is_narrow = is_short_of_range(dtype);
    // The numbers are below 2.
    const int most = traits_of(dtype).largest < 0x1p+10 ? 5 : is_narrow ? 8 : 24;
    const auto exponent = static_cast<int>(random.between(is_narrow ? 2 : 16, most));
    for (double& element : array.data) element = std::ldexp(element, exponent);
}

void add_dense_outliers(Array<double>& array, std::uint64_t turn, DType dtype) {
    for (std::size_t i = 0; i < array.data.size(); ++i) {
        const double larger = std::ldexp(std::abs(array.data[i]), outlier_scale(dtype));
        const std::uint64_t place = (i + turn) % 4;
        if (place % 2 == 1) array.data[i] = place == 1 ? larger : -larger;
    }
}

}  // namespace gradverify
