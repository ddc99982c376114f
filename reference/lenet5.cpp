// SPDX-License-Identifier: Apache-2.0
// The operators lenet5 and lenet5_logits, layer after layer of lenet5_layers.hpp. Uses no other
// operator's reference, so that a chain of kernels is held to something independent. The gradient
// takes what the forward pass saved, and is checked against the derived one.
#include <algorithm>
#include <cmath>

#include "harness/declare_operator.hpp"
#include "reference/lenet5_layers.hpp"
#include "reference/lenet5_network.hpp"

namespace gradverify::lenet5 {

Network::Network(const Problem& problem)
    : n(problem.scalar("n")),
      c(problem.scalar("c")),
      k1(problem.scalar("k1")),
      k2(problem.scalar("k2")),
      hidden1(problem.scalar("hidden1")),
      hidden2(problem.scalar("hidden2")),
      classes(problem.scalar("classes")) {
    for (const int axis : {0, 1}) {
        const auto at = static_cast<std::size_t>(axis);
        image[at] = problem.on_axis("in", axis);
        filter[at] = problem.on_axis("filter", axis);
        window[at] = problem.on_axis("window", axis);
        conv1[at] = std::max<std::int64_t>(image[at] - filter[at] + 1, 0);
        pool1[at] = conv1[at] / window[at];
        conv2[at] = std::max<std::int64_t>(pool1[at] - filter[at] + 1, 0);
        pool2[at] = conv2[at] / window[at];
    }
}

namespace {

// ---- the network: `in` and `out` give a tensor by its name

template <class T>
void forward_to_logits(const auto& in, const auto& out, const Plane& window) {
    convolve(in("image"), in("conv1_w"), in("conv1_b"), out("conv1_out"));
    rectify<T>(out("conv1_out"), out("relu1_out"));
    take_largest<T>(out("relu1_out"), out("pool1_out"), out("pool1_index"), window);
    convolve(out("pool1_out"), in("conv2_w"), in("conv2_b"), out("conv2_out"));
    rectify<T>(out("conv2_out"), out("relu2_out"));
    take_largest<T>(out("relu2_out"), out("pool2_out"), out("pool2_index"), window);
    connect(out("pool2_out"), in("fc1_w"), in("fc1_b"), out("fc1_out"));
    rectify<T>(out("fc1_out"), out("relu3_out"));
    connect(out("relu3_out"), in("fc2_w"), in("fc2_b"), out("fc2_out"));
    rectify<T>(out("fc2_out"), out("relu4_out"));
    connect(out("relu4_out"), in("fc3_w"), in("fc3_b"), out("fc3_out"));
}

/// The mean of -log(softmax(logits)[label]), and the softmax.
template <class T>
void forward_loss(const auto& logits, const auto& labels, const auto& probs, const auto& loss) {
    const std::int64_t n = logits.size(0), classes = logits.size(1);
    for (std::int64_t i = 0; i < n; ++i) {
        T largest = logits(i, 0), total = 0.0;
        for (std::int64_t j = 1; j < classes; ++j) largest = max(largest, logits(i, j));
        for (std::int64_t j = 0; j < classes; ++j) total += exp(logits(i, j) - largest);
        for (std::int64_t j = 0; j < classes; ++j)
            probs(i, j) = exp(logits(i, j) - largest) / total;
        loss() += (log(total) + (largest - logits(i, labels(i)))) / static_cast<double>(n);
    }
}

template <class T>
void backward_loss(const auto& dloss, const auto& probs, const auto& labels, const auto& dlogits) {
    for (std::int64_t i = 0; i < probs.size(0); ++i)
        for (std::int64_t j = 0; j < probs.size(1); ++j)
            dlogits(i, j) = (probs(i, j) - (j == labels(i) ? 1.0 : 0.0)) *
                            (dloss() / static_cast<double>(probs.size(0)));
}

/// From the logits' cotangent to the parameters.
template <class T>
void backward_from_logits(const auto& dlogits, const auto& in, const auto& out,
                          const Plane& window) {
    connect_grad_parameters(dlogits, in("relu4_out"), out("dfc3_w"), out("dfc3_b"));
    connect_grad_input(dlogits, in("fc3_w"), out("drelu4_out"));
    mask<T>(out("drelu4_out"), in("fc2_out"), out("dfc2_out"));
    connect_grad_parameters(out("dfc2_out"), in("relu3_out"), out("dfc2_w"), out("dfc2_b"));
    connect_grad_input(out("dfc2_out"), in("fc2_w"), out("drelu3_out"));
    mask<T>(out("drelu3_out"), in("fc1_out"), out("dfc1_out"));
    connect_grad_parameters(out("dfc1_out"), in("pool2_out"), out("dfc1_w"), out("dfc1_b"));
    connect_grad_input(out("dfc1_out"), in("fc1_w"), out("dpool2_out"));
    scatter_to_largest<T>(out("dpool2_out"), in("pool2_index"), out("drelu2_out"), window);
    mask<T>(out("drelu2_out"), in("conv2_out"), out("dconv2_out"));
    convolve_grad_parameters(out("dconv2_out"), in("pool1_out"), out("dconv2_w"), out("dconv2_b"));
    convolve_grad_input(out("dconv2_out"), in("conv2_w"), out("dpool1_out"));
    scatter_to_largest<T>(out("dpool1_out"), in("pool1_index"), out("drelu1_out"), window);
    mask<T>(out("drelu1_out"), in("conv1_out"), out("dconv1_out"));
    convolve_grad_parameters(out("dconv1_out"), in("image"), out("dconv1_w"), out("dconv1_b"));
}

// ---- passes

template <class T>
void forward(const ForwardCall<T>& call, bool to_loss) {
    const auto in = [&](const char* name) { return call.input(name); };
    const auto out = [&](const char* name) { return call.output(name); };
    forward_to_logits<T>(in, out, Network(call.problem()).window);
    if (to_loss) forward_loss<T>(out("fc3_out"), call.indices("labels"), out("probs"), out("loss"));
}

template <class T>
void backward(const ForwardCall<T>& call, bool from_loss) {
    const auto in = [&](const char* name) { return call.input(name); };
    const auto out = [&](const char* name) { return call.output(name); };
    const Plane window = Network(call.problem()).window;
    if (from_loss) {
        backward_loss<T>(in("dloss"), in("probs"), call.indices("labels"), out("dfc3_out"));
        backward_from_logits<T>(out("dfc3_out"), in, out, window);
    } else {
        backward_from_logits<T>(in("dfc3_out"), in, out, window);
        convolve_grad_input(out("dconv1_out"), in("conv1_w"), out("dimage"));
    }
}

// ---- tensors

/// A tensor's name, and its sizes in a network.
struct Shaped {
    const char* name;
    Sizes (*sizes)(const Network&);
};

constexpr Shaped parameters[] = {
    {"conv1_w",
     [](const Network& net) { return Sizes{net.k1, net.c, net.filter[0], net.filter[1]}; }},
    {"conv1_b", [](const Network& net) { return Sizes{net.k1}; }},
    {"conv2_w",
     [](const Network& net) { return Sizes{net.k2, net.k1, net.filter[0], net.filter[1]}; }},
    {"conv2_b", [](const Network& net) { return Sizes{net.k2}; }},
    {"fc1_w", [](const Network& net) { return Sizes{net.hidden1, net.features()}; }},
    {"fc1_b", [](const Network& net) { return Sizes{net.hidden1}; }},
    {"fc2_w", [](const Network& net) { return Sizes{net.hidden2, net.hidden1}; }},
    {"fc2_b", [](const Network& net) { return Sizes{net.hidden2}; }},
    {"fc3_w", [](const Network& net) { return Sizes{net.classes, net.hidden2}; }},
    {"fc3_b", [](const Network& net) { return Sizes{net.classes}; }},
};

Sizes image_sizes(const Network& net) { return {net.n, net.c, net.image[0], net.image[1]}; }
Sizes conv1_sizes(const Network& net) { return {net.n, net.k1, net.conv1[0], net.conv1[1]}; }
Sizes pool1_sizes(const Network& net) { return {net.n, net.k1, net.pool1[0], net.pool1[1]}; }
Sizes conv2_sizes(const Network& net) { return {net.n, net.k2, net.conv2[0], net.conv2[1]}; }
Sizes pool2_sizes(const Network& net) { return {net.n, net.k2, net.pool2[0], net.pool2[1]}; }
Sizes fc1_sizes(const Network& net) { return {net.n, net.hidden1}; }
Sizes fc2_sizes(const Network& net) { return {net.n, net.hidden2}; }
Sizes logits_sizes(const Network& net) { return {net.n, net.classes}; }

/// In the order in which they are computed; the logits last.
constexpr Shaped activations[] = {
    {"conv1_out", conv1_sizes}, {"relu1_out", conv1_sizes}, {"pool1_out", pool1_sizes},
    {"conv2_out", conv2_sizes}, {"relu2_out", conv2_sizes}, {"pool2_out", pool2_sizes},
    {"fc1_out", fc1_sizes},     {"relu3_out", fc1_sizes},   {"fc2_out", fc2_sizes},
    {"relu4_out", fc2_sizes},   {"fc3_out", logits_sizes},
};
constexpr Shaped indices[] = {{"pool1_index", pool1_sizes}, {"pool2_index", pool2_sizes}};

auto of_problem(const Shaped& tensor) {
    return [sizes = tensor.sizes](const Problem& problem) { return sizes(Network(problem)); };
}

// ---- operators

/// Terms of the sums of a layer, by its matrix.
double terms_of(const Shaped& matrix, const Network& net) {
    const Sizes sizes = matrix.sizes(net);
    return static_cast<double>(element_count(sizes) / sizes.front());
}

/// Multiply-adds of the forward pass.
double multiply_adds(const Network& net) {
    const Sizes results[] = {conv1_sizes(net), conv2_sizes(net), fc1_sizes(net), fc2_sizes(net),
                             logits_sizes(net)};
    double all = 0.0;
    for (std::size_t layer = 0; layer < std::size(results); ++layer)
        all += static_cast<double>(element_count(results[layer])) *
               terms_of(parameters[2 * layer], net);
    return all;
}

/// Both passes, and the checks of each element.
double work(const Problem& problem) {
    const Network net = Network(problem);
    double elements = static_cast<double>(element_count(image_sizes(net)));
    for (const Shaped& tensor : parameters)
        elements += static_cast<double>(element_count(tensor.sizes(net)));
    for (const Shaped& tensor : activations)
        elements += static_cast<double>(element_count(tensor.sizes(net)));
    return 18.0 * multiply_adds(net) + 48.0 * elements;
}

using Names = std::vector<std::string>;

Names names_of(std::span<const Shaped> tensors, const std::string& prefix = "") {
    Names names;
    for (const Shaped& tensor : tensors) names.push_back(prefix + tensor.name);
    return names;
}
template <class T>
std::vector<T> in_order(std::initializer_list<std::vector<T>> all) {
    std::vector<T> joined;
    for (const std::vector<T>& some : all) joined.insert(joined.end(), some.begin(), some.end());
    return joined;
}

const Names saved_for_backward{"conv1_out",   "pool1_out", "pool1_index", "conv2_out", "pool2_out",
                               "pool2_index", "fc1_out",   "relu3_out",   "fc2_out",   "relu4_out"};
/// The parameters that cotangents go through.
const Names matrices{"conv2_w", "fc1_w", "fc2_w", "fc3_w"};

/// Weights of a layer that keep activations at their size.
Holds weights(const Shaped& matrix) {
    return numbers_below([matrix](const Problem& problem) {
        return 6.0 / std::sqrt(terms_of(matrix, Network(problem)));
    });
}

/// What the two operators have alike.
OperatorDeclaration network(const char* name, bool to_loss) {
    const auto per_axis = [](const char* parameter) {
        return ParameterSpec{.name = parameter, .kind = ParameterKind::per_axis};
    };
    ParameterSpec in = per_axis("in");
    in.carries_rank = true;
    OperatorDeclaration op = declare_operator(name);
    for (const char* parameter : {"n", "c", "k1", "k2", "hidden1", "hidden2"})
        op.parameter(parameter).typical(parameter, 1, 4);
    // The loss of a single class is zero.
    const std::int64_t classes = to_loss ? 2 : 1;
    op.parameter("classes", {.default_value = classes, .minimum = classes});
    op.parameter(in).parameter(per_axis("filter")).parameter(per_axis("window")).spatial_axes(2, 2);
    op.valid_if("a pixel in each layer",
                [](const Problem& problem) { return Network(problem).is_valid(); });
    op.input("image", of_problem({"image", image_sizes}));
    for (std::size_t i = 0; i < std::size(parameters); ++i)
        op.input(parameters[i].name, of_problem(parameters[i]),
                 to_loss ? weights(parameters[i / 2 * 2]) : Holds{});
    for (const Shaped& tensor : std::span(activations).first(std::size(activations) - 1))
        op.saved(tensor.name, of_problem(tensor));
    for (const Shaped& tensor : indices)
        op.saved(tensor.name, of_problem(tensor), {.dtype = DType::i32});
    op.work(work);
    op.typical("classes", classes, 10).typical("in", 1, 16).typical("filter", 1, 3);
    op.typical("window", 1, 2);
    return op;
}

Operator describe() {
    return network("lenet5", true)
        .input(
            "labels", [](const Problem& problem) { return Sizes{problem.scalar("n")}; },
            indices_below("classes"))
        .saved("fc3_out", of_problem({"fc3_out", logits_sizes}))
        .saved("probs", of_problem({"probs", logits_sizes}))
        .output("loss", {})
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call, true); })
        // Which of equal logits is the largest changes nothing.
        .branches_decide()
        .steps("forward", in_order({forward_steps(), loss_step()}))
        .gradient("backward",
                  in_order({{"dloss", "labels", "probs", "image"}, matrices, saved_for_backward}),
                  in_order({names_of(activations, "d"), names_of(parameters, "d")}),
                  []<class T>(const ForwardCall<T>& call) { backward(call, true); })
        .steps("backward", in_order({loss_gradient_step(), backward_steps()}));
}

Operator describe_logits() {
    const Names inner = names_of(std::span(activations).first(std::size(activations) - 1), "d");
    return network("lenet5_logits", false)
        .output("fc3_out", of_problem({"fc3_out", logits_sizes}))
        .piecewise_polynomial()
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call, false); })
        .steps("forward", forward_steps())
        .gradient("backward",
                  in_order({{"dfc3_out", "image", "conv1_w"}, matrices, saved_for_backward}),
                  in_order({inner, names_of(parameters, "d"), {"dimage"}}),
                  []<class T>(const ForwardCall<T>& call) { backward(call, false); })
        .steps("backward", in_order({backward_steps(), image_gradient_step()}));
}

GRADVERIFY_OPERATOR(describe);
GRADVERIFY_OPERATOR(describe_logits);

}  // namespace
}  // namespace gradverify::lenet5
