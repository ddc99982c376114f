// SPDX-License-Identifier: Apache-2.0
// lenet5.loss_and_gradients/fused: four launches, in which every activation stays on the chip but
// what the gradients of the weights need. LeNet-5's own sizes are compiled as constants; any other
// network runs the same source with its sizes as numbers.
#include <array>

#include "harness/kernel.hpp"
#include "kernels/lenet5/fused_step.cuh"
#include "reference/lenet5.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::lenet5::fused;

AnyNetwork network_of(const Problem& problem) {
    const auto size = [&](const char* name) { return static_cast<int>(problem.scalar(name)); };
    const auto on_axis = [&](const char* name, int axis) {
        return static_cast<int>(problem.on_axis(name, axis));
    };
    return {{size("c"), on_axis("in", 0), on_axis("in", 1), size("k1"), size("k2"), size("hidden1"),
             size("hidden2"), size("classes"), on_axis("filter", 0), on_axis("filter", 1),
             on_axis("window", 0), on_axis("window", 1)}};
}

std::array<int, 12> numbers_of(const AnySizes& net) {
    return {net.c,       net.h,       net.w,        net.k1,       net.k2,       net.hidden1,
            net.hidden2, net.classes, net.filter_h, net.filter_w, net.window_h, net.window_w};
}

bool is_lenet5(const AnySizes& net) {
    using L = LeNet5;
    return numbers_of(net) == std::array{L::c,        L::h,        L::w,        L::k1,
                                         L::k2,       L::hidden1,  L::hidden2,  L::classes,
                                         L::filter_h, L::filter_w, L::window_h, L::window_w};
}

std::int64_t workspace_bytes(const Problem& problem) {
    const AnyNetwork net = network_of(problem);
    const int n = static_cast<int>(problem.scalar("n"));
    const Split split = is_lenet5(net) ? Split(LeNet5(), n) : Split(net, n);
    return Workspace(net, split, nullptr).bytes;
}

/// Bounds each size first, so that no product overflows.
bool fits(const Problem& problem) {
    const std::int64_t limit = 1024;
    if (problem.scalar("n") > std::int64_t{1} << 24) return false;
    for (const char* name : {"c", "k1", "k2", "hidden1", "hidden2", "classes"})
        if (problem.scalar(name) > limit) return false;
    for (const char* name : {"in", "filter", "window"})
        for (const int axis : {0, 1})
            if (problem.on_axis(name, axis) > limit) return false;
    return shared_bytes(network_of(problem), FewImages::images) <= most_shared_bytes;
}

void launch(const lenet5::LossAndGradients& call) {
    const auto& w = call.weights;
    const auto& d = call.gradients;
    const AnyNetwork net{{static_cast<int>(call.image.size(1)),
                          static_cast<int>(call.image.size(2)),
                          static_cast<int>(call.image.size(3)), static_cast<int>(w.conv1_w.size(0)),
                          static_cast<int>(w.conv2_w.size(0)), static_cast<int>(w.fc1_w.size(0)),
                          static_cast<int>(w.fc2_w.size(0)), static_cast<int>(w.fc3_w.size(0)),
                          static_cast<int>(w.conv1_w.size(2)), static_cast<int>(w.conv1_w.size(3)),
                          static_cast<int>(call.window_h), static_cast<int>(call.window_w)}};
    const auto in = [](const TensorView& tensor) { return tensor.as<const float>(); };
    const auto out = [](const TensorView& tensor) { return tensor.as<float>(); };
    const Step step{static_cast<int>(call.image.size(0)),
                    in(call.image),
                    in(call.dloss),
                    call.labels.as<const std::int32_t>(),
                    {in(w.conv1_w), in(w.conv1_b), in(w.conv2_w), in(w.conv2_b), in(w.fc1_w),
                     in(w.fc1_b), in(w.fc2_w), in(w.fc2_b), in(w.fc3_w), in(w.fc3_b)},
                    {out(d.conv1_w), out(d.conv1_b), out(d.conv2_w), out(d.conv2_b), out(d.fc1_w),
                     out(d.fc1_b), out(d.fc2_w), out(d.fc2_b), out(d.fc3_w), out(d.fc3_b)},
                    out(call.loss),
                    call.launch.workspace,
                    call.launch.stream};
    if (is_lenet5(net))
        run(LeNet5(), step);
    else
        run(net, step);
}

}  // namespace

GRADVERIFY_KERNEL(lenet5::LossAndGradients, "fused", launch)
    .only_if("what a block works on fits into shared memory", fits)
    .workspace(workspace_bytes)
    .aligned_to(16)
    .on_given_stream()
    .costs({.threads_per_output = 8, .barriers_per_thread = 32});
