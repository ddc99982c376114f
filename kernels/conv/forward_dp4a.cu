// SPDX-License-Identifier: Apache-2.0
// conv.forward/dp4a: convolution of integers of 8 bits, four channels to an instruction. A thread
// for each element of y; channels are innermost in all tensors, so that neighbours read the same
// pixels and four channels are one aligned word.
#include <cstdint>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::DeviceGeometry;

constexpr int channels_of_word = 4;

__global__ void convolve(const int* x, const int* w, const int* bias, int* y, DeviceGeometry g,
                         long long elements) {
    const long long words = g.c / channels_of_word, group_words = g.group_c / channels_of_word;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements;
         i += step) {
        const long long k = i % g.k, ow = i / g.k % g.w.out, oh = i / (g.k * g.w.out) % g.h.out;
        const long long n = i / (g.k * g.w.out * g.h.out);
        int sum = bias[k];
        for (long long fh = 0; fh < g.h.filter; ++fh) {
            const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
            if (ih < 0 || ih >= g.h.in) continue;
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                if (iw < 0 || iw >= g.w.in) continue;
                const int* pixel =
                    x + ((n * g.h.in + ih) * g.w.in + iw) * words + k / g.group_k * group_words;
                const int* weights = w + ((k * g.h.filter + fh) * g.w.filter + fw) * group_words;
                for (long long q = 0; q < group_words; ++q) sum = __dp4a(pixel[q], weights[q], sum);
            }
        }
        y[i] = sum;
    }
}

void launch(const conv::Forward& call) {
    const long long elements = call.y.elements();
    if (elements == 0) return;
    convolve<<<conv::blocks_for(elements, call.launch.block_size), call.launch.block_size, 0,
               call.launch.stream>>>(reinterpret_cast<const int*>(call.x.as<const std::int8_t>()),
                                     reinterpret_cast<const int*>(call.w.as<const std::int8_t>()),
                                     call.b.as<const std::int32_t>(), call.y.as<std::int32_t>(),
                                     conv::device_geometry(call.problem, call.y), elements);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "dp4a", launch)
    .where("c", gradverify::multiple_of(channels_of_word))
    .only_if("c / groups is a multiple of 4",
             [](const gradverify::Problem& problem) {
                 return problem.scalar("c") / problem.scalar("groups") % channels_of_word == 0;
             })
    .supports("asymmetric_padding")
    .storage(gradverify::DType::i8)
    .storage("b", gradverify::DType::i32)
    .storage("y", gradverify::DType::i32)
    .layout("x", "nhwc")
    .layout("w", "ohwi")
    .layout("y", "nhwc")
    .blocks_of({256, 64})
    .aligned_to(channels_of_word)
    .on_given_stream()
    .with_empty_problems();
