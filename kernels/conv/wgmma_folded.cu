// SPDX-License-Identifier: Apache-2.0
// conv/wgmma_space_to_depth: images of few channels, by the products of conv/wgmma, for sm_90a.
// conv/wgmma_bf16x6: floats, each of which is the sum of three bfloat16. Six products of these are
// summed for one of floats, on tensor cores, whose additions may be cut off; what is left out is
// less than 2^-24 of a product. An infinity becomes NaN. Pixels and taps beside an image's and a
// filter's are folded with them and multiplied by zeros, so NaN and infinities in what a window
// does not read may come out of it.
#include <string>

#include "kernels/conv/wgmma_fold.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::wgmma;

/// Types of the tensors, of their pieces, and how many of these there are. Features of halves are
/// taken as they are.
template <class T>
struct Halves {
    using Element = T;
    using Piece = T;
    using Factors = Pieces<1>;
};
struct Floats {
    using Element = float;
    using Piece = __nv_bfloat16;
    using Factors = Pieces<3>;
};

template <class Types>
constexpr bool are_halves = Types::Factors::count == 1;

template <class Types>
using FoldedOf = Folded<typename Types::Piece, typename Types::Factors>;

/// Room for a folded tensor.
template <class Types>
FoldedOf<Types> room(Space& space, const Fold& fold, std::int64_t outer) {
    const std::int64_t elements = FoldedOf<Types>::elements(fold, outer) * Types::Factors::count;
    return {fold, outer, space.take<typename Types::Piece>(elements)};
}

template <class Types>
void launch_fold(const FoldedOf<Types>& to, const TensorView& from, cudaStream_t stream) {
    wgmma::launch_fold<typename Types::Piece, Types::Factors::count>(
        Strided<const typename Types::Element>::of(from), to.fold, to.outer, to.first, stream);
}

template <class Types>
Images<typename Types::Piece, typename Types::Factors> fold_features(const FoldedOf<Types>& to,
                                                                     const TensorView& dy,
                                                                     cudaStream_t stream) {
    if constexpr (!are_halves<Types>) {
        launch_fold<Types>(to, dy, stream);
        return to.windows(1);
    } else {
        return images_of<typename Types::Element>(dy);
    }
}

/// The workspace of each pass, as it is handed out.
template <class Types>
struct ForwardSpace {
    Folds folds;
    Space space;
    FoldedOf<Types> x = room<Types>(space, folds.image, folds.windows.n);
    FoldedOf<Types> w = room<Types>(space, folds.filter, folds.windows.k);
};
template <class Types>
struct GradInputSpace {
    Folds folds;
    Space space;
    FoldedOf<Types> dy = room<Types>(space, folds.features, are_halves<Types> ? 0 : folds.places.n);
    FoldedOf<Types> w = room<Types>(space, folds.filter, folds.places.k);
    /// Of dx, where it is folded.
    typename Types::Element* places = space.take<typename Types::Element>(
        FoldedOf<Types>::elements(folds.image, folds.few ? folds.places.n : 0));
};
template <class Types>
struct GradWeightSpace {
    Folds folds;
    Space space;
    FoldedOf<Types> dy =
        room<Types>(space, folds.features, are_halves<Types> ? 0 : folds.windows.n);
    FoldedOf<Types> x = room<Types>(space, folds.image, folds.windows.n);
    float* sums = space.take<float>(
        bytes_of_sums<typename Types::Piece>(folds.windows, pixels_of_features(folds.windows)) / 4);
};
template <template <class> class SpaceOf, class Types>
std::int64_t bytes_of(const Problem& problem) {
    return SpaceOf<Types>{Folds(Parameters(problem)), Space()}.space.bytes();
}

template <class Types>
void forward(const Forward& call) {
    const ForwardSpace<Types> in{Folds(call.problem), Space(call.launch.workspace)};
    const Folds& folds = in.folds;
    launch_fold<Types>(in.x, call.x, call.launch.stream);
    launch_fold<Types>(in.w, call.w, call.launch.stream);
    launch_forward<typename Types::Piece, typename Types::Factors>(
        folds.windows, in.x.windows(folds.taps), in.w.windows(folds.taps), call.b,
        Strided<typename Types::Element>::of(call.y), call.launch);
}

