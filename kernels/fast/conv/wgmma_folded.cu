// SPDX-License-Identifier: Apache-2.0
// conv/wgmma_space_to_depth: images of few channels, by the products of conv/wgmma, for sm_90a;
// floats as tf32, as conv/wgmma does.
// conv/wgmma_bf16x6: floats, each of which is the sum of three bfloat16. Six products of these,
// or nine where grad_input has at most 16 channels, are summed for one of floats, on tensor cores,
// whose additions may be cut off; what is left out is less than 2^-24 of a product, unless a factor
// is near the least number. An infinity becomes NaN. Pixels and taps beside an image's and a
// filter's are folded with them and multiplied by zeros, so NaN and infinities in what a window
// does not read may come out of it.
#include <string>
#include <type_traits>

#include "kernels/fast/conv/wgmma_lines.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::wgmma;

/// Types of the tensors, of their pieces, and how many of these there are. Features that are one
/// piece are taken as they are.
template <class T>
struct Whole {
    using Element = T;
    using Piece = T;
    using Factors = Pieces<1>;
};
struct SplitFloats {
    using Element = float;
    using Piece = __nv_bfloat16;
    using Factors = Pieces<3>;
};

template <class Types>
constexpr bool are_whole = Types::Factors::count == 1;
template <class Types>
constexpr bool are_tf32 = std::is_same_v<typename Types::Piece, float>;

template <class Types>
using FoldedOf = Folded<typename Types::Piece, typename Types::Factors>;

/// Room for a folded tensor.
template <class Types>
FoldedOf<Types> room(Space& space, const Fold& fold, std::int64_t outer) {
    const std::int64_t elements = FoldedOf<Types>::elements(fold, outer) * Types::Factors::count;
    return {fold, outer, space.take<typename Types::Piece>(elements)};
}

template <class Types>
void launch_fold(const FoldedOf<Types>& to, const TensorView& from, cudaStream_t stream,
                 bool joined = false) {
    wgmma::launch_fold<typename Types::Piece, Types::Factors::count>(
        Strided<const typename Types::Element>::of(from), to.fold, to.outer, to.first, stream,
        joined);
}

template <class Types>
Images<typename Types::Piece, typename Types::Factors> fold_features(const FoldedOf<Types>& to,
                                                                     const TensorView& dy,
                                                                     cudaStream_t stream) {
    if constexpr (!are_whole<Types>) {
        launch_fold<Types>(to, dy, stream);
        return to.windows(1);
    } else {
        return images_of<typename Types::Element>(dy);
    }
}

/// Whether grad_input has the filter's pieces side by side.
template <class Types>
bool are_joined(const Folds& folds) {
    return !are_whole<Types> && folds.places.c <= most_joined;
}
/// The filter as grad_input has it folded.
Fold filter_of(const Folds& folds, bool joined) {
    Fold filter = folds.filter;
    if (joined) filter.padded = channels_of_piece(static_cast<int>(folds.places.c));
    return filter;
}
/// A filter whose pieces lie side by side.
template <class Types>
Images<typename Types::Piece, Pieces<1>> of_pieces(const FoldedOf<Types>& w) {
    const long long place = w.fold.padded * Types::Factors::count, row = place * w.fold.columns;
    return {{{w.first,
              {place, w.fold.columns, w.fold.rows, w.outer},
              {0, place, row, row * w.fold.rows}}}};
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
    FoldedOf<Types> dy = room<Types>(space, folds.features, are_whole<Types> ? 0 : folds.places.n);
    bool joined = are_joined<Types>(folds);  ///< the pieces of the filter
    FoldedOf<Types> w = room<Types>(space, filter_of(folds, joined), folds.places.k);
    FoldedOf<Types> transposed_w =
        room<Types>(space, folds.filter, are_tf32<Types> ? folds.places.k : 0);
    /// Of dx, where it is folded.
    typename Types::Element* places = space.take<typename Types::Element>(
        FoldedOf<Types>::elements(folds.image, folds.few ? folds.places.n : 0));
};
template <class Types>
struct GradWeightSpace {
    Folds folds;
    Space space;
    FoldedOf<Types> dy = room<Types>(space, folds.features, are_whole<Types> ? 0 : folds.windows.n);
    FoldedOf<Types> x = room<Types>(space, folds.image, folds.windows.n);
    float* sums = space.take<float>(bytes_of_sums<typename Types::Piece>(folds.windows) / 4);
};
struct GradWeightOfLinesSpace {
    Folds folds;
    Space space;
    FoldedOf<Whole<float>> x = room<Whole<float>>(space, folds.image, folds.windows.n);
    LineSpace lines{folds.windows, space};
    float* sums = lines.sums;
};
template <class Types>
using SpaceOfGradWeight =
    std::conditional_t<are_tf32<Types>, GradWeightOfLinesSpace, GradWeightSpace<Types>>;
