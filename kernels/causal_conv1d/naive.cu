// SPDX-License-Identifier: Apache-2.0
// causal_conv1d.forward/naive: a thread for each output, and for each element of the final states.
// causal_conv1d.backward/naive: a thread for each element of each gradient.
// In float, or bfloat16 with sums in float.
#include "kernels/causal_conv1d/sequences.cuh"

namespace {

using namespace gradverify::causal_conv1d;

template <class T>
__global__ void convolve(Inputs<T> in, T* y) {
    const long long i = thread_in_grid();
    if (i >= in.total * in.channels) return;
    const long long row = i / in.channels, sequence = in.sequence_of(row);
    const float sum = in.sum_at(sequence, i % in.channels, row - in.offsets[sequence]);
    y[i] = static_cast<T>(activated(sum, in.has_silu));
}

template <class T>
void forward(const Forward& call) {
    const Inputs<T> in(call);
    const cudaStream_t stream = call.launch.stream;
    if (call.y.elements() > 0)
        convolve<<<blocks_of(call.y.elements(), 128), 128, 0, stream>>>(in, call.y.as<T>());
    write_final_states<<<blocks_of(in.state_elements(), 128), 128, 0, stream>>>(
        in, call.final_states.as<T>());
}

template <class T>
__global__ void write_dx(Inputs<T> in, Cotangents<T> cotangents, T* dx) {
    const long long i = thread_in_grid();
    if (i >= in.total * in.channels) return;
    const long long row = i / in.channels, sequence = in.sequence_of(row);
    const long long at = row - in.offsets[sequence] + in.width - 1;
    dx[i] = static_cast<T>(cotangents.by_history(in, sequence, i % in.channels, at));
}

/// A thread for each element of dweight, and behind these one for each of dbias.
template <class T>
__global__ void write_dweight(Inputs<T> in, Cotangents<T> cotangents, T* dweight, T* dbias) {
    const long long i = thread_in_grid(), weights = in.channels * in.width;
    if (i >= weights + in.channels) return;
    const bool is_weight = i < weights;
    const long long channel = is_weight ? i / in.width : i - weights;
    float sum = 0.0f;
    for (long long s = 0; s < in.sequences; ++s)
        for (long long t = 0; t < in.length_of(s); ++t)
            sum += cotangents.by_sum(in, s, channel, t) *
                   (is_weight ? in.history(s, channel, t + i % in.width) : 1.0f);
    (is_weight ? dweight[i] : dbias[channel]) = static_cast<T>(sum);
}

template <class T>
void backward(const Backward& call) {
    const Inputs<T> in(call);
    const Cotangents<T> cotangents(call);
    const cudaStream_t stream = call.launch.stream;
    if (call.dx.elements() > 0)
        write_dx<<<blocks_of(call.dx.elements(), 128), 128, 0, stream>>>(in, cotangents,
                                                                         call.dx.as<T>());
    write_dinitial_states<<<blocks_of(in.state_elements(), 128), 128, 0, stream>>>(
        in, cotangents, call.dinitial_states.as<T>());
    write_dweight<<<blocks_of(in.channels * (in.width + 1), 32), 32, 0, stream>>>(
        in, cotangents, call.dweight.as<T>(), call.dbias.as<T>());
}

}  // namespace

GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "naive", forward, declare_elements_on_stream);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Backward, "naive", backward, declare_elements_on_stream);
