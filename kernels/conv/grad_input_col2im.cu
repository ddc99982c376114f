// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/col2im and /col2im_chunked: patches = w^T dy, folded back: each pixel is the sum
// of what its patches hold of it. Left out for the device cuda where there is no cuBLAS; see
// CMakeLists.txt.
#if !defined(GRADVERIFY_NO_CUBLAS) || !defined(__NVCC__)
#include "kernels/conv/im2col.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::Batches;
using gradverify::conv::declare_patches;

template <class T, Batches batches>
void launch(const conv::GradInput& call) {
    if (call.dx.elements() == 0) return;
    const auto patches = conv::patches_of<T>(call.problem, call.dx, call.dy, call.launch);
    const conv::PatchSizes& sizes = patches.sizes;
    const auto *const dy = call.dy.as<const T>(), *const w = call.w.as<const T>();
    auto* const dx = call.dx.as<T>();
    conv::for_each_chunk<T, batches>(call.problem, sizes, [&](long long first, long long samples) {
        for (long long group = 0; group < sizes.groups && sizes.positions > 0; ++group)
            cublas_product<T>({sizes.group_rows(), sizes.positions, sizes.group_k, samples},
                              {w + group * sizes.group_w(), sizes.group_rows(), 0, true},
                              {dy + first * sizes.y() + group * sizes.group_k * sizes.positions,
                               sizes.positions, sizes.y()},
                              patches.of_group(group), T(0), call.launch.stream);
        patches.fold_into(dx + first * sizes.x(), samples);
    });
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "col2im", launch<float, Batches::whole>)
    .with(declare_patches<float, Batches::whole>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "col2im_f64", launch<double, Batches::whole>)
    .with(declare_patches<double, Batches::whole>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "col2im_chunked", launch<float, Batches::chunked>)
    .with(declare_patches<float, Batches::chunked>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "col2im_chunked_f64",
                  launch<double, Batches::chunked>)
    .with(declare_patches<double, Batches::chunked>);

#endif
