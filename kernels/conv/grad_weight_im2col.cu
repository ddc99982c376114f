// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/im2col and /im2col_chunked: dw = sum over samples of dy patches^T.
// Left out for the device cuda where there is no cuBLAS; see CMakeLists.txt.
#if !defined(GRADVERIFY_NO_CUBLAS) || !defined(__NVCC__)
#include "harness/base/cuda_check.hpp"
#include "kernels/conv/im2col.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::Batches;
using gradverify::conv::declare_patches;

template <class T, Batches batches>
void launch(const conv::GradWeight& call) {
    const auto patches = conv::patches_of<T>(call.problem, call.x, call.dy, call.launch);
    const conv::PatchSizes& sizes = patches.sizes;
    const auto *const x = call.x.as<const T>(), *const dy = call.dy.as<const T>();
    auto* const dw = call.dw.as<T>();
    const cudaStream_t stream = call.launch.stream;
    if (call.dy.elements() == 0) {  // no product would write over what dw holds
        GRADVERIFY_CUDA_CHECK(cudaMemsetAsync(dw, 0, call.dw.elements() * sizeof(T), stream));
        return;
    }
    conv::for_each_chunk<T, batches>(call.problem, sizes, [&](long long first, long long samples) {
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

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "im2col", launch<float, Batches::whole>)
    .with(declare_patches<float, Batches::whole>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "im2col_f64", launch<double, Batches::whole>)
    .with(declare_patches<double, Batches::whole>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "im2col_chunked", launch<float, Batches::chunked>)
    .with(declare_patches<float, Batches::chunked>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "im2col_chunked_f64",
                  launch<double, Batches::chunked>)
    .with(declare_patches<double, Batches::chunked>);

#endif
