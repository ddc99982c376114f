// SPDX-License-Identifier: Apache-2.0
// conv.*/cudnn...: cuDNN's passes, by its heuristics' choice and by each algorithm. Some are
// declared for less than cuDNN takes: docs/results.md has what it gets wrong.
#include "kernels/fast/conv/cudnn.cuh"

/// A kernel for row-major tensors and one for tensors whose channels lie innermost.
#define GRADVERIFY_CUDNN_LAYOUTS(PASS, SUFFIX, LAUNCH, T, ALGORITHM, MATH, DECLARE) \
    GRADVERIFY_KERNEL(PASS, "cudnn" SUFFIX, LAUNCH<T, ALGORITHM, nchw, MATH>)       \
        .with(DECLARE<T, nchw>);                                                    \
    GRADVERIFY_KERNEL(PASS, "cudnn_nhwc" SUFFIX, LAUNCH<T, ALGORITHM, nhwc, MATH>)  \
        .with(DECLARE<T, nhwc>)
/// A kernel of floats by one algorithm, which `DIRECTION` and `NAME` name.
#define GRADVERIFY_CUDNN_BY(PASS, SUFFIX, LAUNCH, DIRECTION, NAME) \
    GRADVERIFY_KERNEL(PASS, "cudnn_" SUFFIX,                       \
                      LAUNCH<float, CUDNN_CONVOLUTION_##DIRECTION##_ALGO_##NAME>)

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::cudnn;
using enum Heuristic;

constexpr auto precomp = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

/// The call that adds the bias calls a parameter bad for some numbers of channels in bfloat16,
/// which the call for its workspace accepts: it doesn't take the problem.
void require_fused(cudnnStatus_t status) {
    constexpr const char* call = "cudnnConvolutionBiasActivationForward";
    if (status == CUDNN_STATUS_BAD_PARAM)
        throw NotSupported(std::string(call) + ": " + library().GetErrorString(status));
    require(status, call);
}

/// y = conv(x, w) + b. `algorithm`: one of cuDNN's, or what its heuristics may choose from. Narrow
/// results take the one call that adds the bias before it rounds; two calls would round twice.
template <class T, auto algorithm, cudnnTensorFormat_t format = nchw,
          cudnnMathType_t math = math_of<T>>
void forward(const Forward& call) {
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

/// Without the problems of 16 bits whose last digits cuDNN 9 gets wrong: docs/results.md.
template <class T, cudnnTensorFormat_t format>
void declare_narrow_sums(KernelDeclaration& kernel) {
    declare_narrow<T, 2, format>(kernel);
    kernel.accumulates_in(DTypeOf<T>::value);
    kernel.only_if("k <= 1024, unless c >= 15 or stride <= filter", [](const Problem& problem) {
        const Parameters p(problem);
        const bool leaves_out = std::ranges::any_of(
            p.spatial(), [](const Axis& axis) { return axis.stride > axis.filter; });
        return !leaves_out || p.k <= 1024 || p.c >= 15;
    });
}

/// Some calls fail from 2^31 - 1022 elements on: docs/results.md.
void declare_below_2_31(KernelDeclaration& kernel) {
    kernel.up_to_elements((std::int64_t{1} << 31) - 1024);
}

/// With tens of millions of groups some elements are wrong now and then, and filters of three
/// dimensions must not be too many in NHWC: docs/results.md.
template <class T, cudnnTensorFormat_t format = nchw>
void declare_sums(KernelDeclaration& kernel) {
    declare_product<T, format>(kernel);
    declare_below_2_31(kernel);
    kernel.where("groups", between(1, 1 << 20));
    if constexpr (format == nhwc)
        kernel.only_if("fewer than 65535 times 16 taps in three dimensions", [](const Problem& p) {
            std::int64_t taps = Parameters(p).k;
            for (const Axis& axis : Parameters(p).spatial()) taps *= axis.filter;
            return p.rank() < 3 || taps < std::int64_t{65535} * 16;
        });
}

/// TF32 writes past the end of y with groups, and dies of as many pixels: docs/results.md.
template <class T, cudnnTensorFormat_t format>
void declare_tf32_sums(KernelDeclaration& kernel) {
    declare_tf32<T, format>(kernel);
    kernel.up_to_elements((std::int64_t{1} << 31) - (1 << 16));
    kernel.where("groups", equals(1));
}

/// dx. Only one of the algorithms that sum the products themselves keeps to one order; so for dw.
template <class T, auto algorithm, cudnnTensorFormat_t format = nchw,
          cudnnMathType_t math = math_of<T>>
void grad_input(const GradInput& call) {
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

/// On axes that are both, TF32 does not end and floats divide by zero: docs/results.md.
void declare_strided_or_dilated(KernelDeclaration& kernel) {
    kernel.only_if("no axis both strided and dilated", [](const Problem& problem) {
        return std::ranges::none_of(Parameters(problem).spatial(), [](const Axis& axis) {
            return axis.stride > 1 && axis.dilation > 1;
        });
    });
}

template <class T, cudnnTensorFormat_t format>
void declare_pixels(KernelDeclaration& kernel) {
    declare_product<T, format>(kernel);
    declare_below_2_31(kernel);
    declare_strided_or_dilated(kernel);
}

/// TF32 is wrong with groups and in three dimensions: docs/results.md.
template <class T, cudnnTensorFormat_t format>
void declare_tf32_pixels(KernelDeclaration& kernel) {
    declare_flat_tf32<T, format>(kernel);
    kernel.where("groups", equals(1));
    declare_strided_or_dilated(kernel);
}

template <class T, cudnnTensorFormat_t format = nchw>
void declare_narrow_pixels(KernelDeclaration& kernel) {
    declare_narrow<T, 3, format>(kernel);
    declare_copied_in_eights(kernel);
}

/// Half is summed in half where the heuristics so choose: docs/results.md.
template <class T, cudnnTensorFormat_t format>
void declare_half_pixels(KernelDeclaration& kernel) {
    declare_narrow_pixels<T, format>(kernel);
    kernel.accumulates_in(DTypeOf<T>::value);
}

/// dw.
template <class T, auto algorithm, cudnnTensorFormat_t format = nchw,
          cudnnMathType_t math = math_of<T>>
void grad_weight(const GradWeight& call) {
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

/// TF32 does not start with more images than a grid has blocks in y and z: docs/results.md.
template <class T, cudnnTensorFormat_t format>
void declare_tf32_weights(KernelDeclaration& kernel) {
    declare_flat_tf32<T, format>(kernel);
    kernel.where("n", between(0, 65535));
}

/// Kernels of 16 bits leave pixels out in three dimensions and with groups, round some partial sums
/// to their type, and leave out all of dw where a block for each 16 filters makes the grid too
/// large: docs/results.md.
template <class T, cudnnTensorFormat_t format = nchw>
void declare_narrow_weights(KernelDeclaration& kernel) {
    declare_product<T, format>(kernel);
    declare_copied_in_eights(kernel);
    constexpr std::int64_t most_filters = 65535 * 16;
    kernel.spatial_axes(1, 2).where("groups", equals(1)).where("k", between(1, most_filters));
}

/// The same, with partial sums in their type where the heuristics so choose.
template <class T, cudnnTensorFormat_t format>
void declare_narrow_sums_of_weights(KernelDeclaration& kernel) {
    declare_narrow_weights<T, format>(kernel);
    kernel.accumulates_in(DTypeOf<T>::value);
}

/// db, which cuDNN has no bfloat16 of.
template <class T>
void grad_bias(const GradBias& call) {
    TensorDescriptor dy, db;
    describe<T>(dy, call.dy);
    describe_channels<T>(db, call.db.size(0), Axes(call.dy).count);
    const Scale<T> one = 1, zero = 0;
    GRADVERIFY_CUDNN(ConvolutionBackwardBias, handle_on(call.launch.stream), &one, dy,
                     call.dy.as<const T>(), &zero, db, call.db.as<T>());
}

template <class T>
void declare_bias_nhwc(KernelDeclaration& kernel) {
    declare_cudnn<T>(kernel);
    kernel.layout("y", "nhwc");
}

}  // namespace

GRADVERIFY_CUDNN_LAYOUTS(Forward, "", forward, float, direct, math_of<float>, declare_sums);
GRADVERIFY_CUDNN_LAYOUTS(Forward, "_tf32", forward, float, direct, tf32, declare_tf32_sums);
GRADVERIFY_KERNEL(Forward, "cudnn_f64", forward<double, direct>).with(declare_sums<double>);
// The call that adds the bias before it rounds knows this algorithm alone.
GRADVERIFY_CUDNN_LAYOUTS(Forward, "_f16", forward, __half, precomp, math_of<__half>,
                         declare_narrow_sums);
GRADVERIFY_CUDNN_LAYOUTS(Forward, "_bf16", forward, __nv_bfloat16, precomp, math_of<__nv_bfloat16>,
                         declare_narrow_sums);
GRADVERIFY_KERNEL(Forward, "cudnn_any", forward<float, unrestricted>)
    .with(declare_sums<float>)
    .with(declare_any);
GRADVERIFY_CUDNN_BY(Forward, "implicit_gemm", forward, FWD, IMPLICIT_GEMM)
    .with(declare_sums<float>);
GRADVERIFY_CUDNN_BY(Forward, "precomp_gemm", forward, FWD, IMPLICIT_PRECOMP_GEMM)
    .with(declare_sums<float>);
GRADVERIFY_CUDNN_BY(Forward, "gemm", forward, FWD, GEMM).with(declare_sums<float>);
GRADVERIFY_CUDNN_BY(Forward, "fft", forward, FWD, FFT)
    .with(declare_fft<false>)
    .with(declare_below_2_31);
GRADVERIFY_CUDNN_BY(Forward, "fft_tiling", forward, FWD, FFT_TILING)
    .with(declare_fft<true>)
    .with(declare_below_2_31);
GRADVERIFY_CUDNN_BY(Forward, "winograd_nonfused", forward, FWD, WINOGRAD_NONFUSED)
    .with(declare_winograd)
    .with(declare_below_2_31);

GRADVERIFY_CUDNN_LAYOUTS(GradInput, "", grad_input, float, direct, math_of<float>, declare_pixels);
GRADVERIFY_CUDNN_LAYOUTS(GradInput, "_tf32", grad_input, float, direct, tf32, declare_tf32_pixels);
GRADVERIFY_KERNEL(GradInput, "cudnn_f64", grad_input<double, direct>).with(declare_product<double>);
GRADVERIFY_CUDNN_LAYOUTS(GradInput, "_f16", grad_input, __half, direct, math_of<__half>,
                         declare_half_pixels);
GRADVERIFY_CUDNN_LAYOUTS(GradInput, "_bf16", grad_input, __nv_bfloat16, direct,
                         math_of<__nv_bfloat16>, declare_narrow_pixels);
GRADVERIFY_KERNEL(GradInput, "cudnn_any", grad_input<float, unrestricted>)
    .with(declare_product<float>)
    .with(declare_any)
    .with(declare_strided_or_dilated);
GRADVERIFY_KERNEL(GradInput, "cudnn_any_f16", grad_input<__half, unrestricted>)
    .with(declare_narrow_pixels<__half>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradInput, "cudnn_any_bf16", grad_input<__nv_bfloat16, unrestricted>)
    .with(declare_narrow_pixels<__nv_bfloat16>)
    .with(declare_any);
GRADVERIFY_CUDNN_BY(GradInput, "algo_0", grad_input, BWD_DATA, 0)
    .with(declare_product<float>)
    .not_deterministic();
GRADVERIFY_CUDNN_BY(GradInput, "fft", grad_input, BWD_DATA, FFT).with(declare_fft<false>);
GRADVERIFY_CUDNN_BY(GradInput, "fft_tiling", grad_input, BWD_DATA, FFT_TILING)
    .with(declare_fft<true>);
GRADVERIFY_CUDNN_BY(GradInput, "winograd_nonfused", grad_input, BWD_DATA, WINOGRAD_NONFUSED)
    .with(declare_winograd);

GRADVERIFY_CUDNN_LAYOUTS(GradWeight, "", grad_weight, float, direct, math_of<float>,
                         declare_product);
GRADVERIFY_CUDNN_LAYOUTS(GradWeight, "_tf32", grad_weight, float, direct, tf32,
                         declare_tf32_weights);
GRADVERIFY_KERNEL(GradWeight, "cudnn_f64", grad_weight<double, direct>)
    .with(declare_product<double>);
GRADVERIFY_CUDNN_LAYOUTS(GradWeight, "_f16", grad_weight, __half, direct, math_of<__half>,
                         declare_narrow_sums_of_weights);
GRADVERIFY_CUDNN_LAYOUTS(GradWeight, "_bf16", grad_weight, __nv_bfloat16, direct,
                         math_of<__nv_bfloat16>, declare_narrow_sums_of_weights);
GRADVERIFY_KERNEL(GradWeight, "cudnn_any", grad_weight<float, unrestricted>)
    .with(declare_product<float>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradWeight, "cudnn_any_f16", grad_weight<__half, unrestricted>)
    .with(declare_narrow_weights<__half>)
    .with(declare_any);
GRADVERIFY_KERNEL(GradWeight, "cudnn_any_bf16", grad_weight<__nv_bfloat16, unrestricted>)
    .with(declare_narrow_weights<__nv_bfloat16>)
    .with(declare_any);
GRADVERIFY_CUDNN_BY(GradWeight, "algo_0", grad_weight, BWD_FILTER, 0)
    .with(declare_product<float>)
    .not_deterministic();
GRADVERIFY_CUDNN_BY(GradWeight, "algo_3", grad_weight, BWD_FILTER, 3)
    .with(declare_product<float>)
    .not_deterministic();
GRADVERIFY_CUDNN_BY(GradWeight, "fft", grad_weight, BWD_FILTER, FFT).with(declare_fft<false>);
GRADVERIFY_CUDNN_BY(GradWeight, "fft_tiling", grad_weight, BWD_FILTER, FFT_TILING)
    .with(declare_fft<true>);
GRADVERIFY_CUDNN_BY(GradWeight, "winograd_nonfused", grad_weight, BWD_FILTER, WINOGRAD_NONFUSED)
    .with(declare_winograd);

GRADVERIFY_KERNEL(GradBias, "cudnn", grad_bias<float>).with(declare_cudnn<float>);
GRADVERIFY_KERNEL(GradBias, "cudnn_nhwc", grad_bias<float>).with(declare_bias_nhwc<float>);
GRADVERIFY_KERNEL(GradBias, "cudnn_f64", grad_bias<double>).with(declare_cudnn<double>);
GRADVERIFY_KERNEL(GradBias, "cudnn_nhwc_f64", grad_bias<double>).with(declare_bias_nhwc<double>);
GRADVERIFY_KERNEL(GradBias, "cudnn_f16", grad_bias<__half>).with(declare_cudnn<__half>);
GRADVERIFY_KERNEL(GradBias, "cudnn_nhwc_f16", grad_bias<__half>).with(declare_bias_nhwc<__half>);