template <class InSpace>
std::int64_t bytes_of(const Problem& problem) {
    return InSpace{Folds(Parameters(problem)), Space()}.space.bytes();
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
    launch_fold<Types>(in.w, call.w, call.launch.stream, in.joined);
    const auto multiply = [&](const Strided<T>& dx) {
        const auto launch = [&]<class Factors>(Factors, const auto& w) {
            launch_grad_input<typename Types::Piece, Factors>(folds.places, dy, w, dx, call.launch);
        };
        if constexpr (are_tf32<Types>)
            launch(Pieces<1>{},
                   transposed<T>(in.w.windows(1), in.transposed_w.first, call.launch.stream));
        else if (!in.joined)
            launch(typename Types::Factors{}, in.w.windows(1));
        else if constexpr (!are_whole<Types>)
            launch(Pieces<Types::Factors::count, true>{}, of_pieces<Types>(in.w));
    };
    if (!folds.few) return multiply(Strided<T>::of(call.dx));
    const Fold& image = folds.image;
    const long long place = image.padded, row = place * image.columns;
    multiply({in.places, row * image.rows, 1, row, place});
    launch_unfold(in.places, image, call.problem.n, Strided<T>::of(call.dx), call.launch.stream);
}

template <class Types>
void grad_weight(const GradWeight& call) {
    const Launch& on = call.launch;
    const SpaceOfGradWeight<Types> in{Folds(call.problem), Space(on.workspace)};
    const Folds& folds = in.folds;
    launch_fold<Types>(in.x, call.x, on.stream);
    int parts = 0;
    if constexpr (are_tf32<Types>) {
        parts =
            launch_sums_of_lines(folds.windows, in.lines, call.dy, in.x.windows(folds.taps), on);
    } else {
        const auto dy = fold_features<Types>(in.dy, call.dy, on.stream);
        parts = launch_sums_of_filter<typename Types::Piece, typename Types::Factors>(
            folds.windows, dy, in.x.windows(folds.taps), in.sums, on);
    }
    launch_add_parts<typename Types::Element>(in.sums, parts, folds.filter, call.dw, on.stream);
}

template <class Types>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<typename Types::Element>(kernel);
    kernel.spatial_axes(2, 2)
        .supports("asymmetric_padding")
        .where("groups", between(1, 1))
        .blocks_of({suitable, 64});
    if constexpr (are_whole<Types>)
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
/// Whether the tensors can be folded, with ints that count their places; those of one piece are not
/// unless their channels are few.
template <class Types>
bool is_folded(const Parameters& p) {
    return has_pixels(p) && (!are_whole<Types> || Folds::has_few(p)) && has_pixels(Folds(p).places);
}
template <class Types>
constexpr const char* few_channels =
    are_whole<Types> ? "c times the strides is at most 64; of what is folded, " : "";

template <class Types>
void declare_forward(KernelDeclaration& kernel) {
    declare<Types>(kernel);
    kernel.only_if(std::string(few_channels<Types>) + reach_of_image, [](const Problem& problem) {
        const Parameters p(problem);
        return is_folded<Types>(p) && reads_windows_of_image(Folds(p).windows);
    });
    kernel.workspace(bytes_of<ForwardSpace<Types>>);
}
template <class Types>
void declare_grad_input(KernelDeclaration& kernel) {
    declare<Types>(kernel);
    kernel.only_if(std::string(few_channels<Types>) + reach_of_features,
                   [](const Problem& problem) {
                       const Parameters p(problem);
                       return is_folded<Types>(p) && reads_windows_of_features(Folds(p).places);
                   });
    kernel.workspace(bytes_of<GradInputSpace<Types>>);
}
template <class Types>
void declare_grad_weight(KernelDeclaration& kernel) {
    declare_forward<Types>(kernel);
    kernel.workspace(bytes_of<SpaceOfGradWeight<Types>>);
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
REGISTER("wgmma_space_to_depth_f16", Whole<__half>);
REGISTER("wgmma_space_to_depth_bf16", Whole<__nv_bfloat16>);
REGISTER("wgmma_space_to_depth_tf32", Whole<float>);
REGISTER("wgmma_bf16x6", SplitFloats);
#endif
