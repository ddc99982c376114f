// SPDX-License-Identifier: Apache-2.0
// conv.forward/im2col: y = w patches + b, sample by sample and group by group.
// conv.grad_input/col2im: patches = w^T dy, added up for each pixel.
// conv.grad_weight/im2col: dw = sum over samples of dy patches^T.
// Left out for the device cuda where there is no cuBLAS; see CMakeLists.txt.
#if !defined(GRADVERIFY_NO_CUBLAS) || !defined(__NVCC__)
#include "harness/base/cuda_check.hpp"
#include "kernels/fast/conv/im2col.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

template <class T>
void forward(const Forward& call) {
    patches_to_features<T>(call, call.problem.n);
}

template <class T>
void grad_input(const GradInput& call) {
    if (call.dx.elements() == 0) return;
    const auto patches = patches_of<T>(call.problem, call.dx, call.dy, call.launch);
    features_to_patches(call, patches);
    patches.fold_into(call.dx.as<T>(), call.problem.n);
}

template <class T>
void grad_weight(const GradWeight& call) {
    const auto patches = patches_of<T>(call.problem, call.x, call.dy, call.launch);
    const PatchSizes& sizes = patches.sizes;
    const auto* const dy = call.dy.as<const T>();
    auto* const dw = call.dw.as<T>();
    const cudaStream_t stream = call.launch.stream;
    if (call.dy.elements() == 0) {  // no product would write over what dw holds
        GRADVERIFY_CUDA_CHECK(cudaMemsetAsync(dw, 0, call.dw.elements() * sizeof(T), stream));
        return;
    }
    patches.unfold_from(call.x.as<const T>(), call.problem.n);
    for (long long i = 0; i < call.problem.n; ++i)
        for (long long group = 0; group < sizes.groups; ++group) {
            auto of_sample = patches.factor(group, true);
            of_sample.data += i * sizes.patches();
            cublas_product<T>(
                {sizes.group_k, sizes.group_rows(), sizes.positions, 1},
                {dy + i * sizes.y() + group * sizes.group_k * sizes.positions, sizes.positions},
                of_sample, {dw + group * sizes.group_w(), sizes.group_rows()}, T(i > 0), stream);
        }
}

}  // namespace

/// A kernel for each type that cuBLAS multiplies.
#define GRADVERIFY_PATCHES(PASS, NAME, LAUNCH)                                 \
    GRADVERIFY_KERNEL(PASS, NAME, LAUNCH<float>).with(declare_patches<float>); \
    GRADVERIFY_KERNEL(PASS, NAME "_f64", LAUNCH<double>).with(declare_patches<double>)

GRADVERIFY_PATCHES(Forward, "im2col", forward);
GRADVERIFY_PATCHES(GradInput, "col2im", grad_input);
GRADVERIFY_PATCHES(GradWeight, "im2col", grad_weight);

#endif
