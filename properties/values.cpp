// SPDX-License-Identifier: Apache-2.0
#include "properties/values.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/element_bits.hpp"
#include "harness/element_types.hpp"
#include "harness/random.hpp"

namespace gradverify {

namespace {

// More than this makes no bug more visible, and keeps printed values short.
constexpr std::int64_t amplitude_maximum = 64;

/// Density of non-zero elements that keeps sums of products of +-1 exact in long reductions.
double density_for(std::int64_t reduction_length, int exact_bits) {
    // A quarter of the capacity: the number of terms that meet varies around its mean.
    const double capacity = std::ldexp(1.0, exact_bits - 2) / 4.0;
    return std::min(1.0, std::sqrt(capacity / static_cast<double>(reduction_length)));
}

/// The largest A with (A + A) * A * length <= 2^p, a term of magnitude A for a constant included in
/// the length; 0 when there is none.
std::int64_t exact_amplitude(std::int64_t reduction_length, int exact_bits) {
    const double square = std::ldexp(1.0, exact_bits - 1) /
                          static_cast<double>(std::max<std::int64_t>(reduction_length, 1));
    return static_cast<std::int64_t>(std::floor(std::sqrt(square)));
}

void fill_integers(Array<double>& array, SplitMix64 random, std::int64_t reduction_length,
                   int exact_bits) {
    const std::int64_t amplitude = integer_amplitude(reduction_length, exact_bits);
    const double density = amplitude > 1 ? 1.0 : density_for(reduction_length, exact_bits);
    const auto keep_below = static_cast<std::uint64_t>(density * 0x1p24);
    // A zero now and then is what real data has; a small tensor has no element to spare for it.
    const bool some_zeros = array.data.size() > 16;
    const auto span = static_cast<std::uint64_t>(amplitude);
    for (double& element : array.data) {
        // One draw an element: 32 bits for the magnitude, one for the sign, the rest for zeros.
        const std::uint64_t bits = random.next();
        // Without branches, which random bits would mispredict.
        const auto magnitude = static_cast<std::int64_t>(((bits >> 32) * span) >> 32) + 1;
        const std::int64_t sign = 1 - 2 * static_cast<std::int64_t>(bits & 1);
        const bool is_zero = some_zeros & ((bits & 0x1e) == 0);
        const bool is_kept = !is_zero & (((bits >> 5) & 0xffffff) < keep_below);
        element = static_cast<double>(magnitude * sign * static_cast<std::int64_t>(is_kept));
    }
}

/// A tensor's elements among those of all tensors that a case has.
struct DenseRange {
    std::int64_t first = 0, total = 0;
};

DenseRange dense_range(const Operator& op, const Problem& problem, const std::string& name) {
    DenseRange range;
    const auto count = [&](const TensorSpec& tensor, const std::string& tensor_name) {
        if (tensor_name == name) range.first = range.total;
        range.total += element_count(tensor.sizes(problem));
    };
    for (const TensorSpec& tensor : op.inputs) count(tensor, tensor.name);
    for (const TensorSpec& tensor : op.outputs)
        if (tensor.differentiable) count(tensor, "d" + tensor.name);
    return range;
}

/// Turns random bits into numbers of a type with all of its digits in use.
class Significands {
  public:
    explicit Significands(DType dtype)
        : digits_(traits_of(dtype).exact_bits), unit_(std::ldexp(1.0, 1 - digits_)) {}

    /// From 1 to 2, the last digit set, so that every product needs rounding.
    double from(std::uint64_t bits) const {
        const std::uint64_t fraction = (std::uint64_t{1} << (digits_ - 1)) - 1;
        return 1.0 + static_cast<double>((bits & fraction) | 1) * unit_;
    }
    /// Of either sign, from 1/2 to 2.
    double draw(SplitMix64& random) const {
        const std::uint64_t bits = random.next();
        // Without branches, which random bits would mispredict.
        constexpr double scales[] = {1.0, 0.5, -1.0, -0.5};
        return from(bits) * scales[(bits >> (digits_ > 24 ? 62 : 24)) & 3];
    }
    /// How many there are.
    std::uint64_t count() const { return std::uint64_t{1} << (digits_ - 2); }

