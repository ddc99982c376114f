// SPDX-License-Identifier: Apache-2.0
#include "properties/data/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "harness/base/random.hpp"
#include "harness/cases/recorded.hpp"
#include "harness/numbers/autodiff/decisions.hpp"
#include "harness/numbers/element_bits.hpp"
#include "properties/data/drawn_numbers.hpp"
#include "properties/data/thinned.hpp"
#include "properties/data/whole_numbers.hpp"

namespace gradverify {

namespace {

DenseRange dense_range(const Operator& op, const Problem& problem, const std::string& name) {
    DenseRange range;
    for (const std::string& tensor : drawn_tensors(op)) {
        if (tensor == name) range.first = range.total;
        range.total += element_count(op.sizes_of(tensor, problem));
    }
    return range;
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
        const auto refuse = [&](const std::string& why) {
            throw std::invalid_argument(
                fmt::format("data: {}[{}] is {}", element.tensor, element.index, why));
        };
        if (element.index < 0 || element.index >= static_cast<std::int64_t>(data.size()))
            refuse(fmt::format("outside of its {} elements", data.size()));
        const TensorSpec& tensor = op.tensor_named(element.tensor);
        const DType dtype = types.of(op, element.tensor);
        // Blocks have a scale, by which their numbers leave the range of the elements.
        const double stored =
            types.blocks_of(element.tensor) ? element.value : rounded_to(dtype, element.value);
        if (!std::isfinite(stored) && std::isfinite(element.value))
            refuse(fmt::format("beyond the largest {}", traits_of(dtype).name));
        const bool is_input = tensor.name == element.tensor;  // not a cotangent
        const bool may_be = std::isfinite(stored)
                                ? tensor.admits(stored, problem) ||
                                      (types.may_be_invalid(tensor) && stored == std::round(stored))
                                : types.may_be_nan(tensor);
        if (is_input ? !may_be : !std::isfinite(stored)) refuse("outside of the tensor's values");
        data[static_cast<std::size_t>(element.index)] = stored;
    }
    for (const auto& [name, array] : values)
        if (const auto blocks = types.blocks_of(name);
            blocks && !encoded(*blocks, array.data, row_length(array.sizes)))
            throw std::invalid_argument(fmt::format(
                "data: {} has a block that {} can't hold: its numbers are a scale's products with "
                "numbers of {}",
                name, blocks->name, traits_of(blocks->element).name));
}

/// Elements that are not listed, as numbers of the tensor's type.
Array<double> simplest(const Operator& op, const Problem& problem, const std::string& name,
                       const ElementTypes& types) {
    const TensorSpec& tensor = op.tensor_named(name);
    const bool is_input = tensor.name == name;  // not a cotangent, which may be any number
    if (!is_input) return filled<double>(tensor.sizes(problem));
    Array<double> array = tensor.simplest(problem);
    if (!tensor.holds_whole_numbers())
        for (double& element : array.data)
            element = rounded_inside(element, tensor.domain_at(problem), types.of(op, name));
    return array;
}

/// Gives elements that are not listed their place beside those that are.
void complete_listed(const Operator& op, const Problem& problem, Values& values,
                     const std::vector<DataElement>& elements) {
    for (const TensorSpec& tensor : op.inputs) {
        if (tensor.arrangement == Arrangement::free) continue;
        auto& array = values.at(tensor.name);
        std::ranges::fill(array.data, std::numeric_limits<double>::quiet_NaN());
        for (const DataElement& element : elements)
            if (element.tensor == tensor.name)
                array.data[static_cast<std::size_t>(element.index)] = element.value;
        try {
            complete(array, tensor.arrangement, tensor.domain_at(problem));
        } catch (const std::invalid_argument& wrong) {
            throw std::invalid_argument(fmt::format("data: {}{}", tensor.name, wrong.what()));
        }
    }
}

/// Whether a tensor of 8 bits holds numbers of every size: in every other dense draw, and in one
/// random tensor in four, since more would let most sums of products overflow.
bool has_whole_range(const Operator& op, const Data& data, ValueKind kind,
                     const ElementTypes& types, const std::string& name) {
    const bool has_few = is_of_8_bits(types.of(op, name));
    if (op.algebra != Algebra::products || kind != ValueKind::mantissas || !has_few) return false;
    if (data.is_dense) return data.seed % 2 == 0;
    return SplitMix64(mix_seed(data.seed, "range of " + name)).one_in(4);
}

/// The 8-bit type that results of a smooth operator are rounded to, in the draws that show how,
/// half of them: those of sums of products meet ties on exact integers.
std::optional<DType> near_steps_of(const Operator& op, const Data& data, ValueKind kind,
                                   const ElementTypes& types, const std::string& name) {
    if (op.algebra == Algebra::products || kind != ValueKind::mantissas ||
        is_of_8_bits(types.of(op, name)))
        return std::nullopt;
    const bool has_turn = data.is_dense
                              ? data.seed % 2 == 0
                              : SplitMix64(mix_seed(data.seed, "steps of " + name)).one_in(2);
    for (const TensorSpec& output : op.outputs)
        if (const DType dtype = types.of(op, output.name);
            has_turn && is_of_8_bits(dtype) && dtype != DType::f8e8m0)
            return dtype;
    return std::nullopt;
}

/// The largest integer that keeps sums exact; 0 where not even ones do.
std::int64_t amplitude_of(const Operator& op, const Problem& problem, const ElementTypes& types,
                          const std::string& name) {
    return std::min(types.largest_integer(op, name),
                    exact_amplitude(longest_reduction(op, problem), types.exact_bits()));
}

/// Fills the array with numbers that need not lie in the tensor's domain.
void fill_numbers(Array<double>& array, const Operator& op, const Problem& problem,
                  const Data& data, ValueKind kind, const ElementTypes& types,
                  const std::string& name) {
    const DType dtype = types.of(op, name);
    const std::int64_t longest = longest_reduction(op, problem);
    const std::int64_t largest = types.largest_integer(op, name);
    const std::int64_t amplitude = amplitude_of(op, problem, types, name);
    const SplitMix64 random(mix_seed(data.seed, name));
    const auto blocks = types.blocks_of(name);
    const auto rounded = near_steps_of(op, data, kind, types, name);
    if (blocks && kind == ValueKind::mantissas)
        fill_blocks(array, random, *blocks, data.is_dense);
    else if (rounded)
        fill_near_steps(array, random, dtype, *rounded);
    else if (has_whole_range(op, data, kind, types, name))
        fill_whole_range(array, random, dtype);
    else if (kind == ValueKind::mantissas && data.is_dense)
        fill_dense_mantissas(array, dense_range(op, problem, name), data.seed, dtype);
    else if (kind == ValueKind::mantissas)
        fill_mantissas(array, random, dtype);
    else if (data.is_dense && amplitude > 0)
        fill_dense_integers(array, dense_range(op, problem, name), data.seed, amplitude);
    else
        fill_integers(array, random, longest, types.exact_bits(),
                      std::min<std::int64_t>(largest, 64));
}

/// Which of the draws of simple indices this is, from 0; nothing where it is another.
std::optional<int> simple_indices(const Operator& op, const Data& data) {
    if (!data.is_dense || op.is_chain() || !takes_indices(op)) return std::nullopt;
    const std::int64_t which =
        static_cast<std::int64_t>(data.seed) - 1 - draws_of_mixed_indices(op);
    if (which < 0 || which >= draws_of_simple_indices) return std::nullopt;
    return static_cast<int>(which);
}

/// The first dense draws, whose values all differ; later ones have ties where there are kinks.
constexpr std::uint64_t distinct_draws = 4;

/// Whether this draw of an operator that defines its results on NaN holds it.
bool holds_nan(const Operator& op, const Data& data) {
    if (simple_indices(op, data)) return false;
    return data.is_dense ? data.seed > distinct_draws + 2
                         : SplitMix64(mix_seed(data.seed, "nan")).one_in(8);
}

/// One dense draw in three, at its turn, or one random draw in eight.
bool has_turn(const Data& data, std::uint64_t turn, SplitMix64& random) {
    return data.is_dense ? data.seed % 3 == turn : random.one_in(8);
}

/// One draw in six has a special case in about half of its tensors; chains would spread it to all.
bool is_special(const Operator& op, const Data& data, SplitMix64& random) {
    if (op.is_chain() || data.is_dense) return false;
    return SplitMix64(mix_seed(data.seed, "special")).one_in(6) && random.one_in(2);
}

/// One random draw in eight has tiny numbers in about half of its tensors, and one dense draw in
/// nine in each input. Chains would have nothing left of them, and few numbers of 8 bits are
/// smaller.
bool is_small(const Operator& op, const Data& data, DType dtype, const std::string& name) {
    if (op.is_chain() || is_of_8_bits(dtype)) return false;
    if (data.is_dense) return is_tiny_draw(op, data) && find_named(op.inputs, name) != nullptr;
    return SplitMix64(mix_seed(data.seed, "small")).one_in(8) &&
           SplitMix64(mix_seed(data.seed, "small " + name)).one_in(2);
}

/// Whether the numbers of such a draw, a third of them, are huge instead. Sums and products alone
/// overflow in every kernel.
bool may_be_huge(const Operator& op, const Data& data, ValueKind kind) {
    if (op.algebra == Algebra::products || kind != ValueKind::mantissas || data.is_dense ||
        data.is_explicit || !data.files.empty())
        return false;
    return SplitMix64(mix_seed(data.seed, "small")).one_in(8) &&
           SplitMix64(mix_seed(data.seed, "huge")).one_in(3);
}

double largest_magnitude(const Array<double>& array) {
    double largest = 0.0;
    for (const double element : array.data) largest = std::max(largest, std::abs(element));
    return largest;
}

/// Whether the largest numbers of all tensors have a product in the range of float, with a margin:
/// no order of factors can overflow then.
bool all_may_be_multiplied(const Values& values) {
    double product = 1.0;
    for (const auto& [name, array] : values) product *= std::max(1.0, largest_magnitude(array));
    return product <= 0x1p+110;
}

bool has_large_cotangents(const Operator& op, const Values& values) {
    const auto names = op.differentiable_outputs();
    return std::ranges::any_of(names, [&](const std::string& y) {
        return largest_magnitude(values.at("d" + y)) > 0x1p+10;
    });
}

/// Whether no pass of the operator comes near the end of its types' range by the operator's own
/// formula: another one may come nearer, but a right one by less than the margin. A gradient is a
/// product with the cotangent, and an exact zero may be one with a zero; of their factors any two
/// may be the first that a right kernel multiplies.
bool stay_in_range(const Operator& op, const Problem& problem, const Values& values,
                   const ElementTypes& types) {
    constexpr double margin = 0x1p-16;
    if (!std::ranges::all_of(op.passes, [](const PassSpec& p) { return !!p.bounded_reference; }))
        return false;
    Rounding rounding;
    for (const auto* tensors : {&op.inputs, &op.outputs})
        for (const TensorSpec& tensor : *tensors)
            if (!tensor.holds_whole_numbers())
                rounding.largest =
                    std::min(rounding.largest, traits_of(types.of(op, tensor.name)).largest);
    rounding.largest *= margin;
    const ScopedRounding scope(rounding);
    const bool is_in_any_order = all_may_be_multiplied(values);
    if (!is_in_any_order && has_large_cotangents(op, values)) return false;
    const auto is_in_range = [&](const Bounded& element) {
        return std::isfinite(element.error()) && std::abs(element.value()) <= rounding.largest &&
               (is_in_any_order || element.value() != 0.0);
    };
    try {
        for (const PassSpec& pass : op.passes)
            for (const Array<Bounded>& output :
                 bounded_outputs(op, pass, problem,
                                 pick(op, problem, values, pass.taken_by_reference(), types)))
                if (!std::ranges::all_of(output.data, is_in_range)) return false;
        return true;
    } catch (const UndecidedComparison&) {
        return false;
    }
}

/// Adds an offset, or makes numbers so large that functions overflow, underflow or saturate.
void change_sizes(Array<double>& array, const Operator& op, const Data& data, DType dtype,
                  const std::string& name, SplitMix64& random) {
    SplitMix64 special(mix_seed(data.seed, "special " + name));
    if (has_turn(data, 0, random)) {
        add_offset(array, random, dtype);
    } else if (has_turn(data, 2, random)) {
        if (data.is_dense)
            add_dense_outliers(array, data.seed / 3, dtype);
        else
            add_outliers(array, random, dtype);
    } else if (is_special(op, data, special)) {
        // fill_ties draws where pieces meet.
        if (op.has_pieces() || special.one_in(4))
            make_large(array, special, dtype);
        else
            make_special(array, special);
    }
}

/// The tensors whose values can matter to a pass.
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

}  // namespace

