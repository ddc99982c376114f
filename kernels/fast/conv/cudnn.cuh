// SPDX-License-Identifier: Apache-2.0
// A convolution by cuDNN's descriptors. One spatial axis becomes two, the first of height 1. The
// algorithm is given, or the one that cuDNN's heuristics put first.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "kernels/element.cuh"
#include "kernels/fast/conv/cudnn_library.cuh"
#include "reference/conv.hpp"

namespace gradverify::conv::cudnn {

/// Direct algorithms sum the products themselves, in the same order each time.
enum class Heuristic { direct, unrestricted };

template <class T>
constexpr cudnnDataType_t data_type = CUDNN_DATA_FLOAT;
template <>
constexpr cudnnDataType_t data_type<double> = CUDNN_DATA_DOUBLE;
template <>
constexpr cudnnDataType_t data_type<__half> = CUDNN_DATA_HALF;
template <>
constexpr cudnnDataType_t data_type<__nv_bfloat16> = CUDNN_DATA_BFLOAT16;

/// Types of two bytes have products on tensor cores, and sums in float.
template <class T>
constexpr bool is_narrow = sizeof(T) == 2;

/// IEEE arithmetic for float, whose default is TF32.
template <class T>
constexpr cudnnMathType_t math_of = is_narrow<T> ? CUDNN_TENSOR_OP_MATH : CUDNN_DEFAULT_MATH;
template <>
constexpr cudnnMathType_t math_of<float> = CUDNN_FMA_MATH;

/// The type of the factors that every call takes.
template <class T>
using Scale = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// A descriptor that lasts as long as this.
template <class Handle, auto create, auto destroy>
struct Descriptor {
    Handle handle = nullptr;

    Descriptor() { require((library().*create)(&handle), "cudnnCreate...Descriptor"); }
    ~Descriptor() { (library().*destroy)(handle); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator Handle() const { return handle; }
};
using TensorDescriptor = Descriptor<cudnnTensorDescriptor_t, &Library::CreateTensorDescriptor,
                                    &Library::DestroyTensorDescriptor>;
using FilterDescriptor = Descriptor<cudnnFilterDescriptor_t, &Library::CreateFilterDescriptor,
                                    &Library::DestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Descriptor<cudnnConvolutionDescriptor_t, &Library::CreateConvolutionDescriptor,
               &Library::DestroyConvolutionDescriptor>;
using ActivationDescriptor =
    Descriptor<cudnnActivationDescriptor_t, &Library::CreateActivationDescriptor,
               &Library::DestroyActivationDescriptor>;

/// Sizes and strides in ints, with an axis of height 1 where there is only a width.
struct Axes {
    int count = 0;
    std::array<int, 5> sizes{}, strides{};

    explicit Axes(const TensorView& view) {
        for (int axis = 0; axis < view.rank; ++axis) {
            if (axis == 2 && view.rank == 3) add(1, view.size(2) * view.stride(2));
            add(view.size(axis), view.stride(axis));
        }
    }

  private:
    void add(std::int64_t size, std::int64_t stride) {
        sizes[static_cast<std::size_t>(count)] = as_int(size);
        strides[static_cast<std::size_t>(count++)] = as_int(stride);
    }
};

template <class T>
void describe(const TensorDescriptor& descriptor, const TensorView& view) {
    const Axes axes(view);
    GRADVERIFY_CUDNN(SetTensorNdDescriptor, descriptor, data_type<T>, axes.count, axes.sizes.data(),
                     axes.strides.data());
}

/// One number for each channel, beside tensors with this number of axes.
template <class T>
void describe_channels(const TensorDescriptor& descriptor, std::int64_t channels, int axes) {
    std::array<int, 5> sizes{1, as_int(channels), 1, 1, 1}, strides{as_int(channels), 1, 1, 1, 1};
    GRADVERIFY_CUDNN(SetTensorNdDescriptor, descriptor, data_type<T>, axes, sizes.data(),
                     strides.data());
}

/// The tensors of a convolution, x and y also for dx and dy, and how it is to be done.
template <class T, cudnnTensorFormat_t format, cudnnMathType_t math>
struct Convolution {
    TensorDescriptor x, y;
    FilterDescriptor w;
    ConvolutionDescriptor how;
    int axes = 0;