  private:
    int digits_;
    double unit_;
};

/// By how many powers of two rows are larger, lest products of two rows overflow in half.
int scale_up(DType dtype) { return traits_of(dtype).largest < 0x1p+20 ? -4 : 0; }

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

/// Integers of magnitude at most `amplitude`, none of them zero, nor one where there is room: a
/// factor of one might as well be missing. A pool of them is dealt out in a random order, to one
/// tensor after the other where it is large enough for all.
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

/// Mantissas from one sequence over all tensors that repeats when all have come: for a float after
/// 2^22.
void fill_dense_mantissas(Array<double>& array, const DenseRange& range, std::uint64_t seed,
                          DType dtype) {
    const Significands significands(dtype);
    SplitMix64 shared(seed);
    const std::uint64_t start = shared.next(), step = shared.next() | 1;
    SplitMix64 random(mix_seed(seed, std::to_string(range.first)));
    auto position = static_cast<std::uint64_t>(range.first);
    for (double& element : array.data) {
        const std::uint64_t bits = ((start + position++ * step) & (significands.count() - 1)) << 1;
        constexpr double scales[] = {1.0, 0.5, -1.0, -0.5};
        element = significands.from(bits) * scales[random.below(4)];
    }
}

/// Indices, so that some are alike and some are not; the ends of the range come more often. Dense:
/// each once, in a random order, as far as there are enough.
void fill_indices(Array<double>& array, const ValueDomain& range, bool is_dense,
                  SplitMix64 random) {
    const auto lowest = static_cast<std::int64_t>(range.lowest);
    const auto highest = static_cast<std::int64_t>(range.highest);
    std::vector<double> left;
    for (double& element : array.data) {
        if (!is_dense) {
            const std::uint64_t roll = random.below(8);
            const std::int64_t value = roll == 0   ? lowest
                                       : roll == 1 ? highest
                                                   : random.between(lowest, highest);
            element = static_cast<double>(value);
            continue;
        }
        if (left.empty())
            for (std::int64_t value = lowest; value <= highest && value - lowest < 4096; ++value)
                left.push_back(static_cast<double>(value));
        std::swap(left[random.below(left.size())], left.back());
        element = left.back();
        left.pop_back();
    }
}

/// The number of the type next to a value inside a domain, and inside as well where one is.
double rounded_inside(double value, const ValueDomain& domain, DType dtype) {
    const double rounded = rounded_to(dtype, value);
    if (rounded <= domain.lowest) return next_number_of(dtype, rounded, INFINITY);
    if (rounded >= domain.highest) return next_number_of(dtype, rounded, -INFINITY);
    return rounded;
}

/// Moves drawn numbers into the domain of a tensor.
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

/// A mean that is much larger than the spread shows a variance that is a difference of squares.
void add_offset(Array<double>& array, SplitMix64 random, DType dtype) {
    const bool is_narrow = !holds_all_of(dtype, DType::f32);
    const double sign = random.one_in(2) ? 1.0 : -1.0;
    const auto size = static_cast<int>(random.below(3));
    // A narrow type has few digits to leave for the spread.
    const double offset = sign * std::ldexp(1.0, is_narrow ? 2 + size : 10 + 2 * size);
    for (double& element : array.data) element = rounded_to(dtype, element + offset);
}

void set_listed(const Operator& op, const Problem& problem, Values& values,
                const std::vector<DataElement>& elements, const ElementTypes& types) {
    for (const DataElement& element : elements) {
        const auto found = values.find(element.tensor);
        if (found == values.end()) {
            std::string known;
            for (const auto& [name, array] : values) known += " " + name;
            throw std::invalid_argument("data: there is no tensor '" + element.tensor +
                                        "'; there are" + known);
        }
        auto& data = found->second.data;
        if (element.index < 0 || element.index >= static_cast<std::int64_t>(data.size()))
            throw std::invalid_argument("data: " + element.tensor + "[" +
                                        std::to_string(element.index) + "] is outside of its " +
                                        std::to_string(data.size()) + " elements");
        const TensorSpec& tensor = op.tensor_named(element.tensor);
        const DType dtype = types.of(op, element.tensor);
        const double stored = rounded_to(dtype, element.value);
        if (!std::isfinite(stored))
            throw std::invalid_argument("data: " + element.tensor + "[" +
                                        std::to_string(element.index) + "] is beyond the largest " +
                                        std::string(traits_of(dtype).name));
        if (tensor.name == element.tensor && !tensor.admits(stored, problem))
            throw std::invalid_argument("data: " + element.tensor + "[" +
                                        std::to_string(element.index) +
                                        "] is outside of the tensor's values");
        data[static_cast<std::size_t>(element.index)] = stored;
    }
}

/// What an element is when nothing is said, as a number of the tensor's type.
double simplest_value(const Operator& op, const Problem& problem, const std::string& name,
                      const ElementTypes& types) {
    const TensorSpec& tensor = op.tensor_named(name);
    const double simplest = tensor.simplest_value(problem);
    return is_floating(tensor.dtype)
               ? rounded_inside(simplest, tensor.domain_at(problem), types.of(op, name))
               : simplest;
}

}  // namespace

DType ElementTypes::of(const Operator& op, std::string_view tensor) const {
    return kernel_ ? dtype_of(*kernel_, op, tensor) : op.tensor_named(tensor).dtype;
}

std::int64_t integer_amplitude(std::int64_t reduction_length, int exact_bits) {
    return std::clamp<std::int64_t>(exact_amplitude(reduction_length, exact_bits), 1,
                                    amplitude_maximum);
}

std::int64_t longest_reduction(const Operator& op, const Problem& problem) {
    std::int64_t longest = 1;
    for (const PassSpec& pass : op.passes)
        longest = std::max(longest, pass.reduction_length(problem));
    return longest;
}

namespace {

/// Numbers of any size; the domain is the caller's business.
void fill_numbers(Array<double>& array, const Operator& op, const Problem& problem,
                  const Data& data, ValueKind kind, const ElementTypes& types,
                  const std::string& name) {
    const int exact_bits = types.exact_bits();
    const DType dtype = types.of(op, name);
    const SplitMix64 random(mix_seed(data.seed, name));
    if (data.is_dense) {
        const DenseRange range = dense_range(op, problem, name);
        const std::int64_t amplitude = exact_amplitude(longest_reduction(op, problem), exact_bits);
        if (kind == ValueKind::mantissas) fill_dense_mantissas(array, range, data.seed, dtype);
        if (kind == ValueKind::integers && amplitude > 0)
            fill_dense_integers(array, range, data.seed, amplitude);
        if (kind == ValueKind::mantissas || amplitude > 0) return;
    }
    if (kind == ValueKind::integers)
        fill_integers(array, random, longest_reduction(op, problem), exact_bits);
    else
        fill_mantissas(array, random, dtype);
}

/// An offset matters only to what is not linear; every third dense draw has one.
bool has_offset(const Operator& op, const Data& data, ValueKind kind, SplitMix64& random) {
    if (!op.products.empty() || kind != ValueKind::mantissas) return false;
    return data.is_dense ? data.seed % 3 == 0 : random.one_in(8);
}

}  // namespace

Array<double> draw_tensor(const Operator& op, const Problem& problem, const Data& data,
                          ValueKind kind, const ElementTypes& types, const std::string& name) {
    const TensorSpec& tensor = op.tensor_named(name);
    Array<double> array{.sizes = tensor.sizes(problem), .data = {}};
    array.data.resize(static_cast<std::size_t>(element_count(array.sizes)));
    const bool is_input = tensor.name == name;  // not a cotangent, which may be any number
    if (data.is_explicit) {
        if (is_input && tensor.domain)
            std::ranges::fill(array.data, simplest_value(op, problem, name, types));
        return array;
    }
    SplitMix64 shape(mix_seed(data.seed, "shape of " + name));
    if (is_input && !is_floating(tensor.dtype)) {
        fill_indices(array, tensor.domain_at(problem), data.is_dense, shape);
        return array;
    }
    fill_numbers(array, op, problem, data, kind, types, name);
    const DType dtype = types.of(op, name);
    if (has_offset(op, data, kind, shape)) add_offset(array, shape, dtype);
    if (is_input && tensor.domain) move_inside(array, tensor.domain_at(problem), dtype);
    return array;
}

Values draw_values(const Operator& op, const Problem& problem, const Data& data, ValueKind kind,
                   const ElementTypes& types) {
    Values values;
    for (const TensorSpec& tensor : op.inputs)
        values[tensor.name] = draw_tensor(op, problem, data, kind, types, tensor.name);
    for (const std::string& y : op.differentiable_outputs())
        values["d" + y] = draw_tensor(op, problem, data, kind, types, "d" + y);
    if (data.is_explicit) set_listed(op, problem, values, data.elements, types);
    return values;
}

Array<double> draw_direction(const Array<double>& like, std::uint64_t seed, int exact_bits,
                             std::int64_t reduction_length) {
    Array<double> direction = like;
    fill_integers(direction, SplitMix64(mix_seed(seed, "direction")), reduction_length, exact_bits);
    if (!direction.data.empty() &&
        std::ranges::all_of(direction.data, [](double v) { return v == 0.0; }))
        direction.data.front() = 1.0;
    return direction;
}

Array<double> draw_smooth_direction(const Array<double>& like, std::uint64_t seed) {
    Array<double> direction = like;
    SplitMix64 random(mix_seed(seed, "direction"));
    const Significands significands(DType::f32);
    for (double& element : direction.data) element = significands.draw(random) / 2.0;
    return direction;
}

std::vector<Array<double>> saved_values(const Operator& op, const Problem& problem,
                                        const std::vector<Array<double>>& inputs,
                                        const ElementTypes& types) {
    std::vector<Array<double>> outputs;
    for (const TensorSpec& tensor : op.outputs) {
        outputs.push_back({tensor.sizes(problem), {}});
        outputs.back().data.resize(static_cast<std::size_t>(element_count(outputs.back().sizes)),
                                   0.0);
    }
    op.forward().reference(problem, inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const DType dtype = types.of(op, op.outputs[i].name);
        for (double& element : outputs[i].data) element = rounded_to(dtype, element);
    }
    return outputs;
}

std::vector<Array<double>> pick(const Operator& op, const Problem& problem, const Values& values,
                                const std::vector<std::string>& names, const ElementTypes& types) {
    std::vector<Array<double>> picked, saved;
    for (const std::string& name : names) {
        if (!op.is_output(name)) {
            picked.push_back(values.at(name));
            continue;
        }
        if (saved.empty())
            saved =
                saved_values(op, problem, pick(op, problem, values, op.forward().inputs), types);
        const auto at = std::ranges::find(op.outputs, name, &TensorSpec::name);
        picked.push_back(saved[static_cast<std::size_t>(at - op.outputs.begin())]);
    }
    return picked;
}

std::vector<std::string> drawn_for(const Operator& op, const PassSpec& pass) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (!op.is_output(name) && std::ranges::find(names, name) == names.end())
            names.push_back(name);
    };
    for (const std::string& name : pass.inputs) add(name);
    if (std::ranges::any_of(pass.inputs, [&](const auto& name) { return op.is_output(name); }))
        for (const std::string& name : op.forward().inputs) add(name);
    return names;
}

std::vector<DataElement> list_elements(const Operator& op, const Problem& problem,
                                       const Values& values, const std::vector<std::string>& names,
                                       const ElementTypes& types) {
    std::vector<DataElement> elements;
    for (const std::string& name : names) {
        const auto& data = values.at(name).data;
        const TensorSpec& tensor = op.tensor_named(name);
        const double simplest =
            tensor.name == name && tensor.domain ? simplest_value(op, problem, name, types) : 0.0;
        for (std::size_t i = 0; i < data.size(); ++i)
            if (data[i] != simplest)
                elements.push_back({name, static_cast<std::int64_t>(i), data[i]});
    }
    return elements;
}

}  // namespace gradverify
