// SPDX-License-Identifier: Apache-2.0
// The three fully connected layers, the loss, and the cotangents back to the first layer's input,
// for some images at a time. A block keeps all weights in shared memory and takes every so many
// tiles of images. What the weights' gradients need is written to global memory.
#pragma once

#include "kernels/lenet5/fused_copy.cuh"
#include "kernels/lenet5/fused_network.cuh"

namespace gradverify::lenet5::fused {

constexpr int fc_threads = 256;
constexpr int fc_blocks = 132;  ///< at most: each fills a multiprocessor's shared memory

/// How a block's threads share a tile of images. An output of a layer is summed by `lanes` threads;
/// a thread has `forward_images x forward_outputs` outputs, and on the way back
/// `backward_images x backward_inputs` numbers.
struct FewImages {
    static constexpr int images = 2, lanes = 4, forward_images = 2, forward_outputs = 1,
                         backward_images = 2, backward_inputs = 1;
};
struct SomeImages {
    static constexpr int images = 8, lanes = 1, forward_images = 4, forward_outputs = 1,
                         backward_images = 4, backward_inputs = 2;
};
struct ManyImages {
    static constexpr int images = 32, lanes = 1, forward_images = 4, forward_outputs = 4,
                         backward_images = 8, backward_inputs = 4;
};

/// Where things lie in a block's shared memory, in floats. Rows of weights and of a layer's inputs
/// are padded with zeros to whole quads.
template <class Net>
struct FcShared {
    Net net;
    int images;

    GRADVERIFY_BOTH int w1_row() const { return odd_quads(net.pool2()); }
    GRADVERIFY_BOTH int w2_row() const { return odd_quads(net.hidden1); }
    GRADVERIFY_BOTH int w3_row() const { return odd_quads(net.hidden2); }
    GRADVERIFY_BOTH int x_row() const { return round_up(net.pool2(), 4); }
    GRADVERIFY_BOTH int hidden1_row() const { return round_up(net.hidden1, 4); }
    GRADVERIFY_BOTH int hidden2_row() const { return round_up(net.hidden2, 4); }

