// SPDX-License-Identifier: Apache-2.0
// conv/wgmma: the three products of a convolution by wgmma and tensor copies, for sm_90a. Floats
// are multiplied as tf32: forward as they are, grad_input with its filter transposed. For
// grad_weight they are laid out along pixels, on a grid with zeros in between, so NaN and
// infinities in what a window does not read may come out of it.
#include <string>
#include <type_traits>

#include "kernels/conv/wgmma_fold.cuh"
#include "kernels/conv/wgmma_lines.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::wgmma;

template <class T>
void forward(const Forward& call) {
    launch_forward<T, Pieces<1>>(call.problem, images_of<T>(call.x), images_of<T>(call.w), call.b,
                                 Strided<T>::of(call.y), call.launch);
}

/// The filter in the workspace, as taps, channels, features.
template <class T>
Images<T, Pieces<1>> transposed_filter(const GradInput& call) {
    const Parameters& p = call.problem;
    auto* const to = static_cast<T*>(call.launch.workspace);
    const long long taps = p.h().filter * p.w().filter;
    launch_fold<T, 1>(Strided<const T>{call.w.as<const T>(), p.c, p.c * taps, 0, 1},
                      Fold::of(p.k, 1, p.c), taps, to, call.launch.stream);
    const long long tap = p.c * p.k;
    return {{{to, {p.k, p.w().filter, p.h().filter, p.c}, {0, tap, tap * p.w().filter, p.k}}}};
}

template <class T>
void grad_input(const GradInput& call) {
    const auto w = [&] {
        if constexpr (std::is_same_v<T, float>)
            return transposed_filter<T>(call);
        else
            return images_of<T>(call.w);
    }();
    launch_grad_input<T, Pieces<1>>(call.problem, images_of<T>(call.dy), w, Strided<T>::of(call.dx),
                                    call.launch);
}

/// The workspace of grad_weight, as it is handed out.
struct LineSpace {
    Lines lines;
    Space space;
    float* dy = space.take<float>(lines.features.elements());
    float* x = space.take<float>(lines.image.elements());
    float* sums = nullptr;

    LineSpace(const Parameters& p, void* first) : lines(p), space(first) {
        sums = space.take<float>(bytes_of_sums<float>(p, lines.features.positions) / 4);
    }
};

template <class T>
void grad_weight(const GradWeight& call) {
    const Parameters& p = call.problem;
    const Launch& on = call.launch;
    auto* sums = static_cast<float*>(on.workspace);
    int parts = 0;
    if constexpr (std::is_same_v<T, float>) {
        const LineSpace in(p, on.workspace);
        launch_to_lines(call.dy, in.lines.features, in.dy, on.stream);
        launch_to_lines(call.x, in.lines.image, in.x, on.stream);
        sums = in.sums;
        parts = launch_sums_of_lines<T>(p, in.lines, in.dy, in.x, sums, on);
    } else {
        parts = launch_sums_of_filter<T, Pieces<1>>(p, images_of<T>(call.dy), images_of<T>(call.x),
                                                    sums, on);
    }
    launch_add_parts<T>(sums, parts, Fold::of(p.c, p.h().filter, p.w().filter), call.dw, on.stream);
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
            return p.k * p.c * p.h().filter * p.w().filter * std::int64_t{sizeof(T)};
        });
}
template <class T>
void declare_grad_weight(KernelDeclaration& kernel) {
    if constexpr (!std::is_same_v<T, float>) {
        declare_forward<T>(kernel);
    } else {
        declare<T>(kernel);
        kernel.only_if(std::string(reach_of_image) +
                           "; images have at most 2^30 positions in all, with zeros in between",
                       [](const Problem& problem) {
                           const Parameters p(problem);
                           return reads_windows_of_image(p) && Lines(p).are_few();
                       });
    }
    kernel.workspace([](const Problem& problem) {
        const Parameters p(problem);
        if constexpr (std::is_same_v<T, float>)
            return LineSpace(p, nullptr).space.bytes();
        else
            return bytes_of_sums<T>(p, pixels_of_features(p));
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
