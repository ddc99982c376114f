// SPDX-License-Identifier: Apache-2.0
// selective_scan.forward/naive: a thread for each channel of each sample, one state after the
// other. selective_scan.backward/naive: the same, with all states of one n in the workspace. In
// float, or bfloat16 with states and sums in float.
#include "kernels/selective_scan/row.cuh"

namespace {

using namespace gradverify::selective_scan;

/// y of a row before its gate, at `l`; `after(n, l)` is the state there.
template <class T, class States>
__device__ float plain_output(const Inputs<T>& in, long long row, long long l,
                              const States& after) {
    float sum = in.D[row % in.channels] * static_cast<float>(in.u[row * in.length + l]);
    for (long long n = 0; n < in.states; ++n) sum += in.of_C(row, n, l) * after(n, l);
    return sum;
}

/// Writes the states of a row, one after the other.
///
/// **Shapes** states `rows, n, l`.
template <class T>
__device__ void scan(const Inputs<T>& in, long long row, float* states) {
    for (long long n = 0; n < in.states; ++n) {
        float state = 0.0f;
        for (long long l = 0; l < in.length; ++l) {
            const Step step = in.step(row, l);
            state = in.decay(step, row, n) * state + step.size * in.of_B(row, n, l) * step.u;
            states[(row * in.states + n) * in.length + l] = state;
        }
    }
}

template <class T>
__global__ void scan_forward(Inputs<T> in, float* states, T* y) {
    const long long row = thread_in_grid();
    if (row >= in.rows()) return;
    scan(in, row, states);
    const auto after = [&](long long n, long long l) {
        return states[(row * in.states + n) * in.length + l];
    };
    for (long long l = 0; l < in.length; ++l)
        y[row * in.length + l] = static_cast<T>(plain_output(in, row, l, after) * in.gate(row, l));
}

std::int64_t bytes_of_states(const gradverify::Problem& p) {
    return p.scalar("b") * p.scalar("d") * p.scalar("n") * p.scalar("l") *
           static_cast<std::int64_t>(sizeof(float));
}

template <class T>
void forward(const Forward& call) {
    const Inputs<T> in(call);
    if (in.rows() == 0) return;
    scan_forward<<<blocks_of(in.rows(), 64), 64, 0, call.launch.stream>>>(
        in, static_cast<float*>(call.launch.workspace), call.y.as<T>());
}

template <class T>
struct RowGradients {
    const T* dy;
    T *du, *ddelta, *dz;
    explicit RowGradients(const Backward& call)
        : dy(call.dy.as<const T>()),
          du(call.du.as<T>()),
          ddelta(call.ddelta.as<T>()),
          dz(call.dz.as<T>()) {}
};

/// What flows back at a place of a row, for all states: `back[n]` is the gradient by the state
/// there, as the places behind it have it.
template <class T>
__device__ StepGradient differentiate_place(const Inputs<T>& in, long long row, long long l,
                                            float dy, const float* states, float* back,
                                            const Shared& shared) {
    const Step step = in.step(row, l);
    StepGradient sum{in.D[row % in.channels] * dy, 0.0f};
    for (long long n = 0; n < in.states; ++n) {
        const float* const of_n = states + (row * in.states + n) * in.length;
        const float decay = in.decay(step, row, n), by_state = back[n] + in.of_C(row, n, l) * dy;
        float dA = 0.0f;
        const StepGradient gradient = differentiate_step(
            in, step, row, n, l, l > 0 ? of_n[l - 1] : 0.0f, by_state, decay, &dA, shared.dB);
        atomicAdd(&shared.dA[row % in.channels * in.states + n], dA);
        atomicAdd(&shared.dC[in.of_state(row, n, l)], dy * of_n[l]);
        sum.u += gradient.u;
        sum.size += gradient.size;
        back[n] = decay * by_state;
    }
    return sum;
}

/// **Shapes** back `rows, n`, zeros at first.
template <class T>
__global__ void scan_backward(Inputs<T> in, RowGradients<T> out, float* states, float* back,
                              Shared shared) {
    const long long row = thread_in_grid();
    if (row >= in.rows()) return;
    scan(in, row, states);
    const auto after = [&](long long n, long long l) {
        return states[(row * in.states + n) * in.length + l];
    };
    for (long long n = 0; n < in.states; ++n) back[row * in.states + n] = 0.0f;
    for (long long l = in.length - 1; l >= 0; --l) {
        const long long at = row * in.length + l;
        const float dy = static_cast<float>(out.dy[at]);
        out.dz[at] = static_cast<T>(dy * plain_output(in, row, l, after) * in.gate_slope(row, l));
        const float by_output = dy * in.gate(row, l);
        const StepGradient gradient =
            differentiate_place(in, row, l, by_output, states, back + row * in.states, shared);
        const Step step = in.step(row, l);
        out.du[at] = static_cast<T>(gradient.u);
        out.ddelta[at] = static_cast<T>(gradient.size * in.slope(step));
        atomicAdd(&shared.ddelta_bias[row % in.channels], gradient.size * in.slope(step));
        atomicAdd(&shared.dD[row % in.channels], by_output * step.u);
    }
}

std::int64_t bytes_of_backward(const gradverify::Problem& p) {
    const std::int64_t back = p.scalar("b") * p.scalar("d") * p.scalar("n");
    return bytes_of_sums(p) + bytes_of_states(p) + back * static_cast<std::int64_t>(sizeof(float));
}

template <class T>
void backward(const Backward& call) {
    const Inputs<T> in(call);
    with_shared<T>(call, [&](const Shared& shared) {
        float* const states = shared.dC + call.dC.elements();
        scan_backward<<<blocks_of(in.rows(), 64), 64, 0, call.launch.stream>>>(
            in, RowGradients<T>(call), states, states + in.rows() * in.states * in.length, shared);
    });
}

template <class T>
void declare_forward(gradverify::KernelDeclaration& kernel) {
    declare_scan<T>(kernel);
    kernel.workspace(bytes_of_states);
}
template <class T>
void declare_backward(gradverify::KernelDeclaration& kernel) {
    declare_scan<T>(kernel);
    kernel.workspace(bytes_of_backward).not_deterministic();
}

}  // namespace

GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "naive", forward, declare_forward);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Backward, "naive", backward, declare_backward);
