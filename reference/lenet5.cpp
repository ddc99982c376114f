// SPDX-License-Identifier: Apache-2.0
// The operators lenet5 and lenet5_logits: one forward function, layer after layer, each written as
// its formula. All gradients are derived, those of the activations between layers too. Uses no
// other operator's reference, so the chain is held to something that no layer's test decides.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// y[n,k] = b[k] + the sum over channels and taps of x w; stride 1, no padding.
template <class In, class Weights, class Bias, class Out>
void convolve(const In& x, const Weights& w, const Bias& b, const Out& y) {
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t k = 0; k < y.size(1); ++k)
            for (std::int64_t oh = 0; oh < y.size(2); ++oh)
                for (std::int64_t ow = 0; ow < y.size(3); ++ow) {
                    auto sum = b(k) * 1.0;
                    for (std::int64_t c = 0; c < w.size(1); ++c)
                        for (std::int64_t r = 0; r < w.size(2); ++r)
                            for (std::int64_t s = 0; s < w.size(3); ++s)
                                sum += x(n, c, oh + r, ow + s) * w(k, c, r, s);
                    y(n, k, oh, ow) = sum;
                }
}

/// The largest of each window, the first of several, and its offset in the plane. Windows do not
/// overlap; what is left at the right and at the bottom is in none.
template <class In, class Out>
void take_maxima(const In& x, const Out& y, const Out& index, std::int64_t window_h,
                 std::int64_t window_w) {
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t c = 0; c < y.size(1); ++c)
            for (std::int64_t oh = 0; oh < y.size(2); ++oh)
                for (std::int64_t ow = 0; ow < y.size(3); ++ow) {
                    std::int64_t best_h = oh * window_h, best_w = ow * window_w;
                    for (std::int64_t h = oh * window_h; h < (oh + 1) * window_h; ++h)
                        for (std::int64_t w = ow * window_w; w < (ow + 1) * window_w; ++w)
                            if (x(n, c, h, w) > x(n, c, best_h, best_w)) best_h = h, best_w = w;
                    y(n, c, oh, ow) = between_layers(x(n, c, best_h, best_w));
                    index(n, c, oh, ow) = static_cast<double>(best_h * x.size(3) + best_w);
                }
}

template <class In, class Out>
void rectify(const In& x, const Out& y) {
    for (std::int64_t i = 0; i < x.elements(); ++i)
        y.flat(i) = between_layers(x.flat(i) > 0.0 ? x.flat(i) : x.flat(i) * 0.0);
}

/// y = x w^T + b, of which x may have more axes than one behind the first.
template <class In, class Weights, class Bias, class Out>
void connect(const In& x, const Weights& w, const Bias& b, const Out& y) {
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t k = 0; k < y.size(1); ++k) {
            auto sum = b(k) * 1.0;
            for (std::int64_t j = 0; j < w.size(1); ++j)
                sum += x.flat(n * w.size(1) + j) * w(k, j);
            y(n, k) = sum;
        }
}

template <class T>
void forward_to_logits(const ForwardCall<T>& call) {
    const auto in = [&](const char* name) { return call.input(name); };
    const auto out = [&](const char* name) { return call.output(name); };
    const std::int64_t window_h = call.problem().on_axis("window", 0),
                       window_w = call.problem().on_axis("window", 1);
    convolve(in("image"), in("conv1_w"), in("conv1_b"), out("conv1_out"));
    rectify(out("conv1_out"), out("relu1_out"));
    take_maxima(out("relu1_out"), out("pool1_out"), out("pool1_index"), window_h, window_w);
    convolve(out("pool1_out"), in("conv2_w"), in("conv2_b"), out("conv2_out"));
    rectify(out("conv2_out"), out("relu2_out"));
    take_maxima(out("relu2_out"), out("pool2_out"), out("pool2_index"), window_h, window_w);
    connect(out("pool2_out"), in("fc1_w"), in("fc1_b"), out("fc1_out"));
    rectify(out("fc1_out"), out("relu3_out"));
    connect(out("relu3_out"), in("fc2_w"), in("fc2_b"), out("fc2_out"));
    rectify(out("fc2_out"), out("relu4_out"));
    connect(out("relu4_out"), in("fc3_w"), in("fc3_b"), out("fc3_out"));
}

/// The mean of -log(softmax(logits)[label]), and the softmax.
template <class T>
void forward_loss(const ForwardCall<T>& call) {
    const auto logits = call.output("fc3_out"), probs = call.output("probs");
    const auto labels = call.indices("labels");
    T& loss = call.output("loss")();
    const std::int64_t n = logits.size(0), classes = logits.size(1);
    for (std::int64_t i = 0; i < n; ++i) {
        T largest = logits(i, 0), total = 0.0;
        for (std::int64_t j = 1; j < classes; ++j) largest = max(largest, logits(i, j));
        for (std::int64_t j = 0; j < classes; ++j) total += exp(logits(i, j) - largest);
        for (std::int64_t j = 0; j < classes; ++j) probs(i, j) = exp(logits(i, j) - largest) / total;
        loss += (log(total) + (largest - logits(i, labels(i)))) / static_cast<double>(n);
    }
}

/// The sizes of one axis through the network.
struct AxisSizes {
    std::int64_t conv1, pool1, conv2, pool2;

    AxisSizes(const Problem& problem, int axis) {
        const std::int64_t filter = problem.on_axis("filter", axis),
                           window = problem.on_axis("window", axis);
        conv1 = problem.on_axis("in", axis) - filter + 1;
        pool1 = conv1 / window;
        conv2 = pool1 - filter + 1;
        pool2 = conv2 / window;
    }
};

bool has_pixels_left(const Problem& problem) {
    return std::ranges::all_of(std::array{0, 1}, [&](int axis) {
        const AxisSizes sizes(problem, axis);
        return sizes.conv1 > 0 && sizes.conv2 > 0 && sizes.pool2 > 0;
    });
}

/// `n, channels`, and a size of each axis.
auto planes(const char* channels, std::int64_t AxisSizes::*size) {
    return [=](const Problem& problem) {
        return Sizes{problem.scalar("n"), problem.scalar(channels),
                     AxisSizes(problem, 0).*size, AxisSizes(problem, 1).*size};
    };
}
auto filters(const char* maps, const char* channels) {
    return [=](const Problem& problem) {
        return Sizes{problem.scalar(maps), problem.scalar(channels), problem.on_axis("filter", 0),
                     problem.on_axis("filter", 1)};
    };
}
Sizes image_sizes(const Problem& problem) {
    return {problem.scalar("n"), problem.scalar("c"), problem.on_axis("in", 0),
            problem.on_axis("in", 1)};
}
Sizes fc1_w_sizes(const Problem& problem) {
    return {problem.scalar("hidden1"), problem.scalar("k2") * AxisSizes(problem, 0).pool2 *
                                           AxisSizes(problem, 1).pool2};
}
