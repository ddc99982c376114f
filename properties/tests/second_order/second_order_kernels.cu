// SPDX-License-Identifier: Apache-2.0
// Kernels of second order and of the forward mode, right ones and wrong ones: a term that is
// forgotten, a factor, the tangent of a mean. A thread serves an element, or a row.
#include "properties/tests/launches.cuh"
#include "reference/layer_norm.hpp"

namespace {

using namespace gradverify;

// ---- weighted: sums of products

struct WeightedBackward : Pass<"weighted", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w");
    TensorView dx = tensor("dx"), dw = tensor("dw");
};
struct WeightedGradX : Pass<"weighted.backward", "grad_x"> {
    using Pass::Pass;
    TensorView ddw = tensor("ddw"), dy = tensor("dy"), dx = tensor("dx");
};
using WeightedJvp = Pass<"weighted.forward", "jvp">;

__device__ void row_of_dx(int i, const float* dy, const float* w, float* dx, int width) {
    for (int j = 0; j < width; ++j) dx[i * width + j] = dy[i] * w[j];
}
__device__ void element_of_dw(int j, const float* dy, const float* x, float* dw, int rows,
                              int width) {
    dw[j] = 0.0f;
    for (int i = 0; i < rows; ++i) dw[j] += dy[i] * x[i * width + j];
}
template <bool is_half>
__device__ void row_of_ty(int i, int width, const float* x, const float* w, const float* tx,
                          const float* tw, float* ty) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j)
        sum += tx[i * width + j] * w[j] + (is_half ? 0.0f : x[i * width + j] * tw[j]);
    ty[i] = sum;
}

void weighted_backward(const WeightedBackward& call) {
    const auto rows = call.x.size(0), width = call.x.size(1);
    launch_each<row_of_dx>(call.launch, rows, call.dy, call.w, call.dx, width);
    launch_each<element_of_dw>(call.launch, width, call.dy, call.x, call.dw, rows, width);
}
template <bool is_off>
void weighted_grad_x(const WeightedGradX& call) {
    launch_each<row_of_dx>(call.launch, call.dx.size(0) - (is_off && call.dx.size(0) > 1), call.dy,
                           call.ddw, call.dx, call.dx.size(1));
}

// ---- swiglu

enum class Silu { right, no_slope_of_ddb, no_factor, other_half, no_tb };

template <Silu bug>
__device__ void element_of_swiglu(int i, const float* x, const float* along, const float* dy,
                                  float* result, float* dx, int width) {
    const int at = i / width * 2 * width + i % width;
    const float a = x[at], b = x[at + width], ta = along[at], tb = along[at + width];
    const float s = 1.0f / (1.0f + expf(-a));
    const float slope = s * (1.0f + a * (1.0f - s));
    const float factor = bug == Silu::no_factor ? 1.0f : 2.0f;
    const float curvature = s * (1.0f - s) * (factor + a * (1.0f - 2.0f * s));
    if (result) result[i] = slope * b * ta + (bug == Silu::no_tb ? 0.0f : a * s * tb);
    if (!dx) return;
    dx[at] = dy[i] * (curvature * b * ta + (bug == Silu::no_slope_of_ddb ? 0.0f : slope * tb));
    dx[at + width] = dy[i] * slope * (bug == Silu::other_half ? tb : ta);
}

using SwigluGradX = Pass<"swiglu.backward", "grad_x">;
using SwigluGradDy = Pass<"swiglu.backward", "grad_dy">;
using SwigluJvp = Pass<"swiglu.forward", "jvp">;

template <Silu bug>
void swiglu_grad_x(const SwigluGradX& call) {
    const auto dy = call.tensor("dy");
    launch_each<element_of_swiglu<bug>>(call.launch, dy.elements(), call.tensor("x"),
                                        call.tensor("ddx"), dy, nullptr, call.tensor("dx"),
                                        call.size("width"));
}
template <Silu bug>
void swiglu_grad_dy(const SwigluGradDy& call) {
    const auto ddy = call.tensor("ddy");
    launch_each<element_of_swiglu<bug>>(call.launch, ddy.elements(), call.tensor("x"),
                                        call.tensor("ddx"), nullptr, ddy, nullptr,
                                        call.size("width"));
}
template <Silu bug>
void swiglu_jvp(const SwigluJvp& call) {
    const auto ty = call.tensor("ty");
    launch_each<element_of_swiglu<bug>>(call.launch, ty.elements(), call.tensor("x"),
                                        call.tensor("tx"), nullptr, ty, nullptr,
                                        call.size("width"));
}

// ---- layer_norm

enum class Norm { right, no_tangent_of_mean, no_tangent_of_rstd, one_of_three, no_ddgamma };

