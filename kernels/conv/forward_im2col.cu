// SPDX-License-Identifier: Apache-2.0
// conv.forward/im2col and /im2col_chunked: y = w patches + b, sample by sample and group by group.
// Left out for the device cuda where there is no cuBLAS; see CMakeLists.txt.
#if !defined(GRADVERIFY_NO_CUBLAS) || !defined(__NVCC__)
#include "kernels/conv/im2col.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::Batches;
using gradverify::conv::declare_patches;

template <class T, Batches batches>
void launch(const conv::Forward& call) {
    if (call.y.elements() == 0) return;
    const auto patches = conv::patches_of<T>(call.problem, call.x, call.y, call.launch);
    const conv::PatchSizes& sizes = patches.sizes;
    const auto *const x = call.x.as<const T>(), *const w = call.w.as<const T>();
    auto* const y = call.y.as<T>();
    const Launch& on = call.launch;
    conv::fill_with_bias<T>
        <<<conv::direct_blocks(call.y.elements(), on.block_size), on.block_size, 0, on.stream>>>(
            call.b.as<const T>(), y, call.problem.k, sizes.positions, call.y.elements());
    conv::for_each_chunk<T, batches>(call.problem, sizes, [&](long long first, long long samples) {
        patches.unfold_from(x + first * sizes.x(), samples);
        for (long long group = 0; group < sizes.groups; ++group)
            cublas_product<T>({sizes.group_k, sizes.positions, sizes.group_rows(), samples},
                              {w + group * sizes.group_w(), sizes.group_rows()},
                              patches.factor(group, false),
                              {y + first * sizes.y() + group * sizes.group_k * sizes.positions,
                               sizes.positions, sizes.y()},
                              T(1), on.stream);
    });
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "im2col", launch<float, Batches::whole>)
    .with(declare_patches<float, Batches::whole>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "im2col_f64", launch<double, Batches::whole>)
    .with(declare_patches<double, Batches::whole>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "im2col_chunked", launch<float, Batches::chunked>)
    .with(declare_patches<float, Batches::chunked>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "im2col_chunked_f64", launch<double, Batches::chunked>)
    .with(declare_patches<double, Batches::chunked>);

#endif