    Convolution(const Parameters& p, const TensorView& x_view, const TensorView& w_view,
                const TensorView& y_view) {
        describe<T>(x, x_view);
        describe<T>(y, y_view);
        const Axes filter(w_view);
        axes = filter.count;
        GRADVERIFY_CUDNN(SetFilterNdDescriptor, w, data_type<T>, format, axes, filter.sizes.data());
        std::array<int, 3> padding{}, stride{1, 1, 1}, dilation{1, 1, 1};
        const int missing = axes - 2 - p.rank;
        for (int axis = 0; axis < p.rank; ++axis) {
            const Axis& of = p.axes[static_cast<std::size_t>(axis)];
            const auto at = static_cast<std::size_t>(axis + missing);
            padding[at] = as_int(of.padding_left);
            stride[at] = as_int(of.stride);
            dilation[at] = as_int(of.dilation);
        }
        // What everybody calls a convolution does not turn the filter round.
        GRADVERIFY_CUDNN(SetConvolutionNdDescriptor, how, axes - 2, padding.data(), stride.data(),
                         dilation.data(), CUDNN_CROSS_CORRELATION, data_type<Accumulator<T>>);
        GRADVERIFY_CUDNN(SetConvolutionGroupCount, how, as_int(p.groups));
        GRADVERIFY_CUDNN(SetConvolutionMathType, how, math);
    }
};

// Heuristics put some algorithms first that want all memory.
constexpr std::size_t workspace_most = std::size_t{4} << 30;

/// `algorithm` itself, or the first algorithm of the heuristics that may be taken.
/// `ask(most, &count, found)` asks them, and `direct` lists those that sum the products themselves.
template <auto algorithm, class Performance, class Ask>
auto choose(Ask ask, std::initializer_list<decltype(Performance::algo)> direct) {
    if constexpr (!std::is_same_v<decltype(algorithm), Heuristic>) {
        return algorithm;
    } else {
        constexpr int most = 8;
        Performance found[most];
        int count = 0;
        ask(most, &count, found);
        for (const Performance& one : std::span(found).first(static_cast<std::size_t>(count))) {
            const bool is_wanted =
                algorithm == Heuristic::unrestricted || (std::ranges::count(direct, one.algo) > 0 &&
                                                         one.determinism == CUDNN_DETERMINISTIC);
            if (one.status == CUDNN_STATUS_SUCCESS && is_wanted && one.memory <= workspace_most)
                return one.algo;
        }
        throw NotSupported("cuDNN's heuristics name no algorithm that may be taken");
    }
}

/// Declares any of its kernels. cuDNN decides which problems an algorithm takes; its documentation
/// limits a tensor's elements.
template <class T>
void declare_cudnn(KernelDeclaration& kernel) {
    kernel.spatial_axes(1, 3).on_given_stream().may_refuse().needs(why_absent).yardstick("cuDNN");
    kernel.up_to_elements(INT32_MAX).contiguous();
    if constexpr (DTypeOf<T>::value != DType::f32) kernel.storage(DTypeOf<T>::value);
    if constexpr (is_narrow<T>) kernel.on_tensor_cores();
}

/// The same of a pass with x, w and y, or their gradients.
template <class T, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW>
void declare_product(KernelDeclaration& kernel) {
    declare_cudnn<T>(kernel);
    if constexpr (format == CUDNN_TENSOR_NHWC)
        kernel.layout("x", "nhwc").layout("w", "ohwi").layout("y", "nhwc");
}

/// The same for half and bfloat16, without the problems that cuDNN 9 gets wrong (docs/results.md):
/// groups, dilation, and, forward, three dimensions, where it rounds before it adds the bias.
template <class T, int most_axes, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW>
void declare_narrow(KernelDeclaration& kernel) {
    declare_product<T, format>(kernel);
    kernel.spatial_axes(1, most_axes).where("groups", equals(1)).where("dilation", equals(1));
}

/// Gradients of half and bfloat16 work on copies whose channels are filled up to eight, and are
/// wrong beyond 2^31 elements of such a copy (docs/results.md), so a tensor has an eighth of that.
inline void declare_copied_in_eights(KernelDeclaration& kernel) {
    kernel.up_to_elements(std::int64_t{1} << 28);
}

constexpr auto nchw = CUDNN_TENSOR_NCHW, nhwc = CUDNN_TENSOR_NHWC;

/// The same of floats whose products may be TF32, as they are by default.
constexpr cudnnMathType_t tf32 = CUDNN_TENSOR_OP_MATH;

template <class T, cudnnTensorFormat_t format>
void declare_tf32(KernelDeclaration& kernel) {
    declare_product<T, format>(kernel);
    kernel.on_tensor_cores();
}

/// Without three dimensions, which cuDNN 9 gets wrong on tensor cores (docs/results.md).
template <class T, cudnnTensorFormat_t format>
void declare_flat_tf32(KernelDeclaration& kernel) {
    declare_tf32<T, format>(kernel);
    kernel.spatial_axes(1, 2);
}

// The growths of norm_wise(): of Winograd's transform for 4x4 results of a 3x3 filter; and of
// Fourier's the number of points, at most 32x32 in tiles and 256x256 of a whole image.
constexpr double winograd_growth = 36000, tiled_fft_growth = 32 * 32, fft_growth = 256 * 256;

/// Whatever the heuristics put first.
inline void declare_any(KernelDeclaration& kernel) {
    kernel.norm_wise(fft_growth).not_deterministic();
}

/// Limits the problems to those of cuDNN's documentation.
inline void declare_winograd(KernelDeclaration& kernel) {
    declare_product<float>(kernel);
    kernel.spatial_axes(2, 2)
        .where("filter", equals(3))
        .where("stride", equals(1))
        .where("dilation", equals(1))
        .norm_wise(winograd_growth);
}

template <bool in_tiles>
void declare_fft(KernelDeclaration& kernel) {
    declare_product<float>(kernel);
    kernel.spatial_axes(2, 2)
        .where("stride", equals(1))
        .where("dilation", equals(1))
        .where("filter", between(1, in_tiles ? 32 : 256))
        .only_if("padding < filter",
                 [](const Problem& problem) {
                     const Parameters p(problem);
                     return p.h().padding_left < p.h().filter && p.w().padding_left < p.w().filter;
                 })
        .norm_wise(in_tiles ? tiled_fft_growth : fft_growth);
}

}  // namespace gradverify::conv::cudnn
