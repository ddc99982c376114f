// SPDX-License-Identifier: Apache-2.0
// relayout.*/blocked and relayout_filter.*/blocked: images and filters to and from oneDNN's blocked
// layouts.
#include "kernels/relayout/blocked.cuh"
#include "reference/relayout.hpp"

namespace {

using namespace gradverify;

/// Of relayout and relayout_filter alike.
template <class Forward, class T>
void forward(const Forward& call) {
    relayout::launch_blocked<T>(call.x, call.y, call.problem().rank(), call.launch);
}
template <class GradInput, class T>
void grad_input(const GradInput& call) {
    relayout::launch_blocked<T>(call.dy, call.dx, call.problem().rank(), call.launch);
}

template <class T>
void declare_images(KernelDeclaration& kernel) {
    relayout::declare_blocked<T>(kernel);
    kernel.layout_of("x", {"nchw", "nhwc", "nChw16c", "nChw8c", "NChw16n16c"})
        .layout_of("y", {"nChw16c", "nChw8c", "nchw", "nhwc", "nChw32c", "NChw16n16c"});
}
template <class T>
void declare_filters(KernelDeclaration& kernel) {
    relayout::declare_blocked<T>(kernel);
    kernel
        .layout_of("x", {"oihw", "ohwi", "hwio", "OIhw16i16o", "OIhw8o8i", "OIhw16o16i", "OIhw8i8o",
                         "gOIhw16i16o", "OIhw8i16o2i"})
        .layout_of("y", {"OIhw16i16o", "OIhw16o16i", "OIhw8i8o", "oihw", "OIhw8o8i", "ohwi", "hwio",
                         "OIhw8i16o2i", "OIhw4i16o4i", "gOIhw16i16o", "Goihw16g"});
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relayout::Forward, "blocked", forward<relayout::Forward, float>)
    .with(declare_images<float>);
GRADVERIFY_KERNEL(gradverify::relayout::Forward, "blocked_f64", forward<relayout::Forward, double>)
    .with(declare_images<double>);
GRADVERIFY_KERNEL(gradverify::relayout::GradInput, "blocked",
                  grad_input<relayout::GradInput, float>)
    .with(declare_images<float>);
GRADVERIFY_KERNEL(gradverify::relayout::GradInput, "blocked_f64",
                  grad_input<relayout::GradInput, double>)
    .with(declare_images<double>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "blocked",
                  forward<relayout_filter::Forward, float>)
    .with(declare_filters<float>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::Forward, "blocked_f64",
                  forward<relayout_filter::Forward, double>)
    .with(declare_filters<double>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::GradInput, "blocked",
                  grad_input<relayout_filter::GradInput, float>)
    .with(declare_filters<float>);
GRADVERIFY_KERNEL(gradverify::relayout_filter::GradInput, "blocked_f64",
                  grad_input<relayout_filter::GradInput, double>)
    .with(declare_filters<double>);