    GRADVERIFY_BOTH int w1_at() const { return 0; }
    GRADVERIFY_BOTH int w2_at() const { return net.hidden1 * w1_row(); }
    GRADVERIFY_BOTH int w3_at() const { return w2_at() + net.hidden2 * w2_row(); }
    GRADVERIFY_BOTH int x_at() const { return w3_at() + net.classes * w3_row(); }
    GRADVERIFY_BOTH int hidden1_at() const { return x_at() + images * x_row(); }
    GRADVERIFY_BOTH int hidden2_at() const { return hidden1_at() + images * hidden1_row(); }
    GRADVERIFY_BOTH int logits_at() const { return hidden2_at() + images * hidden2_row(); }
    GRADVERIFY_BOTH int b1_at() const { return logits_at() + images * net.classes; }
    GRADVERIFY_BOTH int b2_at() const { return b1_at() + net.hidden1; }
    GRADVERIFY_BOTH int b3_at() const { return b2_at() + net.hidden2; }
    GRADVERIFY_BOTH int losses_at() const { return b3_at() + net.classes; }
    GRADVERIFY_BOTH int total() const { return losses_at() + images; }
};

struct FcCall {
    int n;
    const float *fc1_w, *fc1_b, *fc2_w, *fc2_b, *fc3_w, *fc3_b, *dloss;
    const std::int32_t* labels;
    const float* pool2;    ///< n, pixels
    float *relu3, *relu4;  ///< n, outputs
    float *dpool2, *dfc1_out, *dfc2_out,
        *dfc3_out;  ///< n, outputs; of pool2 behind the ReLU before
    float* losses;  ///< one for each block: its images' share
};

/// `images x outputs` numbers in shared memory, y = x w^T + b, rectified where another layer
/// follows; also to `saved` for the first `valid` images, where that is asked for.
struct FcForward {
    const float *x, *w, *b;
    float *y, *saved;
    int x_row, w_row, y_row, inputs, outputs, valid;
    bool rectifies;
};

template <class Tile>
__device__ void forward_layer(const FcForward& layer) {
    constexpr int images = Tile::forward_images, outputs = Tile::forward_outputs;
    const int columns = ceil_div(layer.outputs, outputs);
    const int items = Tile::lanes * columns * (Tile::images / images);
    // Whole warps: the lanes of an output add up by shuffles.
    for (int first = 0; first < items; first += blockDim.x) {
        const bool is_item = first + threadIdx.x < items;
        const int item = is_item ? first + threadIdx.x : items - 1;
        const int lane = item % Tile::lanes, column = item / Tile::lanes % columns,
                  image = item / Tile::lanes / columns * images;
        const float *x[images], *w[outputs];
        float sum[images][outputs] = {};
#pragma unroll
        for (int i = 0; i < images; ++i) x[i] = layer.x + (image + i) * layer.x_row;
#pragma unroll
        for (int k = 0; k < outputs; ++k)
            w[k] = layer.w + min(column + k * columns, layer.outputs - 1) * layer.w_row;
#pragma unroll 2
        for (int j = 4 * lane; j < layer.inputs; j += 4 * Tile::lanes) {
            float4 x_quad[images], w_quad[outputs];
#pragma unroll
            for (int i = 0; i < images; ++i) x_quad[i] = *reinterpret_cast<const float4*>(x[i] + j);
#pragma unroll
            for (int k = 0; k < outputs; ++k)
                w_quad[k] = *reinterpret_cast<const float4*>(w[k] + j);
#pragma unroll
            for (int i = 0; i < images; ++i)
#pragma unroll
                for (int k = 0; k < outputs; ++k) {
                    sum[i][k] += x_quad[i].x * w_quad[k].x;
                    sum[i][k] += x_quad[i].y * w_quad[k].y;
                    sum[i][k] += x_quad[i].z * w_quad[k].z;
                    sum[i][k] += x_quad[i].w * w_quad[k].w;
                }
        }
#pragma unroll
        for (int distance = Tile::lanes / 2; distance > 0; distance /= 2)
#pragma unroll
            for (int i = 0; i < images; ++i)
#pragma unroll
                for (int k = 0; k < outputs; ++k)
                    sum[i][k] += __shfl_xor_sync(0xffffffffu, sum[i][k], distance);
        if (!is_item || lane > 0) continue;
#pragma unroll
        for (int k = 0; k < outputs; ++k) {
            const int output = column + k * columns;
            if (output >= layer.outputs) break;
#pragma unroll
            for (int i = 0; i < images; ++i) {
                const float y = sum[i][k] + layer.b[output];
                const float result = layer.rectifies ? rectified(y) : y;
                layer.y[(image + i) * layer.y_row + output] = result;
                if (layer.saved && image + i < layer.valid)
                    layer.saved[(image + i) * layer.outputs + output] = result;
            }
        }
    }
}

/// dx = dy w, zero where x is not positive: x is behind a ReLU, or a maximum of such. To `saved`
/// for the first `valid` images; also over x, for the layer before.
struct FcBackward {
    const float *dy, *w;
    float *x, *saved;
    int dy_row, w_row, x_row, inputs, outputs, valid;
    bool is_in_place;
};

template <class Tile>
__device__ void backward_layer(const FcBackward& layer) {
    constexpr int images = Tile::backward_images, inputs = Tile::backward_inputs;
    const int columns = ceil_div(layer.inputs, inputs);
    for (int item = threadIdx.x; item < columns * (Tile::images / images); item += blockDim.x) {
        const int input = item % columns * inputs, image = item / columns * images;
        float sum[images][inputs] = {};
#pragma unroll 4
        for (int k = 0; k < layer.outputs; ++k) {
            float weights[inputs];
            read_neighbours(layer.w + k * layer.w_row + input, weights);
#pragma unroll
            for (int i = 0; i < images; ++i) {
                const float dy = layer.dy[(image + i) * layer.dy_row + k];
#pragma unroll
                for (int j = 0; j < inputs; ++j) sum[i][j] += dy * weights[j];
            }
        }
#pragma unroll
        for (int i = 0; i < images; ++i)
#pragma unroll
            for (int j = 0; j < inputs; ++j) {
                if (input + j >= layer.inputs) break;
                float& x = layer.x[(image + i) * layer.x_row + input + j];
                const float dx = x > 0.0f ? sum[i][j] : 0.0f;
                if (layer.is_in_place) x = dx;
                if (image + i < layer.valid)
                    layer.saved[(image + i) * layer.inputs + input + j] = dx;
            }
    }
}

/// The loss of one image; its logits become their cotangents, `scale` times.
__device__ inline float loss_of_image(float* logits, int classes, int label, float scale) {
    float largest = logits[0], sum = 0.0f;
    for (int j = 1; j < classes; ++j) largest = fmaxf(largest, logits[j]);
    const float of_label = logits[label];
    for (int j = 0; j < classes; ++j) sum += logits[j] = expf(logits[j] - largest);
    for (int j = 0; j < classes; ++j)
        logits[j] = (logits[j] / sum - (j == label ? 1.0f : 0.0f)) * scale;
    return logf(sum) + (largest - of_label);
}

template <class Net, class Tile>
__global__ void __launch_bounds__(fc_threads, 1) fully_connected(Net net, FcCall call) {
    extern __shared__ __align__(16) float shared[];
    const FcShared<Net> at{net, Tile::images};
    float *const x = shared + at.x_at(), *const hidden1 = shared + at.hidden1_at(),
                 *const hidden2 = shared + at.hidden2_at(), *const logits = shared + at.logits_at();
    float *const w1 = shared + at.w1_at(), *const w2 = shared + at.w2_at(),
                 *const w3 = shared + at.w3_at();
    constexpr int at_once = Net::copied_at_once;
    if (!Net::are_constant) {  // LeNet-5's rows are whole quads
        clear(shared, at.b1_at());
        __syncthreads();
    }
    copy_rows<at_once>(w1, at.w1_row(), call.fc1_w, net.hidden1, net.pool2());
    copy_rows<at_once>(w2, at.w2_row(), call.fc2_w, net.hidden2, net.hidden1);
    copy_rows<at_once>(w3, at.w3_row(), call.fc3_w, net.classes, net.hidden2);
    copy_rows<1>(shared + at.b1_at(), 0, call.fc1_b, 1, net.hidden1);
    copy_rows<1>(shared + at.b2_at(), 0, call.fc2_b, 1, net.hidden2);
    copy_rows<1>(shared + at.b3_at(), 0, call.fc3_b, 1, net.classes);

    float loss = 0.0f;
    const float scale = *call.dloss / static_cast<float>(call.n);
    for (int first = blockIdx.x * Tile::images; first < call.n; first += gridDim.x * Tile::images) {
        const int valid = min(Tile::images, call.n - first);
        const auto of_tile = [&](auto* of_all, int each) {
            return of_all + static_cast<std::size_t>(first) * each;
        };
        copy_rows<at_once>(x, at.x_row(), of_tile(call.pool2, net.pool2()), valid, net.pool2());
        clear(x + valid * at.x_row(), (Tile::images - valid) * at.x_row());
        wait_for_copies();
        __syncthreads();
        forward_layer<Tile>({x, w1, shared + at.b1_at(), hidden1, of_tile(call.relu3, net.hidden1),
                             at.x_row(), at.w1_row(), at.hidden1_row(), net.pool2(), net.hidden1,
                             valid, true});
        __syncthreads();
        forward_layer<Tile>({hidden1, w2, shared + at.b2_at(), hidden2,
                             of_tile(call.relu4, net.hidden2), at.hidden1_row(), at.w2_row(),
                             at.hidden2_row(), net.hidden1, net.hidden2, valid, true});
        __syncthreads();
        forward_layer<Tile>({hidden2, w3, shared + at.b3_at(), logits, nullptr, at.hidden2_row(),
                             at.w3_row(), net.classes, net.hidden2, net.classes, valid, false});
        __syncthreads();
        if (threadIdx.x < valid)
            loss += loss_of_image(logits + threadIdx.x * net.classes, net.classes,
                                  call.labels[first + threadIdx.x], scale);
        __syncthreads();
        for (int i = threadIdx.x; i < valid * net.classes; i += blockDim.x)
            of_tile(call.dfc3_out, net.classes)[i] = logits[i];
        backward_layer<Tile>({logits, w3, hidden2, of_tile(call.dfc2_out, net.hidden2), net.classes,
                              at.w3_row(), at.hidden2_row(), net.hidden2, net.classes, valid,
                              true});
        __syncthreads();
        backward_layer<Tile>({hidden2, w2, hidden1, of_tile(call.dfc1_out, net.hidden1),
                              at.hidden2_row(), at.w2_row(), at.hidden1_row(), net.hidden1,
                              net.hidden2, valid, true});
        __syncthreads();
        backward_layer<Tile>({hidden1, w1, x, of_tile(call.dpool2, net.pool2()), at.hidden1_row(),
                              at.w1_row(), at.x_row(), net.pool2(), net.hidden1, valid, false});
        __syncthreads();  // before the next tile is copied over this one
    }
    if (threadIdx.x < Tile::images) shared[at.losses_at() + threadIdx.x] = loss;
    __syncthreads();
    if (threadIdx.x > 0) return;
    float sum = 0.0f;
    for (int i = 0; i < Tile::images; ++i) sum += shared[at.losses_at() + i];
    call.losses[blockIdx.x] = sum / static_cast<float>(call.n);
}

}  // namespace gradverify::lenet5::fused
