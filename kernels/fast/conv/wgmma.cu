// SPDX-License-Identifier: Apache-2.0
// conv/wgmma: the three products of a convolution by wgmma and tensor copies, for sm_90a. Floats
// are multiplied as tf32: forward as they are, grad_input with its filter transposed, grad_weight
// with dy transposed.
#include <type_traits>

#include "kernels/fast/conv/wgmma_lines.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::wgmma;

template <class T>
void forward(const Forward& call) {
    launch_forward<T>(call.problem, images_of<T>(call.x), images_of<T>(call.w), call.b, call.y,
                      call.launch);
}

template <class T>
void grad_input(const GradInput& call) {
    const Launch& on = call.launch;
    auto w = images_of<T>(call.w);
    if constexpr (std::is_same_v<T, float>)
        w = transposed(w, static_cast<T*>(on.workspace), on.stream);
    launch_grad_input<T>(call.problem, images_of<T>(call.dy), w, call.dx, on);
}

template <class T>
void grad_weight(const GradWeight& call) {
    const Parameters& p = call.problem;
    const Launch& on = call.launch;
    auto* sums = static_cast<float*>(on.workspace);
    int parts = 0;
    if constexpr (std::is_same_v<T, float>) {
        const LineSpace in(p, on.workspace);
        sums = in.sums;
        parts = launch_sums_of_lines(p, in, call.dy, images_of<T>(call.x), on);
    } else {
        parts = launch_sums_of_filter<T>(p, images_of<T>(call.dy), images_of<T>(call.x), sums, on);
    }
    launch_add_parts<T>(sums, parts, call.dw, on.stream);
}

template <class T>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.spatial_axes(2, 2)
        .supports("asymmetric_padding")
        .layout("x", "nhwc")
        .layout("w", "ohwi")
        .layout("y", "nhwc")
        .where("c", multiple_of(8))
        .where("k", multiple_of(8))
        .where("groups", between(1, 1))
        .aligned_to(16)
        .on_tensor_cores()
        .blocks_of({suitable, 64, 128, 256});
}
template <class T>
void declare_forward(KernelDeclaration& kernel) {
    declare<T>(kernel);
    kernel.only_if(reach_of_image, [](const Problem& problem) {
        return reads_windows_of_image(Parameters(problem));
    });
}
template <class T>
void declare_grad_input(KernelDeclaration& kernel) {
    declare<T>(kernel);
    kernel.only_if(reach_of_features, [](const Problem& problem) {
        return reads_windows_of_features(Parameters(problem));
    });
    if constexpr (std::is_same_v<T, float>)
        kernel.workspace([](const Problem& problem) {
            const Parameters p(problem);
            return p.k * taps_of_channels(p) * std::int64_t{sizeof(T)};
        });
}
template <class T>
void declare_grad_weight(KernelDeclaration& kernel) {
    declare_forward<T>(kernel);
    kernel.workspace([](const Problem& problem) {
        const Parameters p(problem);
        if constexpr (std::is_same_v<T, float>)
            return LineSpace::bytes_of(p);
        else
            return bytes_of_sums<T>(p);
    });
}

}  // namespace

// nvcc builds it where it builds for sm_90a (kernels/CMakeLists.txt).
#if !defined(__NVCC__) || defined(GRADVERIFY_SM_90A)
#define REGISTER(SUFFIX, T)                                                                  \
    GRADVERIFY_KERNEL(Forward, "wgmma" SUFFIX, forward<T>).with(declare_forward<T>);         \
    GRADVERIFY_KERNEL(GradInput, "wgmma" SUFFIX, grad_input<T>).with(declare_grad_input<T>); \
    GRADVERIFY_KERNEL(GradWeight, "wgmma" SUFFIX, grad_weight<T>).with(declare_grad_weight<T>)
REGISTER("_f16", __half);
REGISTER("_bf16", __nv_bfloat16);
REGISTER("_tf32", float);
#endif
