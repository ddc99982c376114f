// SPDX-License-Identifier: Apache-2.0
// The loss and all gradients in four launches: forwards through the convolutions; forwards and
// back through the fully connected layers; the gradients of all weights, in partial sums; and the
// sums of these. How many blocks and partial sums there are depends on the problem alone, and
// nothing is added by atomics, so two runs give the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/lenet5/fused_conv_backward.cuh"
#include "kernels/lenet5/fused_conv_forward.cuh"
#include "kernels/lenet5/fused_fc.cuh"
#include "kernels/lenet5/fused_fc_gradients.cuh"
#include "kernels/lenet5/fused_sums.cuh"

namespace gradverify::lenet5::fused {

/// What a block has of shared memory at most, in bytes, on compute capability 9.0.
constexpr int most_shared_bytes = 227 * 1024;

/// The parameters of the network, or their gradients.
template <class T>
struct Parameters {
    T *conv1_w, *conv1_b, *conv2_w, *conv2_b, *fc1_w, *fc1_b, *fc2_w, *fc2_b, *fc3_w, *fc3_b;
};

/// In device memory.
struct Step {
    int n;
    const float *image, *dloss;
    const std::int32_t* labels;
    Parameters<const float> weights;
    Parameters<float> gradients;
    float* loss;
    void* workspace;
    cudaStream_t stream;
};

/// The largest shared memory of a block, in bytes, where the fully connected layers take so many
/// images at a time.
template <class Net>
std::int64_t shared_bytes(const Net& net, int images) {
    const int floats =
        std::max({ConvForwardShared<Net>{net}.total(), FcShared<Net>{net, images}.total(),
                  ConvBackwardShared<Net>{net}.total(), product_shared});
    return std::int64_t{floats} * static_cast<std::int64_t>(sizeof(float));
}

/// How many blocks, and so partial sums, each part of the work has.
struct Split {
    int n, images_at_a_time;  ///< in the fully connected layers

    template <class Net>
    Split(const Net& net, int batch) : n(batch) {
        // Small networks, which a test can afford, take every way.
        const int few = Net::are_constant ? 2 * fc_blocks : 2,
                  some = Net::are_constant ? 12 * fc_blocks : 5;
        const auto fits = [&](int images) {
            return shared_bytes(net, images) <= most_shared_bytes;
        };
        images_at_a_time = n > some && fits(ManyImages::images)  ? ManyImages::images
                           : n > few && fits(SomeImages::images) ? SomeImages::images
                                                                 : FewImages::images;
    }
    int conv_forward() const {
        return std::min(n, conv_backward_blocks / 2 * conv_forward_blocks_per_processor);
    }
    int fc() const { return std::min(ceil_div(n, images_at_a_time), fc_blocks); }
    int conv_backward() const { return std::min(n, conv_backward_blocks); }
    int fc_gradients() const { return std::min(ceil_div(n, 64), fc_gradient_splits); }
};

/// What lies between the launches.
struct Workspace {
    float *pool1, *pool2, *dpool2, *relu3, *dfc1_out, *relu4, *dfc2_out, *dfc3_out;
    WindowIndex *index1, *index2;
    float *conv_sums, *fc_sums, *losses;
    std::int64_t bytes = 0;

    template <class Net>
    Workspace(const Net& net, const Split& split, void* base) {
        const auto take = [&](auto*& part, std::int64_t count, std::int64_t each) {
            part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(
                static_cast<std::byte*>(base) + bytes);
            bytes += (count * each * static_cast<std::int64_t>(sizeof(*part)) + 255) / 256 * 256;
        };
        const std::int64_t n = split.n;
        take(pool1, n, net.pool1());
        take(pool2, n, net.pool2());
        take(dpool2, n, net.pool2());
        take(relu3, n, net.hidden1);
        take(dfc1_out, n, net.hidden1);
        take(relu4, n, net.hidden2);
        take(dfc2_out, n, net.hidden2);
        take(dfc3_out, n, net.classes);
        take(index1, n, net.index1_stride());
        take(index2, n, net.index2_stride());
        take(conv_sums, split.conv_backward(), net.conv_parameters());
        take(fc_sums, split.fc_gradients(), net.fc_parameters());
        take(losses, split.fc(), 1);
    }
};

/// The third launch: each block has a part in one of two kinds of work.
template <class Net>
__global__ void __launch_bounds__(conv_backward_threads, 2)
    weight_gradients(Net net, ConvBackwardCall conv, FcGradientsCall fc) {
    static_assert(conv_backward_threads == product_threads);
    extern __shared__ __align__(16) float shared[];
    const int conv_blocks = conv.blocks * conv_backward_rounds(net);
    if (blockIdx.x < conv_blocks)
        conv_backward(net, conv, blockIdx.x, shared);
    else
        fc_gradients(fc, blockIdx.x - conv_blocks, shared);
}

inline void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// With dynamic shared memory of so many floats.
template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), int blocks, int threads, int floats, cudaStream_t stream,
           const Arguments&... arguments) {
    const int bytes = floats * static_cast<int>(sizeof(float));
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<blocks, threads, bytes, stream>>>(arguments...);
}

