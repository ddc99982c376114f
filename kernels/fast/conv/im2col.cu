// SPDX-License-Identifier: Apache-2.0
// conv.forward/im2col and /im2col_chunked: y = w patches + b, sample by sample and group by group.
// conv.grad_input/col2im and /col2im_chunked: patches = w^T dy, added up for each pixel.
// conv.grad_weight/im2col and /im2col_chunked: dw = sum over samples of dy patches^T.
// Left out for the device cuda where there is no cuBLAS; see CMakeLists.txt.
#if !defined(GRADVERIFY_NO_CUBLAS) || !defined(__NVCC__)
#include "harness/base/cuda_check.hpp"
#include "kernels/fast/conv/im2col.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using enum Batches;

template <class T, Batches batches>
void forward(const Forward& call) {
    patches_to_features<T, batches>(call, call.problem.n);
}

template <class T, Batches batches>
void grad_input(const GradInput& call) {
    if (call.dx.elements() == 0) return;
    const auto patches = patches_of<T>(call.problem, call.dx, call.dy, call.launch);
    const Parameters& p = call.problem;
    for_each_chunk<T, batches>(p, patches.sizes, p.n, [&](long long first, long long samples) {
        features_to_patches(call, patches, first, samples);
        patches.fold_into(call.dx.as<T>() + first * patches.sizes.x(), samples);
    });
}

template <class T, Batches batches>
void grad_weight(const GradWeight& call) {
    const auto patches = patches_of<T>(call.problem, call.x, call.dy, call.launch);
    const Parameters& p = call.problem;
    const PatchSizes& sizes = patches.sizes;
    const auto *const x = call.x.as<const T>(), *const dy = call.dy.as<const T>();
    auto* const dw = call.dw.as<T>();
    const cudaStream_t stream = call.launch.stream;
    if (call.dy.elements() == 0) {  // no product would write over what dw holds
        GRADVERIFY_CUDA_CHECK(cudaMemsetAsync(dw, 0, call.dw.elements() * sizeof(T), stream));
        return;
    }
    for_each_chunk<T, batches>(p, sizes, p.n, [&](long long first, long long samples) {
        patches.unfold_from(x + first * sizes.x(), samples);
        for (long long i = 0; i < samples; ++i)
            for (long long group = 0; group < sizes.groups; ++group) {
                auto of_sample = patches.factor(group, true);
                of_sample.data += i * sizes.patches();
                cublas_product<T>(
                    {sizes.group_k, sizes.group_rows(), sizes.positions, 1},
                    {dy + (first + i) * sizes.y() + group * sizes.group_k * sizes.positions,
                     sizes.positions},
                    of_sample, {dw + group * sizes.group_w(), sizes.group_rows()}, T(first + i > 0),
                    stream);
            }
    });
}

}  // namespace

/// A kernel for each type that cuBLAS multiplies, with patches of the whole batch and of chunks.
#define GRADVERIFY_PATCHES(PASS, NAME, LAUNCH)                                               \
    GRADVERIFY_KERNEL(PASS, NAME, LAUNCH<float, whole>).with(declare_patches<float, whole>); \
    GRADVERIFY_KERNEL(PASS, NAME "_f64", LAUNCH<double, whole>)                              \
        .with(declare_patches<double, whole>);                                               \
    GRADVERIFY_KERNEL(PASS, NAME "_chunked", LAUNCH<float, chunked>)                         \
        .with(declare_patches<float, chunked>);                                              \
    GRADVERIFY_KERNEL(PASS, NAME "_chunked_f64", LAUNCH<double, chunked>)                    \
        .with(declare_patches<double, chunked>)

GRADVERIFY_PATCHES(Forward, "im2col", forward);
GRADVERIFY_PATCHES(GradInput, "col2im", grad_input);
GRADVERIFY_PATCHES(GradWeight, "im2col", grad_weight);

#endif