bool is_tiny_draw(const Operator& op, const Data& data) {
    return data.is_dense && data.seed % 9 == draws_of_sizes && !op.is_chain();
}

bool meets_kinks(const Operator& op, const Data& data, ValueKind kind) {
    if (!op.has_pieces() || kind != ValueKind::integers || simple_indices(op, data)) return false;
    if (!data.is_dense) return SplitMix64(mix_seed(data.seed, "ties")).one_in(4);
    return op.is_chain() ? data.seed % 4 == 0 : data.seed > distinct_draws;
}

bool inputs_are_positive(const Operator& op, const Data& data) {
    if (!op.is_chain()) return false;
    return data.is_dense ? data.seed % 2 == 1 : SplitMix64(mix_seed(data.seed, "sign")).one_in(2);
}

std::vector<std::string> drawn_tensors(const Operator& op) {
    std::vector<std::string> names;
    for (const TensorSpec& tensor : op.inputs) names.push_back(tensor.name);
    for (const std::string& y : op.differentiable_outputs()) names.push_back("d" + y);
    return names;
}

bool takes_indices(const Operator& op) {
    return std::ranges::any_of(op.inputs, &TensorSpec::holds_whole_numbers);
}

int draws_of_mixed_indices(const Operator& op) {
    // Three draws of other numbers have outliers, since an index may choose an outlier's neighbour.
    return op.algebra == Algebra::products ? 3 : 9;
}