template <class Net>
void run(const Net& net, const Step& step) {
    const Split split(net, step.n);
    const Workspace between(net, split, step.workspace);
    const Parameters<const float>& in = step.weights;
    const Parameters<float>& out = step.gradients;

    start(conv_forward<Net>, split.conv_forward(), conv_forward_threads,
          ConvForwardShared<Net>{net}.total(), step.stream, net,
          ConvForwardCall{step.n, step.image, in.conv1_w, in.conv1_b, in.conv2_w, in.conv2_b,
                          between.pool1, between.pool2, between.index1, between.index2});

    const auto connect = [&](auto kernel) {
        start(kernel, split.fc(), fc_threads, FcShared<Net>{net, split.images_at_a_time}.total(),
              step.stream, net,
              FcCall{step.n, in.fc1_w, in.fc1_b, in.fc2_w, in.fc2_b, in.fc3_w, in.fc3_b, step.dloss,
                     step.labels, between.pool2, between.relu3, between.relu4, between.dpool2,
                     between.dfc1_out, between.dfc2_out, between.dfc3_out, between.losses});
    };
    if (split.images_at_a_time == FewImages::images)
        connect(fully_connected<Net, FewImages>);
    else if (split.images_at_a_time == SomeImages::images)
        connect(fully_connected<Net, SomeImages>);
    else
        connect(fully_connected<Net, ManyImages>);

    const ConvBackwardCall conv{step.n,         split.conv_backward(), step.image,
                                in.conv2_w,     between.pool1,         between.dpool2,
                                between.index1, between.index2,        between.conv_sums};
    const int fc2_at = net.hidden1 * (net.pool2() + 1),
              fc3_at = fc2_at + net.hidden2 * (net.hidden1 + 1);
    const FcGradientsCall fc{step.n,
                             split.fc_gradients(),
                             net.fc_parameters(),
                             {{between.dfc1_out, between.pool2, net.hidden1, net.pool2(), 0},
                              {between.dfc2_out, between.relu3, net.hidden2, net.hidden1, fc2_at},
                              {between.dfc3_out, between.relu4, net.classes, net.hidden2, fc3_at}},
                             between.fc_sums};
    start(weight_gradients<Net>, conv.blocks * conv_backward_rounds(net) + fc.tiles() * fc.splits,
          conv_backward_threads, std::max(ConvBackwardShared<Net>{net}.total(), product_shared),
          step.stream, net, conv, fc);

    const SumsCall sums{{between.conv_sums,
                         conv.blocks,
                         net.conv_parameters(),
                         {{out.conv1_w, net.conv1_weights()},
                          {out.conv1_b, net.k1},
                          {out.conv2_w, net.conv2_weights()},
                          {out.conv2_b, net.k2}}},
                        {between.fc_sums,
                         fc.splits,
                         net.fc_parameters(),
                         {{out.fc1_w, net.hidden1 * net.pool2()},
                          {out.fc1_b, net.hidden1},
                          {out.fc2_w, net.hidden2 * net.hidden1},
                          {out.fc2_b, net.hidden2},
                          {out.fc3_w, net.classes * net.hidden2},
                          {out.fc3_b, net.classes}}},
                        {between.losses, split.fc(), 1, {{step.loss, 1}}}};
    add_up<<<sums.of_conv.blocks() + sums.of_fc.blocks() + sums.of_loss.blocks(),
             dim3(sum_columns, sum_rows), 0, step.stream>>>(sums);
}

}  // namespace gradverify::lenet5::fused
