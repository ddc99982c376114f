// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of layouts, asymmetric padding, dimensions beyond two and output masks.
#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

/// The tensor as if it lay row-major.
TensorView as_dense(const TensorView& of) {
    TensorView view = of;
    std::int64_t stride = 1;
    for (int axis = view.rank; axis-- > 0;) {
        view.strides[static_cast<std::size_t>(axis)] = stride;
        stride *= view.size(axis);
    }
    return view;
}

/// The strides of a tensor whose channels lie innermost, and else row-major.
TensorView as_channels_last(const TensorView& view) {
    TensorView last = as_dense(view);
    std::int64_t stride = view.size(1);
    last.strides[1] = 1;
    for (int axis = view.rank; axis-- > 2; stride *= view.size(axis))
        last.strides[static_cast<std::size_t>(axis)] = stride;
    return last;
}

// Rows of nhwc images are taken to be as long as the image is high.
TensorView with_rows_by_height(const TensorView& view) {
    TensorView x = as_channels_last(view);
    x.strides[2] = x.size(1) * x.size(2);
    return x;
}

// Planes of ndhwc images are taken to be as far apart as their rows are many.
TensorView without_width(const TensorView& view) {
    TensorView x = as_channels_last(view);
    x.strides[2] = x.size(1) * x.size(3);
    return x;
}

// Filters that lie as hwio are read as hwoi.
TensorView as_hwoi(const TensorView& view) {
    TensorView w = view;
    if (w.stride(0) == 1 && w.rank == 4) std::swap(w.strides[0], w.strides[1]);
    return w;
}

// One tensor is read or written in a layout that it does not have.
using Relaid = TensorView (*)(const TensorView&);
template <Relaid as>
void x_as(const Forward& call) {
    launch_to_features<float>(call.problem, as(call.x), call.w, &call.b, call.y, call.launch);
}
template <Relaid as>
void w_as(const Forward& call) {
    launch_to_features<float>(call.problem, call.x, as(call.w), &call.b, call.y, call.launch);
}
template <Relaid as>
void y_as(const Forward& call) {
    launch_to_features<float>(call.problem, call.x, call.w, &call.b, as(call.y), call.launch);
}
template <Relaid as>
void dx_as(const GradInput& call) {
    launch_to_image<float>(call.problem, call.dy, call.w, nullptr, as(call.dx), call.launch);
}
template <Relaid as>
void saved_x_as(const GradWeight& call) {
    launch_to_filter<float>(call.problem, call.dy, as(call.x), call.dw, call.launch);
}
template <Relaid as>
void dw_as(const GradWeight& call) {
    launch_to_filter<float>(call.problem, call.dy, call.x, as(call.dw), call.launch);
}
// A repeating cotangent is read as if all of its elements lay in memory, or as one number.
template <Relaid as>
void dy_as(const GradBias& call) {
    launch_to_bias<float>(as(call.dy), call.db, call.launch);
}
TensorView as_one_number(const TensorView& view) {
    TensorView dy = view;
    bool is_expanded = false;
    for (int axis = 0; axis < dy.rank; ++axis)
        is_expanded |= dy.stride(axis) == 0 && dy.size(axis) > 1;
    for (auto& stride : dy.strides)
        if (is_expanded) stride = 0;
    return dy;
}

// Depth goes by the stride of the height.
void depth_by_height(const Forward& call) {
    conv::Parameters p = call.problem;
    if (p.rank == 3) p.axes[0].stride = p.axes[1].stride;
    launch_to_features<float>(p, call.x, call.w, &call.b, call.y, call.launch);
}

// The padding on the right is taken for that on the left.
void right_for_left(const GradInput& call) {
    conv::Parameters p = call.problem;
    for (conv::Axis& axis : p.axes) axis.padding_left = axis.padding_right;
    launch_to_image<float>(p, call.dy, call.w, nullptr, call.dx, call.launch);
}

// All masks but `wrong` are right; there an output is forgotten, or one too many is written.
template <unsigned wrong, unsigned flipped>
void wrong_mask(const Backward& call) {
    const unsigned mask = call.launch.output_mask & 7u;
    const unsigned done = mask == wrong ? mask ^ flipped : mask;
    if (done & 1u)
        launch_to_image<float>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
    if (done & 2u) launch_to_filter<float>(call.problem, call.dy, call.x, call.dw, call.launch);
    if (done & 4u) launch_to_bias<float>(call.dy, call.db, call.launch);
}

// db is computed on the way to dw.
void db_with_dw_alone(const conv_transpose::Backward& call) {
    if (call.wants("dx"))
        launch_to_features<float>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
    if (!call.wants("dw")) return;
    launch_to_filter<float>(call.problem, call.x, call.dy, call.dw, call.launch);
    if (call.wants("db")) launch_to_bias<float>(call.dy, call.db, call.launch);
}

// What output_padding adds is not written.
void output_padding_forgotten(const conv_transpose::Forward& call) {
    TensorView y = call.y;
    std::size_t at = 2;
    for (const conv::Axis& axis : call.problem.spatial()) {
        y.sizes[at] = std::max<std::int64_t>(y.sizes[at] - axis.output_padding, 0);
        ++at;
    }
    launch_to_image<float>(call.problem, call.x, call.w, &call.b, y, call.launch);
}