std::int64_t longest_reduction(const Operator& op, const Problem& problem) {
    std::int64_t longest = 1;
    for (const PassSpec& pass : op.passes)
        longest = std::max(longest, pass.reduction_length(problem));
    return longest;
}

/// `huge`: the largest exponent by which tiny inputs are huge instead; 0: they are tiny.
static Array<double> draw_one(const Operator& op, const Problem& problem, const Data& data,
                              ValueKind kind, const ElementTypes& types, const std::string& name,
                              int huge) {
    const TensorSpec& tensor = op.tensor_named(name);
    if (op.algebra == Algebra::piecewise_polynomial && kind == ValueKind::integers &&
        !data.is_explicit && !tensor.holds_whole_numbers())
        return draw_thinned(op, problem, data, types).at(name);
    if (auto recorded = recorded_tensor(data.files, op, problem, types, name))
        return std::move(*recorded);
    if (data.is_explicit) return simplest(op, problem, name, types);
    auto array = filled<double>(tensor.sizes(problem));
    const bool is_input = tensor.name == name;  // not a cotangent, which may be any number
    SplitMix64 shape(mix_seed(data.seed, "shape of " + name));
    if (tensor.holds_whole_numbers()) {
        const ValueDomain range = tensor.domain_at(problem);
        if (const auto which = simple_indices(op, data)) {
            fill_simple_indices(array, *which, tensor.arrangement, range);
            return array;
        }
        fill_indices(array, tensor.arrangement, range, data.is_dense, shape);
        SplitMix64 invalid(mix_seed(data.seed, "invalid " + name));
        if (types.may_be_invalid(tensor) && has_turn(data, 0, invalid))
            put_invalid(array, range, tensor.dtype, invalid);
        return array;
    }
    fill_numbers(array, op, problem, data, kind, types, name);
    if (is_input && meets_kinks(op, data, kind)) fill_ties(array, data.seed, shape);
    if (is_input && types.may_be_nan(tensor) && holds_nan(op, data))
        fill_nan(array, data.seed, shape);
    const DType dtype = types.of(op, name);
    const SplitMix64 exponent(mix_seed(data.seed, "exponent of " + name));
    if (kind == ValueKind::mantissas && is_small(op, data, dtype, name)) {
        if (huge == 0)
            make_small(array, exponent, dtype, may_be_huge(op, data, kind) ? 126 : 66);
        else if (is_input)
            make_huge(array, exponent, dtype, huge);
    } else if (op.algebra != Algebra::products && kind == ValueKind::mantissas &&
               !near_steps_of(op, data, kind, types, name)) {
        change_sizes(array, op, data, dtype, name, shape);
    }
    if (is_input && tensor.domain && kind == ValueKind::integers && op.is_exact_on_integers())
        move_integers_inside(array, tensor.domain_at(problem), dtype,
                             std::max<std::int64_t>(amplitude_of(op, problem, types, name), 1));
    else if (is_input && tensor.domain)
        move_inside(array, tensor.domain_at(problem), dtype);
    if (is_input && inputs_are_positive(op, data)) {
        const ValueDomain domain = tensor.domain_at(problem);
        if (std::isinf(domain.highest) && std::isinf(domain.lowest))
            for (double& element : array.data) element = std::abs(element);
        else if (domain.lowest == -domain.highest)
            make_averaging(array);
    }
    // Rows of very different sizes leave the range of 8 bits.
    if (const auto blocks = types.blocks_of(name)) {
        if (!encoded(*blocks, array.data, row_length(array.sizes)))
            round_blocks(*blocks, array.data, row_length(array.sizes));
    } else if (is_of_8_bits(dtype))
        for (double& element : array.data) element = rounded_to(dtype, element);
    return array;
}

