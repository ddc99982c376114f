// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/cudnn...: cuDNN's gradient by the image, by its heuristics' choice and by each
// algorithm. Of those that sum the products themselves only one does so in the same order each
// time.
#include "kernels/conv/cudnn.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::cudnn;
using enum Heuristic;

/// dx. `algorithm`: one of cuDNN's, or what its heuristics may choose from.
template <class T, auto algorithm, cudnnTensorFormat_t format = nchw,
          cudnnMathType_t math = math_of<T>>
void launch(const GradInput& call) {
    const Convolution<T, format, math> conv(call.problem, call.dx, call.w, call.dy);
    const cudnnHandle_t handle = handle_on(call.launch.stream);
    const auto chosen = choose<algorithm, cudnnConvolutionBwdDataAlgoPerf_t>(
        [&](auto... results) {
            GRADVERIFY_CUDNN(GetConvolutionBackwardDataAlgorithm_v7, handle, conv.w, conv.y,
                             conv.how, conv.x, results...);
        },
        {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1});
    std::size_t bytes = 0;
    GRADVERIFY_CUDNN(GetConvolutionBackwardDataWorkspaceSize, handle, conv.w, conv.y, conv.how,
                     conv.x, chosen, &bytes);
    void* const workspace = workspace_of(bytes);
    const T *w = call.w.as<const T>(), *dy = call.dy.as<const T>();
    T* const dx = call.dx.as<T>();
    const Scale<T> one = 1, zero = 0;
    GRADVERIFY_CUDNN(ConvolutionBackwardData, handle, &one, conv.w, w, conv.y, dy, conv.how, chosen,
                     workspace, bytes, &zero, conv.x, dx);
}

/// On axes that are both, TF32 was seen to have no end and the choice of any algorithm to divide by
/// zero: docs/results.md.
void declare_strided_or_dilated(KernelDeclaration& kernel) {
    kernel.only_if("no axis both strided and dilated", [](const Problem& problem) {
        return std::ranges::none_of(Parameters(problem).spatial(), [](const Axis& axis) {
            return axis.stride > 1 && axis.dilation > 1;
        });
    });
}

/// With groups TF32 gives NaN where memory that nothing has written is NaN, and in three dimensions
/// leaves pixels out: docs/convolution.md.
template <cudnnTensorFormat_t format = nchw>
void declare_tf32_pixels(KernelDeclaration& kernel) {
    declare_tf32<format>(kernel);
    declare_flat(kernel);
    kernel.where("groups", equals(1));
    declare_strided_or_dilated(kernel);
}

/// What those of half and bfloat16 get right.
template <class T, cudnnTensorFormat_t format = nchw>
void declare_narrow_pixels(KernelDeclaration& kernel) {
    declare_narrow<T, 3, format>(kernel);
    declare_copied_in_eights(kernel);
}

}  // namespace

GRADVERIFY_KERNEL(GradInput, "cudnn", launch<float, direct>).with(declare_product<float>);
GRADVERIFY_KERNEL(GradInput, "cudnn_nhwc", launch<float, direct, nhwc>)
    .with(declare_product<float, nhwc>);
GRADVERIFY_KERNEL(GradInput, "cudnn_tf32", launch<float, direct, nchw, tf32>)
    .with(declare_tf32_pixels<>);
GRADVERIFY_KERNEL(GradInput, "cudnn_nhwc_tf32", launch<float, direct, nhwc, tf32>)
    .with(declare_tf32_pixels<nhwc>);
GRADVERIFY_KERNEL(GradInput, "cudnn_f64", launch<double, direct>).with(declare_product<double>);
// Those of half were found to sum in it where the heuristics so choose: docs/convolution.md.
GRADVERIFY_KERNEL(GradInput, "cudnn_f16", launch<__half, direct>)
    .with(declare_narrow_pixels<__half>)
    .accumulates_in(DType::f16);
GRADVERIFY_KERNEL(GradInput, "cudnn_nhwc_f16", launch<__half, direct, nhwc>)
    .with(declare_narrow_pixels<__half, nhwc>)
    .accumulates_in(DType::f16);
GRADVERIFY_KERNEL(GradInput, "cudnn_bf16", launch<__nv_bfloat16, direct>)
    .with(declare_narrow_pixels<__nv_bfloat16>);
GRADVERIFY_KERNEL(GradInput, "cudnn_nhwc_bf16", launch<__nv_bfloat16, direct, nhwc>)
    .with(declare_narrow_pixels<__nv_bfloat16, nhwc>);

GRADVERIFY_KERNEL(GradInput, "cudnn_any", launch<float, unrestricted>)
    .with(declare_product<float>)
    .with(declare_any)
    .with(declare_strided_or_dilated);
GRADVERIFY_KERNEL(GradInput, "cudnn_any_f16", launch<__half, unrestricted>)
    .with(declare_narrow_pixels<__half>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradInput, "cudnn_any_bf16", launch<__nv_bfloat16, unrestricted>)
    .with(declare_narrow_pixels<__nv_bfloat16>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradInput, "cudnn_algo_0", launch<float, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0>)
    .with(declare_product<float>)
    .not_deterministic();
GRADVERIFY_KERNEL(GradInput, "cudnn_fft", launch<float, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT>)
    .with(declare_fft<false>);
GRADVERIFY_KERNEL(GradInput, "cudnn_fft_tiling",
                  launch<float, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING>)
    .with(declare_fft<true>);
GRADVERIFY_KERNEL(GradInput, "cudnn_winograd_nonfused",
                  launch<float, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED>)
    .with(declare_winograd);
