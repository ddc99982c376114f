// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of layouts, of what is different left and right, of dimensions beyond two and of
// output masks. Linked into the tests only; conv_layouts_test.cpp says which property must kill
// each, and at which problem.
#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using conv::declare_direct;
using conv::declare_direct_product;

/// As if the tensor lay row-major, whatever its strides are.
TensorView as_dense(const TensorView& of) {
    TensorView view = of;
    std::int64_t stride = 1;
    for (int axis = view.rank; axis-- > 0;) {
        view.strides[static_cast<std::size_t>(axis)] = stride;
        stride *= view.size(axis);
    }
    return view;
}

void forward(const conv::Forward& call, const TensorView& x, const TensorView& w,
             const TensorView& y, const conv::Parameters& p) {
    conv::launch_to_features<float>(p, x, w, &call.b, y, call.launch);
}

// Images are read as nchw, also where they lie as nhwc.
void nhwc_as_nchw(const conv::Forward& call) {
    forward(call, as_dense(call.x), call.w, call.y, call.problem);
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

void nchw_as_nhwc(const conv::Forward& call) {
    forward(call, as_channels_last(call.x), call.w, call.y, call.problem);
}
void oihw_as_ohwi(const conv::Forward& call) {
    forward(call, call.x, as_channels_last(call.w), call.y, call.problem);
}
void ohwi_as_oihw(const conv::Forward& call) {
    forward(call, call.x, as_dense(call.w), call.y, call.problem);
}

template <TensorView (*as)(const TensorView&)>
void dx_as(const conv::GradInput& call) {
    conv::launch_to_image<float>(call.problem, call.dy, call.w, nullptr, as(call.dx), call.launch);
}
template <TensorView (*as)(const TensorView&)>
void dw_as(const conv::GradWeight& call) {
    conv::launch_to_filter<float>(call.problem, call.dy, call.x, as(call.dw), call.launch);
}

// Of images that lie as nhwc, a row is taken to be as long as the image is high.
void nhwc_rows_by_height(const conv::Forward& call) {
    TensorView x = as_channels_last(call.x);
    x.strides[2] = x.size(1) * x.size(2);
    forward(call, x, call.w, call.y, call.problem);
}

// Of images that lie as ndhwc, the next plane is looked for one row's pixels too early.
void ndhwc_without_width(const conv::Forward& call) {
    TensorView x = as_channels_last(call.x);
    x.strides[2] = x.size(1) * x.size(3);
    forward(call, x, call.w, call.y, call.problem);
}

// Images are read as if there were no padding behind each row.
void pitch_of_x_ignored(const conv::GradWeight& call) {
    conv::launch_to_filter<float>(call.problem, call.dy, as_dense(call.x), call.dw, call.launch);
}

// Results are written without the padding behind each row.
void pitch_ignored(const conv::Forward& call) {
    forward(call, call.x, call.w, as_dense(call.y), call.problem);
}

// Filters that lie as hwio are read as hwoi.
void hwio_as_hwoi(const conv::Forward& call) {
    TensorView w = call.w;
    if (w.stride(0) == 1 && w.rank == 4) {
        w.strides[0] = call.w.stride(1);
        w.strides[1] = call.w.stride(0);
    }
    forward(call, call.x, w, call.y, call.problem);
}

// Depth goes by the stride of the height.
void depth_by_height(const conv::Forward& call) {
    conv::Parameters p = call.problem;
    if (p.rank == 3) p.axes[0].stride = p.axes[1].stride;
    forward(call, call.x, call.w, call.y, p);
}

// The padding on the right is taken for that on the left.
void right_for_left(const conv::GradInput& call) {
    conv::Parameters p = call.problem;
    for (conv::Axis& axis : p.axes) axis.padding_left = axis.padding_right;
    conv::launch_to_image<float>(p, call.dy, call.w, nullptr, call.dx, call.launch);
}

// A cotangent is read as if each of its elements lay somewhere.
void expanded_as_dense(const conv::GradBias& call) {
    conv::launch_to_bias<float>(as_dense(call.dy), call.db, call.launch);
}

// A cotangent that repeats along one axis is taken to be one number.
void partly_expanded_as_whole(const conv::GradBias& call) {
    TensorView dy = call.dy;
    bool is_expanded = false;
    for (int axis = 0; axis < dy.rank; ++axis)
        is_expanded |= dy.stride(axis) == 0 && dy.size(axis) > 1;
    for (auto& stride : dy.strides)
        if (is_expanded) stride = 0;
    conv::launch_to_bias<float>(dy, call.db, call.launch);
}

void backward(const conv::Backward& call, bool dx, bool dw, bool db) {
    if (dx)
        conv::launch_to_image<float>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
    if (dw) conv::launch_to_filter<float>(call.problem, call.dy, call.x, call.dw, call.launch);
    if (db) conv::launch_to_bias<float>(call.dy, call.db, call.launch);
}

// Each of the eight subsets but one is right.
template <unsigned forgotten, unsigned too_much>
void wrong_mask(const conv::Backward& call) {
    const unsigned mask = call.launch.output_mask & 7u;
    const unsigned done = mask == forgotten ? mask & ~too_much : mask;
    backward(call, (done & 1u) != 0, (done & 2u) != 0, (done & 4u) != 0);
}
template <unsigned asked, unsigned besides>
void more_than_asked(const conv::Backward& call) {
    const unsigned mask = call.launch.output_mask & 7u;
    const unsigned done = mask == asked ? mask | besides : mask;
    backward(call, (done & 1u) != 0, (done & 2u) != 0, (done & 4u) != 0);
}

// Of a kernel that makes db on the way to dw.
void db_with_dw_alone(const conv_transpose::Backward& call) {
    if (call.wants("dx"))
        conv::launch_to_features<float>(call.problem, call.dy, call.w, nullptr, call.dx,
                                        call.launch);
    if (!call.wants("dw")) return;
    conv::launch_to_filter<float>(call.problem, call.x, call.dy, call.dw, call.launch);
    if (call.wants("db")) conv::launch_to_bias<float>(call.dy, call.db, call.launch);
}

// What output_padding adds is not written.
void output_padding_forgotten(const conv_transpose::Forward& call) {
    TensorView y = call.y;
    for (int axis = 0; axis < call.problem.rank; ++axis) {
        auto& size = y.sizes[static_cast<std::size_t>(axis + 2)];
        size -= call.problem.axes[static_cast<std::size_t>(axis)].output_padding;
        if (size < 0) size = 0;
    }
    conv::launch_to_image<float>(call.problem, call.x, call.w, &call.b, y, call.launch);
}

void declare_images(KernelDeclaration& kernel) {
    kernel.with(declare_direct<float>).layout_of("x", {"nchw", "nhwc"});
}
void declare_filters(KernelDeclaration& kernel) {
    kernel.with(declare_direct<float>).layout_of("w", {"oihw", "ohwi"});
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_nhwc_as_nchw", nhwc_as_nchw)
    .with(declare_direct<float>)
    .layout_of("x", {"nchw", "nhwc"});
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_ncw_as_nwc", nchw_as_nhwc)
    .with(declare_images)
    .spatial_axes(1, 1);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_nwc_as_ncw", nhwc_as_nchw)
    .with(declare_images)
    .spatial_axes(1, 1);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_nchw_as_nhwc", nchw_as_nhwc)
    .with(declare_images)
    .spatial_axes(2, 2);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_ncdhw_as_ndhwc", nchw_as_nhwc)
    .with(declare_images)
    .spatial_axes(3, 3);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_ndhwc_as_ncdhw", nhwc_as_nchw)
    .with(declare_images)
    .spatial_axes(3, 3);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_nhwc_rows_by_height", nhwc_rows_by_height)
    .with(declare_direct<float>)
    .layout("x", "nhwc")
    .spatial_axes(2, 2);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_ndhwc_without_width", ndhwc_without_width)
    .with(declare_direct<float>)
    .layout("x", "nhwc")
    .spatial_axes(3, 3);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_dx_nchw_as_nhwc", dx_as<as_channels_last>)
    .with(declare_images);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_dx_nhwc_as_nchw", dx_as<as_dense>)
    .with(declare_images);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_oihw_as_ohwi", oihw_as_ohwi)
    .with(declare_filters);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_ohwi_as_oihw", ohwi_as_oihw)
    .with(declare_filters);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_dw_oihw_as_ohwi", dw_as<as_channels_last>)
    .with(declare_filters);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_dw_ohwi_as_oihw", dw_as<as_dense>)
    .with(declare_filters);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_dw_hwio_as_oihw", dw_as<as_dense>)
    .with(declare_direct<float>)
    .layout("w", "hwio");
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_pitch_of_x_ignored", pitch_of_x_ignored)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_pitch_ignored", pitch_ignored)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_hwio_as_hwoi", hwio_as_hwoi)
    .with(declare_direct<float>)
    .layout_of("w", {"oihw", "ohwi", "hwio"});
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_depth_by_height", depth_by_height)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_right_for_left", right_for_left)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "bug_expanded_as_dense", expanded_as_dense)
    .with(declare_direct<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "bug_partly_expanded_as_whole",
                  partly_expanded_as_whole)
    .with(declare_direct<float>);
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_0_writes_dx", more_than_asked<0, 1>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_1_forgets_dx", wrong_mask<1, 1>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_2_writes_dx", more_than_asked<2, 1>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_3_writes_db", more_than_asked<3, 4>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_4_writes_dw", more_than_asked<4, 2>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_5_forgets_db", wrong_mask<5, 4>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_6_forgets_dw", wrong_mask<6, 2>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv::Backward, "bug_mask_7_forgets_db", wrong_mask<7, 4>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv_transpose::Backward, "bug_db_with_dw_alone", db_with_dw_alone)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "bug_output_padding_forgotten",
                  output_padding_forgotten)
    .with(declare_direct_product<float>);