static Values draw_all(const Operator& op, const Problem& problem, const Data& data, ValueKind kind,
                       const ElementTypes& types, int huge) {
    Values values;
    for (const std::string& tensor : drawn_tensors(op))
        values[tensor] = draw_one(op, problem, data, kind, types, tensor, huge);
    return values;
}

/// The largest exponent that lets every pass stay in its types' range; 0 where none does.
static int huge_exponent(const Operator& op, const Problem& problem, const Data& data,
                         ValueKind kind, const ElementTypes& types) {
    if (!may_be_huge(op, data, kind)) return 0;
    for (const int most : {110, 63, 31})
        if (stay_in_range(op, problem, draw_all(op, problem, data, kind, types, most), types))
            return most;
    return 0;
}

bool are_drawn_together(const Operator& op, const Data& data, ValueKind kind) {
    return (op.algebra == Algebra::piecewise_polynomial && kind == ValueKind::integers &&
            !data.is_explicit) ||
           may_be_huge(op, data, kind);
}

Array<double> draw_tensor(const Operator& op, const Problem& problem, const Data& data,
                          ValueKind kind, const ElementTypes& types, const std::string& name) {
    return draw_one(op, problem, data, kind, types, name,
                    huge_exponent(op, problem, data, kind, types));
}

Values draw_values(const Operator& op, const Problem& problem, const Data& data, ValueKind kind,
                   const ElementTypes& types) {
    if (op.algebra == Algebra::piecewise_polynomial && kind == ValueKind::integers &&
        !data.is_explicit)
        return draw_thinned(op, problem, data, types);
    Values values =
        draw_all(op, problem, data, kind, types, huge_exponent(op, problem, data, kind, types));
    set_listed(op, problem, values, data.elements, types);
    if (data.is_explicit) complete_listed(op, problem, values, data.elements);
    return values;
}