template <Norm bug>
__device__ void row_along(int r, int width, const float* x, const float* gamma, const float* mean,
                          const float* rstd, const float* tx, const float* tgamma,
                          const float* tbeta, float* ty) {
    x += r * width, tx += r * width, ty += r * width;
    float mean_t = 0.0f, m = 0.0f;
    for (int j = 0; j < width; ++j) {
        mean_t += tx[j] / width;
        m += (x[j] - mean[r]) * rstd[r] * tx[j] / width;
    }
    if (bug == Norm::no_tangent_of_mean) mean_t = 0.0f;
    if (bug == Norm::no_tangent_of_rstd) m = 0.0f;
    for (int j = 0; j < width; ++j) {
        const float xhat = (x[j] - mean[r]) * rstd[r];
        ty[j] = gamma[j] * rstd[r] * (tx[j] - mean_t - xhat * m) + tgamma[j] * xhat + tbeta[j];
    }
}

template <Norm bug>
__device__ void row_of_second(int r, int width, const float* ddx, const float* ddgamma,
                              const float* dy, const float* x, const float* gamma,
                              const float* mean, const float* rstd, float* dx) {
    x += r * width, ddx += r * width, dy += r * width, dx += r * width;
    const auto xhat = [&](int j) { return (x[j] - mean[r]) * rstd[r]; };
    float mean_t = 0.0f, m = 0.0f, mean_a = 0.0f, q = 0.0f, c = 0.0f, mean_u = 0.0f, p = 0.0f;
    for (int j = 0; j < width; ++j) mean_t += ddx[j] / width, m += xhat(j) * ddx[j] / width;
    for (int j = 0; j < width; ++j) {
        const float a = dy[j] * gamma[j] / width, u = dy[j] * ddgamma[j] / width;
        mean_a += a, q += a * xhat(j), c += a * (ddx[j] - mean_t);
        mean_u += u, p += u * xhat(j);
    }
    const float three = bug == Norm::one_of_three ? 1.0f : 3.0f;
    const float of_gamma = bug == Norm::no_ddgamma ? 0.0f : 1.0f;
    for (int j = 0; j < width; ++j) {
        const float of_xhat =
            xhat(j) * (c - three * q * m) + m * (dy[j] * gamma[j] - mean_a) + q * (ddx[j] - mean_t);
        dx[j] = -rstd[r] * rstd[r] * of_xhat +
                of_gamma * rstd[r] * (dy[j] * ddgamma[j] - mean_u - xhat(j) * p);
    }
}

template <Norm bug>
constexpr auto norm_jvp = launch_rows<layer_norm::Jvp, row_along<bug>, "x", "gamma", "mean", "rstd",
                                      "tx", "tgamma", "tbeta", "ty">;
template <Norm bug>
constexpr auto norm_grad_x = launch_rows<layer_norm::GradX, row_of_second<bug>, "ddx", "ddgamma",
                                         "dy", "x", "gamma", "mean", "rstd", "dx">;

}  // namespace

GRADVERIFY_KERNEL(WeightedBackward, "right", weighted_backward);
GRADVERIFY_KERNEL(WeightedGradX, "right", weighted_grad_x<false>);
GRADVERIFY_KERNEL(WeightedGradX, "bug_last_row", weighted_grad_x<true>);
#define WEIGHTED_JVP(VARIANT, ROW)          \
    GRADVERIFY_KERNEL(WeightedJvp, VARIANT, \
                      (launch_rows<WeightedJvp, ROW, "x", "w", "tx", "tw", "ty">))
WEIGHTED_JVP("right", row_of_ty<false>);
WEIGHTED_JVP("bug_half", row_of_ty<true>);

GRADVERIFY_KERNEL(SwigluGradX, "right_by_element", swiglu_grad_x<Silu::right>);
GRADVERIFY_KERNEL(SwigluGradX, "bug_no_slope_of_ddb", swiglu_grad_x<Silu::no_slope_of_ddb>);
GRADVERIFY_KERNEL(SwigluGradX, "bug_no_factor", swiglu_grad_x<Silu::no_factor>);
GRADVERIFY_KERNEL(SwigluGradX, "bug_other_half", swiglu_grad_x<Silu::other_half>);
GRADVERIFY_KERNEL(SwigluGradDy, "right_by_element", swiglu_grad_dy<Silu::right>);
GRADVERIFY_KERNEL(SwigluGradDy, "bug_no_tb", swiglu_grad_dy<Silu::no_tb>);
GRADVERIFY_KERNEL(SwigluJvp, "right_by_element", swiglu_jvp<Silu::right>);
GRADVERIFY_KERNEL(SwigluJvp, "bug_no_tb", swiglu_jvp<Silu::no_tb>);

GRADVERIFY_KERNEL(layer_norm::Jvp, "right_by_row", norm_jvp<Norm::right>);
GRADVERIFY_KERNEL(layer_norm::Jvp, "bug_no_tangent_of_mean", norm_jvp<Norm::no_tangent_of_mean>);
GRADVERIFY_KERNEL(layer_norm::Jvp, "bug_no_tangent_of_rstd", norm_jvp<Norm::no_tangent_of_rstd>);
GRADVERIFY_KERNEL(layer_norm::GradX, "right_by_row", norm_grad_x<Norm::right>);
GRADVERIFY_KERNEL(layer_norm::GradX, "bug_one_of_three", norm_grad_x<Norm::one_of_three>);
GRADVERIFY_KERNEL(layer_norm::GradX, "bug_no_ddgamma", norm_grad_x<Norm::no_ddgamma>);
