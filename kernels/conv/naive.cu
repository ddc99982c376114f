// SPDX-License-Identifier: Apache-2.0
// All of conv in two dimensions: a thread for each element of a result, with sums in float, or in
// double where all is double. conv.grad_bias/naive is conv.grad_bias/general, registered for plain
// convolutions alone.
#include "kernels/conv/geometry.cuh"
#include "kernels/kernel.cuh"

namespace {

using namespace gradverify::conv;

template <class T>
__global__ void convolve(const T* x, const T* w, const T* b, T* y, DeviceGeometry g) {
    using Sum = Accumulator<T>;
    const long long outputs = g.n * g.k * g.h.out * g.w.out;
    for (long long i = thread_in_grid(); i < outputs; i += threads_in_grid()) {
        const long long ow = i % g.w.out;
        const long long oh = i / g.w.out % g.h.out;
        const long long k = i / (g.w.out * g.h.out) % g.k;
        const long long n = i / (g.w.out * g.h.out * g.k);
        const long long first_c = k / g.group_k * g.group_c;
        Sum sum = static_cast<Sum>(b[k]);
        for (long long c = 0; c < g.group_c; ++c)
            for (long long fh = 0; fh < g.h.filter; ++fh) {
                const long long ih = g.h.pixel(oh, fh);
                if (ih < 0) continue;
                const T* row = x + ((n * g.c + first_c + c) * g.h.in + ih) * g.w.in;
                const T* taps = w + ((k * g.group_c + c) * g.h.filter + fh) * g.w.filter;
                for (long long fw = 0; fw < g.w.filter; ++fw)
                    if (const long long iw = g.w.pixel(ow, fw); iw >= 0)
                        sum += static_cast<Sum>(row[iw]) * static_cast<Sum>(taps[fw]);
            }
        y[i] = static_cast<T>(sum);
    }
}

template <class T>
void forward(const Forward& call) {
    const long long outputs = call.y.elements();
    if (outputs == 0) return;
    const int threads = call.launch.block_size;
    convolve<<<blocks_of_loop(outputs, threads), threads, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.w.as<const T>(), call.b.as<const T>(), call.y.as<T>(),
        device_geometry(call.problem, call.y));
}

__global__ void gather(const float* dy, const float* w, float* dx, DeviceGeometry g) {
    const long long inputs = g.n * g.c * g.h.in * g.w.in;
    for (long long i = thread_in_grid(); i < inputs; i += threads_in_grid()) {
        const long long iw = i % g.w.in;
        const long long ih = i / g.w.in % g.h.in;
        const long long c = i / (g.w.in * g.h.in) % g.c;
        const long long n = i / (g.w.in * g.h.in * g.c);
        const long long first_k = c / g.group_c * g.group_k;
        float sum = 0.0f;
        for (long long fh = 0; fh < g.h.filter; ++fh) {
            const long long oh = g.h.output(ih, fh);
            if (oh < 0) continue;
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long ow = g.w.output(iw, fw);
                if (ow < 0) continue;
                for (long long k = first_k; k < first_k + g.group_k; ++k)
                    sum += dy[((n * g.k + k) * g.h.out + oh) * g.w.out + ow] *
                           w[((k * g.group_c + c % g.group_c) * g.h.filter + fh) * g.w.filter + fw];
            }
        }
        dx[i] = sum;
    }
}

void grad_input(const GradInput& call) {
    const long long inputs = call.dx.elements();
    if (inputs == 0) return;
    const int threads = call.launch.block_size;
    gather<<<blocks_of_loop(inputs, threads), threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.w.as<const float>(), call.dx.as<float>(),
        device_geometry(call.problem, call.dy));
}

template <class T>
__global__ void correlate(const T* dy, const T* x, T* dw, DeviceGeometry g) {
    using Sum = Accumulator<T>;
    const long long weights = g.k * g.group_c * g.h.filter * g.w.filter;
    for (long long i = thread_in_grid(); i < weights; i += threads_in_grid()) {
        const long long fw = i % g.w.filter;
        const long long fh = i / g.w.filter % g.h.filter;
        const long long c = i / (g.w.filter * g.h.filter) % g.group_c;
        const long long k = i / (g.w.filter * g.h.filter * g.group_c);
        const long long first_c = k / g.group_k * g.group_c;
        Sum sum = 0;
        for (long long n = 0; n < g.n; ++n)
            for (long long oh = 0; oh < g.h.out; ++oh) {
                const long long ih = g.h.pixel(oh, fh);
                if (ih < 0) continue;
                const T* dy_row = dy + ((n * g.k + k) * g.h.out + oh) * g.w.out;
                const T* x_row = x + ((n * g.c + first_c + c) * g.h.in + ih) * g.w.in;
                for (long long ow = 0; ow < g.w.out; ++ow)
                    if (const long long iw = g.w.pixel(ow, fw); iw >= 0)
                        sum += static_cast<Sum>(dy_row[ow]) * static_cast<Sum>(x_row[iw]);
            }
        dw[i] = static_cast<T>(sum);
    }
}

template <class T>
void grad_weight(const GradWeight& call) {
    const long long weights = call.dw.elements();
    const int threads = call.launch.block_size;
    correlate<<<blocks_of_loop(weights, threads), threads, 0, call.launch.stream>>>(
        call.dy.as<const T>(), call.x.as<const T>(), call.dw.as<T>(),
        device_geometry(call.problem, call.dy));
}

// dy: batch, channels, pixels; db: channels.
__global__ void sum_channels(const float* dy, float* db, long long batch, long long channels,
                             long long pixels) {
    const long long k = thread_in_grid();
    if (k >= channels) return;
    float sum = 0.0f;
    for (long long n = 0; n < batch; ++n) {
        const float* image = dy + (n * channels + k) * pixels;
        for (long long i = 0; i < pixels; ++i) sum += image[i];
    }
    db[k] = sum;
}

void grad_bias(const GradBias& call) {
    const int threads = call.launch.block_size > 0 ? call.launch.block_size : 256;
    sum_channels<<<blocks_of(call.problem.k, threads), threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), call.problem.n, call.problem.k,
        call.dy.size(2) * call.dy.size(3));
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", forward<float>).with(declare_loop<float>);
GRADVERIFY_KERNEL(Forward, "naive_f16", forward<__half>)
    .storage(gradverify::DType::f16)
    .with(declare_loop<__half>);
GRADVERIFY_KERNEL(Forward, "naive_bf16", forward<__nv_bfloat16>).with(declare_loop<__nv_bfloat16>);
GRADVERIFY_KERNEL(GradInput, "naive", grad_input).with(declare_loop<float>);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradWeight, "general", grad_weight, declare_loop);
GRADVERIFY_KERNEL(GradBias, "general", grad_bias).with(declare_loop<float>);
GRADVERIFY_KERNEL(GradBias, "naive", grad_bias)
    .where("stride", gradverify::equals(1))
    .where("padding", gradverify::equals(0))
    .where("dilation", gradverify::equals(1))
    .where("groups", gradverify::equals(1))
    .where("filter_h", gradverify::same_as("filter_w"))
    .with(declare_elements_on_stream<float>)
    .up_to_elements(INT32_MAX);
