// SPDX-License-Identifier: Apache-2.0
// Convolutions of c and k complex channels are such of 2c and 2k real channels, a real and an
// imaginary one of each, whose filter is [[re, -im], [im, re]]. So all that is known of them is
// known of the real ones; here are the way there and back.
#include "reference/complex_parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gradverify {
namespace {

/// The convolution of the parts.
Problem of_parts(Problem problem) {
    for (const char* channels : {"c", "k"})
        for (const int slot : problem.space().find(channels, problem.rank())) problem[slot] *= 2;
    return problem;
}

bool is_filter(const std::string& tensor) { return tensor == "w" || tensor == "dw"; }

/// Of a tensor of pairs: all that lies between the first two axes and the pair.
std::size_t space_of(const Sizes& pairs) {
    std::size_t space = 1;
    for (std::size_t axis = 2; axis + 1 < pairs.size(); ++axis)
        space *= static_cast<std::size_t>(pairs[axis]);
    return space;
}

/// Calls `visit(index of a number in the pairs, its index among channels of parts)`: a channel's
/// real parts, then its imaginary ones.
template <class Visit>
void for_each_number(const Sizes& pairs, Visit visit) {
    const std::size_t space = space_of(pairs);
    const auto count = static_cast<std::size_t>(element_count(pairs));
    for (std::size_t at = 0; at < count; ++at) {
        const std::size_t part = at % 2, place = at / 2 % space, channel = at / 2 / space;
        visit(at, (2 * channel + part) * space + place);
    }
}

/// Calls `visit(index of a real part in the pairs, of its four places in the filter of parts)`:
/// `at[2 * p + q]` is that of part p of the first axis of channels and part q of the second.
template <class Visit>
void for_each_weight(const Sizes& pairs, Visit visit) {
    const std::size_t space = space_of(pairs), channels = static_cast<std::size_t>(pairs[1]);
    const std::size_t row = channels * 2 * space;  // of one real output channel
    const auto count = static_cast<std::size_t>(element_count(pairs)) / 2;
    for (std::size_t weight = 0; weight < count; ++weight) {
        const std::size_t place = weight % space, c = weight / space % channels;
        const std::size_t first = weight / space / channels * 2 * row + c * 2 * space + place;
        visit(2 * weight, std::array{first, first + space, first + row, first + row + space});
    }
}

/// Zeros, as the convolution of the parts has the tensor.
template <class T>
Array<T> parts_of(const std::string& tensor, const Sizes& pairs) {
    Array<T> parts{{pairs.begin(), pairs.end() - 1}, {}};
    parts.sizes[pairs.size() > 2 ? 1 : 0] *= 2;
    if (is_filter(tensor)) parts.sizes[0] *= 2;
    parts.data.resize(static_cast<std::size_t>(element_count(parts.sizes)), T(0));
    return parts;
}

/// Where a weight's imaginary part stands with its sign, and where with the other one: by it a real
/// part of the input comes into an imaginary one of the output.
struct ImaginaryPlaces {
    std::size_t plus, minus;
};
ImaginaryPlaces imaginary_places(FirstChannels first) {
    return first == FirstChannels::of_output ? ImaginaryPlaces{2, 1} : ImaginaryPlaces{1, 2};
}

template <class T>
Array<T> unfold(const std::string& tensor, const Array<T>& pairs, FirstChannels first) {
    Array<T> parts = parts_of<T>(tensor, pairs.sizes);
    const ImaginaryPlaces imaginary = imaginary_places(first);
    if (is_filter(tensor))
        for_each_weight(pairs.sizes, [&](std::size_t pair, const std::array<std::size_t, 4>& at) {
            const T &re = pairs.data[pair], &im = pairs.data[pair + 1];
            parts.data[at[0]] = re, parts.data[at[3]] = re;
            parts.data[at[imaginary.plus]] = im, parts.data[at[imaginary.minus]] = -im;
        });
    else
        for_each_number(pairs.sizes, [&](std::size_t pair, std::size_t part) {
            parts.data[part] = pairs.data[pair];
        });
    return parts;
}

/// The transpose of `unfold`: what a number of a pair is in several places is added up.
template <class T>
void fold(const std::string& tensor, const Array<T>& parts, Array<T>& pairs, FirstChannels first) {
    const ImaginaryPlaces imaginary = imaginary_places(first);
    if (is_filter(tensor))
        for_each_weight(pairs.sizes, [&](std::size_t pair, const std::array<std::size_t, 4>& at) {
            pairs.data[pair] = parts.data[at[0]] + parts.data[at[3]];
            pairs.data[pair + 1] = parts.data[at[imaginary.plus]] - parts.data[at[imaginary.minus]];
        });
    else
        for_each_number(pairs.sizes, [&](std::size_t pair, std::size_t part) {
            pairs.data[pair] = parts.data[part];
        });
}

/// A pass of the real operator, on the parts.
template <class T>
Reference<T> on_parts(const PassSpec& real, const Reference<T>& reference, FirstChannels first) {
    return [names_in = real.inputs, names_out = real.outputs, reference, first](
               const Problem& problem, Inputs<T> in, Outputs<T> out) {
        std::vector<Array<T>> taken, results;
        for (std::size_t i = 0; i < in.size(); ++i)
            taken.push_back(unfold(names_in[i], in[i], first));
        for (std::size_t i = 0; i < out.size(); ++i)
            results.push_back(parts_of<T>(names_out[i], out[i].sizes));
        reference(of_parts(problem), taken, results);
        for (std::size_t i = 0; i < out.size(); ++i) fold(names_out[i], results[i], out[i], first);
    };
}

PassSpec on_pairs(const PassSpec& real, FirstChannels first) {
    PassSpec pass = real;
    pass.reference = on_parts(real, real.reference, first);
    pass.bounded_reference = on_parts(real, real.bounded_reference, first);
    pass.multiply_adds = [real](const Problem& problem) {
        return real.multiply_adds(of_parts(problem));
    };
    // A number of a weight is in two places of the filter of parts.
    const std::int64_t places = pass.name == "grad_weight" ? 2 : 1;
    pass.reduction_length = [real, places](const Problem& problem) {
        return real.reduction_length(of_parts(problem)) * places;
    };
    return pass;
}

/// The two numbers of a pair are beside each other in every layout, so there are no blocked ones.
TensorSpec of_pairs(TensorSpec tensor) {
    tensor.sizes = [of_parts = tensor.sizes](const Problem& problem) {
        Sizes sizes = of_parts(problem);
        sizes.push_back(2);
        return sizes;
    };
    tensor.is_of_pairs = true;
    tensor.tags = {};
    for (AxisOrder& order : tensor.orders)
        order.axes = [of_parts = order.axes](int rank) {
            std::vector<int> axes = of_parts(rank - 1);
            axes.push_back(rank - 1);
            return axes;
        };
    return tensor;
}

}  // namespace

Operator on_complex_numbers(Operator real, FirstChannels first) {
    Operator op = std::move(real);
    op.name = "complex_" + op.name;
    for (auto* tensors : {&op.inputs, &op.outputs})
        for (TensorSpec& tensor : *tensors) tensor = of_pairs(std::move(tensor));
    for (PassSpec& pass : op.passes) pass = on_pairs(pass, first);
    const PassSpec &grad_input = *op.find_pass("grad_input"),
                   &grad_weight = *op.find_pass("grad_weight");
    for (PassSpec& pass : op.passes)
        if (pass.name == "backward")
            pass.reduction_length = [of_dx = grad_input.reduction_length,
                                     of_dw = grad_weight.reduction_length](const Problem& problem) {
                return std::max(of_dx(problem), of_dw(problem));
            };
    return op;
}

}  // namespace gradverify
