// SPDX-License-Identifier: Apache-2.0
// The reference of complex_conv: a convolution of c and k complex channels is one of 2c and 2k real
// channels, a real and an imaginary one of each, whose filter is [[re, -im], [im, re]]. So all that
// is known of it is known of conv; here are the way there and back.
#include "reference/complex_conv.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/registry.hpp"
#include "reference/conv_operator.hpp"

namespace gradverify::complex_conv {

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
/// `at[2 * p + q]` is by what part q of x comes into part p of y.
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

template <class T>
Array<T> unfold(const std::string& tensor, const Array<T>& pairs) {
    Array<T> parts = parts_of<T>(tensor, pairs.sizes);
    if (is_filter(tensor))
        for_each_weight(pairs.sizes, [&](std::size_t pair, const std::array<std::size_t, 4>& at) {
            const T &re = pairs.data[pair], &im = pairs.data[pair + 1];
            parts.data[at[0]] = re, parts.data[at[1]] = -im;
            parts.data[at[2]] = im, parts.data[at[3]] = re;
        });
    else
        for_each_number(pairs.sizes, [&](std::size_t pair, std::size_t part) {
            parts.data[part] = pairs.data[pair];
        });
    return parts;
}

/// The transpose of `unfold`: what a number of a pair is in several places is added up.
template <class T>
void fold(const std::string& tensor, const Array<T>& parts, Array<T>& pairs) {
    if (is_filter(tensor))
        for_each_weight(pairs.sizes, [&](std::size_t pair, const std::array<std::size_t, 4>& at) {
            pairs.data[pair] = parts.data[at[0]] + parts.data[at[3]];
            pairs.data[pair + 1] = parts.data[at[2]] - parts.data[at[1]];
        });
    else
        for_each_number(pairs.sizes, [&](std::size_t pair, std::size_t part) {
            pairs.data[pair] = parts.data[part];
        });
}

/// A pass of conv, on the parts.
template <class T>
Reference<T> on_parts(const PassSpec& of_conv, const Reference<T>& reference) {
    return [names_in = of_conv.inputs, names_out = of_conv.outputs, reference](
               const Problem& problem, Inputs<T> in, Outputs<T> out) {
        std::vector<Array<T>> taken, results;
        for (std::size_t i = 0; i < in.size(); ++i) taken.push_back(unfold(names_in[i], in[i]));
        for (std::size_t i = 0; i < out.size(); ++i)
            results.push_back(parts_of<T>(names_out[i], out[i].sizes));
        reference(of_parts(problem), taken, results);
        for (std::size_t i = 0; i < out.size(); ++i) fold(names_out[i], results[i], out[i]);
    };
}

PassSpec on_pairs(const PassSpec& of_conv) {
    PassSpec pass = of_conv;
    pass.reference = on_parts(of_conv, of_conv.reference);
    pass.bounded_reference = on_parts(of_conv, of_conv.bounded_reference);
    pass.multiply_adds = [of_conv](const Problem& problem) {
        return of_conv.multiply_adds(of_parts(problem));
    };
    // A number of a weight is in two places of the filter of parts.
    const std::int64_t places = pass.name == "grad_weight" ? 2 : 1;
    pass.reduction_length = [of_conv, places](const Problem& problem) {
        return of_conv.reduction_length(of_parts(problem)) * places;
    };
    return pass;
}

/// The two numbers of a pair are beside each other in every layout; blocks of pairs have no tags.
TensorSpec of_pairs(TensorSpec tensor) {
    tensor.sizes = [of_conv = tensor.sizes](const Problem& problem) {
        Sizes sizes = of_conv(problem);
        sizes.push_back(2);
        return sizes;
    };
    tensor.tags = {};
    for (AxisOrder& order : tensor.orders)
        order.axes = [of_conv = order.axes](int rank) {
            std::vector<int> axes = of_conv(rank - 1);
            axes.push_back(rank - 1);
            return axes;
        };
    return tensor;
}

Operator describe() {
    Operator op = conv::describe();
    op.name = "complex_conv";
    for (auto* tensors : {&op.inputs, &op.outputs})
        for (TensorSpec& tensor : *tensors) tensor = of_pairs(std::move(tensor));
    for (PassSpec& pass : op.passes) pass = on_pairs(pass);
    const PassSpec &grad_input = *op.find_pass("grad_input"),
                   &grad_weight = *op.find_pass("grad_weight");
    for (PassSpec& pass : op.passes)
        if (pass.name == "backward")
            pass.reduction_length = [of_dx = grad_input.reduction_length,
                                     of_dw = grad_weight.reduction_length](const Problem& problem) {
                return std::max(of_dx(problem), of_dw(problem));
            };
    op.benchmark = "n=128,c=64,k=128,in=71x71,filter=3x3,stride=2,padding=1";
    return op;
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify::complex_conv