Array<double> draw_direction(const Array<double>& like, std::uint64_t seed, int exact_bits,
                             std::int64_t reduction_length, std::int64_t largest) {
    Array<double> direction = like;
    fill_integers(direction, SplitMix64(mix_seed(seed, "direction")), reduction_length, exact_bits,
                  largest);
    return direction;
}

Array<double> draw_smooth_direction(const Array<double>& like, std::uint64_t seed) {
    Array<double> direction = like;
    fill_smooth(direction, SplitMix64(mix_seed(seed, "direction")));
    return direction;
}

std::vector<Array<double>> saved_values(const Operator& op, const Problem& problem,
                                        const std::vector<Array<double>>& inputs,
                                        const ElementTypes& types) {
    auto outputs = reference_outputs(op, op.forward(), problem, inputs);
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
            saved = saved_values(op, problem, pick(op, problem, values, op.forward().inputs, types),
                                 types);
        const auto at = std::ranges::find(op.outputs, name, &TensorSpec::name);
        picked.push_back(saved[static_cast<std::size_t>(at - op.outputs.begin())]);
    }
    return picked;
}

std::vector<DataElement> list_data(const Kernel& kernel, const Problem& problem, const Data& data,
                                   ValueKind kind) {
    const Operator& op = *kernel.op;
    const ElementTypes types(kernel.any(), op);
    const Values values = draw_values(op, problem, data, kind, types);
    std::vector<DataElement> elements;
    for (const std::string& name : drawn_for(op, *kernel.pass)) {
        const auto& numbers = values.at(name).data;
        const Array<double> simple = simplest(op, problem, name, types);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (numbers[i] != simple.data[i] ||
                std::signbit(numbers[i]) != std::signbit(simple.data[i]))
                elements.push_back({name, static_cast<std::int64_t>(i), numbers[i]});
    }
    return elements;
}

}  // namespace gradverify
