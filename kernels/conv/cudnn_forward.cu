// SPDX-License-Identifier: Apache-2.0
// conv.forward/cudnn...: cuDNN's forward pass, by its heuristics' choice and by each algorithm.
// Where results are narrower than sums the bias is added before they are rounded, by the one call
// that does so; a sum of two calls would be rounded twice.
#include "kernels/conv/cudnn.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv::cudnn;

template <class Descriptors>
cudnnConvolutionFwdAlgo_t choose(cudnnHandle_t, const Descriptors&,
                                 cudnnConvolutionFwdAlgo_t fixed) {
    return fixed;
}

template <class Descriptors>
cudnnConvolutionFwdAlgo_t choose(cudnnHandle_t handle, const Descriptors& conv,
                                 Heuristic heuristic) {
    cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    int count = 0;
    GRADVERIFY_CUDNN(GetConvolutionForwardAlgorithm_v7, handle, conv.x, conv.w, conv.how, conv.y,
                     CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found);
    return first_of(found, count, heuristic, [](cudnnConvolutionFwdAlgo_t algorithm) {
        return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
               algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
               algorithm == CUDNN_CONVOLUTION_FWD_ALGO_GEMM ||
               algorithm == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
    });
}

/// Of the call that adds the bias, for what the call for its workspace has taken before: with some
/// numbers of channels in bfloat16 it finds fault with a parameter, and so doesn't take the
/// problem.
void require_fused(cudnnStatus_t status) {
    constexpr const char* call = "cudnnConvolutionBiasActivationForward";
    if (status == CUDNN_STATUS_BAD_PARAM)
        throw NotSupported(std::string(call) + ": " + library().GetErrorString(status));
    require(status, call);
}

/// y = conv(x, w) + b. `algorithm`: one of cuDNN's, or what its heuristics may choose from.
template <class T, auto algorithm, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW,
          cudnnMathType_t math = math_of<T>>
void launch(const conv::Forward& call) {
    const Convolution<T, format, math> conv(call.problem, call.x, call.w, call.y);
    const cudnnHandle_t handle = handle_on(call.launch.stream);
    const auto chosen = choose(handle, conv, algorithm);
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

constexpr auto nhwc = CUDNN_TENSOR_NHWC;
constexpr auto precomp = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

/// Those of 16 bits where cuDNN 9 gets the last digits right: docs/results.md has where not.
template <class T, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW>
void declare_narrow_sums(KernelDeclaration& kernel) {
    declare_narrow<T, 2, format>(kernel);
    kernel.only_if("k <= 1024, unless c >= 15 or stride <= filter", [](const Problem& problem) {
        const gradverify::conv::Parameters p(problem);
        bool leaves_out = false;
        for (const gradverify::conv::Axis& axis : p.axes)
            if (axis.stride > axis.filter) leaves_out = true;
        return !leaves_out || p.k <= 1024 || p.c >= 15;
    });
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn", launch<float, Heuristic::direct>)
    .with(declare_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_nhwc", launch<float, Heuristic::direct, nhwc>)
    .with(declare_product<float, nhwc>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_tf32",
                  launch<float, Heuristic::direct, CUDNN_TENSOR_NCHW, tf32>)
    .with(declare_tf32<>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_nhwc_tf32",
                  launch<float, Heuristic::direct, nhwc, tf32>)
    .with(declare_tf32<nhwc>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_f64", launch<double, Heuristic::direct>)
    .with(declare_product<double>);
// The call that adds the bias before it rounds knows this algorithm alone.
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_f16", launch<__half, precomp>)
    .with(declare_narrow_sums<__half>)
    .accumulates_in(gradverify::DType::f16);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_nhwc_f16", launch<__half, precomp, nhwc>)
    .with(declare_narrow_sums<__half, nhwc>)
    .accumulates_in(gradverify::DType::f16);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_bf16", launch<__nv_bfloat16, precomp>)
    .with(declare_narrow_sums<__nv_bfloat16>)
    .accumulates_in(gradverify::DType::bf16);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_nhwc_bf16",
                  launch<__nv_bfloat16, precomp, nhwc>)
    .with(declare_narrow_sums<__nv_bfloat16, nhwc>)
    .accumulates_in(gradverify::DType::bf16);

GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_any", launch<float, Heuristic::any>)
    .with(declare_product<float>)
    .norm_wise(fft_growth)
    .not_deterministic();
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_implicit_gemm",
                  launch<float, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM>)
    .with(declare_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_precomp_gemm", launch<float, precomp>)
    .with(declare_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_gemm",
                  launch<float, CUDNN_CONVOLUTION_FWD_ALGO_GEMM>)
    .with(declare_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_fft",
                  launch<float, CUDNN_CONVOLUTION_FWD_ALGO_FFT>)
    .with(declare_product<float>)
    .with(declare_fft<false>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_fft_tiling",
                  launch<float, CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING>)
    .with(declare_product<float>)
    .with(declare_fft<true>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "cudnn_winograd_nonfused",
                  launch<float, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED>)
    .with(declare_product<float>)
    .with(declare_winograd);
