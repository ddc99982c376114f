// SPDX-License-Identifier: Apache-2.0
// conv.forward/cudnn...: cuDNN's forward pass, by its heuristics' choice and by each algorithm.
// Where results are narrower than sums the bias is added before they are rounded, by the one call
// that does so; a sum of two calls would be rounded twice.
#include "kernels/conv/cudnn.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::cudnn;
using enum Heuristic;

constexpr auto precomp = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

/// The call that adds the bias finds fault with a parameter for some numbers of channels in
/// bfloat16, though the call for its workspace has taken it: it doesn't take the problem.
void require_fused(cudnnStatus_t status) {
    constexpr const char* call = "cudnnConvolutionBiasActivationForward";
    if (status == CUDNN_STATUS_BAD_PARAM)
        throw NotSupported(std::string(call) + ": " + library().GetErrorString(status));
    require(status, call);
}

/// y = conv(x, w) + b. `algorithm`: one of cuDNN's, or what its heuristics may choose from.
template <class T, auto algorithm, cudnnTensorFormat_t format = nchw,
          cudnnMathType_t math = math_of<T>>
void launch(const Forward& call) {
    const Convolution<T, format, math> conv(call.problem, call.x, call.w, call.y);
    const cudnnHandle_t handle = handle_on(call.launch.stream);
    const auto chosen = choose<algorithm, cudnnConvolutionFwdAlgoPerf_t>(
        [&](auto... results) {
            GRADVERIFY_CUDNN(GetConvolutionForwardAlgorithm_v7, handle, conv.x, conv.w, conv.how,
                             conv.y, results...);
        },
        {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, precomp, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
         CUDNN_CONVOLUTION_FWD_ALGO_DIRECT});
    std::size_t bytes = 0;
    GRADVERIFY_CUDNN(GetConvolutionForwardWorkspaceSize, handle, conv.x, conv.w, conv.how, conv.y,
                     chosen, &bytes);
    void* const workspace = workspace_of(bytes);
    TensorDescriptor bias;
    describe_channels<T>(bias, call.y.size(1), conv.axes);
    const T *x = call.x.as<const T>(), *w = call.w.as<const T>(), *b = call.b.as<const T>();
    T* const y = call.y.as<T>();
    const Scale<T> one = 1, zero = 0;
    if constexpr (is_narrow<T>) {
        ActivationDescriptor identity;
        GRADVERIFY_CUDNN(SetActivationDescriptor, identity, CUDNN_ACTIVATION_IDENTITY,
                         CUDNN_PROPAGATE_NAN, 0.0);
        require_fused(library().ConvolutionBiasActivationForward(
            handle, &one, conv.x, x, conv.w, w, conv.how, chosen, workspace, bytes, &zero, conv.y,
            y, bias, b, identity, conv.y, y));
    } else {
        GRADVERIFY_CUDNN(ConvolutionForward, handle, &one, conv.x, x, conv.w, w, conv.how, chosen,
                         workspace, bytes, &zero, conv.y, y);
        GRADVERIFY_CUDNN(AddTensor, handle, &one, bias, b, &one, conv.y, y);
    }
}

/// Those of 16 bits where cuDNN 9 gets the last digits right: docs/results.md has where not.
template <class T, cudnnTensorFormat_t format = nchw>
void declare_narrow_sums(KernelDeclaration& kernel) {
    declare_narrow<T, 2, format>(kernel);
    kernel.only_if("k <= 1024, unless c >= 15 or stride <= filter", [](const Problem& problem) {
        const Parameters p(problem);
        bool leaves_out = false;
        for (const Axis& axis : p.axes)
            if (axis.stride > axis.filter) leaves_out = true;
        return !leaves_out || p.k <= 1024 || p.c >= 15;
    });
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "cudnn", launch<float, direct>).with(declare_product<float>);
GRADVERIFY_KERNEL(Forward, "cudnn_nhwc", launch<float, direct, nhwc>)
    .with(declare_product<float, nhwc>);
GRADVERIFY_KERNEL(Forward, "cudnn_tf32", launch<float, direct, nchw, tf32>).with(declare_tf32<>);
GRADVERIFY_KERNEL(Forward, "cudnn_nhwc_tf32", launch<float, direct, nhwc, tf32>)
    .with(declare_tf32<nhwc>);
GRADVERIFY_KERNEL(Forward, "cudnn_f64", launch<double, direct>).with(declare_product<double>);
// The call that adds the bias before it rounds knows this algorithm alone.
GRADVERIFY_KERNEL(Forward, "cudnn_f16", launch<__half, precomp>)
    .with(declare_narrow_sums<__half>)
    .accumulates_in(DType::f16);
GRADVERIFY_KERNEL(Forward, "cudnn_nhwc_f16", launch<__half, precomp, nhwc>)
    .with(declare_narrow_sums<__half, nhwc>)
    .accumulates_in(DType::f16);
GRADVERIFY_KERNEL(Forward, "cudnn_bf16", launch<__nv_bfloat16, precomp>)
    .with(declare_narrow_sums<__nv_bfloat16>)
    .accumulates_in(DType::bf16);
GRADVERIFY_KERNEL(Forward, "cudnn_nhwc_bf16", launch<__nv_bfloat16, precomp, nhwc>)
    .with(declare_narrow_sums<__nv_bfloat16, nhwc>)
    .accumulates_in(DType::bf16);

GRADVERIFY_KERNEL(Forward, "cudnn_any", launch<float, unrestricted>)
    .with(declare_product<float>)
    .with(declare_any);
GRADVERIFY_KERNEL(Forward, "cudnn_implicit_gemm",
                  launch<float, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM>)
    .with(declare_product<float>);
GRADVERIFY_KERNEL(Forward, "cudnn_precomp_gemm", launch<float, precomp>)
    .with(declare_product<float>);
GRADVERIFY_KERNEL(Forward, "cudnn_gemm", launch<float, CUDNN_CONVOLUTION_FWD_ALGO_GEMM>)
    .with(declare_product<float>);
GRADVERIFY_KERNEL(Forward, "cudnn_fft", launch<float, CUDNN_CONVOLUTION_FWD_ALGO_FFT>)
    .with(declare_fft<false>);
GRADVERIFY_KERNEL(Forward, "cudnn_fft_tiling", launch<float, CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING>)
    .with(declare_fft<true>);
GRADVERIFY_KERNEL(Forward, "cudnn_winograd_nonfused",
                  launch<float, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED>)
    .with(declare_winograd);
