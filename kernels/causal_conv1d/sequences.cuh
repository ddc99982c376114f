// SPDX-License-Identifier: Apache-2.0
// causal_conv1d's passes, and where the elements of packed sequences lie. A history is what a
// sequence's outputs see: width - 1 elements of its initial state, then its own.
#pragma once

#include "kernels/kernel.cuh"

namespace gradverify::causal_conv1d {

struct Forward : Pass<"causal_conv1d", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), weight = tensor("weight"), bias = tensor("bias"),
               initial_states = tensor("initial_states"), cu_seqlens = tensor("cu_seqlens"),
               y = tensor("y"), final_states = tensor("final_states");
};
struct Backward : Pass<"causal_conv1d", "backward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), weight = tensor("weight"), bias = tensor("bias"),
               initial_states = tensor("initial_states"), cu_seqlens = tensor("cu_seqlens"),
               dy = tensor("dy"), dfinal_states = tensor("dfinal_states"), dx = tensor("dx"),
               dweight = tensor("dweight"), dbias = tensor("dbias"),
               dinitial_states = tensor("dinitial_states");
};

/// What both passes read, in elements of T.
template <class T>
struct Inputs {
    const T *x, *weight, *bias, *initial_states;
    const int* offsets;
    long long total, sequences, channels;
    int width;
    bool has_silu;

    template <class Call>
    explicit Inputs(const Call& call)
        : x(call.x.template as<const T>()),
          weight(call.weight.template as<const T>()),
          bias(call.bias.template as<const T>()),
          initial_states(call.initial_states.template as<const T>()),
          offsets(call.cu_seqlens.template as<const int>()),
          total(call.size("total")),
          sequences(call.size("seqs")),
          channels(call.size("channels")),
          width(static_cast<int>(call.size("width"))),
          has_silu(call.size("silu") == 1) {}

    __host__ __device__ long long state_elements() const {
        return sequences * channels * (width - 1);
    }
    __device__ long long length_of(long long sequence) const {
        return offsets[sequence + 1] - offsets[sequence];
    }
    /// The last sequence that begins at the row or before, so that empty ones are passed over.
    __device__ long long sequence_of(long long row) const {
        long long first = 0, behind = sequences;
        while (behind - first > 1) {
            const long long middle = (first + behind) / 2;
            (offsets[middle] <= row ? first : behind) = middle;
        }
        return first;
    }
    __device__ float history(long long sequence, long long channel, long long at) const {
        const int before = width - 1;
        if (at < before)
            return static_cast<float>(
                initial_states[(sequence * channels + channel) * before + at]);
        return static_cast<float>(x[(offsets[sequence] + at - before) * channels + channel]);
    }
    __device__ float tap(long long channel, int i) const {
        return static_cast<float>(weight[channel * width + i]);
    }
    /// The sum that a sequence's output at `t` is the activation of.
    __device__ float sum_at(long long sequence, long long channel, long long t) const {
        float sum = static_cast<float>(bias[channel]);
        for (int i = 0; i < width; ++i) sum += tap(channel, i) * history(sequence, channel, t + i);
        return sum;
    }
};

__device__ inline float activated(float sum, bool has_silu) {
    return has_silu ? sum / (1.0f + expf(-sum)) : sum;
}
/// The slope of the activation.
__device__ inline float slope_at(float sum, bool has_silu) {
    if (!has_silu) return 1.0f;
    const float sigmoid = 1.0f / (1.0f + expf(-sum));
    return sigmoid * (1.0f + sum * (1.0f - sigmoid));
}

/// Sequence, channel and place in a state of an element of the states.
struct StateElement {
    long long sequence, channel;
    int at;
};
template <class T>
__device__ StateElement state_element(const Inputs<T>& in, long long i) {
    const int before = in.width - 1;
    return {i / before / in.channels, i / before % in.channels, static_cast<int>(i % before)};
}

template <class T>
__global__ void write_final_states(Inputs<T> in, T* final_states) {
    const long long i = thread_in_grid();
    if (i >= in.state_elements()) return;
    const auto [sequence, channel, at] = state_element(in, i);
    final_states[i] = static_cast<T>(in.history(sequence, channel, in.length_of(sequence) + at));
}

/// What a thread of the backward pass reads beside the inputs.
template <class T>
struct Cotangents {
    const T *dy, *dfinal_states;

    explicit Cotangents(const Backward& call)
        : dy(call.dy.as<const T>()), dfinal_states(call.dfinal_states.as<const T>()) {}

    /// The gradient by the sum of a sequence's output at `t`.
    __device__ float by_sum(const Inputs<T>& in, long long sequence, long long channel,
                            long long t) const {
        const long long at = (in.offsets[sequence] + t) * in.channels + channel;
        return static_cast<float>(dy[at]) * slope_at(in.sum_at(sequence, channel, t), in.has_silu);
    }
    /// The gradient that an element of the history has as part of the final state.
    __device__ float by_final_state(const Inputs<T>& in, long long sequence, long long channel,
                                    long long at) const {
        const long long place = at - in.length_of(sequence);
        if (place < 0) return 0.0f;
        return static_cast<float>(
            dfinal_states[(sequence * in.channels + channel) * (in.width - 1) + place]);
    }
    /// The gradient by an element of the history.
    __device__ float by_history(const Inputs<T>& in, long long sequence, long long channel,
                                long long at) const {
        float sum = by_final_state(in, sequence, channel, at);
        for (int i = 0; i < in.width; ++i)
            if (at - i >= 0 && at - i < in.length_of(sequence))
                sum += in.tap(channel, i) * by_sum(in, sequence, channel, at - i);
        return sum;
    }
};

template <class T>
__global__ void write_dinitial_states(Inputs<T> in, Cotangents<T> cotangents, T* dinitial_states) {
    const long long i = thread_in_grid();
    if (i >= in.state_elements()) return;
    const auto [sequence, channel, at] = state_element(in, i);
    dinitial_states[i] = static_cast<T>(cotangents.by_history(in, sequence, channel, at));
}

}  // namespace gradverify::causal_conv1d
