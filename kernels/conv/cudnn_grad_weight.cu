// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/cudnn...: cuDNN's gradient by the filter, by its heuristics' choice and by each
// algorithm. Of those that sum the products themselves only one does so in the same order each
// time. Some are declared for less than cuDNN takes: docs/results.md has what it gets wrong.
#include "kernels/conv/cudnn.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::cudnn;
using enum Heuristic;

/// dw. `algorithm`: one of cuDNN's, or what its heuristics may choose from.
template <class T, auto algorithm, cudnnTensorFormat_t format = nchw,
          cudnnMathType_t math = math_of<T>>
void launch(const GradWeight& call) {
    const Convolution<T, format, math> conv(call.problem, call.x, call.dw, call.dy);
    const cudnnHandle_t handle = handle_on(call.launch.stream);
    const auto chosen = choose<algorithm, cudnnConvolutionBwdFilterAlgoPerf_t>(
        [&](auto... results) {
            GRADVERIFY_CUDNN(GetConvolutionBackwardFilterAlgorithm_v7, handle, conv.x, conv.y,
                             conv.how, conv.w, results...);
        },
        {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1});
    std::size_t bytes = 0;
    GRADVERIFY_CUDNN(GetConvolutionBackwardFilterWorkspaceSize, handle, conv.x, conv.y, conv.how,
                     conv.w, chosen, &bytes);
    void* const workspace = workspace_of(bytes);
    const T *x = call.x.as<const T>(), *dy = call.dy.as<const T>();
    T* const dw = call.dw.as<T>();
    const Scale<T> one = 1, zero = 0;
    GRADVERIFY_CUDNN(ConvolutionBackwardFilter, handle, &one, conv.x, x, conv.y, dy, conv.how,
                     chosen, workspace, bytes, &zero, conv.w, dw);
}

/// Those of 16 bits also leave pixels out with groups, round partial sums to their type in some
/// problems, and leave all of dw out where a grid of a block for each 16 filters would be too
/// large. docs/results.md has them.
template <class T, cudnnTensorFormat_t format = nchw>
void declare_narrow_weights(KernelDeclaration& kernel) {
    declare_product<T, format>(kernel);
    declare_flat(kernel);
    declare_copied_in_eights(kernel);
    constexpr std::int64_t most_filters = 65535 * 16;
    kernel.where("groups", equals(1)).where("k", between(1, most_filters));
}

}  // namespace

GRADVERIFY_KERNEL(GradWeight, "cudnn", launch<float, direct>).with(declare_product<float>);
GRADVERIFY_KERNEL(GradWeight, "cudnn_nhwc", launch<float, direct, nhwc>)
    .with(declare_product<float, nhwc>);
GRADVERIFY_KERNEL(GradWeight, "cudnn_tf32", launch<float, direct, nchw, tf32>)
    .with(declare_tf32<>)
    .with(declare_flat);
GRADVERIFY_KERNEL(GradWeight, "cudnn_nhwc_tf32", launch<float, direct, nhwc, tf32>)
    .with(declare_tf32<nhwc>)
    .with(declare_flat);
GRADVERIFY_KERNEL(GradWeight, "cudnn_f64", launch<double, direct>).with(declare_product<double>);
GRADVERIFY_KERNEL(GradWeight, "cudnn_f16", launch<__half, direct>)
    .with(declare_narrow_weights<__half>)
    .accumulates_in(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "cudnn_nhwc_f16", launch<__half, direct, nhwc>)
    .with(declare_narrow_weights<__half, nhwc>)
    .accumulates_in(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "cudnn_bf16", launch<__nv_bfloat16, direct>)
    .with(declare_narrow_weights<__nv_bfloat16>)
    .accumulates_in(DType::bf16);
GRADVERIFY_KERNEL(GradWeight, "cudnn_nhwc_bf16", launch<__nv_bfloat16, direct, nhwc>)
    .with(declare_narrow_weights<__nv_bfloat16, nhwc>)
    .accumulates_in(DType::bf16);

GRADVERIFY_KERNEL(GradWeight, "cudnn_any", launch<float, unrestricted>)
    .with(declare_product<float>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradWeight, "cudnn_any_f16", launch<__half, unrestricted>)
    .with(declare_narrow_weights<__half>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradWeight, "cudnn_any_bf16", launch<__nv_bfloat16, unrestricted>)
    .with(declare_narrow_weights<__nv_bfloat16>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradWeight, "cudnn_algo_0", launch<float, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0>)
    .with(declare_product<float>)
    .not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "cudnn_algo_3", launch<float, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3>)
    .with(declare_product<float>)
    .not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "cudnn_fft", launch<float, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT>)
    .with(declare_fft<false>);
GRADVERIFY_KERNEL(GradWeight, "cudnn_fft_tiling",
                  launch<float, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING>)
    .with(declare_fft<true>);
GRADVERIFY_KERNEL(GradWeight, "cudnn_winograd_nonfused",
                  launch<float, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED>)
    .with(declare_winograd);