template <class Types>
void grad_input(const GradInput& call) {
    using T = typename Types::Element;
    const GradInputSpace<Types> in{Folds(call.problem), Space(call.launch.workspace)};
    const Folds& folds = in.folds;
    const auto dy = fold_features<Types>(in.dy, call.dy, call.launch.stream);
    launch_fold<Types>(in.w, call.w, call.launch.stream);
    const auto multiply = [&](const Strided<T>& dx) {
        launch_grad_input<typename Types::Piece, typename Types::Factors>(
            folds.places, dy, in.w.windows(1), dx, call.launch);
    };
    if (!folds.few) return multiply(Strided<T>::of(call.dx));
    const Fold& image = folds.image;
    const long long place = image.padded, row = place * image.columns;
    multiply({in.places, row * image.rows, 1, row, place});
    const long long pixels = call.dx.elements() / image.channels;
    unfold<<<blocks_of_loop(pixels, 256), 256, 0, call.launch.stream>>>(
        in.places, image, static_cast<int>(call.problem.n), Strided<T>::of(call.dx));
}

template <class Types>
void grad_weight(const GradWeight& call) {
    const GradWeightSpace<Types> in{Folds(call.problem), Space(call.launch.workspace)};
    const Folds& folds = in.folds;
    const auto dy = fold_features<Types>(in.dy, call.dy, call.launch.stream);
    launch_fold<Types>(in.x, call.x, call.launch.stream);
    const int parts = launch_sums_of_filter<typename Types::Piece, typename Types::Factors>(
        folds.windows, dy, in.x.windows(folds.taps), in.sums, call.launch);
    launch_add_parts<typename Types::Element>(in.sums, parts, folds.filter, call.dw,
                                              call.launch.stream);
}

template <class Types>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<typename Types::Element>(kernel);
    kernel.spatial_axes(2, 2)
        .supports("asymmetric_padding")
        .where("groups", between(1, 1))
        .blocks_of({suitable, 64});
    if constexpr (are_halves<Types>)
        kernel.layout("x", "nhwc")
            .layout("w", "ohwi")
            .layout("y", "nhwc")
            .where("c", between(1, most_channels_folded))
            .where("k", multiple_of(8))
            .where("dilation", equals(1))
            .aligned_to(16)
            .on_tensor_cores();
    else
        kernel.splits_factors({.products = Types::Factors::products, .digits = 24});
}
/// Whether the tensors can be folded, with ints that count their places; halves are not unless
/// their channels are few.
template <class Types>
bool is_folded(const Parameters& p) {
    return has_pixels(p) && (!are_halves<Types> || Folds::has_few(p)) &&
           has_pixels(Folds(p).places);
}
template <class Types>
constexpr const char* few_channels =
    are_halves<Types> ? "c times the strides is at most 64; of what is folded, " : "";

template <class Types>
void declare_forward(KernelDeclaration& kernel) {
    declare<Types>(kernel);
    kernel.only_if(std::string(few_channels<Types>) + reach_of_image, [](const Problem& problem) {
        const Parameters p(problem);
        return is_folded<Types>(p) && reads_windows_of_image(Folds(p).windows);
    });
    kernel.workspace(bytes_of<ForwardSpace, Types>);
}
template <class Types>
void declare_grad_input(KernelDeclaration& kernel) {
    declare<Types>(kernel);
    kernel.only_if(std::string(few_channels<Types>) + reach_of_features,
                   [](const Problem& problem) {
                       const Parameters p(problem);
                       return is_folded<Types>(p) && reads_windows_of_features(Folds(p).places);
                   });
    kernel.workspace(bytes_of<GradInputSpace, Types>);
}
template <class Types>
void declare_grad_weight(KernelDeclaration& kernel) {
    declare_forward<Types>(kernel);
    kernel.workspace(bytes_of<GradWeightSpace, Types>);
}

}  // namespace

// nvcc builds it where it builds for sm_90a (kernels/CMakeLists.txt).
#if !defined(__NVCC__) || defined(GRADVERIFY_SM_90A)
#define REGISTER(NAME, ...)                                                                    \
    GRADVERIFY_KERNEL(Forward, NAME, forward<__VA_ARGS__>).with(declare_forward<__VA_ARGS__>); \
    GRADVERIFY_KERNEL(GradInput, NAME, grad_input<__VA_ARGS__>)                                \
        .with(declare_grad_input<__VA_ARGS__>);                                                \
    GRADVERIFY_KERNEL(GradWeight, NAME, grad_weight<__VA_ARGS__>)                              \
        .with(declare_grad_weight<__VA_ARGS__>)
REGISTER("wgmma_space_to_depth_f16", Halves<__half>);
REGISTER("wgmma_space_to_depth_bf16", Halves<__nv_bfloat16>);
REGISTER("wgmma_bf16x6", Floats);
#endif