template <int rank>
void declare_images(KernelDeclaration& kernel) {
    kernel.with(declare_direct<float>).layout_of("x", {"nchw", "nhwc"});
    if (rank > 0) kernel.spatial_axes(rank, rank);
}
template <int rank>
void declare_nhwc(KernelDeclaration& kernel) {
    kernel.with(declare_direct<float>).layout("x", "nhwc").spatial_axes(rank, rank);
}
void declare_filters(KernelDeclaration& kernel) {
    kernel.with(declare_direct<float>).layout_of("w", {"oihw", "ohwi"});
}
constexpr auto declare_strided = declare_direct_product<float>;
constexpr auto declare_masked = declare_direct_of_mask<float>;

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_nhwc_as_nchw", x_as<as_dense>).with(declare_images<0>);
GRADVERIFY_KERNEL(Forward, "bug_ncw_as_nwc", x_as<as_channels_last>).with(declare_images<1>);
GRADVERIFY_KERNEL(Forward, "bug_nwc_as_ncw", x_as<as_dense>).with(declare_images<1>);
GRADVERIFY_KERNEL(Forward, "bug_nchw_as_nhwc", x_as<as_channels_last>).with(declare_images<2>);
GRADVERIFY_KERNEL(Forward, "bug_ncdhw_as_ndhwc", x_as<as_channels_last>).with(declare_images<3>);
GRADVERIFY_KERNEL(Forward, "bug_ndhwc_as_ncdhw", x_as<as_dense>).with(declare_images<3>);
GRADVERIFY_KERNEL(Forward, "bug_nhwc_rows_by_height", x_as<with_rows_by_height>)
    .with(declare_nhwc<2>);
GRADVERIFY_KERNEL(Forward, "bug_ndhwc_without_width", x_as<without_width>).with(declare_nhwc<3>);
GRADVERIFY_KERNEL(GradInput, "bug_dx_nchw_as_nhwc", dx_as<as_channels_last>)
    .with(declare_images<0>);
GRADVERIFY_KERNEL(GradInput, "bug_dx_nhwc_as_nchw", dx_as<as_dense>).with(declare_images<0>);
GRADVERIFY_KERNEL(Forward, "bug_oihw_as_ohwi", w_as<as_channels_last>).with(declare_filters);
GRADVERIFY_KERNEL(Forward, "bug_ohwi_as_oihw", w_as<as_dense>).with(declare_filters);
GRADVERIFY_KERNEL(GradWeight, "bug_dw_oihw_as_ohwi", dw_as<as_channels_last>).with(declare_filters);
GRADVERIFY_KERNEL(GradWeight, "bug_dw_ohwi_as_oihw", dw_as<as_dense>).with(declare_filters);
GRADVERIFY_KERNEL(GradWeight, "bug_dw_hwio_as_oihw", dw_as<as_dense>)
    .with(declare_direct<float>)
    .layout("w", "hwio");
GRADVERIFY_KERNEL(GradWeight, "bug_pitch_of_x_ignored", saved_x_as<as_dense>).with(declare_strided);
GRADVERIFY_KERNEL(Forward, "bug_pitch_ignored", y_as<as_dense>).with(declare_strided);
GRADVERIFY_KERNEL(Forward, "bug_hwio_as_hwoi", w_as<as_hwoi>)
    .with(declare_direct<float>)
    .layout_of("w", {"oihw", "ohwi", "hwio"});
GRADVERIFY_KERNEL(Forward, "bug_depth_by_height", depth_by_height).with(declare_strided);
GRADVERIFY_KERNEL(GradInput, "bug_right_for_left", right_for_left).with(declare_strided);
GRADVERIFY_KERNEL(GradBias, "bug_expanded_as_dense", dy_as<as_dense>).with(declare_direct<float>);
GRADVERIFY_KERNEL(GradBias, "bug_partly_expanded_as_whole", dy_as<as_one_number>)
    .with(declare_direct<float>);
GRADVERIFY_KERNEL(Backward, "bug_mask_0_writes_dx", wrong_mask<0, 1>).with(declare_masked);
GRADVERIFY_KERNEL(Backward, "bug_mask_1_forgets_dx", wrong_mask<1, 1>).with(declare_masked);
GRADVERIFY_KERNEL(Backward, "bug_mask_2_writes_dx", wrong_mask<2, 1>).with(declare_masked);
GRADVERIFY_KERNEL(Backward, "bug_mask_3_writes_db", wrong_mask<3, 4>).with(declare_masked);
GRADVERIFY_KERNEL(Backward, "bug_mask_4_writes_dw", wrong_mask<4, 2>).with(declare_masked);
GRADVERIFY_KERNEL(Backward, "bug_mask_5_forgets_db", wrong_mask<5, 4>).with(declare_masked);
GRADVERIFY_KERNEL(Backward, "bug_mask_6_forgets_dw", wrong_mask<6, 2>).with(declare_masked);
GRADVERIFY_KERNEL(Backward, "bug_mask_7_forgets_db", wrong_mask<7, 4>).with(declare_masked);
GRADVERIFY_KERNEL(conv_transpose::Backward, "bug_db_with_dw_alone", db_with_dw_alone)
    .with(declare_masked);
GRADVERIFY_KERNEL(conv_transpose::Forward, "bug_output_padding_forgotten", output_padding_forgotten)
    .with(declare_strided);
