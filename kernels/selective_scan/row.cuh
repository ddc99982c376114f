// SPDX-License-Identifier: Apache-2.0
// selective_scan's passes, and what a channel of a sample, or row, reads and yields. Tensors that
// are as long as the sequence are of T; A, D and delta_bias are floats, as models have them.
#pragma once

#include "kernels/kernel.cuh"

namespace gradverify::selective_scan {

struct Forward : Pass<"selective_scan", "forward"> {
    using Pass::Pass;
    TensorView y = tensor("y");
};
struct Backward : Pass<"selective_scan", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), du = tensor("du"), ddelta = tensor("ddelta"), dA = tensor("dA"),
               dB = tensor("dB"), dC = tensor("dC"), dD = tensor("dD"), dz = tensor("dz"),
               ddelta_bias = tensor("ddelta_bias");
};

/// A place of one row: how far its state goes on, and what comes to it.
struct Step {
    float raw, size, u;
};

template <class T>
struct Inputs {
    const T *u, *delta, *B, *C, *z;
    const float *A, *D, *delta_bias;
    long long samples, channels, length, states;
    bool has_softplus, is_gated;

    template <class Call>
    explicit Inputs(const Call& call)
        : u(call.tensor("u").template as<const T>()),
          delta(call.tensor("delta").template as<const T>()),
          B(call.tensor("B").template as<const T>()),
          C(call.tensor("C").template as<const T>()),
          z(call.tensor("z").template as<const T>()),
          A(call.tensor("A").template as<const float>()),
          D(call.tensor("D").template as<const float>()),
          delta_bias(call.tensor("delta_bias").template as<const float>()),
          samples(call.size("b")),
          channels(call.size("d")),
          length(call.size("l")),
          states(call.size("n")),
          has_softplus(call.size("delta_softplus") == 1),
          is_gated(call.size("gated") == 1) {}

    __host__ __device__ long long rows() const { return samples * channels; }

    /// The element of B and C of a row's sample.
    __device__ long long of_state(long long row, long long n, long long l) const {
        return (row / channels * states + n) * length + l;
    }
    __device__ Step step(long long row, long long l) const {
        const float raw = static_cast<float>(delta[row * length + l]) + delta_bias[row % channels];
        return {raw, has_softplus ? log1pf(expf(raw)) : raw,
                static_cast<float>(u[row * length + l])};
    }
    /// The slope of a step's size.
    __device__ float slope(const Step& step) const {
        return has_softplus ? 1.0f / (1.0f + expf(-step.raw)) : 1.0f;
    }
    __device__ float decay(const Step& step, long long row, long long n) const {
        return expf(step.size * A[row % channels * states + n]);
    }
    __device__ float of_B(long long row, long long n, long long l) const {
        return static_cast<float>(B[of_state(row, n, l)]);
    }
    __device__ float of_C(long long row, long long n, long long l) const {
        return static_cast<float>(C[of_state(row, n, l)]);
    }
    __device__ float gate(long long row, long long l) const {
        if (!is_gated) return 1.0f;
        const float at = static_cast<float>(z[row * length + l]);
        return at / (1.0f + expf(-at));
    }
    /// The slope of the gate; zero where there is none.
    __device__ float gate_slope(long long row, long long l) const {
        if (!is_gated) return 0.0f;
        const float at = static_cast<float>(z[row * length + l]);
        const float sigmoid = 1.0f / (1.0f + expf(-at));
        return sigmoid * (1.0f + at * (1.0f - sigmoid));
    }
};

/// What a row adds to in float: gradients that several rows share. Zeros at first.
struct Shared {
    float *dA, *dD, *ddelta_bias, *dB, *dC;
};

/// The gradients by a step of what its state and the state after it hand back.
struct StepGradient {
    float u, size;
};
/// **Ranges** `by_state` is the gradient by the state after the step.
template <class T>
__device__ StepGradient differentiate_step(const Inputs<T>& in, const Step& step, long long row,
                                           long long n, long long l, float before, float by_state,
                                           float decay, float* dA, float* dB) {
    const float B = in.of_B(row, n, l), by_decay = by_state * before * decay;
    *dA += by_decay * step.size;
    atomicAdd(&dB[in.of_state(row, n, l)], by_state * step.size * step.u);
    return {by_state * step.size * B,
            by_decay * in.A[row % in.channels * in.states + n] + by_state * B * step.u};
}

template <class T>
__global__ void convert(const float* from, T* to, long long elements) {
    const long long i = thread_in_grid();
    if (i < elements) to[i] = static_cast<T>(from[i]);
}

/// dB and dC are summed in float, in this much of the workspace.
inline std::int64_t bytes_of_sums(const Problem& p) {
    return 2 * p.scalar("b") * p.scalar("n") * p.scalar("l") *
           static_cast<std::int64_t>(sizeof(float));
}

/// Clears what rows add to, calls `launch(shared)`, and stores dB and dC.
template <class T, class Launch>
void with_shared(const Backward& call, const Launch& launch) {
    const long long elements = call.dB.elements();
    auto* const sums = static_cast<float*>(call.launch.workspace);
    const Shared shared{call.dA.as<float>(), call.dD.as<float>(), call.ddelta_bias.as<float>(),
                        sums, sums + elements};
    const auto clear = [&](float* data, long long count) {
        if (count > 0) cudaMemsetAsync(data, 0, count * sizeof(float), call.launch.stream);
    };
    clear(shared.dA, call.dA.elements());
    clear(shared.dD, call.dD.elements());
    clear(shared.ddelta_bias, call.ddelta_bias.elements());
    clear(sums, 2 * elements);
    if (elements == 0) return;
    launch(shared);
    const unsigned blocks = blocks_of(elements, 256);
    convert<<<blocks, 256, 0, call.launch.stream>>>(shared.dB, call.dB.as<T>(), elements);
    convert<<<blocks, 256, 0, call.launch.stream>>>(shared.dC, call.dC.as<T>(), elements);
}

template <class T>
void declare_scan(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.aligned_to(sizeof(float));
    for (const char* weight : {"A", "D", "delta_bias"}) kernel.storage(weight, DType::f32);
}

}  // namespace gradverify::selective_scan
