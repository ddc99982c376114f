// SPDX-License-Identifier: Apache-2.0
// lenet5's passes as passes of other operators, in their order.
#include <string>
#include <utility>

#include "reference/lenet5_network.hpp"

namespace gradverify::lenet5 {

namespace {

using Tensors = std::vector<std::pair<std::string, std::string>>;

std::string is(const char* parameter, std::int64_t value) {
    return std::string(parameter) + "=" + std::to_string(value);
}
std::string is(const char* parameter, const Plane& sizes) {
    return is(parameter, sizes[0]) + "x" + std::to_string(sizes[1]);
}

/// A step whose problem follows from the network.
template <class ProblemOf>
Step step(const std::string& pass, Tensors tensors, ProblemOf problem_of) {
    return {pass, [problem_of](const Problem& whole) { return problem_of(Network(whole)); },
            std::move(tensors)};
}

/// A pass of conv, for the first or the second layer of its kind.
Step conv(const std::string& pass, int layer, Tensors tensors) {
    return step("conv." + pass, std::move(tensors), [layer](const Network& net) {
        const bool is_first = layer == 1;
        return is("n", net.n) + "," + is("c", is_first ? net.c : net.k1) + "," +
               is("k", is_first ? net.k1 : net.k2) + "," +
               is("in", is_first ? net.image : net.pool1) + "," + is("filter", net.filter);
    });
}

Step maxpool(const std::string& pass, int layer, Tensors tensors) {
    return step("maxpool." + pass, std::move(tensors), [layer](const Network& net) {
        return is("n", net.n) + "," + is("c", layer == 1 ? net.k1 : net.k2) + "," +
               is("in", layer == 1 ? net.conv1 : net.conv2) + "," + is("window", net.window) + "," +
               is("stride", net.window);
    });
}

Step relu(const std::string& pass, int layer, Tensors tensors) {
    return step("relu." + pass, std::move(tensors), [layer](const Network& net) {
        const std::int64_t sizes[] = {net.k1 * net.conv1[0] * net.conv1[1],
                                      net.k2 * net.conv2[0] * net.conv2[1], net.hidden1,
                                      net.hidden2};
        return is("n", net.n * sizes[layer - 1]);
    });
}

Step fc(const std::string& pass, int layer, Tensors tensors) {
    return step("fc." + pass, std::move(tensors), [layer](const Network& net) {
        const std::int64_t widths[] = {net.features(), net.hidden1, net.hidden2, net.classes};
        return is("n", net.n) + "," + is("c", widths[layer - 1]) + "," + is("k", widths[layer]);
    });
}

Step softmax_cross_entropy(const std::string& pass, Tensors tensors) {
    return step("softmax_cross_entropy." + pass, std::move(tensors),
                [](const Network& net) { return is("n", net.n) + "," + is("v", net.classes); });
}

}  // namespace

std::vector<Step> forward_steps() {
    return {
        conv("forward", 1,
             {{"x", "image"}, {"w", "conv1_w"}, {"b", "conv1_b"}, {"y", "conv1_out"}}),
        relu("forward", 1, {{"x", "conv1_out"}, {"y", "relu1_out"}}),
        maxpool("forward", 1, {{"x", "relu1_out"}, {"y", "pool1_out"}, {"index", "pool1_index"}}),
        conv("forward", 2,
             {{"x", "pool1_out"}, {"w", "conv2_w"}, {"b", "conv2_b"}, {"y", "conv2_out"}}),
        relu("forward", 2, {{"x", "conv2_out"}, {"y", "relu2_out"}}),
        maxpool("forward", 2, {{"x", "relu2_out"}, {"y", "pool2_out"}, {"index", "pool2_index"}}),
        fc("forward", 1, {{"x", "pool2_out"}, {"w", "fc1_w"}, {"b", "fc1_b"}, {"y", "fc1_out"}}),
        relu("forward", 3, {{"x", "fc1_out"}, {"y", "relu3_out"}}),
        fc("forward", 2, {{"x", "relu3_out"}, {"w", "fc2_w"}, {"b", "fc2_b"}, {"y", "fc2_out"}}),
        relu("forward", 4, {{"x", "fc2_out"}, {"y", "relu4_out"}}),
        fc("forward", 3, {{"x", "relu4_out"}, {"w", "fc3_w"}, {"b", "fc3_b"}, {"y", "fc3_out"}}),
    };
}

std::vector<Step> loss_step() {
    return {softmax_cross_entropy(
        "forward",
        {{"logits", "fc3_out"}, {"labels", "labels"}, {"probs", "probs"}, {"loss", "loss"}})};
}

std::vector<Step> loss_gradient_step() {
    return {softmax_cross_entropy(  // 1
        "backward",
        {{"dloss", "dloss"}, {"probs", "probs"}, {"labels", "labels"}, {"dlogits", "dfc3_out"}})};
}

std::vector<Step> backward_steps() {
    return {
        // 2, 3, 4
        fc("grad_weight", 3, {{"dy", "dfc3_out"}, {"x", "relu4_out"}, {"dw", "dfc3_w"}}),
        fc("grad_bias", 3, {{"dy", "dfc3_out"}, {"db", "dfc3_b"}}),
        fc("grad_input", 3, {{"dy", "dfc3_out"}, {"w", "fc3_w"}, {"dx", "drelu4_out"}}),
        // 5
        relu("grad_input", 4, {{"dy", "drelu4_out"}, {"x", "fc2_out"}, {"dx", "dfc2_out"}}),
        // 6, 7, 8
        fc("grad_weight", 2, {{"dy", "dfc2_out"}, {"x", "relu3_out"}, {"dw", "dfc2_w"}}),
        fc("grad_bias", 2, {{"dy", "dfc2_out"}, {"db", "dfc2_b"}}),
        fc("grad_input", 2, {{"dy", "dfc2_out"}, {"w", "fc2_w"}, {"dx", "drelu3_out"}}),
        // 9
        relu("grad_input", 3, {{"dy", "drelu3_out"}, {"x", "fc1_out"}, {"dx", "dfc1_out"}}),
        // 10, 11, 12
        fc("grad_weight", 1, {{"dy", "dfc1_out"}, {"x", "pool2_out"}, {"dw", "dfc1_w"}}),
        fc("grad_bias", 1, {{"dy", "dfc1_out"}, {"db", "dfc1_b"}}),
        fc("grad_input", 1, {{"dy", "dfc1_out"}, {"w", "fc1_w"}, {"dx", "dpool2_out"}}),
        // 13, 14; a maximum's x is for its reference alone
        maxpool("grad_input", 2,
                {{"dy", "dpool2_out"},
                 {"index", "pool2_index"},
                 {"dx", "drelu2_out"},
                 {"x", "relu2_out"}}),
        relu("grad_input", 2, {{"dy", "drelu2_out"}, {"x", "conv2_out"}, {"dx", "dconv2_out"}}),
        // 15, 16, 17
        conv("grad_weight", 2, {{"dy", "dconv2_out"}, {"x", "pool1_out"}, {"dw", "dconv2_w"}}),
        conv("grad_bias", 2, {{"dy", "dconv2_out"}, {"db", "dconv2_b"}}),
        conv("grad_input", 2, {{"dy", "dconv2_out"}, {"w", "conv2_w"}, {"dx", "dpool1_out"}}),
        // 18, 19
        maxpool("grad_input", 1,
                {{"dy", "dpool1_out"},
                 {"index", "pool1_index"},
                 {"dx", "drelu1_out"},
                 {"x", "relu1_out"}}),
        relu("grad_input", 1, {{"dy", "drelu1_out"}, {"x", "conv1_out"}, {"dx", "dconv1_out"}}),
        // 20, 21
        conv("grad_weight", 1, {{"dy", "dconv1_out"}, {"x", "image"}, {"dw", "dconv1_w"}}),
        conv("grad_bias", 1, {{"dy", "dconv1_out"}, {"db", "dconv1_b"}}),
    };
}

std::vector<Step> image_gradient_step() {
    return {conv("grad_input", 1, {{"dy", "dconv1_out"}, {"w", "conv1_w"}, {"dx", "dimage"}})};
}

}  // namespace gradverify::lenet5
